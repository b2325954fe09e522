#include "tools/run/run_files.h"

#include "tools/report/html.h"
#include "tools/report/report_json.h"
#include "tools/report/trace_json.h"
#include "tools/run/run_session.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

namespace bonescan {
namespace {

std::string in(const std::string& directory, const char* name) {
  return (std::filesystem::path(directory) / name).string();
}

}  // namespace

void write_whole(const std::string& path, const std::string& content) {
  const std::string partial = path + ".partial";
  {
    std::ofstream out(partial, std::ios::binary | std::ios::trunc);
    out.write(content.data(), static_cast<std::streamsize>(content.size()));
    out.flush();
    if (!out) {
      std::error_code ignored;
      std::filesystem::remove(partial, ignored);
      throw EnvironmentError(
          fmt::format("{}: cannot be written (disk full or no permission?)", path));
    }
  }
  std::error_code error;
  std::filesystem::rename(partial, path, error);
  if (error) {
    throw EnvironmentError(fmt::format("{}: {}", path, error.message()));
  }
}

void write_manifest(const std::string& directory, const RunInfo& info, const RunResult& result) {
  Json manifest;
  manifest["schema_version"] = kReportSchemaVersion;
  manifest["mode"] = info.mode;
  manifest["complete"] = result.complete;
  manifest["scenario"] = {{"name", info.scenario_name}, {"hash", info.scenario_hash}};
  manifest["seed"] = info.seed;
  manifest["command"] = info.command;
  manifest["build"] = {{"version", info.version},
                       {"commit", info.commit},
                       {"compiler", info.compiler},
                       {"preset", info.preset}};
  manifest["planned_s"] = seconds(info.planned);
  manifest["fingerprint"] = result.complete ? Json(result.fingerprint) : Json(nullptr);
  write_whole(in(directory, "manifest.json"), json_text(manifest));
}

void write_reports(const std::string& directory, const RunData& run, const Evaluation& evaluation) {
  write_manifest(directory, run.info, run.result);
  write_whole(in(directory, "report.json"), json_text(report_json(run, evaluation)));
  write_whole(in(directory, "report.html"), report_html(run, evaluation));
  write_whole(in(directory, "trace.json"), json_text(trace_json(run, evaluation)));
}

}  // namespace bonescan
