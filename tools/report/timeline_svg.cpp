#include "tools/report/timeline_svg.h"

#include "tools/report/format.h"
#include "tools/report/lanes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

namespace bonescan {
namespace {

constexpr double kWidth = 1100;
constexpr double kLeft = 110;  // names of the lanes
constexpr double kRight = 16;
constexpr double kRowHeight = 20;
constexpr double kLanePadding = 8;
constexpr double kAxisHeight = 26;
constexpr double kCharacterWidth = 6.3;  // of the 11 px label, on the wide side
constexpr double kLeastBarWidth = 3;

struct Bar {
  Time from;
  Time to;
  std::string label;
  std::string title;
  std::string_view style;
};

class TimeScale {
 public:
  explicit TimeScale(Time end) : end_s_(std::max(1.0, seconds(end))) {}

  double x(Time time) const {
    const double share = std::clamp(seconds(time) / end_s_, 0.0, 1.0);
    return kLeft + share * (kWidth - kLeft - kRight);
  }

  double end_s() const { return end_s_; }

  /// About ten ticks at round distances.
  double tick_s() const {
    double best = 60;
    for (const double step : {1.0,
                              5.0,
                              10.0,
                              30.0,
                              60.0,
                              120.0,
                              300.0,
                              600.0,
                              1800.0,
                              3600.0,
                              7200.0,
                              21600.0,
                              86400.0,
                              604800.0}) {
      best = step;
      if (end_s_ / step <= 12) {
        break;
      }
    }
    return std::max(best, end_s_ / 50);
  }

 private:
  double end_s_;
};

/// Bars with their labels, packed into rows that begin at `top`.  Returns the rows that were
/// needed.
std::size_t draw_bars(std::vector<Bar> bars, double top, const TimeScale& scale, std::string& svg) {
  std::stable_sort(
      bars.begin(), bars.end(), [](const Bar& a, const Bar& b) { return a.from < b.from; });
  LanePacker rows;
  for (const Bar& bar : bars) {
    const double left = scale.x(bar.from);
    const double width = std::max(kLeastBarWidth, scale.x(bar.to) - left);
    const double label_width = kCharacterWidth * static_cast<double>(display_width(bar.label)) + 8;
    // A label stands inside its bar if it fits, else after it, else before it.
    const bool inside = label_width <= width;
    const bool before = !inside && left + width + label_width > kWidth - kRight;
    const double from = before ? left - label_width : left;
    const double to = left + width + (inside || before ? 0 : label_width);
    const auto row = static_cast<double>(rows.place(from, to));
    const double y = top + row * kRowHeight;
    svg += fmt::format(
        "<g><title>{}</title><rect class=\"bar {}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" "
        "height=\"{:.0f}\" rx=\"2\"/><text class=\"label\" x=\"{:.1f}\" "
        "y=\"{:.1f}\"{}>{}</text></g>\n",
        escape_html(bar.title),
        bar.style,
        left,
        y,
        width,
        kRowHeight - 4,
        before ? left - 4 : (inside ? left + 4 : left + width + 4),
        y + 12,
        before ? " text-anchor=\"end\"" : "",
        escape_html(bar.label));
  }
  return rows.lane_count();
}

std::string_view style_of(FaultStatus status) {
  switch (status) {
    case FaultStatus::kDetected:
      return "fault";
    case FaultStatus::kMissed:
      return "missed";
    case FaultStatus::kUndecided:
      return "undecided";
    case FaultStatus::kAgentDeath:
      return "agent";
  }
  return "undecided";
}

std::string_view style_of(IncidentStatus status) {
  switch (status) {
    case IncidentStatus::kMatched:
      return "matched";
    case IncidentStatus::kDuplicate:
    case IncidentStatus::kMerged:
      return "duplicate";
    case IncidentStatus::kFalsePositive:
      return "false";
    case IncidentStatus::kAgentDeath:
    case IncidentStatus::kPlanned:
      return "agent";
    case IncidentStatus::kUndecided:
      return "undecided";
  }
  return "undecided";
}

std::vector<Bar> fault_bars(const RunData& run, const Evaluation& evaluation, Layer layer) {
  std::vector<Bar> bars;
  for (std::size_t f = 0; f < run.truth.size(); ++f) {
    const TruthRow& truth = run.truth[f];
    if (truth.layer != layer) {
      continue;
    }
    const FaultOutcome& outcome = evaluation.faults[f];
    const std::string fate = outcome.time_to_detect_s
                                 ? "found after " + seconds_text(outcome.time_to_detect_s)
                                 : std::string(to_string(outcome.status));
    bars.push_back({truth.injected,
                    truth.ended.value_or(run.result.reached),
                    truth.name + ", " + fate,
                    fmt::format("fault {} ({}) on {}", truth.name, truth.kind, truth.component),
                    style_of(outcome.status)});
  }
  return bars;
}

std::vector<Bar> incident_bars(const RunData& run, const Evaluation& evaluation, Layer layer) {
  std::vector<Bar> bars;
  for (std::size_t i = 0; i < run.incidents.size(); ++i) {
    const Incident& incident = run.incidents[i];
    if (incident.layer != layer) {
      continue;
    }
    const IncidentStatus status = evaluation.incidents[i].status;
    const std::string named = named_component(run, incident);
    bars.push_back(
        {incident.opened,
         incident.closed.value_or(run.result.reached),
         evaluation.detection ? fmt::format("{}: {}", to_string(status), named) : named,
         fmt::format("incident {} {} on {}", incident_id_text(incident.id), incident.kind, named),
         style_of(status)});
  }
  return bars;
}

void draw_axis(const TimeScale& scale, double bottom, std::string& svg) {
  const double step = scale.tick_s();
  for (int i = 0; i * step <= scale.end_s() + 1e-9; ++i) {
    const double x = scale.x(kStartOfRun + from_seconds(i * step));
    svg += fmt::format(
        "<line class=\"grid\" x1=\"{0:.1f}\" y1=\"0\" x2=\"{0:.1f}\" y2=\"{1:.1f}\"/>"
        "<text class=\"tick\" x=\"{0:.1f}\" y=\"{2:.1f}\">{3:g}</text>\n",
        x,
        bottom,
        bottom + 14,
        i * step / 60);
  }
  svg +=
      fmt::format("<text class=\"lane\" x=\"4\" y=\"{:.1f}\">simulated min</text>\n", bottom + 14);
}

}  // namespace

std::string escape_html(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' ? ' ' : c;
    }
  }
  return escaped;
}

std::string timeline_svg(const RunData& run, const Evaluation& evaluation) {
  constexpr std::array<Layer, 6> kLanes = {Layer::kOverlay,
                                           Layer::kUnderlay,
                                           Layer::kRnic,
                                           Layer::kHost,
                                           Layer::kAgent,
                                           Layer::kUndetermined};
  const TimeScale scale(run.result.reached);
  std::string lanes;
  double y = 0;
  for (const Layer layer : kLanes) {
    std::vector<Bar> faults = fault_bars(run, evaluation, layer);
    std::vector<Bar> incidents = incident_bars(run, evaluation, layer);
    if (faults.empty() && incidents.empty()) {
      continue;
    }
    const double top = y;
    y += kLanePadding;
    y += static_cast<double>(draw_bars(std::move(faults), y, scale, lanes)) * kRowHeight;
    y += static_cast<double>(draw_bars(std::move(incidents), y, scale, lanes)) * kRowHeight;
    y += kLanePadding - 4;
    lanes += fmt::format(
        "<text class=\"lane\" x=\"4\" y=\"{:.1f}\">{}</text>"
        "<line class=\"edge\" x1=\"0\" y1=\"{:.1f}\" x2=\"{:.0f}\" y2=\"{:.1f}\"/>\n",
        top + kLanePadding + 12,
        to_string(layer),
        y,
        kWidth,
        y);
  }
  if (lanes.empty()) {
    y = 3 * kRowHeight;
    lanes = fmt::format(
        "<text class=\"lane\" x=\"{:.0f}\" y=\"{:.1f}\">nothing was injected and "
        "nothing was reported</text>\n",
        kLeft + 8,
        y / 2);
  }
  std::string axis;
  draw_axis(scale, y, axis);
  return fmt::format(
      "<svg viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"100%\" role=\"img\" "
      "aria-label=\"Faults and incidents over time\">\n{2}{3}</svg>\n",
      kWidth,
      y + kAxisHeight,
      axis,
      lanes);
}

}  // namespace bonescan
