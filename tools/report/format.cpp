#include "tools/report/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace bonescan {
namespace {

constexpr std::string_view kEllipsis = "…";

bool starts_code_point(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
}

}  // namespace

double exact_seconds(Duration duration) {
  return static_cast<double>(duration.count()) / 1e9;
}

double exact_seconds(Time time) {
  return exact_seconds(time.time_since_epoch());
}

std::string clock_text(Time time) {
  const std::int64_t tenths = (nanoseconds(time) + 50'000'000) / 100'000'000;
  return fmt::format("{}:{:02}.{}", tenths / 600, tenths / 10 % 60, tenths % 10);
}

std::string seconds_text(std::optional<double> value_s) {
  return value_s ? fmt::format("{:.1f} s", *value_s) : "-";
}

std::string ratio_text(const Ratio& ratio) {
  if (!ratio.value || !ratio.wilson95) {
    return "undefined (no trials)";
  }
  return fmt::format("{:.1f} % ({} of {}, 95 % interval {:.1f} to {:.1f})",
                     100 * *ratio.value,
                     ratio.successes,
                     ratio.trials,
                     100 * ratio.wilson95->low,
                     100 * ratio.wilson95->high);
}

std::string provenance_text(const RunInfo& info) {
  return info.mode == "sim" ? fmt::format("simulated, seed {}", info.seed) : info.mode;
}

std::string named_component(const RunData& run, const Incident& incident) {
  const Component* component =
      incident.candidates.empty()
          ? nullptr
          : find_component(run.components, incident.candidates.front().component);
  return component != nullptr ? component->name : "nothing";
}

std::string endpoint_text(const RunData& run, EndpointId endpoint) {
  return run.endpoints.contains(endpoint) ? run.endpoints[endpoint].name : "?";
}

std::string pair_text(const RunData& run, PairId pair) {
  if (!run.pairs.contains(pair)) {
    return "? -> ?";
  }
  const Pair& ends = run.pairs[pair];
  return endpoint_text(run, ends.source) + " -> " + endpoint_text(run, ends.target);
}

std::string stages_text(const Incident& incident) {
  std::vector<std::string_view> stages;
  for (const Evidence& evidence : incident.evidence) {
    if (!evidence.clear &&
        std::find(stages.begin(), stages.end(), evidence.stage) == stages.end()) {
      stages.push_back(evidence.stage);
    }
  }
  return fmt::format("{}", fmt::join(stages, " > "));
}

std::string decisive_stage(const Incident& incident) {
  const auto last = std::find_if(incident.evidence.rbegin(),
                                 incident.evidence.rend(),
                                 [](const Evidence& evidence) { return !evidence.clear; });
  return last == incident.evidence.rend() ? "" : last->stage;
}

std::size_t display_width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), starts_code_point));
}

std::string without_control_characters(std::string text) {
  for (char& c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\n') || byte == 0x7F) {
      c = ' ';
    }
  }
  return text;
}

std::string fit(std::string_view text, std::size_t width) {
  std::string line = without_control_characters(std::string(text));
  std::replace(line.begin(), line.end(), '\n', ' ');
  const std::size_t columns = display_width(line);
  if (columns <= width) {
    return line + std::string(width - columns, ' ');
  }
  std::size_t bytes = 0;
  for (std::size_t kept = 0; bytes < line.size(); ++bytes) {
    if (starts_code_point(line[bytes]) && ++kept == width) {
      break;
    }
  }
  return line.substr(0, bytes) + std::string(kEllipsis);
}

}  // namespace bonescan
