#include "detectors/backend_peers/peer_session.h"

#include "sim/base/check.h"

#include <chrono>
#include <utility>

namespace bonescan {

std::string_view to_string(CloseReason reason) {
  constexpr std::array<std::string_view, kCloseReasonCount> kNames = {"refused",
                                                                      "reset",
                                                                      "end",
                                                                      "timeout",
                                                                      "no route",
                                                                      "local error",
                                                                      "goodbye",
                                                                      "turned away",
                                                                      "garbage",
                                                                      "oversized line",
                                                                      "out of turn",
                                                                      "version mismatch",
                                                                      "wrong host",
                                                                      "flooding",
                                                                      "backlog",
                                                                      "stopped"};
  return kNames[static_cast<std::size_t>(reason)];
}

PeerSession::PeerSession(Role role,
                         const PeerSessionOptions& options,
                         const HelloMessage& own,
                         Time now)
    : role_(role), options_(options), heard_at_(now), asked_at_(now), second_begin_(now) {
  say(encode_peer_message(own));
}

std::vector<EndpointNotice> PeerSession::take_notices() {
  return std::exchange(notices_, {});
}

void PeerSession::receive(std::string_view bytes, Time now) {
  while (!closed_ && !bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    const std::size_t part = end == std::string_view::npos ? bytes.size() : end;
    if (input_.size() + part > options_.max_line_bytes) {
      return close(CloseReason::kOversizedLine);
    }
    input_.append(bytes.substr(0, part));
    if (end == std::string_view::npos) {
      return;
    }
    bytes.remove_prefix(end + 1);
    const std::string line = std::exchange(input_, {});
    read_line(line, now);
  }
}

void PeerSession::read_line(std::string_view line, Time now) {
  auto message = decode_peer_message(line);
  if (!message) {
    return close(CloseReason::kGarbage);
  }
  auto* endpoints = std::get_if<EndpointsMessage>(&*message);
  if (!within_rate(1 + (endpoints == nullptr ? 0 : endpoints->endpoints.size()), now)) {
    return close(CloseReason::kFlooding);
  }
  heard_at_ = now;
  if (const auto* goodbye = std::get_if<GoodbyeMessage>(&*message)) {
    closed_ = goodbye->reason == GoodbyeReason::kStopping ? CloseReason::kGoodbye
                                                          : CloseReason::kTurnedAway;
  } else if (const auto* hello = std::get_if<HelloMessage>(&*message)) {
    greet(*hello);
  } else if (!peer_) {
    close(CloseReason::kOutOfTurn);
  } else if (const auto* ping = std::get_if<PingMessage>(&*message)) {
    say(encode_peer_message(PongMessage{ping->id}));
  } else if (endpoints != nullptr) {
    take(std::move(*endpoints));
  }
}

void PeerSession::greet(const HelloMessage& hello) {
  if (peer_) {
    close(CloseReason::kOutOfTurn);
  } else if (hello.version != kPeerProtocolVersion) {
    close(CloseReason::kVersionMismatch);
  } else {
    peer_ = hello;
  }
}

void PeerSession::take(EndpointsMessage message) {
  if (role_ == Role::kListener) {
    return close(CloseReason::kOutOfTurn);
  }
  for (EndpointNotice& notice : message.endpoints) {
    notices_.push_back(std::move(notice));
  }
}

bool PeerSession::within_rate(std::size_t items, Time now) {
  if (now - second_begin_ >= std::chrono::seconds(1)) {
    second_begin_ = now;
    items_in_second_ = 0;
  }
  items_in_second_ += items;
  return items_in_second_ <= options_.max_items_per_second;
}

void PeerSession::tick(Time now) {
  if (closed_) {
    return;
  }
  if (now - heard_at_ > options_.deadline) {
    return close(CloseReason::kTimeout);
  }
  if (role_ == Role::kDialer && peer_ && now - asked_at_ >= options_.keep_alive) {
    asked_at_ = now;
    say(encode_peer_message(PingMessage{next_ping_++}));
  }
}

void PeerSession::announce(std::span<const EndpointNotice> notices) {
  BONESCAN_CHECK(role_ == Role::kListener);
  if (!closed_ && !notices.empty()) {
    say(encode_notices(notices));
  }
}

void PeerSession::say(std::string_view line) {
  output_ += line;
  if (output_.size() > options_.max_backlog_bytes) {
    // Part of a line may be on its way already: nothing more can be said.
    output_.clear();
    closed_ = CloseReason::kBacklog;
  }
}

void PeerSession::stop() {
  if (!closed_) {
    say(encode_peer_message(GoodbyeMessage{GoodbyeReason::kStopping}));
    closed_ = CloseReason::kStopped;
  }
}

void PeerSession::close(CloseReason reason) {
  if (closed_) {
    return;
  }
  notices_.clear();
  if (reason != CloseReason::kTimeout) {
    say(encode_peer_message(GoodbyeMessage{GoodbyeReason::kRefused}));
  }
  closed_ = reason;
}

void PeerSession::transport_ended(CloseReason reason) {
  if (!closed_) {
    closed_ = reason;
  }
}

}  // namespace bonescan
