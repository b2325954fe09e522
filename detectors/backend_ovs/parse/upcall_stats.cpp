#include "detectors/backend_ovs/parse/upcall_stats.h"

#include "detectors/backend_ovs/parse/text_scan.h"

#include <utility>

namespace bonescan::backend_ovs {
namespace {

std::size_t indent_of(std::string_view line) {
  return line.find_first_not_of(' ');
}

/// The number that follows `key` in `text`, up to the next blank or closing parenthesis.
std::optional<std::uint64_t> number_after(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  text.remove_prefix(at + key.size());
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  return to_number(text.substr(0, text.find_first_of(" )")));
}

/// "NAME (TYPE: OPTIONS)", "NAME (TYPE)" or "NAME".
struct NamedPort {
  std::string_view name;
  std::string_view type;
  std::string_view options;
};

NamedPort split_port(std::string_view text) {
  NamedPort port;
  const std::size_t open = text.find('(');
  port.name = trimmed(text.substr(0, open));
  if (open != std::string_view::npos) {
    const std::size_t close = text.rfind(')');
    const std::size_t size =
        close == std::string_view::npos || close < open ? std::string_view::npos : close - open - 1;
    const std::string_view inner = text.substr(open + 1, size);
    const std::size_t colon = inner.find(": ");
    port.type = inner.substr(0, colon);
    port.options = colon == std::string_view::npos ? "" : inner.substr(colon + 2);
  }
  return port;
}

Expected<void> take_flow_counts(const Line& line, UpcallStats& stats) {
  const auto current = number_after(line.text, "(current ");
  const auto average = number_after(line.text, "(avg ");
  const auto most = number_after(line.text, "(max ");
  const auto limit = number_after(line.text, "(limit ");
  if (!current || !average || !most || !limit) {
    return tl::unexpected(
        expected_in(line, {}, "\"flows : (current N) (avg N) (max N) (limit N)\""));
  }
  stats.flows = *current;
  stats.average_flows = *average;
  stats.max_flows = *most;
  stats.flow_limit = *limit;
  return {};
}

/// "23: (keys 3612)"; false if it is something else.
bool take_revalidator(std::string_view key, std::string_view value, UpcallStats& stats) {
  const auto thread = to_number32(key);
  const auto keys = number_after(value, "(keys ");
  if (!thread || !keys) {
    return false;
  }
  stats.revalidators.push_back({*thread, *keys});
  return true;
}

Expected<void> take_upcall_line(const Line& line, UpcallStats& stats) {
  const std::size_t colon = line.text.find(':');
  if (colon == std::string_view::npos) {
    return tl::unexpected(expected_in(line, {}, "\"key : value\""));
  }
  const std::string_view key = trimmed(line.text.substr(0, colon));
  const std::string_view value = trimmed(line.text.substr(colon + 1));
  if (key == "flows") {
    return take_flow_counts(line, stats);
  }
  if (key == "offloaded flows") {
    stats.offloaded_flows = to_number(value);
  } else if (key == "dump duration") {
    const auto duration = to_duration(value);
    if (!duration) {
      return tl::unexpected(expected_in(line, value, "a duration in ms"));
    }
    stats.dump_duration = *duration;
  } else if (key == "ufid enabled") {
    stats.ufid_enabled = value == "true";
  } else {
    take_revalidator(key, value, stats);
  }
  return {};
}

Expected<DatapathPort> read_datapath_port(const Line& line) {
  std::string_view rest = trimmed(line.text);
  take_prefix(rest, "port ");
  const std::size_t colon = rest.find(':');
  const auto number = to_number32(rest.substr(0, colon));
  if (colon == std::string_view::npos || !number) {
    return tl::unexpected(expected_in(line, {}, "\"port NUMBER: NAME\""));
  }
  const NamedPort port = split_port(rest.substr(colon + 1));
  return DatapathPort{
      *number, std::string(port.name), std::string(port.type), std::string(port.options)};
}

/// "hit:7 missed:1 lost:0"
template <class Show>
bool take_lookups(std::string_view text, Show& show) {
  const auto hit = number_after(text, "hit:");
  const auto missed = number_after(text, "missed:");
  show.hit = hit.value_or(0);
  show.missed = missed.value_or(0);
  return hit && missed;
}

Expected<void> take_datapath_line(const Line& line, DatapathShow& show) {
  // Deeper lines are the statistics of -s and of caches.
  if (indent_of(line.text) != 2) {
    return {};
  }
  const std::string_view text = trimmed(line.text);
  if (text.substr(0, 8) == "lookups:") {
    show.lost = number_after(text, "lost:").value_or(0);
    if (!take_lookups(text, show)) {
      return tl::unexpected(expected_in(line, {}, "\"lookups: hit:N missed:N lost:N\""));
    }
  } else if (text.substr(0, 6) == "flows:") {
    show.flows = number_after(text, "flows:").value_or(0);
  } else if (text.substr(0, 5) == "port ") {
    Expected<DatapathPort> port = read_datapath_port(line);
    if (!port) {
      return tl::unexpected(std::move(port.error()));
    }
    show.ports.push_back(std::move(*port));
  }
  return {};
}

/// "    pA 1/5: (system)"
Expected<BridgePort> read_bridge_port(const Line& line) {
  const std::size_t colon = line.text.find(": ");
  std::string_view numbers = line.text.substr(0, colon);
  const std::size_t blank = numbers.rfind(' ');
  BridgePort port;
  port.name = trimmed(numbers.substr(0, blank));
  numbers = blank == std::string_view::npos ? numbers : numbers.substr(blank + 1);
  const std::size_t slash = numbers.find('/');
  const auto openflow = to_number32(numbers.substr(0, slash));
  if (port.name.empty() || slash == std::string_view::npos || !openflow) {
    return tl::unexpected(expected_in(line, {}, "\"NAME OPENFLOW/DATAPATH: (TYPE)\""));
  }
  port.openflow_number = *openflow;
  port.datapath_number = to_number32(numbers.substr(slash + 1));
  const NamedPort named = split_port(colon == std::string_view::npos ? std::string_view{}
                                                                     : line.text.substr(colon + 2));
  port.type = named.type;
  port.options = named.options;
  return port;
}

Expected<void> take_dpif_line(const Line& line, DpifShow& show) {
  if (indent_of(line.text) == 2 && line.text.back() == ':') {
    show.bridges.push_back({std::string(line.text.substr(2, line.text.size() - 3)), {}});
    return {};
  }
  if (show.bridges.empty()) {
    return tl::unexpected(expected_in(line, {}, "\"  BRIDGE:\""));
  }
  Expected<BridgePort> port = read_bridge_port(line);
  if (!port) {
    return tl::unexpected(std::move(port.error()));
  }
  show.bridges.back().ports.push_back(std::move(*port));
  return {};
}

/// Lines without indentation name a datapath, the others tell about it.
template <class Show, class Head, class Body>
Expected<std::vector<Show>> parse_shows(std::string_view text, Head&& head, Body&& body) {
  std::vector<Show> shows;
  const Expected<void> read = for_each_line(text, [&](const Line& line) -> Expected<void> {
    if (indent_of(line.text) == 0) {
      return head(line, shows.emplace_back());
    }
    if (shows.empty()) {
      return tl::unexpected(expected_in(line, {}, "\"DATAPATH:\""));
    }
    return body(line, shows.back());
  });
  if (!read) {
    return tl::unexpected(read.error());
  }
  return shows;
}

template <class Show>
Expected<void> take_name(const Line& line, Show& show) {
  if (line.text.back() != ':') {
    return tl::unexpected(expected_in(line, {}, "\"DATAPATH:\""));
  }
  show.datapath = line.text.substr(0, line.text.size() - 1);
  return {};
}

Expected<void> take_dpif_head(const Line& line, DpifShow& show) {
  const std::size_t colon = line.text.find(": ");
  show.datapath = line.text.substr(0, colon);
  if (colon == std::string_view::npos || !take_lookups(line.text.substr(colon), show)) {
    return tl::unexpected(expected_in(line, {}, "\"DATAPATH: hit:N missed:N\""));
  }
  return {};
}

}  // namespace

Expected<std::vector<UpcallStats>> parse_upcall_show(std::string_view text) {
  return parse_shows<UpcallStats>(text, take_name<UpcallStats>, take_upcall_line);
}

Expected<std::vector<DatapathShow>> parse_datapath_show(std::string_view text) {
  return parse_shows<DatapathShow>(text, take_name<DatapathShow>, take_datapath_line);
}

Expected<std::vector<DpifShow>> parse_dpif_show(std::string_view text) {
  return parse_shows<DpifShow>(text, take_dpif_head, take_dpif_line);
}

}  // namespace bonescan::backend_ovs
