// The state of every directed link: what it loses, delays and queues, and whether it is used.
//
// A link is excluded when whoever sends over it has learned to avoid it; until then packets go
// there and die.  Who learns what, and when, is the world's business (World::set_port_down).
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
  double capacity_ratio = 1.0;  ///< of the link's rate that is left, whatever the packets
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

  /// One direction of a cable is dead and its sender does not notice: the other direction still
  /// passes.  Nested.
  void set_one_way_down(LinkId link);
  void set_one_way_up(LinkId link);

  bool passes(LinkId link) const {
    return down_count_[Fabric::cable_of(link)] == 0 && one_way_down_[link] == 0;
  }

  /// Does the end that sends over `link` see that the cable is broken?  It sees a dead port, and it
  /// sees that nothing arrives from the other end; that its own light goes nowhere it is not told.
  bool sender_sees_down(LinkId link) const {
    const CableId cable = Fabric::cable_of(link);
    return down_count_[cable] > 0 ||
           one_way_down_[Fabric::is_up(link) ? Fabric::down(cable) : Fabric::up(cable)] > 0;
  }

  /// Takes a directed link out of (or back into) the groups that packets are spread over.
  void set_excluded(LinkId link, bool excluded);
  /// Both directions.
  void set_excluded(CableId cable, bool excluded);

  bool excluded(LinkId link) const { return excluded_[link] != 0; }

  bool any_excluded() const { return excluded_count_ > 0; }

  /// Share of the link's rate that is left.
  double capacity_ratio(LinkId link) const { return capacity_ratios_[link]; }

  /// Adds what `packet` meets on `links` to `conditions`.
  void accumulate(std::span<const LinkId> links,
                  const PacketView& packet,
                  LinkConditions& conditions) const;

  /// Counts changes of any kind; not part of the state.
  std::uint64_t version() const { return version_; }

  /// Of everything that packets can see, and of how often each port was taken down.
  std::uint64_t fingerprint() const;

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

  IdVector<LinkId, Column> columns_;
  IdVector<CableId, std::uint16_t> down_count_;
  IdVector<LinkId, std::uint8_t> one_way_down_;
  IdVector<LinkId, std::uint8_t> excluded_;
  IdVector<LinkId, double> capacity_ratios_;
  std::uint32_t excluded_count_ = 0;
  std::uint64_t version_ = 0;
  IdVector<ImpairmentId, Active> active_;
};

}  // namespace bonescan
