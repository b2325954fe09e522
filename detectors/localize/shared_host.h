// When several RNICs of one host are late at once: is it the host, or each of its links?
//
// Intuition: RNICs of one host share no cable and no switch port, so no link explains two of them.
// What they share is the host and the Open vSwitch on it.  One cause that explains the late pairs
// of all its RNICs is weighed against one cause for each RNIC, at the same price for every cause.
//
// Model: with b the late ratio of pairs that avoid the host (in [base, slack times base]) and
// LLR(t, x) of underlay_vote.h over the t pairs that end there, of which x are late, the host wins
// if one late ratio for all explains them as well as a ratio for each RNIC, but for the price of
// one cause:
//   LLR(t, x) > sum over its RNICs of LLR(t_i, x_i) - open
// and if at least two of its RNICs are worth a cause of their own, LLR(t_i, x_i) >= open.
// More conditions keep what is elsewhere from coming out as a host: `least_ratio` of its pairs are
// late; the evidence holds without the pairs of any one other host, or it is not known which of the
// two it is; and most pairs of its neighbours below the same switches are well, or it is the
// switches.
//
// What it cannot do: tell the Open vSwitch of a host from anything else that all its RNICs share,
// or from faults of all their links at once.
// Rough model: pairs times log(hosts with late pairs).  Stateless.
#pragma once

#include "detectors/telemetry/endpoint.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace bonescan {

struct SharedHostOptions {
  double base_late_ratio = 1e-4;  ///< as VoteOptions
  double base_slack = 100.0;
  double open_llr = 14.0;     ///< nats: the price of a cause
  double least_ratio = 0.25;  ///< share of the host's pairs that must be late @ours
  double ill_ratio = 0.5;     ///< more late pairs of neighbours than this are no host's fault @ours
};

/// One pair in one direction.
struct PairLateness {
  PairId pair;
  Pair ends;
  bool late = false;
};

/// A host that explains what is late at several of its RNICs.
struct SharedHost {
  std::string host;
  std::vector<EndpointId> rnics;  ///< that are late, ascending
  std::vector<PairId> pairs;      ///< late ones that end there, ascending
  std::uint32_t paths = 0;        ///< all that end there
  double llr = 0.0;               ///< nats
  double apart_llr = 0.0;         ///< nats of a cause for each RNIC
};

/// The surest first, each with what those before it leave over.  Order-free.
std::vector<SharedHost> shared_hosts(const EndpointDirectory& endpoints,
                                     std::span<const PairLateness> pairs,
                                     const SharedHostOptions& options = {});

}  // namespace bonescan
