// Throughput of a task whose stages burst one after the other, column by column, for tests.
//
// Not the world's traffic, on purpose: what detects must not be tested on its own assumptions or on
// those of one generator alone.  Member m belongs to stage m / replicas.
#pragma once

#include "sim/base/distributions.h"
#include "sim/base/rng_stream.h"
#include "skeleton/task_skeleton.h"
#include "skeleton/traffic_record.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace bonescan::fakes {

struct BurstTrafficOptions {
  std::uint32_t stages = 4;
  std::uint32_t replicas = 8;
  double step_s = 8.0;
  double burst_share = 0.2;
  double offset_s = 0.5;
  double jitter = 0.03;      ///< of a step; one draw for all stages
  double snr_db = 10.0;      ///< burst sd over noise sd, of a column
  double tail = 0.0;         ///< share of noise columns that are five times as large
  double persistence = 0.0;  ///< autocorrelation of the noise
  std::uint64_t seed = 1;
};

class BurstTraffic final {
 public:
  explicit BurstTraffic(const BurstTrafficOptions& options) : options_(options) {
    const double duty = options.burst_share;
    // Of bursts that last for columns, not for parts of one: close enough for a scale.
    const double inside = std::min(1.0, options.step_s * duty);
    noise_ = std::sqrt(duty * inside * (1.0 - duty)) * std::pow(10.0, -options.snr_db / 20.0);
    last_.resize(members());
  }

  std::uint32_t members() const { return options_.stages * options_.replicas; }

  double noise() const { return noise_; }

  /// Share of the column in which the stage bursts.
  double burst_of(std::uint32_t stage, std::size_t column) const {
    const double from = static_cast<double>(column);
    const double begin = stage * options_.offset_s;
    const auto nominal = static_cast<std::int64_t>(std::floor((from - begin) / options_.step_s));
    double inside = 0.0;
    for (std::int64_t n = std::max<std::int64_t>(nominal - 1, 0); n <= nominal + 1; ++n) {
      const double jitter = std::clamp(normal(0, static_cast<std::uint64_t>(n)), -4.0, 4.0);
      const double start =
          begin + (static_cast<double>(n) + options_.jitter * jitter) * options_.step_s;
      const double end = start + options_.burst_share * options_.step_s;
      inside += std::max(0.0, std::min(end, from + 1.0) - std::max(start, from));
    }
    return inside;
  }

  /// The next column's noise of a member: columns ascend.
  double noise_of(std::uint32_t member, std::size_t column) {
    const double keep = options_.persistence;
    const double fresh = normal(1 + member, column);
    last_[member] = keep * last_[member] + std::sqrt(1.0 - keep * keep) * fresh;
    const double u = RngStream(options_.seed, Purpose::kTest, 100'000 + member).open01_at(column);
    return noise_ * last_[member] * (u < options_.tail ? 5.0 : 1.0);
  }

  float rate(std::uint32_t member, std::size_t column) {
    return static_cast<float>(
        1e9 * (burst_of(member / options_.replicas, column) + noise_of(member, column)));
  }

  TrafficRecord record(std::size_t columns) {
    TrafficRecord out;
    out.columns = columns;
    out.rates.resize(members() * columns);
    for (std::uint32_t m = 0; m < members(); ++m) {
      out.members.emplace_back(m);
      out.hosts.push_back(m);
      out.rails.push_back(0);
      for (std::size_t c = 0; c < columns; ++c) {
        out.rates[m * columns + c] = rate(m, c);
      }
    }
    return out;
  }

  TaskSkeleton skeleton() const {
    TaskSkeleton out;
    out.scope = SkeletonScope::kAdjacentGroups;
    out.stage_count = options_.stages;
    for (std::uint32_t m = 0; m < members(); ++m) {
      out.stages.push_back(m / options_.replicas);
    }
    for (std::uint32_t s = 0; s < options_.stages; ++s) {
      out.lags_s.push_back(s * options_.offset_s);
    }
    return out;
  }

 private:
  double normal(std::uint32_t entity, std::uint64_t n) const {
    return normal_quantile(RngStream(options_.seed, Purpose::kTest, entity).open01_at(n));
  }

  BurstTrafficOptions options_;
  double noise_ = 0.0;
  std::vector<double> last_;
};

}  // namespace bonescan::fakes
