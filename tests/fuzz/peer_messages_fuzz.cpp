#include "detectors/backend_peers/peer_session.h"
#include "tests/fuzz/fuzz_target.h"

using bonescan::PeerSession;

namespace {

/// A session that is told anything keeps to its bounds and can still say why it ended.
void converse(PeerSession::Role role, std::string_view input) {
  const bonescan::PeerSessionOptions options;
  PeerSession session(role, options, {}, bonescan::kStartOfRun);
  const std::size_t half = input.size() / 2;
  session.receive(input.substr(0, half), bonescan::kStartOfRun);
  session.receive(input.substr(half), bonescan::kStartOfRun + std::chrono::milliseconds(1));
  session.tick(bonescan::kStartOfRun + std::chrono::seconds(1));
  if (session.output().size() > options.max_backlog_bytes ||
      (role == PeerSession::Role::kListener && !session.take_notices().empty())) {
    bonescan::fuzz::broken();
  }
}

}  // namespace

BONESCAN_FUZZ_TARGET(peer_messages) {
  const auto message = bonescan::decode_peer_message(input);
  bonescan::fuzz::expect_answer(message);
  if (message) {
    const auto again = bonescan::decode_peer_message(bonescan::encode_peer_message(*message));
    if (!again || *again != *message) {
      bonescan::fuzz::broken();
    }
  }
  converse(PeerSession::Role::kDialer, input);
  converse(PeerSession::Role::kListener, input);
}
