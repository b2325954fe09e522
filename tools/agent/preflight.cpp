#include "tools/agent/preflight.h"

#include "scenarios/schema/quantity.h"
#include "tools/agent/metrics_server.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <unistd.h>

namespace bonescan {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr int kPreflightSchemaVersion = 1;

/// The directory itself, or the nearest one above it that exists.
fs::path existing_part(const std::string& directory) {
  std::error_code ignored;
  fs::path path = fs::absolute(directory, ignored);
  while (!fs::exists(path, ignored) && path.has_relative_path()) {
    path = path.parent_path();
  }
  return path;
}

PreflightRow check_directory(const std::string& directory) {
  PreflightRow row{PreflightStatus::kOk, "run directory", directory, ""};
  std::error_code ignored;
  const fs::path existing = existing_part(directory);
  if (fs::exists(fs::path(directory) / "run.sqlite", ignored)) {
    row = {PreflightStatus::kMissing,
           row.subject,
           directory + " already holds a run",
           "give another --out or remove the directory"};
  } else if (!fs::is_directory(existing, ignored)) {
    row = {PreflightStatus::kMissing,
           row.subject,
           existing.string() + " is not a directory",
           "give another --out"};
  } else if (access(existing.c_str(), W_OK | X_OK) != 0) {
    row = {PreflightStatus::kMissing,
           row.subject,
           existing.string() + " cannot be written",
           "give another --out, or the permission"};
  }
  return row;
}

PreflightRow check_disk(const AgentConfig& config,
                        const std::string& directory,
                        ResourceMeter& meter) {
  const ResourceUse use = meter.read(existing_part(directory).string());
  if (!use.disk_free_bytes) {
    return {PreflightStatus::kWarn,
            "disk",
            "the free space cannot be told",
            "limits.disk_free cannot be kept"};
  }
  constexpr std::int64_t kMib = std::int64_t{1} << 20;
  const std::string free = fmt::format("{}MiB free", *use.disk_free_bytes / kMib);
  // One page of run.sqlite is what the least run needs.
  if (*use.disk_free_bytes < std::max<std::int64_t>(config.limits.disk_free_bytes, kMib)) {
    return {PreflightStatus::kMissing,
            "disk",
            fmt::format("{}, and limits.disk_free is {}",
                        free,
                        format_size(Bytes(config.limits.disk_free_bytes))),
            "make room, write elsewhere with --out, or lower limits.disk_free"};
  }
  return {PreflightStatus::kOk, "disk", free, ""};
}

PreflightRow check_metrics(const AgentConfig& config) {
  if (config.metrics == "none") {
    return {PreflightStatus::kOk, "metrics", "not wanted", ""};
  }
  const auto address = parse_socket_address(config.metrics);
  // Listening is the only way to know; the port is free again at once.
  const auto server = MetricsServer::start(*address, [] { return std::string(); });
  if (!server) {
    return {PreflightStatus::kMissing,
            "metrics",
            server.error().detail,
            "change agent.metrics, or end what listens there"};
  }
  const bool is_loopback = address->address.starts_with("127.") || address->address == "::1";
  if (!is_loopback) {
    return {PreflightStatus::kWarn,
            "metrics",
            fmt::format("http://{}/metrics can be read by others", config.metrics),
            "listen on 127.0.0.1, there is no proof of identity"};
  }
  return {PreflightStatus::kOk, "metrics", fmt::format("http://{}/metrics", config.metrics), ""};
}

}  // namespace

std::vector<PreflightRow> preflight(const AgentConfig& config,
                                    const std::string& directory,
                                    LiveSystem& system,
                                    ResourceMeter& meter) {
  std::vector<PreflightRow> rows = system.inspect(config);
  rows.push_back(check_directory(directory));
  rows.push_back(check_disk(config, directory, meter));
  rows.push_back(check_metrics(config));
  return rows;
}

bool can_run(const std::vector<PreflightRow>& rows) {
  return std::none_of(rows.begin(), rows.end(), [](const PreflightRow& row) {
    return row.status == PreflightStatus::kMissing;
  });
}

std::string first_obstacle(const std::vector<PreflightRow>& rows) {
  for (const PreflightRow& row : rows) {
    if (row.status == PreflightStatus::kMissing) {
      return fmt::format("{}: {}; {}", row.subject, row.detail, row.hint);
    }
  }
  return "nothing is missing";
}

std::string preflight_table(const std::vector<PreflightRow>& rows) {
  std::size_t width = 0;
  for (const PreflightRow& row : rows) {
    width = std::max(width, row.subject.size());
  }
  std::string text;
  for (const PreflightRow& row : rows) {
    text +=
        fmt::format("{:<7}  {:<{}}  {}\n", to_string(row.status), row.subject, width, row.detail);
    if (!row.hint.empty()) {
      text += fmt::format("{:<7}  {:<{}}  -> {}\n", "", "", width, row.hint);
    }
  }
  return text;
}

std::string preflight_json(const std::vector<PreflightRow>& rows) {
  Json json;
  json["schema_version"] = kPreflightSchemaVersion;
  json["can_run"] = can_run(rows);
  json["checks"] = Json::array();
  for (const PreflightRow& row : rows) {
    json["checks"].push_back({{"status", to_string(row.status)},
                              {"subject", row.subject},
                              {"detail", row.detail},
                              {"hint", row.hint}});
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace bonescan
