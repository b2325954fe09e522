#include "skeleton/traffic_history.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace bonescan {
namespace {

using std::chrono_literals::operator""s;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""ns;

constexpr std::array<EndpointId, 1> kOne = {EndpointId(0)};

Time at(Duration since_start) {
  return kStartOfRun + since_start;
}

/// Endpoints of hosts with two rails each.
EndpointDirectory directory_of(std::uint32_t count) {
  EndpointDirectory directory;
  for (std::uint32_t i = 0; i < count; ++i) {
    Endpoint endpoint;
    endpoint.host = "host-" + std::to_string(i / 2);
    endpoint.rail = static_cast<std::uint16_t>(i % 2);
    endpoint.container = 100 + i / 2;
    directory.push_back(endpoint);
  }
  return directory;
}

/// Samples of a sampler with this phase that counted `bytes[i]` in its i-th interval.
std::vector<ThroughputSample> sampled(Duration phase,
                                      Duration interval,
                                      const std::vector<std::uint64_t>& bytes,
                                      std::uint32_t endpoint = 0) {
  std::vector<ThroughputSample> samples;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    samples.push_back({.at = at(phase + static_cast<std::int64_t>(i) * interval),
                       .endpoint = EndpointId(endpoint),
                       .bytes = bytes[i]});
  }
  return samples;
}

std::vector<float> rates_of(const TrafficHistory& history, Duration until, Duration length) {
  return history.record(directory_of(2), kOne, at(until), length).rates;
}

void expect_rates(const std::vector<float>& got, const std::vector<double>& wanted) {
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    SCOPED_TRACE("column " + std::to_string(i));
    if (std::isnan(wanted[i])) {
      EXPECT_TRUE(std::isnan(got[i])) << got[i];
    } else {
      EXPECT_NEAR(got[i], wanted[i], 1e-6 * wanted[i]);
    }
  }
}

TEST(TrafficHistory, SkewedSamplersGiveTheIntegralsOfTheColumns) {
  for (const int phase_ms : {0, 1, 250, 500, 730, 999}) {
    SCOPED_TRACE("phase " + std::to_string(phase_ms) + " ms");
    TrafficHistory history(60s);
    const std::vector<std::uint64_t> bytes = {7, 1000, 4000, 0, 2500, 800, 600};
    history.add(sampled(Duration(phase_ms * 1'000'000), 1s, bytes));
    // Traffic of bytes[i] a second from phase + i - 1 to phase + i: column c begins in interval
    // c + 1 (before the phase) and ends in interval c + 2.
    const double p = phase_ms / 1000.0;
    std::vector<double> wanted;
    for (std::size_t c = 0; c < 5; ++c) {
      wanted.push_back(p * static_cast<double>(bytes[c]) +
                       (1.0 - p) * static_cast<double>(bytes[c + 1]));
    }
    // What the first sample covers is not known.
    if (phase_ms > 0) {
      wanted[0] = NAN;
    }
    expect_rates(rates_of(history, 5s, 5s), wanted);
  }
}

TEST(TrafficHistory, ConservesTheBytesThatTheColumnsCover) {
  for (const int interval_ms : {200, 333, 700, 1000, 1450}) {
    SCOPED_TRACE("interval " + std::to_string(interval_ms) + " ms");
    TrafficHistory history(60s);
    std::vector<std::uint64_t> bytes;
    const Duration interval(interval_ms * 1'000'000);
    const auto count = static_cast<std::uint64_t>(40s / interval);
    for (std::uint64_t i = 0; i <= count; ++i) {
      bytes.push_back(i * 7919 % 1009 * 1000);
    }
    // All traffic is between the first and the last sample, within whole columns that are covered.
    std::fill(bytes.begin(), bytes.begin() + 6, 0);
    std::fill(bytes.end() - 6, bytes.end(), 0);
    history.add(sampled(130ms, interval, bytes));
    double sum = 0.0;
    for (const std::uint64_t sample : bytes) {
      sum += static_cast<double>(sample);
    }
    double found = 0.0;
    std::size_t missing = 0;
    for (const float rate : rates_of(history, 39s, 39s)) {
      missing += std::isnan(rate) ? 1 : 0;
      found += std::isnan(rate) ? 0.0 : static_cast<double>(rate);
    }
    EXPECT_EQ(missing, 1U);
    EXPECT_NEAR(found, sum, 1e-6 * sum);
  }
}

TEST(TrafficHistory, OrderAndCopiesOfReportsChangeNothing) {
  const std::vector<std::uint64_t> bytes = {1, 20, 300, 4000, 500, 60, 7, 8};
  std::vector<ThroughputSample> samples = sampled(400ms, 1s, bytes);
  TrafficHistory in_order(60s);
  in_order.add(samples);
  const std::vector<float> wanted = rates_of(in_order, 7s, 7s);
  std::sort(samples.begin(), samples.end(), [](const auto& a, const auto& b) {
    return nanoseconds(a.at) * 7 % 11 < nanoseconds(b.at) * 7 % 11;
  });
  TrafficHistory mixed(60s);
  mixed.add(samples);
  mixed.add(samples);
  std::reverse(samples.begin(), samples.end());
  mixed.add(samples);
  const std::vector<float> got = rates_of(mixed, 7s, 7s);
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t i = 1; i < got.size(); ++i) {
    EXPECT_EQ(got[i], wanted[i]);
  }
  EXPECT_TRUE(std::isnan(got[0]));
  EXPECT_TRUE(std::isnan(wanted[0]));
}

TEST(TrafficHistory, AGapIsMissingAndNeverZero) {
  TrafficHistory history(60s);
  std::vector<ThroughputSample> samples = sampled(300ms, 1s, {0, 10, 10, 10, 10, 10, 10, 10, 10});
  samples.erase(samples.begin() + 4);  // 4.3 s: 3.3 to 5.3 s is a gap
  history.add(samples);
  expect_rates(rates_of(history, 8s, 7s), {10, 10, NAN, NAN, NAN, 10, 10});
}

TEST(TrafficHistory, AColumnIsTheLastOneOfARecord) {
  TrafficHistory history(60s);
  history.add(sampled(600ms, 1s, {5, 10, 20, 30, 40, 50, 60}));
  for (const Duration until :
       {Duration(3s), Duration(3s + 1ns), Duration(4s - 1ns), Duration(6s)}) {
    float rate = 0.0F;
    history.column(kOne, at(until), {&rate, 1});
    EXPECT_EQ(rate, rates_of(history, until, 3s).back());
  }
  float open = 0.0F;
  history.column(kOne, at(7s), {&open, 1});  // Covered up to 6.6 s.
  EXPECT_TRUE(std::isnan(open));
  history.column(kOne, at(0s), {&open, 1});
  EXPECT_TRUE(std::isnan(open));
}

TEST(TrafficHistory, RecordsSayWhereMembersAre) {
  EndpointDirectory directory = directory_of(6);
  const std::vector<EndpointId> members = {EndpointId(1), EndpointId(4), EndpointId(5)};
  TrafficHistory history(60s);
  history.add(sampled(0ms, 1s, {1, 2, 3, 4}, 4));
  const TrafficRecord record = history.record(directory, members, at(3500ms), 2s);
  EXPECT_EQ(record.members, members);
  EXPECT_EQ(record.hosts, (std::vector<std::uint32_t>{0, 1, 1}));
  EXPECT_EQ(record.rails, (std::vector<std::uint16_t>{1, 0, 1}));
  EXPECT_EQ(record.containers, (std::vector<std::uint32_t>{100, 102, 102}));
  EXPECT_EQ(record.from, at(2s));
  ASSERT_EQ(record.columns, 1U);
  EXPECT_TRUE(std::isnan(record.row(0)[0]));
  EXPECT_EQ(record.row(1)[0], 4.0F);
  EXPECT_TRUE(std::isnan(record.row(2)[0]));
  directory[EndpointId(4)].container.reset();
  EXPECT_TRUE(history.record(directory, members, at(3s), 2s).containers.empty());
}

TEST(TrafficHistory, MemoryIsBoundedAndGoesWithTheEndpoint) {
  TrafficHistory history(60s);
  const auto samples = [](std::int64_t from_s) {
    return sampled(from_s * 1s, 1s, std::vector<std::uint64_t>(500, 9), 0);
  };
  history.add(samples(0));
  const std::size_t held = history.held_size();
  EXPECT_GT(held, 60U * 12U);
  for (std::int64_t i = 1; i < 20; ++i) {
    history.add(samples(i * 500));
  }
  EXPECT_LE(history.held_size(), held);
  // A flood of reports about no time at all.
  for (std::int64_t i = 0; i < 20'000; ++i) {
    history.add(sampled(9'999s + Duration(i), 1s, {9}));
  }
  EXPECT_LE(history.held_size(), 64U * 64U + 2U * 63U * 8U * 12U);
  std::vector<EndpointId> all;
  for (std::uint32_t i = 0; i < 64; ++i) {
    all.emplace_back(i);
  }
  history.release(all);
  history.release(all);
  EXPECT_EQ(history.held_size(), 0U);
  history.add(samples(10'000));
  EXPECT_EQ(history.held_size(), 0U);
  EXPECT_LT(history.kept_size(), 64U);
  EXPECT_TRUE(std::isnan(rates_of(history, 10'400s, 2s).at(0)));
}

TEST(TrafficHistory, NothingBeforeTheNewestHorizonIsRead) {
  // A late report must not look different from one that came in time and was forgotten since.
  const auto old = sampled(0ms, 1s, {5, 5, 5, 5, 5});
  const auto recent = sampled(68s, 1s, {5, 5, 5});
  TrafficHistory first(60s);
  first.add(old);
  first.add(recent);
  TrafficHistory last(60s);
  last.add(recent);
  last.add(old);
  for (const Duration until : {Duration(4s), Duration(62s), Duration(70s)}) {
    const std::vector<float> a = rates_of(first, until, 4s);
    const std::vector<float> b = rates_of(last, until, 4s);
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
      EXPECT_TRUE(a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i])));
    }
  }
}

}  // namespace
}  // namespace bonescan
