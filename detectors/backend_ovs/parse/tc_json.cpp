#include "detectors/backend_ovs/parse/tc_json.h"

#include "detectors/backend_ovs/parse/text_scan.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <string>

namespace bonescan::backend_ovs {
namespace {

using nlohmann::json;

/// tc nests five deep; much deeper input is not tc's.
constexpr std::size_t kDeepestJson = 32;

/// The position of byte `offset` as "line:column".
std::string place_of(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const std::size_t start = before.rfind('\n');
  return fmt::format(
      "{}:{}", line, before.size() - (start == std::string_view::npos ? 0 : start + 1) + 1);
}

tl::unexpected<Error> bad_json(std::string_view text, std::size_t offset, std::string_view what) {
  return fail(ErrorCode::kInvalid, fmt::format("{}: expected {}", place_of(text, offset), what));
}

/// Where brackets get too deep; nullopt if nowhere.
std::optional<std::size_t> too_deep(std::string_view text) {
  std::size_t depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      i += c == '\\' ? 1 : 0;
      quoted = c != '"';
    } else if (c == '"') {
      quoted = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kDeepestJson) {
        return i;
      }
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
  return std::nullopt;
}

const json& member(const json& object, const char* key) {
  static const json kNothing;
  if (!object.is_object()) {
    return kNothing;
  }
  const auto found = object.find(key);
  return found == object.end() ? kNothing : *found;
}

std::string text_of(const json& value) {
  if (value.is_string()) {
    return value.get_ref<const std::string&>();
  }
  if (value.is_boolean() || value.is_null()) {
    return "";
  }
  return value.dump(-1, ' ', true, json::error_handler_t::replace);
}

std::uint64_t number_of(const json& value) {
  if (value.is_number_unsigned()) {
    return value.get<std::uint64_t>();
  }
  // u32 writes handles as text.
  return value.is_string() ? to_number(value.get_ref<const std::string&>()).value_or(0) : 0;
}

std::uint32_t number32_of(const json& value) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(number_of(value), UINT32_MAX));
}

bool is_true(const json& value) {
  return value.is_boolean() && value.get<bool>();
}

MatchField field_of(const std::string& key, const json& value) {
  const std::string text = text_of(value);
  const std::size_t slash = std::min(text.find('/'), text.size());
  return {key, text.substr(0, slash), text.substr(std::min(slash + 1, text.size()))};
}

/// u32 lists its hash table like a filter: "fh": "800:".
bool is_node(const json& handle) {
  const std::string text = text_of(handle);
  return !text.empty() && text.back() != ':';
}

/// Keys that every action has, or that are read apart.
bool is_frame(std::string_view key) {
  constexpr std::array<std::string_view, 19> kFrame = {"order",
                                                       "kind",
                                                       "control_action",
                                                       "index",
                                                       "ref",
                                                       "bind",
                                                       "stats",
                                                       "installed",
                                                       "last_used",
                                                       "first_used",
                                                       "cookie",
                                                       "no_percpu",
                                                       "to_dev",
                                                       "direction",
                                                       "mirred_action",
                                                       "mode",
                                                       "used_hw_stats",
                                                       "not_in_hw",
                                                       "vlan_action"};
  return std::find(kFrame.begin(), kFrame.end(), key) != kFrame.end();
}

TcAction action_of(const json& value) {
  TcAction action;
  action.kind = text_of(member(value, "kind"));
  action.device = text_of(member(value, "to_dev"));
  action.control = text_of(member(member(value, "control_action"), "type"));
  action.cookie = text_of(member(value, "cookie"));
  for (const char* key : {"mirred_action", "mode", "vlan_action"}) {
    if (member(value, key).is_string()) {
      action.verb = text_of(member(value, key));
    }
  }
  if (action.kind == "gact") {
    action.verb = action.control;
  }
  const json& stats = member(value, "stats");
  action.packets = number_of(member(stats, "packets"));
  action.bytes = number_of(member(stats, "bytes"));
  if (member(stats, "hw_packets").is_number_unsigned()) {
    action.hardware_packets = number_of(member(stats, "hw_packets"));
  }
  action.last_used_s = number32_of(member(value, "last_used"));
  for (const auto& [key, parameter] : value.items()) {
    if (!is_frame(key) && !parameter.is_structured()) {
      action.parameters.push_back(field_of(key, parameter));
    }
  }
  return action;
}

TcFilter filter_of(const json& element, const json& options) {
  TcFilter filter;
  filter.line = 1;
  filter.protocol = text_of(member(element, "protocol"));
  filter.kind = text_of(member(element, "kind"));
  filter.pref = number32_of(member(element, "pref"));
  filter.chain = number32_of(member(element, "chain"));
  filter.handle = number32_of(member(options, "handle"));
  filter.skip_sw = is_true(member(options, "skip_sw"));
  filter.skip_hw = is_true(member(options, "skip_hw"));
  if (is_true(member(options, "in_hw"))) {
    filter.in_hw = true;
  } else if (is_true(member(options, "not_in_hw"))) {
    filter.in_hw = false;
  }
  filter.in_hw_count = number32_of(member(options, "in_hw_count"));
  const json& keys = member(options, "keys");
  if (keys.is_object()) {
    for (const auto& [key, value] : keys.items()) {
      filter.keys.push_back(field_of(key, value));
    }
  }
  const json& actions = member(options, "actions");
  if (actions.is_array()) {
    for (const json& action : actions) {
      if (action.is_object()) {
        filter.actions.push_back(action_of(action));
      }
    }
  }
  return filter;
}

Expected<std::vector<TcFilter>> filters_of(std::string_view text, const json& document) {
  std::vector<TcFilter> filters;
  if (!document.is_array()) {
    return bad_json(text, 0, "an array of filters, as tc -j prints it");
  }
  for (const json& element : document) {
    if (!element.is_object()) {
      return bad_json(text, 0, "every element of the array to be a filter");
    }
    // Without a handle it only opens a priority.
    const json& options = member(element, "options");
    const json& handle = member(options, "handle");
    if (handle.is_null() && !is_node(member(options, "fh"))) {
      continue;
    }
    filters.push_back(filter_of(element, options));
  }
  return filters;
}

}  // namespace

Expected<std::vector<TcFilter>> parse_tc_json(std::string_view text) {
  if (text.size() > kLongestInput) {
    return tl::unexpected(internal::too_long(text.size()));
  }
  if (const auto deep = too_deep(text)) {
    return bad_json(text, *deep, "JSON with fewer brackets inside each other");
  }
  try {
    return filters_of(text, json::parse(text));
  } catch (const json::parse_error& error) {
    return bad_json(text, error.byte == 0 ? 0 : error.byte - 1, "JSON, as tc -j prints it");
  } catch (const json::exception&) {
    return bad_json(text, 0, "JSON with numbers of 64 bits");
  }
}

}  // namespace bonescan::backend_ovs
