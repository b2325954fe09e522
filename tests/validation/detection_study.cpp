// detection_study [--quick | --brief] [--even] [--threads N] [--out DIRECTORY COMMAND COMMIT]
// detection_study --worlds DIRECTORY
//
// Runs the study of the detectors, prints it, and writes its files after each part if told where.
// --even takes the seeds that may be tuned on, not those that are reported.
// --worlds asks for the null alone, where an assumption is broken, and writes worlds.md.
//
// Exit status: 0 if what is required holds, 1 if not, 2 wrong usage.
#include "tools/study/detection/detection_runs.h"
#include "tools/study/detection/detection_text.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string_view>
#include <vector>

namespace {

/// The null where an assumption is broken, a world after the other.
int run_worlds(const char* out) {
  std::vector<bonescan::NullCheck> checks;
  for (const bonescan::NoiseWorld world : bonescan::kNoiseWorlds) {
    if (world != bonescan::NoiseWorld::kWellSpecified) {
      checks.push_back(bonescan::run_null_check(bonescan::DetectionSize::kFull, world, 2));
      if (!bonescan::write_study_files(out, {{"worlds.md", bonescan::null_check_text(checks)}})) {
        return 2;
      }
    }
  }
  std::fputs(bonescan::null_check_text(checks).c_str(), stdout);
  const auto holds = [](const bonescan::NullCheck& check) { return check.holds(); };
  return std::all_of(checks.begin(), checks.end(), holds) ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::string_view(argv[1]) == "--worlds") {
    return run_worlds(argv[2]);
  }
  const auto command = bonescan::parse_study_command(argc, argv, true);
  if (!command) {
    return 2;
  }
  const auto size = command->quick   ? bonescan::DetectionSize::kQuick
                    : command->brief ? bonescan::DetectionSize::kBrief
                                     : bonescan::DetectionSize::kFull;
  const auto start = std::chrono::steady_clock::now();
  const auto minutes = [start] {
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    return elapsed.count() / 60.0;
  };
  bool written = true;
  const bonescan::DetectionResults results = bonescan::run_detection_study(
      size, command->seeds, command->threads, [&](const bonescan::DetectionResults& part) {
        const bonescan::DetectionOrigin origin{command->origin, minutes()};
        written =
            command->out.empty() ||
            bonescan::write_study_files(command->out, bonescan::detection_files(part, origin));
      });
  const bonescan::DetectionOrigin origin{command->origin, minutes()};
  std::fputs(bonescan::detection_readme(results, origin).c_str(), stdout);
  std::printf("%.1f min on %u threads\n", origin.minutes, command->threads);
  if (!written) {
    return 2;
  }
  return size == bonescan::DetectionSize::kQuick || results.hold() ? 0 : 1;
}
