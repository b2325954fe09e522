// detection_study [--quick | --brief] [--even] [--threads N] [--out DIRECTORY COMMAND COMMIT]
//
// Runs the study of the detectors, prints it, and writes its files if told where.  --even takes the
// seeds that may be tuned on, not those that are reported.
// Exit status: 0 if what is required holds, 1 if not, 2 wrong usage.
#include "tools/study/detection/detection_runs.h"
#include "tools/study/detection/detection_text.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  bonescan::DetectionSize size = bonescan::DetectionSize::kFull;
  bonescan::SeedParity parity = bonescan::SeedParity::kOdd;
  bonescan::DetectionOrigin origin;
  std::string out;
  std::uint32_t threads = 2;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--quick") {
      size = bonescan::DetectionSize::kQuick;
    } else if (arguments[i] == "--brief") {
      size = bonescan::DetectionSize::kBrief;
    } else if (arguments[i] == "--even") {
      parity = bonescan::SeedParity::kEven;
    } else if (arguments[i] == "--threads" && i + 1 < arguments.size()) {
      threads = static_cast<std::uint32_t>(std::strtoul(arguments[++i].c_str(), nullptr, 10));
    } else if (arguments[i] == "--out" && i + 3 < arguments.size()) {
      out = arguments[i + 1];
      origin.command = arguments[i + 2];
      origin.commit = arguments[i + 3];
      i += 3;
    } else {
      std::fputs(
          "usage: detection_study [--quick | --brief] [--even] [--threads N] [--out DIRECTORY "
          "COMMAND "
          "COMMIT]\n",
          stderr);
      return 2;
    }
  }
  if (threads == 0) {
    std::fputs("detection_study: --threads wants a number from 1 on\n", stderr);
    return 2;
  }
  const auto start = std::chrono::steady_clock::now();
  const bonescan::DetectionResults results = bonescan::run_detection_study(size, parity, threads);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  origin.minutes = elapsed.count() / 60.0;
  std::fputs(bonescan::detection_readme(results, origin).c_str(), stdout);
  std::printf("%.0f s on %u threads\n", elapsed.count(), threads);
  if (!out.empty()) {
    for (const bonescan::DetectionFile& file : bonescan::detection_files(results, origin)) {
      std::ofstream stream(out + "/" + file.name, std::ios::binary);
      stream << file.text;
      if (!stream) {
        std::fprintf(
            stderr, "detection_study: cannot write %s/%s\n", out.c_str(), file.name.c_str());
        return 2;
      }
    }
  }
  return size == bonescan::DetectionSize::kQuick || results.hold() ? 0 : 1;
}
