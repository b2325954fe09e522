#include "detectors/backend_ovs/parse/openflow_trace.h"

#include "detectors/backend_ovs/parse/text_scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace bonescan::backend_ovs {
namespace {

constexpr std::string_view kFlow = "Flow: ";
constexpr std::string_view kFinalFlow = "Final flow: ";
constexpr std::string_view kMegaflow = "Megaflow: ";
constexpr std::string_view kDatapathActions = "Datapath actions: ";
constexpr std::string_view kDrop = "drop";

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool is_rule_off(std::string_view line) {
  return line.find_first_not_of(line.front()) == std::string_view::npos &&
         (line.front() == '-' || line.front() == '=');
}

/// "10. priority 0": cuts the number of the table off.
bool take_table(std::string_view& text, std::uint32_t& table) {
  const std::size_t point = text.find(". ");
  const auto number = to_number32(text.substr(0, point));
  if (point == std::string_view::npos || !number) {
    return false;
  }
  table = *number;
  text.remove_prefix(point + 2);
  return true;
}

/// "in_port=1,dl_src=..., priority 100, cookie 0x5" into its three parts.
void split_rule(TraceHop& hop) {
  std::string_view rest = hop.rule;
  const std::size_t cookie = rest.rfind("cookie ");
  if (cookie != std::string_view::npos) {
    if (const auto value = to_number(rest.substr(cookie + 7))) {
      hop.cookie = *value;
      rest = rest.substr(0, cookie);
    }
  }
  const std::size_t priority = rest.rfind("priority ");
  if (priority == std::string_view::npos) {
    hop.miss = true;
    return;
  }
  std::string_view number = rest.substr(priority + 9);
  number = number.substr(0, number.find(','));
  hop.priority = to_number32(trimmed(number)).value_or(0);
  const std::string_view match = trimmed(rest.substr(0, priority));
  hop.match = match.substr(0, match.find_last_not_of(", ") + 1);
}

class TraceReader final {
 public:
  Expected<void> take(const Line& line) {
    const std::string_view text = trimmed(line.text);
    if (starts_with(line.text, kFlow)) {
      begin_pass(line.text.substr(kFlow.size()));
      return {};
    }
    if (trace_.passes.empty()) {
      return before_first_pass(line);
    }
    TracePass& pass = trace_.passes.back();
    if (is_over_) {
      after_pass(text);
    } else if (is_rule_off(text)) {
      return {};
    } else if (starts_with(text, kFinalFlow)) {
      pass.final_flow = text.substr(kFinalFlow.size());
    } else if (starts_with(text, kMegaflow)) {
      pass.megaflow = text.substr(kMegaflow.size());
    } else if (starts_with(text, kDatapathActions)) {
      pass.datapath_actions = text.substr(kDatapathActions.size());
      is_over_ = true;
    } else if (starts_with(text, "bridge(\"")) {
      bridge_ = text.substr(8, text.find('"', 8) - 8);
    } else {
      take_step(line, text, pass);
    }
    return {};
  }

  Expected<OpenflowTrace> finish();

 private:
  static bool starts_with(std::string_view text, std::string_view start) {
    return text.substr(0, start.size()) == start;
  }

  static Expected<void> before_first_pass(const Line& line) {
    const std::string_view word = line.text;
    if (starts_with(word, "Bridge: ") || is_rule_off(word)) {
      return {};
    }
    return tl::unexpected(expected_in(line, {}, "\"Flow: ...\", as ofproto/trace begins"));
  }

  void begin_pass(std::string_view flow) {
    TracePass& pass = trace_.passes.emplace_back();
    pass.flow = flow;
    pass.recirculation = std::exchange(recirculation_, {});
    is_over_ = false;
  }

  void after_pass(std::string_view text) {
    if (starts_with(text, "recirc(")) {
      recirculation_ = text;
    } else if (!is_rule_off(text)) {
      trace_.remarks.emplace_back(text);
    }
  }

  void take_step(const Line& line, std::string_view text, TracePass& pass) const {
    std::string_view rule = text;
    std::uint32_t table = 0;
    if (take_table(rule, table)) {
      TraceHop& hop = pass.hops.emplace_back();
      hop.line = line.number;
      hop.bridge = bridge_.substr(0, kLongestBridge);
      hop.table = table;
      hop.rule = rule;
      split_rule(hop);
    } else if (!pass.hops.empty()) {
      const bool note = starts_with(text, "->") || starts_with(text, ">>");
      (note ? pass.hops.back().notes : pass.hops.back().actions).emplace_back(text);
    }
  }

  std::optional<std::string> first_note(std::string_view part) const;
  void judge();

  /// Longer than any name that Linux or Open vSwitch allows.
  static constexpr std::size_t kLongestBridge = 64;

  OpenflowTrace trace_;
  std::string bridge_;
  std::string recirculation_;
  bool is_over_ = false;  ///< the datapath actions of this pass have been read
};

/// The first note of the last pass that contains `part`.
std::optional<std::string> TraceReader::first_note(std::string_view part) const {
  for (const TraceHop& hop : trace_.passes.back().hops) {
    for (const std::string& note : hop.notes) {
      if (contains(note, part)) {
        return note;
      }
    }
  }
  return std::nullopt;
}

void TraceReader::judge() {
  struct Sign {
    std::string_view note;
    TraceEnd end;
  };

  constexpr std::array<Sign, 6> kSigns = {{{"translation depth", TraceEnd::kLoop},
                                           {"resubmit actions", TraceEnd::kLoop},
                                           {"neighbor cache miss", TraceEnd::kNeighbourMissing},
                                           {"tunnel routing failed", TraceEnd::kTunnelRouteFailed},
                                           {">>>>", TraceEnd::kDropped},
                                           {">>", TraceEnd::kDropped}}};
  if (trace_.passes.back().datapath_actions != kDrop) {
    trace_.end = TraceEnd::kForwarded;
    return;
  }
  for (const Sign& sign : kSigns) {
    if (auto note = first_note(sign.note)) {
      trace_.end = sign.end;
      trace_.cause = std::move(*note);
      return;
    }
  }
  trace_.end = TraceEnd::kDropped;
  const TraceHop* hop = trace_.last_hop();
  if (hop == nullptr) {
    trace_.cause = "no table was looked up";
  } else if (!hop->notes.empty()) {
    trace_.cause = hop->notes.back();
  } else {
    trace_.cause = fmt::format("{}. {}", hop->table, hop->rule);
  }
}

Expected<OpenflowTrace> TraceReader::finish() {
  if (trace_.passes.empty()) {
    return fail(ErrorCode::kInvalid, "1:1: expected \"Flow: ...\"; found nothing");
  }
  if (!is_over_) {
    return fail(ErrorCode::kInvalid,
                "1:1: expected \"Datapath actions: ...\" at the end; the output is cut off");
  }
  judge();
  return std::move(trace_);
}

}  // namespace

std::string_view to_string(TraceEnd end) {
  switch (end) {
    case TraceEnd::kForwarded:
      return "forwarded";
    case TraceEnd::kDropped:
      return "dropped";
    case TraceEnd::kLoop:
      return "loop";
    case TraceEnd::kNeighbourMissing:
      return "neighbour-missing";
    case TraceEnd::kTunnelRouteFailed:
      return "tunnel-route-failed";
  }
  return "unknown";
}

const TraceHop* OpenflowTrace::last_hop() const {
  return passes.empty() || passes.back().hops.empty() ? nullptr : &passes.back().hops.back();
}

Expected<OpenflowTrace> parse_openflow_trace(std::string_view text) {
  TraceReader reader;
  const Expected<void> read =
      for_each_line(text, [&reader](const Line& line) { return reader.take(line); });
  if (!read) {
    return tl::unexpected(read.error());
  }
  return reader.finish();
}

}  // namespace bonescan::backend_ovs
