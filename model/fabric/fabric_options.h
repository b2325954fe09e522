// What a fabric is made of: its preset, its counts, its rates, its timers.
//
// A preset is a rule for who is cabled to whom; the counts say how many there are of each.
//   rail-optimized  one ToR per rail in every segment; every ToR to every aggregation switch
//   rail-only       as before, but every rail has aggregation switches of its own: nothing connects
//                   two rails, so pairs across rails are unreachable by design
//   hpn             dual-ToR, dual-plane: two ports per RNIC, one to each ToR of the rail's pair;
//                   the ToRs of plane p go to the aggregation switches of plane p only
//   three-tier      segments are grouped in pods with aggregation switches of their own, and the
//                   a-th aggregation switch of every pod shares a group of core switches
//   graph           any cables, see FabricGraph; the only one that keeps tables
#pragma once

#include "sim/base/units.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bonescan {

enum class FabricPreset : std::uint8_t {
  kRailOptimized,
  kRailOnly,
  kHpn,
  kThreeTier,
  kGraph
};

/// "rail-optimized", "rail-only", "hpn", "three-tier", "graph".
std::string_view to_string(FabricPreset preset);

/// How a switch turns a flow into a member of an ECMP group.
enum class HashAlgorithm : std::uint8_t {
  kMix,       ///< a mixing function with a salt for every switch
  kCrc,       ///< CRC-32C with a seed for every switch, which only permutes its members
  kSameSalt,  ///< the mixing function with one salt everywhere
  kOneBit,    ///< the mixing function, of which one bit is used: two members (a fault, no option)
};

/// A switch that hashes in a way of its own.
struct SwitchHashOverride {
  std::uint32_t switch_index = 0;  ///< SwitchId
  HashAlgorithm algorithm = HashAlgorithm::kMix;
  std::optional<std::uint64_t> salt{};  ///< else drawn, as for any other switch

  bool operator==(const SwitchHashOverride&) const = default;
};

/// A rate of 0 means FabricOptions::link_rate.
struct TierOptions {
  BitsPerSecond rate{0};
  bool llr = false;  ///< link-level retry, see link_physics.h
};

/// Cables of a network that is no preset, by index.  fabric_graph.h makes and checks one.
struct FabricGraph {
  struct Trunk {
    std::uint32_t lower = 0;  ///< switches
    std::uint32_t upper = 0;
    BitsPerSecond rate{0};

    bool operator==(const Trunk&) const = default;
  };

  std::vector<std::string> hosts;     ///< names; RNICs follow from hosts and rails
  std::vector<std::string> switches;  ///< names, ToRs (those with access cables) first
  std::uint32_t tors = 0;
  std::vector<std::uint32_t> access_tors;  ///< by access cable: the switch above
  std::vector<Trunk> trunks;               ///< by cable, after the access cables

  bool operator==(const FabricGraph&) const = default;
};

struct FabricOptions {
  std::uint32_t segments = 4;
  std::uint32_t hosts_per_segment = 16;
  std::uint32_t rails = 8;
  /// In every group: all (rail-optimized), of a rail (rail-only), a plane (hpn), a pod
  /// (three-tier).
  std::uint32_t aggregation_switches = 8;
  BitsPerSecond link_rate{400'000'000'000};
  /// From a fabric port going down until both ends' ECMP groups avoid it. @source ours
  Duration convergence = std::chrono::milliseconds(800);

  FabricPreset preset = FabricPreset::kRailOptimized;
  /// Cabled like the others, but no job is placed on them.
  std::uint32_t spare_hosts_per_segment = 0;
  /// Ports of a ToR towards hosts to which nothing is cabled.
  std::uint32_t spare_tor_ports = 0;
  /// three-tier: segments of one pod.
  std::uint32_t segments_per_pod = 2;
  /// three-tier: a multiple of aggregation_switches.
  std::uint32_t core_switches = 16;
  /// Ports of an RNIC in one bond, all to one ToR.  hpn has two of its own and ignores this.
  std::uint32_t bond_members = 1;
  /// From an access member going down until its host sends by another member (LACP). @source ours
  Duration bond_failover = std::chrono::milliseconds(100);
  /// From an access member going down until others send to the host by another member: the ToR
  /// withdraws the /32 route of the host. @source ours
  Duration route_withdrawal = std::chrono::milliseconds(300);
  TierOptions access{};  ///< RNIC-ToR
  TierOptions fabric{};  ///< ToR-aggregation
  TierOptions core{};    ///< aggregation-core
  HashAlgorithm hash = HashAlgorithm::kMix;
  std::vector<SwitchHashOverride> hash_overrides{};
  FabricGraph graph{};  ///< graph: its cables; then the only segment holds all hosts
};

/// A preset with the counts and rates of its publication; ours where there is none.
/// @paper HPN, SIGCOMM 2024: 15 segments of 128 + 8 spare hosts, 60 aggregation switches a plane,
/// 2 x 200G per RNIC, 400G uplinks (quoted; 8 spare hosts inferred from 8 backup ports)
FabricOptions preset_options(FabricPreset preset);

}  // namespace bonescan
