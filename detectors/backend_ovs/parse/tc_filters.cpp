#include "detectors/backend_ovs/parse/tc_filters.h"

#include "detectors/backend_ovs/parse/tc_json.h"
#include "detectors/backend_ovs/parse/text_scan.h"

#include <algorithm>
#include <array>
#include <utility>

namespace bonescan::backend_ovs {
namespace {

bool is_control(std::string_view word) {
  constexpr std::array<std::string_view, 8> kControls = {
      "pass", "drop", "pipe", "stolen", "continue", "reclassify", "trap", "ok"};
  return std::find(kControls.begin(), kControls.end(), word) != kControls.end();
}

/// Cuts the last word off if it says how it goes on after the action.
void take_control(std::string_view& rest, std::string& control) {
  const std::size_t blank = rest.find_last_of(" \t");
  const std::string_view last = blank == std::string_view::npos ? rest : rest.substr(blank + 1);
  if (is_control(last)) {
    control = last;
    rest = trimmed(rest.substr(0, blank == std::string_view::npos ? 0 : blank));
  }
}

bool is_hex(std::string_view text) {
  return !text.empty() &&
         text.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
}

/// The head line of a filter, and whether it is one: without a handle it only opens a priority.
struct Head {
  TcFilter filter;
  bool has_handle = false;
};

/// "0x1", or the node of u32's "800::801".
std::uint32_t handle_number(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon != std::string_view::npos) {
    text.remove_prefix(colon + 1);
  }
  return to_number32(text).value_or(0);
}

Expected<Head> read_head(const Line& line) {
  Head head;
  head.filter.line = line.number;
  std::string_view rest = line.text;
  take_word(rest);
  for (std::string_view word = take_word(rest); !word.empty(); word = take_word(rest)) {
    if (word == "protocol") {
      head.filter.protocol = take_word(rest);
    } else if (word == "pref" || word == "chain") {
      const std::string_view text = take_word(rest);
      const auto number = to_number32(text);
      if (!number) {
        return tl::unexpected(expected_in(line, text, "a whole number after pref or chain"));
      }
      (word == "pref" ? head.filter.pref : head.filter.chain) = *number;
    } else if (word == "handle" || word == "fh") {
      const std::string_view text = take_word(rest);
      // u32 lists its hash table like a filter: "fh 800: ht divisor 1".
      head.has_handle = !text.empty() && text.back() != ':';
      head.filter.handle = handle_number(text);
    } else if (word == "dev" || word == "parent" || word == "block") {
      take_word(rest);
    } else if (head.filter.kind.empty() && word != "ingress" && word != "egress") {
      head.filter.kind = word;
    } else if (word == "not_in_hw") {
      head.filter.in_hw = false;
    } else if (word == "in_hw") {
      head.filter.in_hw = true;
    }
  }
  if (head.filter.kind.empty()) {
    return tl::unexpected(expected_in(line, {}, "\"filter protocol P pref N KIND ...\""));
  }
  return head;
}

void take_key(std::string_view text, TcFilter& filter) {
  const std::string_view key = take_word(text);
  std::string_view value = trimmed(text);
  if (key == "skip_sw") {
    filter.skip_sw = true;
  } else if (key == "skip_hw") {
    filter.skip_hw = true;
  } else if (key == "not_in_hw") {
    filter.in_hw = false;
  } else if (key == "in_hw") {
    filter.in_hw = true;
    if (take_prefix(value, "in_hw_count ")) {
      filter.in_hw_count = to_number32(trimmed(value)).value_or(0);
    }
  } else {
    const std::size_t slash = std::min(value.find('/'), value.size());
    filter.keys.push_back({std::string(key),
                           std::string(value.substr(0, slash)),
                           std::string(value.substr(std::min(slash + 1, value.size())))});
  }
}

/// "mirred (Egress Redirect to device eth0) stolen", "gact action drop", "tunnel_key  set".
TcAction read_action(std::string_view text) {
  TcAction action;
  action.kind = take_word(text);
  std::string_view rest = trimmed(text);
  take_control(rest, action.control);
  if (action.kind == "mirred") {
    action.verb = rest.find("Redirect") != std::string_view::npos ? "redirect" : "mirror";
    constexpr std::string_view kDevice = "to device ";
    const std::size_t at = rest.find(kDevice);
    if (at != std::string_view::npos) {
      const std::string_view device = rest.substr(at + kDevice.size());
      action.device = device.substr(0, device.find(')'));
    }
    return action;
  }
  if (action.kind == "gact") {
    action.verb = action.control;
    return action;
  }
  action.verb = take_word(rest);
  for (std::string_view word = take_word(rest); !word.empty(); word = take_word(rest)) {
    action.parameters.push_back({std::string(word), std::string(take_word(rest)), ""});
  }
  return action;
}

/// "Sent 2520 bytes 30 pkt (dropped ...", "Sent hardware 94822062 bytes 764694 pkt"
Expected<void> take_sent(const Line& line, std::string_view text, TcAction& action) {
  std::string_view word = take_word(text);
  const bool hardware = word == "hardware";
  const bool software = word == "software";
  if (hardware || software) {
    word = take_word(text);
  }
  const auto bytes = to_number(word);
  take_word(text);
  const auto packets = to_number(take_word(text));
  if (!bytes || !packets) {
    return tl::unexpected(expected_in(line, {}, "\"Sent N bytes N pkt\""));
  }
  if (hardware) {
    action.hardware_packets = *packets;
  } else if (!software) {
    action.packets = *packets;
    action.bytes = *bytes;
  }
  return {};
}

/// "index 4 ref 1 bind 1 installed 3 sec used 0 sec"
void take_times(std::string_view text, TcAction& action) {
  for (std::string_view word = take_word(text); !word.empty(); word = take_word(text)) {
    if (word == "used") {
      action.last_used_s = to_number32(take_word(text)).value_or(0);
    }
  }
}

bool says_nothing(std::string_view key) {
  constexpr std::array<std::string_view, 6> kKeys = {
      "Action", "backlog", "no_percpu", "used_hw_stats", "random", "rate"};
  return std::find(kKeys.begin(), kKeys.end(), key) != kKeys.end();
}

Expected<void> take_action_line(const Line& line, TcAction& action) {
  std::string_view rest = trimmed(line.text);
  const std::string_view key = take_word(rest);
  rest = trimmed(rest);
  if (key == "Sent") {
    return take_sent(line, rest, action);
  }
  if (key == "index") {
    take_times(rest, action);
  } else if (key == "cookie") {
    if (!is_hex(rest)) {
      return tl::unexpected(expected_in(line, rest, "a cookie of hex digits"));
    }
    action.cookie = rest;
  } else if (!says_nothing(key)) {
    if (is_control(key) && rest.empty()) {
      action.control = key;
      return {};
    }
    take_control(rest, action.control);
    action.parameters.push_back({std::string(key), std::string(rest), ""});
  }
  return {};
}

class TextReader final {
 public:
  Expected<void> take(const Line& line) {
    constexpr std::string_view kAction = "action order ";
    std::string_view text = trimmed(line.text);
    if (line.text.substr(0, 7) == "filter ") {
      Expected<Head> head = read_head(line);
      if (!head) {
        return tl::unexpected(std::move(head.error()));
      }
      open_ = head->has_handle;
      if (open_) {
        filters.push_back(std::move(head->filter));
      }
      return {};
    }
    if (!open_) {
      return tl::unexpected(expected_in(line, {}, "\"filter protocol P pref N KIND ...\""));
    }
    TcFilter& filter = filters.back();
    if (take_prefix(text, kAction)) {
      const std::size_t colon = text.find(':');
      if (colon == std::string_view::npos) {
        return tl::unexpected(expected_in(line, {}, "\"action order N: KIND ...\""));
      }
      filter.actions.push_back(read_action(text.substr(colon + 1)));
    } else if (filter.actions.empty()) {
      take_key(text, filter);
    } else {
      return take_action_line(line, filter.actions.back());
    }
    return {};
  }

  std::vector<TcFilter> filters;

 private:
  bool open_ = false;  ///< lines may follow that belong to the last filter
};

}  // namespace

std::uint64_t TcFilter::packets() const {
  std::uint64_t most = 0;
  for (const TcAction& action : actions) {
    most = std::max(most, action.packets);
  }
  return most;
}

std::uint64_t TcFilter::hardware_packets() const {
  std::uint64_t most = 0;
  for (const TcAction& action : actions) {
    most = std::max(most, action.hardware_packets.value_or(0));
  }
  return most;
}

std::uint32_t TcFilter::last_used_s() const {
  std::uint32_t least = actions.empty() ? 0 : actions.front().last_used_s;
  for (const TcAction& action : actions) {
    least = std::min(least, action.last_used_s);
  }
  return least;
}

std::string_view TcFilter::cookie() const {
  for (const TcAction& action : actions) {
    if (!action.cookie.empty()) {
      return action.cookie;
    }
  }
  return {};
}

std::string cookie_of_ufid(std::string_view ufid) {
  std::string digits;
  for (const char c : ufid.substr(0, 40)) {
    if (c != '-') {
      digits.push_back(c);
    }
  }
  if (digits.size() != 32 || !is_hex(digits)) {
    return "";
  }
  // A ufid is four 32-bit words, which tc prints byte by byte as they lie in memory.
  std::string cookie;
  for (std::size_t word = 0; word < digits.size(); word += 8) {
    for (std::size_t byte = 8; byte > 0; byte -= 2) {
      cookie += digits.substr(word + byte - 2, 2);
    }
  }
  return cookie;
}

Expected<std::vector<TcFilter>> parse_tc_filters(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && text[first] == '[') {
    return parse_tc_json(text);
  }
  TextReader reader;
  const Expected<void> read =
      for_each_line(text, [&reader](const Line& line) { return reader.take(line); });
  if (!read) {
    return tl::unexpected(read.error());
  }
  return std::move(reader.filters);
}

}  // namespace bonescan::backend_ovs
