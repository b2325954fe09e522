#include "detectors/backend_peers/peer_message.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace bonescan {
namespace {

GidBytes gid_of(const char* text) {
  return gid_from_text(text).value();
}

EndpointNotice ready_notice() {
  return {"host-0.01/rnic-0",
          PeerState::kReady,
          {gid_of("10.9.0.1"), {17, 0xFFFFFF}, 0x11111111, 0xFFFFFFFFFFFFFFFF}};
}

std::string line_of(const PeerMessage& message) {
  std::string line = encode_peer_message(message);
  EXPECT_EQ(line.back(), '\n');
  line.pop_back();
  return line;
}

TEST(PeerMessage, ComesBackAsItWasSent) {
  const std::vector<PeerMessage> messages = {
      HelloMessage{kPeerProtocolVersion, "host-0.01", 0xFFFFFFFFFFFFFFFF},
      EndpointsMessage{},
      EndpointsMessage{{ready_notice(),
                        {"b", PeerState::kStarting, {{}, {}, 0, 1}},
                        {"c", PeerState::kStopping, {{}, {}, 0, 2}},
                        {"d", PeerState::kGone, {{}, {}, 0, 3}},
                        {"e", PeerState::kReady, {gid_of("fe80::1"), {1}, 0, 0}}}},
      PingMessage{7},
      PongMessage{0xFFFFFFFFFFFFFFFF},
      GoodbyeMessage{GoodbyeReason::kStopping},
      GoodbyeMessage{GoodbyeReason::kRefused},
  };
  for (const PeerMessage& message : messages) {
    const std::string line = line_of(message);
    SCOPED_TRACE(line);
    EXPECT_EQ(line.find('\n'), std::string::npos);
    const auto decoded = decode_peer_message(line);
    ASSERT_TRUE(decoded) << decoded.error().detail;
    EXPECT_EQ(*decoded, message);
  }
}

// The wire format is a promise to other versions: it may not change by accident.
TEST(PeerMessage, LooksAsDocumented) {
  EXPECT_EQ(line_of(HelloMessage{1, "host-0.01", 1790000000}),
            R"({"agent_epoch":1790000000,"host":"host-0.01","type":"hello","version":1})");
  EXPECT_EQ(
      line_of(EndpointsMessage{
          {{"host-0.01/rnic-0", PeerState::kReady, {gid_of("10.9.0.1"), {17, 18}, 286331153, 3}}}}),
      R"({"endpoints":[{"epoch":3,"gid":"::ffff:10.9.0.1","name":"host-0.01/rnic-0",)"
      R"("q_key":286331153,"qpns":[17,18],"state":"ready"}],"type":"endpoints"})");
  EXPECT_EQ(line_of(PingMessage{7}), R"({"id":7,"type":"ping"})");
  EXPECT_EQ(line_of(GoodbyeMessage{}), R"({"reason":"stopping","type":"goodbye"})");
}

TEST(PeerMessage, IgnoresWhatANewerAgentMaySay) {
  EXPECT_EQ(*decode_peer_message(R"({"type":"weather","sun":true})"),
            PeerMessage(UnknownMessage{}));
  EXPECT_EQ(*decode_peer_message(R"({"type":"ping","id":1,"more":{"a":[1,2]}})"),
            PeerMessage(PingMessage{1}));
  EXPECT_EQ(*decode_peer_message(R"({"type":"goodbye","reason":"lunch"})"),
            PeerMessage(GoodbyeMessage{GoodbyeReason::kRefused}));
  // Another version may have another form: only its number counts.
  const auto other = decode_peer_message(R"({"type":"hello","version":2,"host":5})");
  ASSERT_TRUE(other);
  EXPECT_EQ(std::get<HelloMessage>(*other).version, 2U);
}

std::string endpoint_line(const std::string& fields) {
  return R"({"type":"endpoints","endpoints":[{)" + fields + "}]}";
}

TEST(PeerMessage, RefusesWhatIsNoMessage) {
  const std::string start = R"("name":"a","state":"ready","epoch":1,)";
  const std::string too_many_qpns =
      fmt::format("[{}]", fmt::join(std::vector<int>(kMaxQpnsPerEndpoint + 1, 1), ","));
  const std::vector<std::string> lines = {
      "",
      "hello",
      "[]",
      "null",
      "{",
      R"({"type":"ping","id":1} x)",
      "{}",
      R"({"type":5})",
      R"({"type":""})",
      R"({"type":"ping"})",
      R"({"type":"ping","id":-1})",
      R"({"type":"ping","id":1.5})",
      R"({"type":"ping","id":"1"})",
      R"({"type":"ping","id":18446744073709551616})",
      R"({"type":"hello","version":1,"agent_epoch":1})",
      R"({"type":"hello","version":1,"host":"","agent_epoch":1})",
      R"({"type":"hello","version":1,"host":"a"})",
      R"({"type":"hello","version":4294967296,"host":"a","agent_epoch":1})",
      R"({"type":"goodb)"
      "\xff"
      R"(ye"})",
      R"({"type":"endpoints"})",
      R"({"type":"endpoints","endpoints":{}})",
      R"({"type":"endpoints","endpoints":[1]})",
      endpoint_line(R"("name":"a","state":"asleep","epoch":1)"),
      endpoint_line(R"("name":"a","state":"gone")"),
      endpoint_line(R"("state":"gone","epoch":1)"),
      endpoint_line(R"("name":")" + std::string(kMaxPeerNameBytes + 1, 'a') +
                    R"(","state":"gone","epoch":1)"),
      endpoint_line(start + R"("qpns":[1],"q_key":1)"),
      endpoint_line(start + R"("gid":"10.9.0","qpns":[1],"q_key":1)"),
      endpoint_line(start + R"("gid":"::","qpns":[1],"q_key":1)"),
      endpoint_line(start + R"("gid":"fe80::1","q_key":1)"),
      endpoint_line(start + R"("gid":"fe80::1","qpns":[],"q_key":1)"),
      endpoint_line(start + R"("gid":"fe80::1","qpns":[16777216],"q_key":1)"),
      endpoint_line(start + R"("gid":"fe80::1","qpns":["1"],"q_key":1)"),
      endpoint_line(start + R"("gid":"fe80::1","qpns":)" + too_many_qpns + R"(,"q_key":1)"),
      endpoint_line(start + R"("gid":"fe80::1","qpns":[1])"),
      endpoint_line(start + R"("gid":"fe80::1","qpns":[1],"q_key":4294967296)"),
      std::string(30'000, '['),
  };
  for (const std::string& line : lines) {
    SCOPED_TRACE(line.substr(0, 100));
    const auto decoded = decode_peer_message(line);
    ASSERT_FALSE(decoded);
    EXPECT_EQ(decoded.error().code, ErrorCode::kInvalid);
    EXPECT_FALSE(decoded.error().detail.empty());
  }
}

TEST(PeerMessage, RefusesMoreEndpointsThanAnybodySends) {
  std::string many = R"({"name":"a","state":"gone","epoch":1})";
  for (std::size_t i = 1; i < kMaxNoticesPerMessage; ++i) {
    many += R"(,{"name":"a","state":"gone","epoch":1})";
  }
  const std::string head = R"({"type":"endpoints","endpoints":[)";
  EXPECT_TRUE(decode_peer_message(head + many + "]}"));
  EXPECT_FALSE(decode_peer_message(head + many + R"(,{"name":"a","state":"gone","epoch":1}]})"));
}

TEST(PeerMessage, LongestListsFitIntoLines) {
  EndpointNotice longest = ready_notice();
  longest.name.assign(kMaxPeerNameBytes, '\x01');  // six bytes each in JSON
  longest.address.qpns.assign(kMaxQpnsPerEndpoint, 0xFFFFFF);
  longest.address.gid = gid_of("fedc:fedc:fedc:fedc:fedc:fedc:fedc:fedc");
  const std::vector<EndpointNotice> notices(2 * kMaxNoticesPerMessage + 1, longest);
  const std::string lines = encode_notices(notices);
  std::size_t count = 0;
  std::size_t begin = 0;
  for (std::size_t end = lines.find('\n'); end != std::string::npos;
       end = lines.find('\n', begin)) {
    EXPECT_LE(end - begin, kMaxPeerLineBytes);
    const auto decoded = decode_peer_message(lines.substr(begin, end - begin));
    ASSERT_TRUE(decoded) << decoded.error().detail;
    count += std::get<EndpointsMessage>(*decoded).endpoints.size();
    begin = end + 1;
  }
  EXPECT_EQ(begin, lines.size());
  EXPECT_EQ(count, notices.size());
}

TEST(PeerMessage, NamesThatAreNoUtf8DoNotThrow) {
  EXPECT_TRUE(decode_peer_message(line_of(HelloMessage{1, "a\xff", 1})));
}

}  // namespace
}  // namespace bonescan
