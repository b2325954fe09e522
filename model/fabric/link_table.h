// The state of every directed link: what it loses, delays and queues.
//
// Effects are a list; the columns that probes read are recomputed from the whole list at each
// change, so removing an effect restores the exact state from before it.
// Invariants: 1. a link without effects has loss 0, delay 0, queue 0 and is up; 2. selective
// effects (of some packets only) are kept apart and read only on links that have any.
#pragma once

#include "model/fabric/fabric.h"
#include "sim/base/units.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace bonescan {

/// Which packets an impairment touches.  Default: all.
struct PacketFilter {
  std::uint32_t min_bytes = 0;
  std::uint32_t max_bytes = 0xFFFFFFFF;
  std::optional<std::uint8_t> dscp;
  double flow_share = 1.0;  ///< share of five-tuples, chosen by hash

  bool all() const {
    return min_bytes == 0 && max_bytes == 0xFFFFFFFF && !dscp.has_value() && flow_share >= 1.0;
  }
};

struct LinkImpairment {
  double loss_ratio = 0.0;
  Duration delay{};
  Duration queue_mean{};  ///< mean of an exponential extra wait
  PacketFilter packets;
};

using ImpairmentId = StrongId<struct ImpairmentTag>;

/// What a packet is, as far as links care.
struct PacketView {
  std::uint64_t flow = 0;  ///< flow_hash of the five-tuple
  std::uint32_t bytes = 64;
  std::uint8_t dscp = 0;
};

/// What one packet meets along links.
struct LinkConditions {
  double pass_ratio = 1.0;
  Duration delay{};
  double queue_mean_ns = 0.0;
};

class LinkTable final {
 public:
  explicit LinkTable(const Fabric& fabric);

  ImpairmentId add(LinkId link, const LinkImpairment& impairment);
  void remove(ImpairmentId id);

  /// Both directions of a cable; nested downs count.
  void set_port_down(CableId cable);
  void set_port_up(CableId cable);

  bool up(CableId cable) const { return down_count_[cable] == 0; }

  /// Takes a fabric cable out of (or back into) the ECMP groups of both ends.
  void set_excluded(CableId cable, bool excluded);

  /// Which aggregation switch the flow takes between two ToRs.
  std::uint32_t aggregation_for(SwitchId from,
                                SwitchId to,
                                std::uint64_t flow,
                                std::uint64_t salt) const;

  /// Adds what `packet` meets on `links` to `conditions`.
  void accumulate(std::span<const LinkId> links,
                  const PacketView& packet,
                  LinkConditions& conditions) const;

 private:
  struct Active {
    LinkId link;
    LinkImpairment impairment;
    bool alive = false;
  };

  struct Column {
    double pass_ratio = 1.0;
    Duration delay{};
    double queue_mean_ns = 0.0;
    bool selective = false;
  };

  void recompute(LinkId link);

  const Fabric* fabric_;
  IdVector<LinkId, Column> columns_;
  IdVector<CableId, std::uint16_t> down_count_;
  IdVector<CableId, std::uint8_t> excluded_;
  std::uint32_t excluded_count_ = 0;
  IdVector<ImpairmentId, Active> active_;
};

}  // namespace bonescan
