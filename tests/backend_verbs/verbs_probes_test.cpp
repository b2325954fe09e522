#include "detectors/backend_verbs/verbs_probes.h"

#include "tests/support/fake_hosts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace bonescan::verbs {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// The first `local` of three endpoints belong to this process, the others to `other`.
class VerbsProbesTest : public testing::Test {
 protected:
  VerbsProbesTest() {
    for (const EndpointOptions& one : hosts_.options) {
      Endpoint endpoint;
      endpoint.name = one.name;
      directory_.push_back(endpoint);
    }
  }

  std::unique_ptr<VerbsProbes> create(std::vector<std::uint32_t> local,
                                      VerbsProbesOptions::Drive drive,
                                      const HostClock& clock) {
    VerbsProbesOptions options;
    for (const std::uint32_t index : local) {
      options.endpoints.push_back(hosts_.options[index]);
    }
    options.drive = drive;
    options.on_local_events = [this] { ++notices_; };
    auto probes = VerbsProbes::create(hosts_.fabric, clock, directory_, hosts_.peers, options);
    EXPECT_TRUE(probes.has_value()) << probes.error().detail;
    for (const auto& [id, address] : (*probes)->addresses()) {
      hosts_.peers.set(id, address);
    }
    return std::move(*probes);
  }

  std::unique_ptr<VerbsProbes> create_stepped(std::vector<std::uint32_t> local) {
    return create(std::move(local), VerbsProbesOptions::Drive::kCaller, hosts_.clock);
  }

  void run_until(VerbsProbes& probes, Time end) {
    while (hosts_.clock.now() < end) {
      Time next = probes.step();
      next = std::min(next, hosts_.fabric.next_completion());
      next = std::clamp(next, hosts_.clock.now(), end);
      hosts_.clock.set(next == hosts_.clock.now() ? next + Duration(1) : next);
      hosts_.fabric.announce_due();
      probes.step();
    }
  }

  FakeHosts hosts_{3};
  EndpointDirectory directory_;
  std::atomic<int> notices_ = 0;
};

TEST_F(VerbsProbesTest, DeliversVisitsOrderedByStartAndPairAndOnce) {
  auto probes = create_stepped({0, 1, 2});
  std::vector<ProbeRequest> requests;
  for (std::uint32_t from = 0; from < 3; ++from) {
    ProbeRequest request = ten_probes(from, (from + 1) % 3, kStartOfRun + (3 - from) * 10ms);
    request.count = static_cast<std::uint8_t>(from + 1);
    requests.push_back(request);
  }
  probes->submit(requests);
  run_until(*probes, kStartOfRun + 1s);
  ProbeBatch batch;
  probes->collect(hosts_.clock.now(), batch);
  ASSERT_THAT(batch.visits, SizeIs(3));
  EXPECT_TRUE(
      std::is_sorted(batch.visits.begin(), batch.visits.end(), [](const auto& a, const auto& b) {
        return std::tie(a.start, a.pair) < std::tie(b.start, b.pair);
      }));
  EXPECT_EQ(batch.visits[0].pair, PairId(200));
  EXPECT_EQ(batch.visits[0].count, 3);
  EXPECT_EQ(batch.visits[1].first, 3u);
  EXPECT_THAT(batch.rtt_ns, Each(10'000u));
  EXPECT_THAT(batch.rtt_ns, SizeIs(6));
  ProbeBatch again;
  probes->collect(hosts_.clock.now(), again);
  EXPECT_THAT(again.visits, IsEmpty());
}

TEST_F(VerbsProbesTest, TakesInWhatHasArrivedBeforeItDeclaresLoss) {
  auto probes = create_stepped({0, 1});
  ProbeRequest request = ten_probes(0, 1);
  request.count = 1;
  probes->submit(std::span(&request, 1));
  probes->step();
  // Nobody runs the thread from here on; only collect() is called, and late.
  ProbeBatch batch;
  for (const auto at : {5'000, 10'000, 15'000}) {
    hosts_.clock.set(kStartOfRun + Duration(at));
    probes->collect(hosts_.clock.now(), batch);
  }
  ASSERT_THAT(batch.visits, SizeIs(1));
  EXPECT_THAT(batch.rtt_ns, Each(10'000u));
}

TEST_F(VerbsProbesTest, AnswersForSourcesThatAreNotHere) {
  auto probes = create_stepped({0});
  const ProbeRequest requests[] = {ten_probes(1, 0), ten_probes(0, 77)};
  probes->submit(requests);
  ProbeBatch batch;
  probes->collect(kStartOfRun, batch);
  ASSERT_THAT(batch.visits, SizeIs(2));
  EXPECT_THAT(batch.rtt_ns, Each(local_error_rtt(LocalError::kNoDevice)));
}

TEST_F(VerbsProbesTest, NamesTheEndpointThatCannotStart) {
  hosts_.options[1].gid.index = 7;
  VerbsProbesOptions options;
  options.endpoints = {hosts_.options[0], hosts_.options[1]};
  const auto probes =
      VerbsProbes::create(hosts_.fabric, hosts_.clock, directory_, hosts_.peers, options);
  ASSERT_FALSE(probes.has_value());
  EXPECT_EQ(probes.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(probes.error().detail, HasSubstr("h1: no GID as wanted (RoCE v2, index 7)"));
}

TEST_F(VerbsProbesTest, TellsOfChangesAndWatchesTheNewQueues) {
  auto probes = create_stepped({0, 1});
  std::vector<LocalEvent> events;
  probes->take_local_events(events);
  EXPECT_THAT(events, SizeIs(2));
  hosts_.fabric.rnic("h0").gids[0].gid = *gid_from_text("10.0.0.77");
  hosts_.fabric.raise(hosts_.fabric.rnic("h0"), {AsyncEventKind::kGidChange, "GID change"});
  probes->step();
  probes->step();
  events.clear();
  probes->take_local_events(events);
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_EQ(events[0].kind, LocalEventKind::kAddressChanged);
  EXPECT_EQ(events[0].endpoint, EndpointId(0));
  EXPECT_GE(notices_, 1);
  for (const auto& [id, address] : probes->addresses()) {
    hosts_.peers.set(id, address);
  }
  const ProbeRequest requests[] = {ten_probes(0, 1), ten_probes(1, 0)};
  probes->submit(requests);
  run_until(*probes, kStartOfRun + 2s);
  ProbeBatch batch;
  probes->collect(hosts_.clock.now(), batch);
  EXPECT_THAT(batch.rtt_ns, SizeIs(20));
  EXPECT_THAT(batch.rtt_ns, Each(10'000u));
}

/// The real thread with the real clock: no timing is asserted, only that all is delivered.
TEST_F(VerbsProbesTest, RunsOnItsOwnThreadAndStopsClean) {
  const MonotonicClock clock(MonotonicClock::now_ns());
  FakeFabric fabric(clock);
  fabric.latency = Duration::zero();
  VerbsProbesOptions options;
  for (const EndpointOptions& one : hosts_.options) {
    fabric.add(one.device, "10.0.0." + std::to_string(one.id.index() + 1));
    options.endpoints.push_back(one);
  }
  PeerBook peers;
  auto created = VerbsProbes::create(fabric, clock, directory_, peers, options);
  ASSERT_TRUE(created.has_value());
  VerbsProbes& probes = **created;
  for (const auto& [id, address] : probes.addresses()) {
    peers.set(id, address);
  }
  std::vector<ProbeRequest> requests;
  for (std::uint32_t from = 0; from < 3; ++from) {
    ProbeRequest request = ten_probes(from, (from + 1) % 3, clock.now());
    request.spacing = 2ms;
    requests.push_back(request);
  }
  probes.submit(requests);
  ProbeBatch batch;
  const Time give_up = clock.now() + 20s;
  while (batch.visits.size() < 3 && clock.now() < give_up) {
    probes.collect(clock.now(), batch);
    std::this_thread::sleep_for(1ms);
  }
  ASSERT_THAT(batch.visits, SizeIs(3));
  for (const std::uint32_t rtt : batch.rtt_ns) {
    EXPECT_TRUE(answered(rtt)) << rtt;
  }
  probes.stop();
  probes.stop();
  EXPECT_THAT(probes.addresses(), IsEmpty());
  probes.submit(std::span(requests).first(1));
  batch.clear();
  while (batch.visits.empty() && clock.now() < give_up) {
    probes.collect(clock.now(), batch);
    std::this_thread::sleep_for(1ms);
  }
  EXPECT_THAT(batch.rtt_ns, Each(local_error_rtt(LocalError::kNoDevice)));
}

}  // namespace
}  // namespace bonescan::verbs
