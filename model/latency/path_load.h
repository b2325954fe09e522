// What the load of a path does to one probe: waits to draw and probabilities to pass.
//
// Three kinds of wait, each from one uniform number:
//   PathWait    packets that come independently (queueing.h), one for each direction
//   BurstWait   queues that rise and fall in straight lines: nothing, uniform up to a peak, or the
//               peak itself where something holds the queue there
// All of a probe's waits come from the one word of random bits that draws its queueing: the word is
// stirred once for each wait.  Stirring is a bijection of the word, so every wait keeps its
// distribution, and what is left of a dependence between them is below what a test can see.
// Bursts of one path share a number: they are of one incast or of one congested tree, and are long
// together.
#pragma once

#include "model/latency/queueing.h"
#include "sim/base/rng_stream.h"

#include <array>
#include <cstdint>
#include <span>

namespace bonescan {

struct BurstWait {
  double idle_ratio = 1.0;  ///< probability not to wait
  double ramp_ratio = 0.0;  ///< probability to wait uniformly between low and peak
  double low_ns = 0.0;
  double peak_ns = 0.0;  ///< with the probability that is left
};

/// REQUIRES: 0 < u < 1.
double wait_quantile_ns(const BurstWait& wait, double u);

double mean_wait_ns(const BurstWait& wait);

/// A bijection of 32 bits that leaves no pattern.  @source the finalizer of MurmurHash3
constexpr std::uint32_t stirred(std::uint32_t word) {
  word = (word ^ (word >> 16)) * 0x85EBCA6Bu;
  word = (word ^ (word >> 13)) * 0xC2B2AE35u;
  return word ^ (word >> 16);
}

struct PathLoad {
  static constexpr std::size_t kMostBursts = 4;

  std::array<PathWait, 2> queues{};  ///< of the request, of the answer
  std::array<BurstWait, kMostBursts> bursts{};
  std::uint32_t burst_count = 0;
  double request_pass = 1.0;  ///< probability to meet no full queue on the way there
  double round_pass = 1.0;    ///< on both ways

  /// Is there anything to wait for?
  bool waits() const {
    return burst_count > 0 || queues[0].mean_ns > 0.0 || queues[1].mean_ns > 0.0;
  }

  /// Beyond kMostBursts the last one takes what comes: its probabilities stay, waits add up.
  void add(const BurstWait& wait);

  /// Both ways, from the word of the probe's row that draws its queueing.
  double wait_ns(std::uint32_t word) const;

  /// Expectation of wait_ns().
  double mean_ns() const;
};

}  // namespace bonescan
