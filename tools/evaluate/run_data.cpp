#include "tools/evaluate/run_data.h"

#include "detectors/run_log/run_log.h"

#include <filesystem>
#include <system_error>

namespace bonescan {

Expected<RunData> load_run(const std::string& directory_or_file) {
  std::filesystem::path path(directory_or_file);
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    path /= "run.sqlite";
  }
  const auto reader = RunLogReader::open(path.string());
  if (!reader) {
    return tl::unexpected<Error>(reader.error());
  }
  const RunLogReader& log = **reader;
  return RunData{
      .info = log.info(),
      .result = log.result(),
      .endpoints = log.endpoints(),
      .components = log.components(),
      .pairs = log.pairs(),
      .windows = log.windows(),
      .skeletons = log.skeletons(),
      .verdicts = log.verdicts(),
      .incidents = log.incidents(),
      .truth = log.truth(),
      .membership = log.membership(),
  };
}

}  // namespace bonescan
