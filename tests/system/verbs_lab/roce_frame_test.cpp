// Frames of the packet-level mode against a verbs device that shares no code with it (rdma_rxe of
// Linux, in the guest): it takes a valid frame, drops one with a single wrong bit in the invariant
// CRC, and the CRCs of the frames that it sends are what invariant_crc() says.
//
// The frames were sent and captured before, in the guest (roce_frames.py).
#include "model/packet_mode/frames.h"
#include "tests/system/verbs_lab/lab_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <span>
#include <string>

namespace bonescan::lab {
namespace {

using nlohmann::json;

constexpr std::uint32_t kSourceQpn = 0x4321;  // of roce_frames.py
constexpr std::size_t kEthernetBytes = 14;
constexpr std::size_t kIcrcBytes = 4;

class VerbsLabFrames : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string reason = why_skipped("verbs"); !reason.empty()) {
      GTEST_SKIP() << reason;
    }
    frames_ = lab_json("verbs", "verbs.json")["frames"];
    ASSERT_TRUE(frames_.is_object()) << "no results; ctest runs the guest before this test";
  }

  json case_of(const std::string& name) const {
    for (const json& c : frames_["cases"]) {
      if (c["name"] == name) {
        return c;
      }
    }
    ADD_FAILURE() << "no case " << name;
    return json::object();
  }

  json frames_;
};

/// What roce_frame puts into a message: 00 01 02 ...
std::string counting_payload(std::size_t bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes; ++i) {
    text += fmt::format("{:02x}", i);
  }
  return text;
}

FrameBytes from_hex(const std::string& text) {
  FrameBytes bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
    bytes.push_back(static_cast<std::uint8_t>(std::stoul(text.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

void expect_accepted(const json& c, std::size_t bytes) {
  SCOPED_TRACE(c.dump());
  ASSERT_TRUE(c["message"].is_object());
  EXPECT_EQ(c["message"]["payload"], counting_payload(bytes));
  EXPECT_EQ(c["message"]["source_qpn"], kSourceQpn);
  EXPECT_EQ(c["counted"], 1);
  EXPECT_EQ(c["verdicts"], json::array({0}));
}

/// It counts only what has a good CRC.
void expect_bad_crc(const json& c) {
  SCOPED_TRACE(c.dump());
  EXPECT_TRUE(c["message"].is_null());
  EXPECT_EQ(c["counted"], 0);
  EXPECT_EQ(c["verdicts"], json::array({-EINVAL}));
}

TEST_F(VerbsLabFrames, SoftRoceAcceptsAFrameOfOurs) {
  expect_accepted(case_of("valid"), 64);
}

// The queue pair was not hurt by what came between.
TEST_F(VerbsLabFrames, SoftRoceAcceptsAnotherAfterTheBadOnes) {
  expect_accepted(case_of("valid_again"), 64);
}

// Routers change these bytes, so the CRC must not depend on them.
TEST_F(VerbsLabFrames, SoftRoceAcceptsAnotherServiceAndLifetime) {
  expect_accepted(case_of("other_service_and_lifetime"), 64);
}

TEST_F(VerbsLabFrames, SoftRoceAcceptsAPaddedPayload) {
  expect_accepted(case_of("padded"), 61);
}

TEST_F(VerbsLabFrames, SoftRoceDropsAFrameWithOneFlippedIcrcBit) {
  expect_bad_crc(case_of("icrc_flipped"));
}

TEST_F(VerbsLabFrames, EveryBitOfTheIcrcCounts) {
  for (int bit = 0; bit < 32; ++bit) {
    expect_bad_crc(case_of("icrc_bit_" + std::to_string(bit)));
  }
  expect_bad_crc(case_of("payload_bit"));
}

// So a frame that was taken was taken for its queue key, and not because nobody looks.
TEST_F(VerbsLabFrames, SoftRoceDropsAnotherQueueKey) {
  const json c = case_of("other_queue_key");
  EXPECT_TRUE(c["message"].is_null()) << c;
}

TEST_F(VerbsLabFrames, IcrcOfSoftRoceIsOurs) {
  const json& sent = frames_["sent"];
  ASSERT_EQ(sent.size(), 40U);
  std::set<std::string> different;
  for (const json& hex : sent) {
    const FrameBytes frame = from_hex(hex);
    ASSERT_GT(frame.size(), kEthernetBytes + 40 + kIcrcBytes);
    const std::span<const std::uint8_t> whole(frame);
    const auto l3 = whole.subspan(kEthernetBytes, frame.size() - kEthernetBytes - kIcrcBytes);
    const auto icrc = whole.last(kIcrcBytes);
    const auto ours = invariant_crc(l3);
    EXPECT_TRUE(std::equal(icrc.begin(), icrc.end(), ours.begin())) << hex;
    different.insert(std::string(icrc.begin(), icrc.end()));
  }
  EXPECT_EQ(different.size(), sent.size()) << "every frame has another CRC";
}

}  // namespace
}  // namespace bonescan::lab
