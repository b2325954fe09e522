// Lists of the schemes that go by ToRs: who is below which, and between which ToRs there are
// probes.
//
// A ToR here is a segment and a rail; the two ToRs of a rail's pair (hpn) are one, as an RNIC is
// below both.  Servers of a ToR are its RNICs of active hosts, counted by host.
// Server i of a ToR never probes its own host: where ToRs are of one segment, server i + 1 answers
// (r-pingmesh), or nobody (pingmesh, whose rule names server i).
// @ours all of this: the publications have one RNIC per host and ToR
#pragma once

#include "planner/matrix/matrix_builder.h"
#include "planner/matrix/scheme_size.h"

#include <cstdint>
#include <vector>

namespace bonescan {

class TorLists final {
 public:
  /// REQUIRES: no graph; `fabric` outlives this.
  TorLists(const Fabric& fabric, const MatrixOptions& options);

  std::uint32_t tors() const { return fabric_->options().segments * rails_; }

  /// Servers below a ToR.
  std::uint32_t servers() const { return servers_; }

  bool joined(std::uint32_t tor, std::uint32_t other) const {
    return tor != other && (crosses_rails_ || tor % rails_ == other % rails_);
  }

  bool one_segment(std::uint32_t tor, std::uint32_t other) const {
    return tor / rails_ == other / rails_;
  }

  RnicId server(std::uint32_t tor, std::uint32_t index) const {
    return fabric_->rnic(fabric_->host(tor / rails_, index), tor % rails_);
  }

  /// r-pingmesh: five-tuples from one ToR to another; 0 if there are none to send.
  std::uint32_t five_tuples(std::uint32_t tor, std::uint32_t other) const;

  SchemeSize pingmesh_size() const;
  SchemeSize r_pingmesh_size() const;
  std::vector<ProbeRow> pingmesh_rows() const;
  std::vector<ProbeRow> r_pingmesh_rows() const;

 private:
  void add_below(std::uint32_t tor, std::vector<ProbeRow>& rows) const;
  void mark_hosts(std::uint32_t tor, std::vector<bool>& marks) const;

  const Fabric* fabric_;
  std::uint32_t rails_;
  std::uint32_t servers_;
  bool crosses_rails_;
  std::uint32_t near_tuples_ = 0;  ///< over the aggregation switches alone
  std::uint32_t far_tuples_ = 0;   ///< over core switches
};

}  // namespace bonescan
