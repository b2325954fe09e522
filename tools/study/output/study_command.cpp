#include "tools/study/output/study_command.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

namespace bonescan {

std::optional<StudyCommand> parse_study_command(int argc, char** argv, bool with_brief) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  StudyCommand command;
  bool known = true;
  for (std::size_t i = 0; i < words.size() && known; ++i) {
    if (words[i] == "--quick") {
      command.quick = true;
    } else if (words[i] == "--brief" && with_brief) {
      command.brief = true;
    } else if (words[i] == "--even") {
      command.seeds = SeedParity::kEven;
    } else if (words[i] == "--threads" && i + 1 < words.size()) {
      command.threads = static_cast<std::uint32_t>(std::strtoul(words[++i].c_str(), nullptr, 10));
      known = command.threads > 0;
    } else if (words[i] == "--out" && i + 3 < words.size()) {
      command.out = words[i + 1];
      command.origin = {words[i + 2], words[i + 3]};
      i += 3;
    } else {
      known = false;
    }
  }
  if (!known) {
    fmt::print(stderr,
               "usage: {} [--quick]{} [--even] [--threads N, from 1 on] [--out DIRECTORY COMMAND "
               "COMMIT]\n",
               argv[0],
               with_brief ? " [--brief]" : "");
    return std::nullopt;
  }
  return command;
}

bool write_study_files(const std::string& folder, const std::vector<StudyFile>& files) {
  for (const StudyFile& file : files) {
    std::ofstream stream(folder + "/" + file.name, std::ios::binary);
    stream << file.text;
    if (!stream) {
      fmt::print(stderr, "cannot write {}/{}\n", folder, file.name);
      return false;
    }
  }
  return true;
}

}  // namespace bonescan
