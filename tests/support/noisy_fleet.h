// Pairs with log-normal round trips, visit by visit, for detectors that hear visits.
//
// Every pair has a base and a spread of its own; a test sets a factor to make it slow, or a queue
// to let probes wait.  Draws are counter-based: a factor changes nothing but that pair's RTTs.
#pragma once

#include "detectors/detect/detector.h"
#include "detectors/telemetry/probe.h"
#include "sim/base/distributions.h"
#include "sim/base/rng_stream.h"

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace bonescan {

class NoisyFleet final {
 public:
  struct PairNoise {
    double base_ns = 16'000.0;
    double spread = 0.08;   ///< sd of the logarithm of an RTT
    double factor = 1.0;    ///< of a fault
    double queue_ns = 0.0;  ///< mean of an exponential wait
    double spikes = 0.0;    ///< share of probes with 40 us more
    std::size_t lost = 0;   ///< probes of each visit, the first ones
  };

  NoisyFleet(std::size_t pairs, std::uint64_t seed, std::size_t probes = 10)
      : noise(pairs), seed_(seed), probes_(probes), rtts_(pairs * probes) {}

  /// One visit of every pair; turn by turn a second apart.
  std::span<const ObservedVisit> next_visits() {
    visits_.clear();
    for (std::size_t p = 0; p < noise.size(); ++p) {
      draw(p);
      visits_.push_back({.pair = PairId(static_cast<std::uint32_t>(p)),
                         .start = now_,
                         .rtts_ns = std::span(rtts_).subspan(p * probes_, probes_)});
    }
    now_ += std::chrono::seconds(1);
    ++turn_;
    return visits_;
  }

  Time now() const { return now_; }

  std::vector<PairNoise> noise;

 private:
  void draw(std::size_t pair) {
    const PairNoise& mine = noise[pair];
    const RngStream stream(seed_, Purpose::kTest, static_cast<std::uint32_t>(pair));
    for (std::size_t i = 0; i < probes_; ++i) {
      const std::uint64_t row = 3 * (turn_ * probes_ + i);
      const double noise_nats = mine.spread * normal_quantile(stream.open01_at(row));
      double rtt = mine.base_ns * mine.factor * std::exp(noise_nats);
      if (mine.queue_ns > 0.0) {
        rtt += exponential_quantile(stream.open01_at(row + 1), mine.queue_ns);
      }
      if (mine.spikes > 0.0 && stream.open01_at(row + 2) < mine.spikes) {
        rtt += 40'000.0;
      }
      rtts_[pair * probes_ + i] = i < mine.lost ? kLostRtt : static_cast<std::uint32_t>(rtt);
    }
  }

  std::uint64_t seed_;
  std::size_t probes_;
  std::vector<std::uint32_t> rtts_;
  std::vector<ObservedVisit> visits_;
  Time now_ = kStartOfRun;
  std::uint64_t turn_ = 0;
};

}  // namespace bonescan
