#include "detectors/backend_ovs/datapath_exit.h"

#include "detectors/backend_ovs/parse/match_scan.h"
#include "detectors/backend_ovs/parse/text_scan.h"

#include <algorithm>

namespace bonescan::backend_ovs {
namespace {

/// "clone.tnl_push.header" -> "tnl_push.header".
std::string_view without_clones(std::string_view key) {
  while (take_prefix(key, "clone.")) {
  }
  return key;
}

bool is_part(std::string_view key, std::string_view group) {
  return key.substr(0, group.size()) == group;
}

/// A rewrite of a whole field has no mask, or one without a zero.
bool is_whole(const MatchField& field) {
  return field.mask.find('0') == std::string::npos;
}

void take_tunnel(std::string_view key, const MatchField& field, TunnelExit& tunnel) {
  const auto ends_in = [key](std::string_view tail) {
    return key.size() >= tail.size() && key.substr(key.size() - tail.size()) == tail;
  };
  if (ends_in(".ipv4.src") || ends_in(".ipv6.src") || key == "set.tunnel.src" ||
      key == "set.tunnel.ipv6_src") {
    tunnel.source = field.value;
  } else if (ends_in(".ipv4.dst") || ends_in(".ipv6.dst") || key == "set.tunnel.dst" ||
             key == "set.tunnel.ipv6_dst") {
    tunnel.target = field.value;
  } else if (ends_in(".vni") || ends_in(".key") || key == "set.tunnel.tun_id") {
    tunnel.key = to_number(field.value);
  }
}

void take_edit(std::string_view key, const MatchField& field, HeaderEdits& edits) {
  if (!is_whole(field)) {
    return;
  }
  if (key == "set.eth.src") {
    edits.eth_source = field.value;
  } else if (key == "set.eth.dst") {
    edits.eth_target = field.value;
  } else if (key == "set.ipv4.src" || key == "set.ipv6.src") {
    edits.ip_source = field.value;
  } else if (key == "set.ipv4.dst" || key == "set.ipv6.dst") {
    edits.ip_target = field.value;
  }
}

}  // namespace

DatapathExit read_datapath_exit(std::string_view actions) {
  DatapathExit exit;
  const auto parts = split_at_commas(actions);
  if (!parts) {
    return exit;
  }
  std::vector<MatchField> fields;
  for (std::string_view part : *parts) {
    part = trimmed(part);
    fields.clear();
    if (!scan_match({.number = 1, .text = part}, part, fields)) {
      continue;
    }
    TunnelExit tunnel;
    for (const MatchField& field : fields) {
      const std::string_view key = without_clones(field.key);
      if (is_part(key, "tnl_push.") || is_part(key, "set.tunnel.")) {
        take_tunnel(key, field, tunnel);
      } else if (is_part(key, "set.")) {
        take_edit(key, field, exit.edits);
      } else if (field.value.empty() && key != "drop" && key.find('.') == std::string_view::npos) {
        exit.ports.emplace_back(key);
      }
    }
    if (!tunnel.target.empty()) {
      exit.tunnels.push_back(std::move(tunnel));
    }
  }
  return exit;
}

}  // namespace bonescan::backend_ovs
