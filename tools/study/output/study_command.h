// What the programs behind tools/study_*.sh have in common: their words and their files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bonescan {

/// Which seeds: even ones may be tuned on, odd ones are reported.
enum class SeedParity : std::uint8_t {
  kEven,
  kOdd,
};

/// How the results were made.
struct StudyOrigin {
  std::string command;
  std::string commit;
};

struct StudyFile {
  std::string name;
  std::string text;
};

/// [--quick] [--brief] [--even] [--threads N] [--out DIRECTORY COMMAND COMMIT]
struct StudyCommand {
  bool quick = false;  ///< a few runs, which promise little
  bool brief = false;  ///< a part of them
  SeedParity seeds = SeedParity::kOdd;
  std::uint32_t threads = 2;
  std::string out;  ///< folder; empty: nothing is written
  StudyOrigin origin;
};

/// Absent, with a line on standard error, for anything else; `with_brief`: the study has --brief.
std::optional<StudyCommand> parse_study_command(int argc, char** argv, bool with_brief);

/// False, with a line on standard error, if one cannot be written.
bool write_study_files(const std::string& folder, const std::vector<StudyFile>& files);

}  // namespace bonescan
