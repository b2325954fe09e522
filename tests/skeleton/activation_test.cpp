#include "skeleton/activation.h"

#include "sim/base/rng_stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace bonescan {
namespace {

Time at(std::int64_t second) {
  return Time(std::chrono::seconds(second));
}

MembershipEvent event(std::int64_t second, std::uint32_t endpoint, MembershipKind kind) {
  return {at(second), EndpointId(endpoint), kind};
}

PingLists mesh(std::uint32_t count) {
  PingLists lists(count);
  for (std::uint32_t a = 0; a < count; ++a) {
    for (std::uint32_t b = 0; b < count; ++b) {
      if (a != b) {
        lists[a].push_back(EndpointId(b));
      }
    }
  }
  return lists;
}

struct Case {
  const char* name;
  std::vector<MembershipEvent> events;
  bool ready;
  std::optional<Time> ready_since;
  std::optional<Time> stopped_since;
};

TEST(Activation, StateIsThatOfTheNewestEvent) {
  using enum MembershipKind;
  const Case cases[] = {
      {"nothing heard", {}, false, {}, {}},
      {"ready", {event(5, 0, kReady)}, true, at(5), {}},
      {"ready twice", {event(5, 0, kReady), event(9, 0, kReady)}, true, at(5), {}},
      {"stopping", {event(5, 0, kReady), event(8, 0, kStopping)}, false, {}, at(8)},
      {"gone", {event(5, 0, kReady), event(8, 0, kGone)}, false, {}, at(8)},
      {"gone after stopping",
       {event(5, 0, kReady), event(8, 0, kStopping), event(9, 0, kGone)},
       false,
       {},
       at(8)},
      {"restarted",
       {event(5, 0, kReady), event(8, 0, kGone), event(12, 0, kReady)},
       true,
       at(12),
       {}},
      {"stop of the life before, delivered late",
       {event(12, 0, kReady), event(8, 0, kStopping), event(9, 0, kGone)},
       true,
       at(12),
       {}},
      {"late, but older than a repeated ready",
       {event(5, 0, kReady), event(20, 0, kReady), event(15, 0, kStopping)},
       true,
       at(5),
       {}},
      {"repeated ready of the same moment after its stop",
       {event(5, 0, kReady), event(5, 0, kStopping), event(5, 0, kReady)},
       false,
       {},
       at(5)},
      {"stopping before it was ever ready", {event(3, 0, kStopping)}, false, {}, at(3)},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Activation activation(mesh(2));
    for (const MembershipEvent& e : c.events) {
      activation.apply(e);
    }
    EXPECT_EQ(activation.ready(EndpointId(0)), c.ready);
    EXPECT_EQ(activation.ready_since(EndpointId(0)), c.ready_since);
    EXPECT_EQ(activation.stopped_since(EndpointId(0)), c.stopped_since);
    EXPECT_EQ(activation.ready_count(), c.ready ? 1U : 0U);
    EXPECT_EQ(activation.active_pairs(), 0U);
  }
}

TEST(Activation, APairIsActiveOnlyWhileBothEndsAreReady) {
  Activation activation(mesh(3));
  const Pair pair{EndpointId(0), EndpointId(1)};
  EXPECT_FALSE(activation.active(pair));
  activation.apply(event(1, 0, MembershipKind::kReady));
  EXPECT_FALSE(activation.active(pair));
  EXPECT_EQ(activation.active_targets(EndpointId(0)), 0U);
  activation.apply(event(2, 1, MembershipKind::kReady));
  EXPECT_TRUE(activation.active(pair));
  EXPECT_TRUE(activation.active(pair.reversed()));
  EXPECT_EQ(activation.active_targets(EndpointId(0)), 1U);
  EXPECT_EQ(activation.active_targets(EndpointId(2)), 0U);  // its own list waits for it
  EXPECT_EQ(activation.active_pairs(), 2U);
  activation.apply(event(3, 0, MembershipKind::kStopping));
  EXPECT_FALSE(activation.active(pair));
  EXPECT_FALSE(activation.active(pair.reversed()));
  EXPECT_EQ(activation.active_pairs(), 0U);
}

TEST(Activation, ListsThatAreNotSymmetricAreRegisteredInTheRightDirection) {
  const PingLists lists{{EndpointId(1), EndpointId(2)}, {}, {EndpointId(0)}};
  Activation activation(lists);
  for (std::uint32_t i = 0; i < 3; ++i) {
    activation.apply(event(1, i, MembershipKind::kReady));
  }
  EXPECT_EQ(activation.active_targets(EndpointId(0)), 2U);
  EXPECT_EQ(activation.active_targets(EndpointId(1)), 0U);
  EXPECT_EQ(activation.active_targets(EndpointId(2)), 1U);
  EXPECT_EQ(activation.active_pairs(), 3U);
  activation.apply(event(2, 2, MembershipKind::kGone));
  EXPECT_EQ(activation.active_targets(EndpointId(0)), 1U);
  EXPECT_EQ(activation.active_pairs(), 1U);
}

TEST(Activation, CountsAgreeWithACountFromScratchAfterRandomEvents) {
  constexpr std::uint32_t kCount = 12;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const RngStream draws(seed, Purpose::kTest, 0);
    PingLists lists(kCount);
    for (std::uint32_t a = 0; a < kCount; ++a) {
      for (std::uint32_t b = 0; b < kCount; ++b) {
        if (a != b && draws.at(a * kCount + b) % 2 == 0) {
          lists[a].push_back(EndpointId(b));
        }
      }
    }
    Activation activation(lists);
    for (std::uint64_t n = 0; n < 200; ++n) {
      const PhiloxCounter draw = draws.block(1000 + n);
      activation.apply(event(draw[0] % 50, draw[1] % kCount, MembershipKind(draw[2] % 3)));
      std::uint64_t active = 0;
      for (std::uint32_t a = 0; a < kCount; ++a) {
        const auto is_active = [&activation, a](EndpointId b) {
          return activation.active({EndpointId(a), b});
        };
        const auto targets = std::count_if(lists[a].begin(), lists[a].end(), is_active);
        ASSERT_EQ(activation.active_targets(EndpointId(a)), targets);
        active += static_cast<std::uint64_t>(targets);
      }
      ASSERT_EQ(activation.active_pairs(), active);
    }
  }
}

TEST(Activation, LaterListsAreOfTheirOwnEndpoints) {
  Activation activation(mesh(2));
  activation.apply(event(1, 0, MembershipKind::kReady));
  activation.submit({{EndpointId(3)}, {EndpointId(2)}});
  activation.apply(event(2, 3, MembershipKind::kSubmitted));
  EXPECT_FALSE(activation.ready(EndpointId(3)));
  activation.apply(event(2, 2, MembershipKind::kReady));
  activation.apply(event(2, 3, MembershipKind::kReady));
  EXPECT_EQ(activation.active_pairs(), 2U);
  EXPECT_EQ(activation.active_targets(EndpointId(2)), 1U);
  EXPECT_EQ(activation.active_targets(EndpointId(0)), 0U);
  EXPECT_TRUE(activation.active({EndpointId(2), EndpointId(3)}));
  EXPECT_EQ(activation.ready_count(), 3U);
}

TEST(Activation, NothingHappensToAnEndpointThatWasEnded) {
  Activation activation(mesh(2));
  activation.apply(event(1, 0, MembershipKind::kReady));
  activation.apply(event(2, 0, MembershipKind::kGone));
  EXPECT_TRUE(activation.gone(EndpointId(0)));
  EXPECT_FALSE(activation.ended(EndpointId(0)));
  const EndpointId ended[] = {EndpointId(0)};
  activation.end(ended);
  activation.apply(event(5, 0, MembershipKind::kReady));
  EXPECT_TRUE(activation.ended(EndpointId(0)));
  EXPECT_TRUE(activation.gone(EndpointId(0)));
  EXPECT_FALSE(activation.ready(EndpointId(0)));
  EXPECT_FALSE(activation.stopped_since(EndpointId(0)));
  EXPECT_EQ(activation.ready_count(), 0U);
}

TEST(Activation, AByteStaysOfAnEndedEndpoint) {
  Activation activation;
  std::size_t highest = 0;
  for (std::uint32_t task = 0; task < 64; ++task) {
    PingLists lists(64);
    for (std::uint32_t i = 1; i < 64; ++i) {
      lists[0].emplace_back(64 * task + i);
    }
    activation.submit(lists);
    highest = std::max(highest, activation.held_size());
    std::vector<EndpointId> all;
    for (std::uint32_t i = 0; i < 64; ++i) {
      all.emplace_back(64 * task + i);
    }
    activation.end(all);
    EXPECT_EQ(activation.held_size(), 0U);
  }
  EXPECT_EQ(highest, 64U * (16 + sizeof(std::vector<EndpointId>) + 4));
  EXPECT_EQ(activation.kept_size(), 64U * (64 + 3 * 16));
}

}  // namespace
}  // namespace bonescan
