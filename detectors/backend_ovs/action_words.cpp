#include "detectors/backend_ovs/action_words.h"

#include "detectors/backend_ovs/parse/text_scan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <vector>

namespace bonescan::backend_ovs {
namespace {

constexpr std::string_view kTunnel = "set(tunnel(";
constexpr std::array<std::string_view, 4> kOptional = {"src", "ipv6_src", "ttl", "tos"};
/// Printed differently by every tool, and without a bearing on where a packet goes.
constexpr std::array<std::string_view, 2> kSideFields = {"flags", "tp_src"};

bool starts_with(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

template <class List>
bool is_in(const List& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

/// The fields of "set(tunnel(a=1,b=2))"; empty if it has another form.
std::vector<std::string_view> fields_of(std::string_view action) {
  if (!starts_with(action, kTunnel) || action.size() < kTunnel.size() + 2) {
    return {};
  }
  const std::string_view inner = action.substr(kTunnel.size(), action.size() - kTunnel.size() - 2);
  return split_at_commas(inner).value_or(std::vector<std::string_view>{});
}

std::string_view key_of(std::string_view field) {
  return field.substr(0, field.find_first_of("=("));
}

std::string tunnel_words(std::string_view action, const TunnelFields& keep) {
  std::vector<std::string> kept;
  for (const std::string_view field : fields_of(action)) {
    const std::string_view key = key_of(field);
    if (is_in(kSideFields, key) || (is_in(kOptional, key) && keep.count(key) == 0)) {
      continue;
    }
    const bool numeric = (key == "tun_id" || key == "tos") && key.size() < field.size();
    const auto number = numeric ? to_number(field.substr(key.size() + 1)) : std::nullopt;
    kept.push_back(number ? fmt::format("{}={:#x}", key, *number) : std::string(field));
  }
  std::sort(kept.begin(), kept.end());
  return fmt::format("set(tunnel({}))", fmt::join(kept, ","));
}

/// Replaces the port between `before` and the next ')'.
void name_port(std::string& action, std::string_view before, const PortNames& ports) {
  const std::size_t start = action.rfind(before);
  const std::size_t end = action.find(')', start);
  if (start != std::string::npos && end != std::string::npos) {
    const std::size_t at = start + before.size();
    action.replace(at, end - at, ports.of_datapath(action.substr(at, end - at)));
  }
}

std::string without_pid(std::string_view action) {
  constexpr std::string_view kPid = "userspace(pid=";
  const std::size_t end = action.find_first_of(",)", kPid.size());
  if (!starts_with(action, kPid) || end == std::string_view::npos) {
    return std::string(action);
  }
  const std::string_view rest = action.substr(action[end] == ',' ? end + 1 : end);
  return fmt::format("userspace({}", rest);
}

std::string words_of(std::string_view action, const PortNames& ports, const TunnelFields& keep) {
  if (action.find('(') == std::string_view::npos) {
    return ports.of_datapath(action);
  }
  if (starts_with(action, kTunnel)) {
    return tunnel_words(action, keep);
  }
  if (starts_with(action, "recirc(")) {
    return "recirc";
  }
  if (starts_with(action, "userspace(")) {
    return without_pid(action);
  }
  std::string words(action);
  if (starts_with(action, "tnl_push(")) {
    name_port(words, "tnl_port(", ports);
    name_port(words, "out_port(", ports);
  } else if (starts_with(action, "tnl_pop(")) {
    name_port(words, "tnl_pop(", ports);
  }
  return words;
}

const MatchField* parameter(const TcAction& action, std::string_view key) {
  return find_field(action.parameters, key);
}

std::string tunnel_of(const TcAction& action) {
  struct Pair {
    std::string_view tc;
    std::string_view datapath;
  };

  constexpr std::array<Pair, 6> kPairs = {{{"key_id", "tun_id"},
                                           {"src_ip", "src"},
                                           {"dst_ip", "dst"},
                                           {"tos", "tos"},
                                           {"ttl", "ttl"},
                                           {"dst_port", "tp_dst"}}};
  std::vector<std::string> fields;
  for (const Pair& pair : kPairs) {
    if (const MatchField* found = parameter(action, pair.tc)) {
      const bool v6 = found->value.find(':') != std::string::npos;
      fields.push_back(fmt::format("{}{}={}", v6 ? "ipv6_" : "", pair.datapath, found->value));
    }
  }
  return fmt::format("set(tunnel({}))", fmt::join(fields, ","));
}

std::string vlan_of(const TcAction& action) {
  const MatchField* id = parameter(action, "id");
  const MatchField* priority = parameter(action, "priority");
  return fmt::format("push_vlan(vid={},pcp={})",
                     id == nullptr ? "0" : id->value,
                     priority == nullptr ? "0" : priority->value);
}

/// False if the action has no word in the datapath's language.
bool append_action(const TcAction& action, std::vector<std::string>& words) {
  if (action.kind == "mirred") {
    words.push_back(action.device);
    return true;
  }
  if (action.kind == "gact") {
    if (action.verb != "pipe") {
      words.push_back(action.verb);
    }
    return true;
  }
  if (action.kind == "tunnel_key") {
    // Taking a tunnel header off is no action of the datapath.
    if (action.verb == "set") {
      words.push_back(tunnel_of(action));
    }
    return true;
  }
  if (action.kind == "vlan" && (action.verb == "push" || action.verb == "pop")) {
    words.push_back(action.verb == "pop" ? "pop_vlan" : vlan_of(action));
    return true;
  }
  return action.kind == "csum";
}

}  // namespace

TunnelFields tunnel_fields(std::string_view actions) {
  TunnelFields common(kOptional.begin(), kOptional.end());
  const auto parts = split_at_commas(actions);
  if (!parts) {
    return common;
  }
  for (const std::string_view action : *parts) {
    if (starts_with(action, kTunnel)) {
      TunnelFields printed;
      for (const std::string_view field : fields_of(action)) {
        printed.emplace(key_of(field));
      }
      common = common_fields(common, printed);
    }
  }
  return common;
}

TunnelFields common_fields(const TunnelFields& a, const TunnelFields& b) {
  TunnelFields common;
  std::set_intersection(
      a.begin(), a.end(), b.begin(), b.end(), std::inserter(common, common.end()));
  return common;
}

std::string datapath_action_words(std::string_view actions,
                                  const PortNames& ports,
                                  const TunnelFields& keep) {
  const auto parts = split_at_commas(actions);
  if (!parts) {
    return std::string(actions);
  }
  std::vector<std::string> words;
  for (const std::string_view action : *parts) {
    if (!action.empty()) {
      words.push_back(words_of(action, ports, keep));
    }
  }
  return fmt::format("{}", fmt::join(words, ","));
}

std::optional<std::string> datapath_actions_of(const TcFilter& filter) {
  std::vector<std::string> words;
  for (const TcAction& action : filter.actions) {
    if (!append_action(action, words)) {
      return std::nullopt;
    }
  }
  return fmt::format("{}", fmt::join(words, ","));
}

}  // namespace bonescan::backend_ovs
