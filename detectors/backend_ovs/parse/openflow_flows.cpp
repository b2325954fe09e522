#include "detectors/backend_ovs/parse/openflow_flows.h"

#include "detectors/backend_ovs/parse/match_scan.h"
#include "detectors/backend_ovs/parse/text_scan.h"

#include <algorithm>
#include <array>

namespace bonescan::backend_ovs {
namespace {

constexpr std::string_view kActions = "actions=";

/// Words that describe the entry and not the packet; their values are of no use here.
bool is_bookkeeping(std::string_view part) {
  constexpr std::array<std::string_view, 12> kWords = {"duration=",
                                                       "idle_age=",
                                                       "hard_age=",
                                                       "idle_timeout=",
                                                       "hard_timeout=",
                                                       "importance=",
                                                       "send_flow_rem",
                                                       "check_overlap",
                                                       "reset_counts",
                                                       "no_packet_counts",
                                                       "no_byte_counts",
                                                       "out_port="};
  return std::any_of(kWords.begin(), kWords.end(), [part](std::string_view word) {
    return part.substr(0, word.size()) == word;
  });
}

Expected<void> take_number(const Line& line, std::string_view part, std::uint64_t& number) {
  const auto value = to_number(part.substr(part.find('=') + 1));
  if (!value) {
    return tl::unexpected(expected_in(line, part, "a whole number after '='"));
  }
  number = *value;
  return {};
}

template <class Number>
Expected<void> take_into(const Line& line, std::string_view part, Number& number) {
  std::uint64_t value = 0;
  Expected<void> taken = take_number(line, part, value);
  number = static_cast<Number>(value);
  return taken;
}

bool starts_with(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

Expected<void> take_part(const Line& line, std::string_view part, OpenflowFlow& flow) {
  if (starts_with(part, "cookie=")) {
    return take_number(line, part, flow.cookie);
  }
  if (starts_with(part, "table=")) {
    return take_into(line, part, flow.table);
  }
  if (starts_with(part, "priority=")) {
    return take_into(line, part, flow.priority);
  }
  if (starts_with(part, "n_packets=")) {
    return take_number(line, part, flow.packets.emplace());
  }
  if (starts_with(part, "n_bytes=")) {
    return take_number(line, part, flow.bytes.emplace());
  }
  if (is_bookkeeping(part)) {
    return {};
  }
  flow.match_text += flow.match_text.empty() ? "" : ",";
  flow.match_text += part;
  return scan_match(line, part, flow.match);
}

Expected<OpenflowFlow> read_flow(const Line& line) {
  OpenflowFlow flow;
  flow.line = line.number;
  const std::size_t actions = line.text.find(kActions);
  if (actions == std::string_view::npos) {
    return tl::unexpected(expected_in(line, {}, "a flow with \"actions=\""));
  }
  flow.actions = line.text.substr(actions + kActions.size());
  const auto parts = split_at_commas(line.text.substr(0, actions));
  if (!parts) {
    return tl::unexpected(expected_in(line, {}, "matching brackets"));
  }
  for (std::string_view part : *parts) {
    // Flags are followed by a blank: "send_flow_rem priority=7".
    for (std::string_view word = take_word(part); !word.empty(); word = take_word(part)) {
      if (Expected<void> taken = take_part(line, word, flow); !taken) {
        return tl::unexpected(taken.error());
      }
    }
  }
  return flow;
}

bool is_header(std::string_view line) {
  return line.find("_FLOW reply") != std::string_view::npos && line.find('(') < line.size();
}

}  // namespace

Expected<std::vector<OpenflowFlow>> parse_openflow_flows(std::string_view text) {
  return parse_rows<OpenflowFlow>(text, is_header, read_flow);
}

}  // namespace bonescan::backend_ovs
