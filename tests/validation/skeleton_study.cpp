// skeleton_study [--quick] [--even] [--threads N] [--out DIRECTORY COMMAND COMMIT]
//
// Runs the study of the traffic skeleton, prints it, and writes its files if told where.  --even
// takes the seeds that may be tuned on, not those that are reported.
// Exit status: 0 if what is required holds, 1 if not, 2 wrong usage.
#include "tools/study/study_files.h"
#include "tools/study/study_runs.h"

#include <chrono>
#include <cstdio>

int main(int argc, char** argv) {
  const auto command = bonescan::parse_study_command(argc, argv, false);
  if (!command) {
    return 2;
  }
  const auto size = command->quick ? bonescan::StudySize::kQuick : bonescan::StudySize::kFull;
  const auto start = std::chrono::steady_clock::now();
  const bonescan::StudyResults results =
      bonescan::run_study(size, command->seeds, command->threads);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  std::fputs(bonescan::study_table(results).c_str(), stdout);
  std::printf("%.0f s on %u threads\n", elapsed.count(), command->threads);
  if (!command->out.empty() &&
      !bonescan::write_study_files(command->out, bonescan::study_files(results, command->origin))) {
    return 2;
  }
  return results.hold() ? 0 : 1;
}
