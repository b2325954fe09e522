#include "detectors/backend_peers/peer_message.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <utility>

namespace bonescan {
namespace {

using Json = nlohmann::json;

constexpr std::array<std::pair<std::string_view, PeerState>, 4> kStates = {{
    {"starting", PeerState::kStarting},
    {"ready", PeerState::kReady},
    {"stopping", PeerState::kStopping},
    {"gone", PeerState::kGone},
}};

constexpr std::array<std::pair<std::string_view, GoodbyeReason>, 2> kReasons = {{
    {"stopping", GoodbyeReason::kStopping},
    {"refused", GoodbyeReason::kRefused},
}};

constexpr std::uint64_t kHighestQpn = 0xFFFFFF;  // 24 bits on the wire

template <class Table, class Value>
std::string_view name_in(const Table& table, Value value) {
  const auto found = std::find_if(
      table.begin(), table.end(), [value](const auto& row) { return row.second == value; });
  return found == table.end() ? std::string_view("?") : found->first;
}

Expected<std::uint64_t> count_of(const Json& value, const char* key, std::uint64_t highest) {
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > highest) {
    return fail(ErrorCode::kInvalid,
                fmt::format("{} is not a whole number up to {}", key, highest));
  }
  return value.get<std::uint64_t>();
}

Expected<GidBytes> parse_gid(std::string_view text) {
  const std::optional<GidBytes> gid = gid_from_text(text);
  if (!gid || *gid == GidBytes{}) {
    return fail(ErrorCode::kInvalid, "gid is not the address of anybody");
  }
  return *gid;
}

/// The value of a key, or null.
const Json& value_of(const Json& object, const char* key) {
  static const Json kNothing;
  const auto found = object.find(key);
  return found == object.end() ? kNothing : *found;
}

Expected<std::uint64_t> read_count(const Json& object, const char* key, std::uint64_t highest) {
  return count_of(value_of(object, key), key, highest);
}

Expected<std::string> read_text(const Json& object, const char* key) {
  const Json& value = value_of(object, key);
  const auto* text = value.get_ptr<const std::string*>();
  if (text == nullptr || text->empty() || text->size() > kMaxPeerNameBytes) {
    return fail(ErrorCode::kInvalid,
                fmt::format("{} is not a text of 1 to {} bytes", key, kMaxPeerNameBytes));
  }
  return *text;
}

Expected<std::vector<std::uint32_t>> read_qpns(const Json& object) {
  const Json& list = value_of(object, "qpns");
  if (!list.is_array() || list.empty() || list.size() > kMaxQpnsPerEndpoint) {
    return fail(ErrorCode::kInvalid,
                fmt::format("qpns is not a list of 1 to {}", kMaxQpnsPerEndpoint));
  }
  std::vector<std::uint32_t> qpns;
  for (const Json& item : list) {
    const auto qpn = count_of(item, "qpn", kHighestQpn);
    if (!qpn) {
      return tl::unexpected(qpn.error());
    }
    qpns.push_back(static_cast<std::uint32_t>(*qpn));
  }
  return qpns;
}

Expected<PeerAddress> read_address(const Json& object, bool complete) {
  PeerAddress address;
  const auto epoch =
      read_count(object, "epoch", std::numeric_limits<decltype(address.epoch)>::max());
  if (!epoch) {
    return tl::unexpected(epoch.error());
  }
  address.epoch = static_cast<decltype(address.epoch)>(*epoch);
  if (!complete) {
    return address;
  }
  const auto text = read_text(object, "gid");
  const auto gid = text.and_then([](const std::string& printed) { return parse_gid(printed); });
  auto qpns = read_qpns(object);
  const auto q_key = read_count(object, "q_key", std::numeric_limits<std::uint32_t>::max());
  if (!gid || !qpns || !q_key) {
    return tl::unexpected(!gid ? gid.error() : !qpns ? qpns.error() : q_key.error());
  }
  address.gid = *gid;
  address.qpns = std::move(*qpns);
  address.q_key = static_cast<std::uint32_t>(*q_key);
  return address;
}

Expected<EndpointNotice> read_notice(const Json& object) {
  if (!object.is_object()) {
    return fail(ErrorCode::kInvalid, "an endpoint is not an object");
  }
  auto name = read_text(object, "name");
  const auto state = read_text(object, "state");
  if (!name || !state) {
    return tl::unexpected(!name ? name.error() : state.error());
  }
  const auto row = std::find_if(
      kStates.begin(), kStates.end(), [&](const auto& known) { return known.first == *state; });
  if (row == kStates.end()) {
    return fail(ErrorCode::kInvalid, "state is none of starting, ready, stopping, gone");
  }
  auto address = read_address(object, row->second == PeerState::kReady);
  if (!address) {
    return tl::unexpected(address.error());
  }
  return EndpointNotice{std::move(*name), row->second, std::move(*address)};
}

Expected<PeerMessage> read_hello(const Json& object) {
  HelloMessage hello;
  const auto version =
      read_count(object, "version", std::numeric_limits<decltype(hello.version)>::max());
  if (!version) {
    return tl::unexpected(version.error());
  }
  hello.version = static_cast<std::uint32_t>(*version);
  if (hello.version != kPeerProtocolVersion) {
    return hello;  // what else another version says is not ours to judge
  }
  auto host = read_text(object, "host");
  const auto epoch = read_count(object, "agent_epoch", std::numeric_limits<std::uint64_t>::max());
  if (!host || !epoch) {
    return tl::unexpected(!host ? host.error() : epoch.error());
  }
  hello.host = std::move(*host);
  hello.agent_epoch = *epoch;
  return hello;
}

Expected<PeerMessage> read_endpoints(const Json& object) {
  const Json& list = value_of(object, "endpoints");
  if (!list.is_array() || list.size() > kMaxNoticesPerMessage) {
    return fail(ErrorCode::kInvalid,
                fmt::format("endpoints is not a list of at most {}", kMaxNoticesPerMessage));
  }
  EndpointsMessage message;
  for (const Json& item : list) {
    auto notice = read_notice(item);
    if (!notice) {
      return tl::unexpected(notice.error());
    }
    message.endpoints.push_back(std::move(*notice));
  }
  return message;
}

Expected<PeerMessage> read_goodbye(const Json& object) {
  const auto reason = read_text(object, "reason");
  const auto row = std::find_if(kReasons.begin(), kReasons.end(), [&](const auto& known) {
    return reason && known.first == *reason;
  });
  // Reasons that a newer agent may have are refusals to us.
  return GoodbyeMessage{row == kReasons.end() ? GoodbyeReason::kRefused : row->second};
}

template <class Message>
Expected<PeerMessage> read_numbered(const Json& object) {
  const auto id = read_count(object, "id", std::numeric_limits<std::uint64_t>::max());
  if (!id) {
    return tl::unexpected(id.error());
  }
  return Message{*id};
}

Json json_of(const EndpointNotice& notice) {
  Json object = {
      {"name", notice.name}, {"state", to_string(notice.state)}, {"epoch", notice.address.epoch}};
  if (notice.state == PeerState::kReady) {
    object["gid"] = gid_text(notice.address.gid);
    object["qpns"] = notice.address.qpns;
    object["q_key"] = notice.address.q_key;
  }
  return object;
}

struct JsonOf {
  Json operator()(const UnknownMessage&) const { return {{"type", "unknown"}}; }

  Json operator()(const HelloMessage& hello) const {
    return {{"type", "hello"},
            {"version", hello.version},
            {"host", hello.host},
            {"agent_epoch", hello.agent_epoch}};
  }

  Json operator()(const EndpointsMessage& message) const {
    Json list = Json::array();
    for (const EndpointNotice& notice : message.endpoints) {
      list.push_back(json_of(notice));
    }
    return {{"type", "endpoints"}, {"endpoints", std::move(list)}};
  }

  Json operator()(const PingMessage& ping) const { return {{"type", "ping"}, {"id", ping.id}}; }

  Json operator()(const PongMessage& pong) const { return {{"type", "pong"}, {"id", pong.id}}; }

  Json operator()(const GoodbyeMessage& goodbye) const {
    return {{"type", "goodbye"}, {"reason", name_in(kReasons, goodbye.reason)}};
  }
};

}  // namespace

std::string_view to_string(PeerState state) {
  return name_in(kStates, state);
}

std::string encode_peer_message(const PeerMessage& message) {
  // Names come from a configuration: text that is no UTF-8 must not throw here.
  constexpr int kOneLine = -1;
  constexpr bool kEscapeNothing = false;
  return std::visit(JsonOf{}, message)
             .dump(kOneLine, ' ', kEscapeNothing, Json::error_handler_t::replace) +
         '\n';
}

std::string encode_notices(std::span<const EndpointNotice> notices) {
  std::string lines;
  while (!notices.empty()) {
    const auto part = notices.first(std::min(notices.size(), kMaxNoticesPerMessage));
    lines += encode_peer_message(EndpointsMessage{{part.begin(), part.end()}});
    notices = notices.subspan(part.size());
  }
  return lines;
}

Expected<PeerMessage> decode_peer_message(std::string_view line) {
  constexpr bool kAllowExceptions = false;
  const Json object = Json::parse(line, nullptr, kAllowExceptions);
  if (!object.is_object()) {
    return fail(ErrorCode::kInvalid, "not a JSON object");
  }
  const auto type = read_text(object, "type");
  if (!type) {
    return tl::unexpected(type.error());
  }
  if (*type == "hello") {
    return read_hello(object);
  }
  if (*type == "endpoints") {
    return read_endpoints(object);
  }
  if (*type == "ping") {
    return read_numbered<PingMessage>(object);
  }
  if (*type == "pong") {
    return read_numbered<PongMessage>(object);
  }
  if (*type == "goodbye") {
    return read_goodbye(object);
  }
  return UnknownMessage{};
}

}  // namespace bonescan
