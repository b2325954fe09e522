// The megaflows of every pair of RNICs that ever exchanged a packet.
//
// A round trip crosses four megaflows: encap at the sender, decap at the receiver, and the two of
// the answer.  Both probing directions of a pair, and the job's traffic between the two, share
// them.  So the unit of state is the unordered pair (a quad), and quads never touch each other:
// they may be evaluated in any order or on any thread.  When the tenant of an RNIC is gone its
// quads are freed, and the next pair takes the place: a later tenant meets absent megaflows.
// Invariants: 1. a quad is only moved forward in time; 2. an id means the same pair until one of
// its ends is released.
#pragma once

#include "model/fabric/fabric.h"
#include "model/overlay/megaflow.h"
#include "model/workload/job_table.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace bonescan {

using QuadId = StrongId<struct QuadTag>;

/// State between RNICs ends[0] < ends[1]; index 0 or 1 says at which end a megaflow lives.
struct FlowQuad {
  std::array<RnicId, 2> ends;
  std::array<Megaflow, 2> encap;  ///< from this end to the other
  std::array<Megaflow, 2> decap;  ///< from the other end to this one
  TrafficKind traffic = TrafficKind::kNone;
  std::uint32_t stage = 0;  ///< whose bursts they are, if it goes in bursts
  JobId job;
  std::array<std::uint16_t, 2> vf_drops{};  ///< probes that the VF of an end did not let out
  Time job_until;                           ///< the job's traffic is accounted for up to here

  std::size_t end_of(RnicId rnic) const { return rnic == ends[0] ? 0 : 1; }
};

/// The second decap megaflows of a pair, of packets that arrive with CE; by end.
using MarkedFlows = std::array<Megaflow, 2>;

class Eswitch;

class FlowStore final {
 public:
  /// New flows ask `eswitch` for their tickets; with `marked`, packets may arrive with CE.
  void admit_by(Eswitch* eswitch, bool marked) {
    eswitch_ = eswitch;
    has_marked_ = marked;
  }

  /// The quad of two RNICs, made on first use.
  QuadId find_or_add(RnicId a, RnicId b, const JobTable& jobs);

  /// Asks again what the job sends between the two ends: its shape has changed at `now`.
  /// REQUIRES: the quad is settled.
  void retrace(QuadId id, const JobTable& jobs, Time now);

  std::optional<QuadId> find(RnicId a, RnicId b) const;

  FlowQuad& operator[](QuadId id) { return quads_[id]; }

  const FlowQuad& operator[](QuadId id) const { return quads_[id]; }

  /// Places for quads, free ones too: above every id.
  std::size_t size() const { return quads_.size(); }

  /// Quads in use.
  std::size_t used() const { return quads_.size() - free_.size(); }

  /// Frees every quad that touches an RNIC.
  void release(RnicId rnic);

  /// Null if no packets arrive marked.
  MarkedFlows* marked(QuadId id) const { return has_marked_ ? marked_[id].get() : nullptr; }

  /// Quads that touch an RNIC, in the order of their making.
  const std::vector<QuadId>& of(RnicId rnic) const;

 private:
  struct Peer {
    RnicId rnic;
    QuadId quad;
  };

  static bool before(const Peer& peer, RnicId id) { return peer.rnic < id; }

  void forget_peer(RnicId low, RnicId high);
  QuadId take_place(const FlowQuad& quad);

  Eswitch* eswitch_ = nullptr;
  bool has_marked_ = false;
  IdVector<QuadId, FlowQuad> quads_;
  IdVector<QuadId, std::unique_ptr<MarkedFlows>> marked_;  ///< empty if no packets arrive marked
  std::vector<QuadId> free_;
  std::vector<std::vector<QuadId>> by_rnic_;
  std::vector<std::vector<Peer>> peers_;  ///< of the lower RNIC, sorted by peer
};

}  // namespace bonescan
