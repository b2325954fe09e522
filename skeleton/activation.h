// Readiness-gated activation: who may be probed now.
//
// A ping list exists before its containers do.  Probing a container that is still starting looks
// like an unreachable one, so an entry sleeps until its target says that it is ready: the target
// registers itself with the peers that list it, and each of them switches on one entry.  No
// controller is involved and a registration costs O(1) at every peer, so a burst of starting
// containers loads nobody but their own peers.
// Lists may change later: counts are always those of the lists as they are now.
// Invariants: 1. a pair is active exactly if both of its ends are ready; 2. an endpoint that is
// stopping or gone is not ready; 3. an endpoint's state is that of its newest event, whatever the
// order and number of deliveries; of two events with the same time the later stage of life wins;
// 4. of an endpoint that was ended one byte stays, and its later events change nothing.
// Thread-compatible.
#pragma once

#include "detectors/telemetry/endpoint.h"
#include "detectors/telemetry/inspection.h"
#include "sim/base/paged_column.h"
#include "sim/base/units.h"
#include "skeleton/rail_pairs.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace bonescan {

class Activation final {
 public:
  /// Nobody is known.
  Activation() = default;

  /// Nobody is ready.
  explicit Activation(const PingLists& lists) { submit(lists); }

  /// The next endpoints and their lists, which are not kept.
  void submit(const PingLists& lists);

  /// Another list for one source: it leaves the registers of those that are in it no more, and
  /// enters those of the new ones.
  /// REQUIRES: `before` is the source's list; `after` has no doubles; nobody of them has ended.
  /// Complexity: O(log n) a target, and moving what it is registered with.
  void relist(EndpointId source,
              std::span<const EndpointId> before,
              std::span<const EndpointId> after);

  /// Gives back what was kept of endpoints that nobody will hear of again.
  /// REQUIRES: none is ready, none was ended before.
  void end(std::span<const EndpointId> endpoints);

  bool ready(EndpointId endpoint) const { return stages_[endpoint] == Stage::kReady; }

  bool gone(EndpointId endpoint) const { return stages_[endpoint] >= Stage::kGone; }

  bool ended(EndpointId endpoint) const { return stages_[endpoint] == Stage::kEnded; }

  /// Could it be visited, if it is listed?
  bool active(Pair pair) const { return ready(pair.source) && ready(pair.target); }

  /// When the endpoint became ready; nothing while it is not.
  std::optional<Time> ready_since(EndpointId endpoint) const;

  /// When a planned stop (or the end) of the container was announced; nothing if it was not, or if
  /// it was ended.
  std::optional<Time> stopped_since(EndpointId endpoint) const;

  /// Ready targets in the list of `source`; 0 while `source` itself is not ready.
  std::uint32_t active_targets(EndpointId source) const {
    return ready(source) ? registered_[source] : 0;
  }

  std::uint32_t ready_count() const { return ready_count_; }

  /// Listed pairs that are active.
  std::uint64_t active_pairs() const { return active_pairs_; }

  /// Late and repeated events change nothing.
  /// Complexity: O(1) for each peer that lists the endpoint.
  /// REQUIRES: an endpoint of the lists.
  void apply(const MembershipEvent& event);

  /// Bytes that go when endpoints end, and bytes that stay.
  std::size_t held_size() const;
  std::size_t kept_size() const;

 private:
  /// In the order of a container's life.
  enum class Stage : std::uint8_t {
    kUnseen,
    kReady,
    kStopping,
    kGone,
    kEnded  ///< gone for good
  };

  struct Life {
    Time since = Time::min();   ///< when this stage began; kGone after kStopping keeps its start
    Time newest = Time::min();  ///< time of the newest event, also of one that changed nothing
  };

  static Stage stage_after(MembershipKind kind);
  void enter_ready(EndpointId endpoint);
  void leave_ready(EndpointId endpoint);

  IdVector<EndpointId, Stage> stages_;
  PagedColumn<EndpointId, Life> lives_;
  PagedColumn<EndpointId, std::vector<EndpointId>> listed_by_;  ///< ascending
  PagedColumn<EndpointId, std::uint32_t> registered_;  ///< ready targets in this endpoint's list
  std::uint32_t ready_count_ = 0;
  std::uint64_t active_pairs_ = 0;
};

}  // namespace bonescan
