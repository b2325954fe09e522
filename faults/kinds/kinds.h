// Every named kind: one function and one file each, in the order of CATALOG.md.
//
// A new kind needs a file, a line here, and a line in fault_kinds.cpp.
#pragma once

#include "faults/kinds/fault_kind.h"
#include "faults/kinds/fault_site.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bonescan {

// The rows of the paper's Table 1, in its order.
FaultKind crc_error_kind();
FaultKind switch_port_down_kind();
FaultKind switch_port_flapping_kind();
FaultKind switch_offline_kind();
FaultKind rnic_hardware_failure_kind();
FaultKind rnic_firmware_stall_kind();
FaultKind rnic_port_down_kind();
FaultKind rnic_port_flapping_kind();
FaultKind offloading_failure_kind();
FaultKind bond_error_kind();
FaultKind gid_change_kind();
FaultKind pcie_nic_error_kind();
FaultKind gpudirect_error_kind();
FaultKind not_using_rdma_kind();
FaultKind repetitive_flow_offloading_kind();
FaultKind suboptimal_flow_offloading_kind();
FaultKind container_crash_kind();
FaultKind hugepage_mismatch_kind();
FaultKind congestion_control_off_kind();

// Others.
FaultKind missing_overlay_rule_kind();
FaultKind overlay_loop_kind();
FaultKind stale_flow_counters_kind();

// What operators report.
FaultKind one_way_loss_kind();
FaultKind ecmp_path_loss_kind();
FaultKind large_packet_loss_kind();
FaultKind mtu_blackhole_kind();
FaultKind dscp_loss_kind();
FaultKind silent_blackhole_kind();
FaultKind neighbour_missing_kind();
FaultKind neighbour_stale_kind();
FaultKind route_missing_kind();
FaultKind vni_mismatch_kind();
FaultKind tunnel_checksum_kind();
FaultKind gid_holes_kind();
FaultKind spoof_check_kind();
FaultKind eswitch_full_kind();
FaultKind lag_member_down_kind();
FaultKind pcie_width_loss_kind();
FaultKind lane_downgrade_kind();
FaultKind optics_degrading_kind();
FaultKind pfc_storm_kind();
FaultKind hash_polarization_kind();
FaultKind miscabled_rails_kind();
FaultKind dual_tor_switchover_kind();
FaultKind both_layers_kind();
FaultKind two_faults_kind();

// For the files of this folder.

tl::unexpected<Error> misfit(std::string detail);
EffectSpec effect_on(EffectKind kind, const ComponentRef& on);
ComponentRef on_rnic(RnicId rnic);
ComponentRef on_cable(CableId cable);
ComponentRef on_switch(SwitchId id);
ComponentRef on_host(HostId host);

/// One of `choices` by row `n` of the stream.  REQUIRES: not empty.
template <class T>
const T& one_of(std::span<const T> choices, const RngStream& stream, std::uint64_t n) {
  return choices[stream.at(n) % choices.size()];
}

/// The value at `u` of a magnitude whose logarithm is uniform.
/// @param u  in (0, 1)
double log_uniform(double low, double high, double u);

/// Any RNIC of a job, by row 0 of the stream.
std::optional<KindParameters> draw_rnic(const FaultSite& site, const RngStream& stream);

/// A cable that jobs use: a fair coin says whether it is an access cable or one between switches,
/// so that both are had in campaigns although there are more of one sort; rows 0 and 3.
/// What is between switches is routed around, an access cable is not.
std::optional<KindParameters> draw_cable(const FaultSite& site, const RngStream& stream);

/// A switch that jobs use: a fair coin between ToRs and others; rows 0 and 3.
std::optional<KindParameters> draw_switch(const FaultSite& site, const RngStream& stream);

/// Time down and time up of a flap, by rows 1 and 2.
void draw_flap(const RngStream& stream, KindParameters& drawn);

/// What is wrong with the times of a flap; nullopt: nothing.
std::optional<Error> unfit_flap(std::string_view kind, const KindParameters& parameters);

EffectSpec flap_of(const KindParameters& parameters);

/// A rule of a bridge is removed or altered to a loop.
Expected<std::vector<EffectSpec>> rule_effect(EffectKind kind, const KindParameters& parameters);
/// One of the three rules of an RNIC that is in use.
std::optional<KindParameters> draw_rule(const FaultSite& site, const RngStream& stream);

}  // namespace bonescan
