#include "detectors/backend_ovs/parse/datapath_flows.h"

#include "detectors/backend_ovs/parse/match_scan.h"
#include "detectors/backend_ovs/parse/text_scan.h"

#include <algorithm>

namespace bonescan::backend_ovs {
namespace {

constexpr std::string_view kBanner = "flow-dump from ";
constexpr std::string_view kActions = "actions:";

bool take_count(std::string_view text, std::uint64_t& count) {
  const auto value = to_number(text);
  count = value.value_or(0);
  return value.has_value();
}

bool take_used(std::string_view text, std::optional<Duration>& used) {
  if (text == "never") {
    return true;
  }
  used = to_duration(text);
  return used.has_value();
}

/// The parts of one line, from left to right.
class FlowReader final {
 public:
  explicit FlowReader(const Line& line) : line_(line) { flow_.line = line.number; }

  Expected<DatapathFlow> read() {
    const auto parts = split_at_commas(line_.text);
    if (!parts) {
      return tl::unexpected(expected_in(line_, {}, "matching brackets"));
    }
    for (const std::string_view part : *parts) {
      if (Expected<void> taken = take(part); !taken) {
        return tl::unexpected(taken.error());
      }
    }
    if (!counted_ || actions_ == nullptr) {
      return tl::unexpected(
          expected_in(line_, {}, "a flow with \"packets:\" and \"actions:\" on one line"));
    }
    const MatchField* port = find_field(flow_.match, "in_port");
    flow_.in_port = port == nullptr ? "" : port->value;
    flow_.actions = trimmed({actions_, static_cast<std::size_t>(actions_end_ - actions_)});
    return std::move(flow_);
  }

 private:
  Expected<void> take(std::string_view part) {
    if (part.empty()) {
      return {};
    }
    if (actions_ != nullptr) {
      take_action(part);
      return {};
    }
    std::string_view value = part;
    if (take_prefix(value, kActions)) {
      actions_ = value.data();
      actions_end_ = actions_;
      take_action(value);
      return {};
    }
    return counted_ ? take_state(part) : take_key(part);
  }

  void take_action(std::string_view action) {
    in_actions_ = in_actions_ && action.substr(0, 14) != "dp-extra-info:";
    if (in_actions_ && !action.empty()) {
      flow_.action_list.emplace_back(action);
      actions_end_ = action.data() + action.size();
    }
  }

  /// Up to and with "packets:".
  Expected<void> take_key(std::string_view part) {
    std::string_view value = part;
    if (take_prefix(value, "ufid:")) {
      flow_.ufid = value;
      return {};
    }
    if (take_prefix(value, "packets:")) {
      counted_ = true;
      return check(take_count(value, flow_.packets), part, "packets:NUMBER");
    }
    return scan_match(line_, part, flow_.match);
  }

  /// After "packets:".  Words that later versions may add are passed over.
  Expected<void> take_state(std::string_view part) {
    std::string_view value = part;
    if (take_prefix(value, "bytes:")) {
      return check(take_count(value, flow_.bytes), part, "bytes:NUMBER");
    }
    if (take_prefix(value, "used:")) {
      return check(take_used(value, flow_.used), part, "used:never or used:SECONDSs");
    }
    if (take_prefix(value, "offloaded:")) {
      flow_.offloaded = value == "yes" ? Offloaded::kYes : Offloaded::kPartial;
      return check(value == "yes" || value == "partial", part, "offloaded:yes or partial");
    }
    if (take_prefix(value, "dp:")) {
      flow_.datapath = value;
    } else if (take_prefix(value, "flags:")) {
      flow_.tcp_flags = value;
    }
    return {};
  }

  Expected<void> check(bool good, std::string_view part, std::string_view what) const {
    if (!good) {
      return tl::unexpected(expected_in(line_, part, what));
    }
    return {};
  }

  const Line& line_;
  DatapathFlow flow_;
  const char* actions_ = nullptr;  ///< where they begin, once seen
  const char* actions_end_ = nullptr;
  bool counted_ = false;
  bool in_actions_ = true;
};

}  // namespace

Expected<std::vector<DatapathFlow>> parse_datapath_flows(std::string_view text) {
  const auto is_banner = [](std::string_view line) {
    return line.substr(0, kBanner.size()) == kBanner;
  };
  return parse_rows<DatapathFlow>(
      text, is_banner, [](const Line& line) { return FlowReader(line).read(); });
}

}  // namespace bonescan::backend_ovs
