// Waiting at one link as a function of its load: what a closed-form probe needs instead of a queue.
//
// A link that serves packets first come first served, one after the other, at a fixed rate, with
// arrivals that are close to Poisson (many flows, none of them dominant), is an M/G/1 queue:
//   mean wait = lambda * E[S^2] / (2 (1 - rho))            Pollaczek and Khinchine
// for equal packets (M/D/1): S * rho / (2 (1 - rho)).  A probe that comes at a random moment waits
// with probability rho and not at all otherwise; how long, given that it waits, has the mean above
// divided by rho and a tail that decays as exp(-theta w).
//
// An incast of n bursts of b bytes each, started together at line rate towards one link over k
// links, fills its queue to (n - n / k) b while they come in, and drains it afterwards: both are
// straight lines, so the wait of a probe that meets it is uniform between 0 and the peak.
//
// What these do not say: flows that were smoothed by a queue before (a tandem of equal links waits
// once, at the first that merges), loads that change faster than the queue drains, and loss.
#pragma once

#include "sim/base/units.h"

#include <cstdint>

namespace bonescan {

/// One link with open-loop load.
struct LinkLoad {
  double utilisation = 0.0;      ///< rho, of the link's rate
  double service_ns = 0.0;       ///< mean serialization time of the load's packets
  double service_squared = 0.0;  ///< mean of its square, in ns^2; service_ns^2 for equal packets
};

/// Load of equal packets.
LinkLoad equal_packets(double utilisation, Bytes wire_size, BitsPerSecond rate);

/// Two loads on one link together.
LinkLoad operator+(const LinkLoad& a, const LinkLoad& b);

/// @units nanoseconds
/// REQUIRES: utilisation < 1.
/// @paper Pollaczek 1930, Khinchine 1932
double mean_wait_ns(const LinkLoad& load);

/// What a path's loaded links add up to, for one draw a probe.
struct PathWait {
  double idle_ratio = 1.0;  ///< probability to wait nowhere: the product of the links' 1 - rho
  double mean_ns = 0.0;     ///< sum of the links' mean waits
};

/// REQUIRES: utilisation < 1.
void add_link(PathWait& path, const LinkLoad& load);

/// Wait of a probe, from one uniform number: an atom at zero, and beyond it an exponential with the
/// mean that the formula asks for.  For one link of equal packets the mean is exact and quantiles
/// are within 0.6 service times of the exact ones for rho from 0.3 to 0.8.  For several links the
/// shape is an approximation; links that one flow fills one after the other are counted each,
/// though it waits at the first alone: at 30 % load everywhere the mean wait came out 4 to 8 % too
/// long. REQUIRES: 0 < u < 1.
double wait_quantile_ns(const PathWait& path, double u);

/// The same for one link.
double wait_quantile_ns(const LinkLoad& load, double u);

/// A link's load by the links over which it comes, as one probe sees it.
struct MergingLoad {
  double utilisation = 0.0;  ///< rho
  double work_ns = 0.0;      ///< sum of rho * service time over all packets
  double waited = 0.0;       ///< sum of rho_i^2 / (1 - rho_i) over the input links
  double same_input = 0.0;   ///< rho_p, what comes over the probe's own input link
  double same_work_ns = 0.0;
  double probe_ns = 0.0;  ///< serialization of the probe
};

/// Packets that came over one link have waited for each other there: in a tree of queues of equal
/// service S what leaves its root does not depend on where they waited.  So all links of a way
/// together make a packet wait as M/D/1 with the load of the last one, and one link makes it wait
/// for the difference to its inputs.  A probe at a random moment, by the workload that it finds:
///   S / 2 * (rho / (1 - rho) - sum of rho_i^2 / (1 - rho_i))
/// A probe that is smaller than the load, however, catches up at every hop with the packet that it
/// follows: instead of half of a packet of its own input it waits for
///   rho_p * D * (1 + (1 - rho_p) * D / (2 S)),  D = S - its own serialization.
/// One input that is not the probe's gives the rest of a packet, many give M/D/1.
/// @ours  from the equivalence of trees of equal deterministic servers; for unequal packets S is
/// the mean of S^2 over the mean of S, which is exact for many inputs alone
double mean_wait_ns(const MergingLoad& load);

/// Utilisation counts as at most kMostUtilisation: what is beyond is no queue that empties.
void add_link(PathWait& path, const MergingLoad& load);

constexpr double kMostUtilisation = 0.98;

/// Distribution function of the wait for equal packets (M/D/1), exact.
///   P(W <= t) = (1 - rho) * sum over k <= t / S of (x_k)^k / k! * exp(-x_k),  x_k = lambda (k S -
///   t)
/// The terms alternate: good to 1e-6 for t / S up to about 25.
/// @paper Erlang 1909; Crommelin 1932
double md1_wait_cdf(double utilisation, double service_ns, double wait_ns);

/// n bursts of b bytes, every period, towards one link.
struct IncastLoad {
  std::uint32_t senders = 0;
  std::uint32_t fan_in = 0;  ///< links over which the bursts come together; 0: none is shared
  double burst_ns = 0.0;     ///< serialization time of one sender's burst
  double period_ns = 0.0;    ///< between the starts of two incasts
};

/// Longest wait: (n - n / k) bursts.
double incast_peak_ns(const IncastLoad& load);

/// Mean wait of a probe at a random moment of the period.
double incast_mean_wait_ns(const IncastLoad& load);

/// The wait from one uniform number.  REQUIRES: 0 < u < 1, n bursts fit in the period.
double incast_wait_quantile_ns(const IncastLoad& load, double u);

}  // namespace bonescan
