#include "scenarios/schema/config_file.h"

#include "scenarios/schema/yaml_prescan.h"

#include <filesystem>
#include <fstream>
#include <memory>

namespace bonescan {

std::string read_config_file(const std::string& file,
                             const Position& wanted_at,
                             std::string_view path) {
  std::error_code ignored;
  std::ifstream stream(file, std::ios::binary);
  std::string text(kMaxScenarioBytes + 1, '\0');
  if (!stream || std::filesystem::is_directory(file, ignored)) {
    raise(wanted_at,
          path,
          {"a readable file", in_quotes(file), "check the name and the permissions"});
  }
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(stream.gcount()));
  return text;
}

std::string read_config_file(const std::string& file) {
  const Position nowhere{std::make_shared<const std::string>(file), 0, 0};
  return read_config_file(file, nowhere, kWholeFile);
}

}  // namespace bonescan
