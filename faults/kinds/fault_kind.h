// A named kind of failure: a preset of primitive effects, what is known of it, and where it
// strikes.
//
// Intuition: people say "a flapping port"; the world knows ports that go down and up.  A kind joins
// the two, says in words what probes can and cannot see of it, and knows how to place itself in a
// world at random, so that campaigns need no list of components.  One file of this folder is one
// kind; kinds.h lists them all.
// Invariants: 1. names are unique; 2. effects() of what draw() chose succeeds; 3. draw() reads the
// world and its stream, and nothing else.
#pragma once

#include "faults/fault_spec.h"
#include "sim/base/error.h"
#include "sim/base/rng_stream.h"
#include "sim/base/units.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bonescan {

class FaultSite;

/// The parameters a named kind may take, with defaults.
struct KindParameters {
  ComponentRef on;
  EffectDirection direction = EffectDirection::kBoth;
  double loss = 0.02;                       ///< kinds that lose packets
  Duration down = std::chrono::seconds(2);  ///< kinds that flap: time down in each cycle
  Duration up = std::chrono::seconds(8);    ///< kinds that flap: time up in each cycle
  RuleRole rule = RuleRole::kDeliver;       ///< kinds of OpenFlow rules
  std::optional<RnicId> peer;               ///< the RNIC at the other end, where there is one
  double flow_share = 1.0;                  ///< kinds that touch a share of an RNIC's flows
  Duration delay = std::chrono::microseconds(100);  ///< kinds that make packets late
  std::uint32_t pages = 0;                          ///< kinds of huge pages: what is left
  // Of the kinds that operators report.
  std::uint32_t min_packet = 1'025;          ///< kinds of large packets: bytes from which on
  std::uint8_t dscp = 26;                    ///< kinds of one class
  double tuple_share = 0.5;                  ///< kinds of some five-tuples
  std::uint32_t mtu = 1'500;                 ///< kinds of small MTUs
  std::uint32_t entries = 1;                 ///< kinds of full tables: what is left
  std::uint32_t lanes = 8;                   ///< kinds of PCIe slots: what is left of 16
  double rate_left = 0.5;                    ///< kinds of slow links: share of the rate
  double paused = 0.9;                       ///< kinds of pauses: share of the time
  double ber_from = 1e-5;                    ///< kinds that get worse: bit errors at the start
  double ber = 2e-3;                         ///< ... and at the end
  Duration over = std::chrono::seconds(60);  ///< ... and from one to the other
};

/// Who is called for it. @paper SkeletonHunter, the headings of Table 1
enum class FailureClass : std::uint8_t {
  kLink,      ///< link or switch: automated repair
  kHost,      ///< RNIC or host: isolate the host
  kSoftware,  ///< virtual switch, container or configuration: restart
};

std::string_view to_string(FailureClass failure_class);

/// What an idle fabric's probes can see of it, at the job's size and class.
enum class SeenBy : std::uint8_t {
  kProbes,        ///< loss or latency on some pair of the job's full mesh
  kLoadedProbes,  ///< only while queues that it touches are loaded
  kHostChecks,    ///< nothing; a look at the host shows it
  kNobody,        ///< nothing that a provider may look at
};

std::string_view to_string(SeenBy seen_by);

/// A fault that comes with another.
struct DrawnFault {
  std::string_view kind;  ///< what it is by itself
  KindParameters parameters;
  Duration after{};  ///< the beginning of the other
};

struct FaultKind {
  std::string_view name;
  RefKind on = RefKind::kCable;  ///< the kind of component that `on:` must name
  bool or_port = false;          ///< ... or a port of an RNIC
  std::string_view keys{};       ///< blank-separated optional keys, for the loader and SCHEMA.md
  std::string_view meaning;      ///< one line
  std::uint8_t table_row = 0;    ///< row of the paper's Table 1; 0: what operators report
  FailureClass failure_class = FailureClass::kLink;
  SeenBy seen_by = SeenBy::kProbes;
  std::string_view made_of;    ///< effects, in words
  std::string_view mechanism;  ///< what happens in the world
  std::string_view probes_see;
  std::string_view probes_miss;
  std::string_view stage;  ///< of Algorithm 1 that names the component
  std::string_view repair;
  std::string_view needs{};  ///< of the world, for people: "fabric.bond.members: 2"

  /// The effects of a fault of this kind.
  /// @errors kInvalid if the parameters do not fit
  Expected<std::vector<EffectSpec>> (*effects)(const KindParameters& parameters) = nullptr;

  /// Somewhere in the job, with parameters from the kind's declared ranges.  Nullopt if the world
  /// has no place for it (a bond error without bonds).
  std::optional<KindParameters> (*draw)(const FaultSite& site, const RngStream& stream) = nullptr;

  /// What comes with it, as a fault of its own: one fault has one component.  Only of kinds that
  /// are several faults; they can arise and cannot be listed, since whoever lists faults lists
  /// each. `first` is what draw() chose with the same stream.
  std::vector<DrawnFault> (*with)(const FaultSite& site,
                                  const KindParameters& first,
                                  const RngStream& stream) = nullptr;
};

/// The faults that come with `first`, of the same kind by name; none for most kinds.
/// @param end  of the run: what would begin later is left out
/// @errors kInvalid if the parameters do not fit
Expected<std::vector<FaultSpec>> faults_with(const FaultKind& kind,
                                             const FaultSite& site,
                                             const KindParameters& first,
                                             const FaultSpec& spec,
                                             const RngStream& stream,
                                             Time end);

/// All named kinds, in the order of CATALOG.md.
const std::vector<FaultKind>& fault_kinds();

/// Null if there is no such kind.
const FaultKind* find_fault_kind(std::string_view name);

/// The primitive effects of a named kind.
/// @errors kNotFound for an unknown kind; kInvalid if the parameters do not fit
Expected<std::vector<EffectSpec>> effects_of_kind(std::string_view kind,
                                                  const KindParameters& parameters);

}  // namespace bonescan
