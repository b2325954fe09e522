// Throughput of a training job, as its RNICs' counters would show it: for tests of the skeleton.
//
// Written apart from the world's workloads, so that inference is not tested by the code that it was
// made for.  Bursts of stage s begin s offsets after those of stage 0, steps are of unequal length,
// counters integrate over a second, samplers are skewed, and noise is relative to the bursts:
// snr_db = 20 log10(burst sd / noise sd), by RNIC and sample.
#pragma once

#include "sim/base/distributions.h"
#include "sim/base/rng_stream.h"
#include "skeleton/traffic_record.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

namespace bonescan {

struct BurstJobOptions {
  std::uint64_t seed = 1;
  std::uint32_t stages = 8;
  std::uint32_t replicas = 8;
  std::uint32_t rails = 8;
  std::size_t columns = 300;
  double step_s = 8.0;
  double jitter = 0.03;  ///< of a step, not cumulative
  double burst_share = 0.2;
  double offset_s = 0.5;
  double snr_db = 10.0;
  double skew_s = 0.0;            ///< samplers of hosts are up to that much early or late
  double floor = 0.0;             ///< rate between bursts, bursts are 1
  bool numbered = false;          ///< containers have the number of their rank
  bool clipped = false;           ///< no rate below zero
  bool rails_are_stages = false;  ///< rails of a host belong to different stages
};

struct BurstJob {
  TrafficRecord record;
  std::vector<std::uint32_t> stages;    ///< truth, by member
  std::vector<std::uint32_t> replicas;  ///< truth, by member
};

/// Time from the start of the record until `t` in which the stage bursts.
inline double burst_time_until(const std::vector<double>& starts, double length, double t) {
  double total = 0.0;
  for (const double start : starts) {
    total += std::clamp(t - start, 0.0, length);
  }
  return total;
}

inline BurstJob burst_job(const BurstJobOptions& options) {
  const auto stream = [&](std::uint32_t entity) {
    return RngStream(options.seed, Purpose::kTest, entity);
  };
  const std::uint32_t hosts = options.stages * options.replicas;
  const auto seconds_total = static_cast<double>(options.columns);
  const auto steps = static_cast<std::size_t>(seconds_total / options.step_s) + 8;
  const double lead = options.offset_s * options.stages + 2.0 * options.step_s;
  std::vector<double> starts(steps + static_cast<std::size_t>(lead / options.step_s));
  for (std::size_t n = 0; n < starts.size(); ++n) {
    const double z = normal_quantile(stream(0).open01_at(n));
    starts[n] =
        (static_cast<double>(n) + std::clamp(z * options.jitter, -0.25, 0.25)) * options.step_s -
        lead;
  }
  // Ranks in a random order of hosts.
  std::vector<std::uint32_t> rank(hosts);
  std::iota(rank.begin(), rank.end(), 0U);
  for (std::uint32_t i = hosts; i > 1; --i) {
    std::swap(rank[i - 1], rank[stream(1).at(i) % i]);
  }
  BurstJob job;
  TrafficRecord& record = job.record;
  record.columns = options.columns;
  const double length = options.burst_share * options.step_s;
  const double sd = std::sqrt(options.burst_share * (1.0 - options.burst_share));
  const double noise = sd * std::pow(10.0, -options.snr_db / 20.0);
  for (std::uint32_t host = 0; host < hosts; ++host) {
    const double skew = options.skew_s * (2.0 * stream(2).open01_at(host) - 1.0);
    for (std::uint32_t rail = 0; rail < options.rails; ++rail) {
      const std::uint32_t place = rank[host];
      const std::uint32_t stage =
          (place / options.replicas + (options.rails_are_stages ? rail : 0)) % options.stages;
      const auto member = static_cast<std::uint32_t>(record.members.size());
      record.members.push_back(EndpointId(member));
      record.hosts.push_back(host);
      record.rails.push_back(static_cast<std::uint16_t>(rail));
      if (options.numbered) {
        record.containers.push_back(place);
      }
      job.stages.push_back(stage);
      job.replicas.push_back(place % options.replicas);
      const double shift = options.offset_s * stage + skew;
      double before = burst_time_until(starts, length, -shift);
      const RngStream noise_stream = stream(100 + member);
      for (std::size_t t = 0; t < options.columns; ++t) {
        const double after = burst_time_until(starts, length, static_cast<double>(t + 1) - shift);
        const double z = normal_quantile(noise_stream.open01_at(t));
        const double rate = after - before + options.floor + noise * z;
        before = after;
        record.rates.push_back(
            static_cast<float>(1e9 * (options.clipped ? std::max(rate, 0.0) : rate)));
      }
    }
  }
  return job;
}

/// Agreement of two partitions: 1 is equal, 0 what chance would do.
/// @paper Hubert and Arabie 1985
inline double adjusted_rand_index(const std::vector<std::uint32_t>& a,
                                  const std::vector<std::uint32_t>& b) {
  const auto pairs = [](double n) { return n * (n - 1.0) / 2.0; };
  const std::size_t ka = *std::max_element(a.begin(), a.end()) + 1U;
  const std::size_t kb = *std::max_element(b.begin(), b.end()) + 1U;
  std::vector<double> both(ka * kb, 0.0);
  std::vector<double> in_a(ka, 0.0);
  std::vector<double> in_b(kb, 0.0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    ++both[a[i] * kb + b[i]];
    ++in_a[a[i]];
    ++in_b[b[i]];
  }
  double index = 0.0;
  double sum_a = 0.0;
  double sum_b = 0.0;
  for (const double n : both) {
    index += pairs(n);
  }
  for (const double n : in_a) {
    sum_a += pairs(n);
  }
  for (const double n : in_b) {
    sum_b += pairs(n);
  }
  const double expected = sum_a * sum_b / pairs(static_cast<double>(a.size()));
  const double most = 0.5 * (sum_a + sum_b);
  return most == expected ? 1.0 : (index - expected) / (most - expected);
}

}  // namespace bonescan
