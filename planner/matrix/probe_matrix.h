// Who probes whom in every scheme, as lists by source RNIC.
//
// full-mesh          every RNIC of the task on other hosts
// pingmesh           below a ToR everybody, and server i of a ToR server i of every other ToR
// r-pingmesh         below a ToR everybody, and between ToRs as many five-tuples as see all paths
// detector           deTector's paths (detector_paths.h), pinned
// same-rail          every RNIC of the task on the same rail of other hosts
// skeleton           own replicas and the neighbouring stages' peers, or their whole stages
// skeleton-repaired  the same, and pairs that make links distinguishable (skeleton_repair.h)
// Schemes of tasks know the tasks; the three that know none (pingmesh, r-pingmesh, detector) probe
// from every active host.  METHODS.md says what is published and what is ours.
// Invariants: 1. a list ascends by target, then variant; 2. it holds nobody of the source's own
// container (full mesh by the paper's reading excepted) and no doubles; 3. equal inputs give equal
// matrices.
#pragma once

#include "model/fabric/fabric.h"
#include "model/fabric/router.h"
#include "planner/matrix/detector_paths.h"
#include "planner/matrix/planned_task.h"
#include "sim/base/error.h"
#include "sim/base/units.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace bonescan {

enum class ProbeScheme : std::uint8_t {
  kFullMesh,
  kPingmesh,
  kRPingmesh,
  kDetector,
  kSameRail,
  kSkeleton,
  kSkeletonRepaired
};

/// "full-mesh", "pingmesh", "r-pingmesh", "detector", "same-rail", "skeleton", "skeleton-repaired".
std::string_view to_string(ProbeScheme scheme);

/// All of them, in the order of the enumeration.
std::span<const ProbeScheme> all_probe_schemes();

/// Does the scheme know tasks?  Else it probes from every active host.
bool knows_tasks(ProbeScheme scheme);

enum class MeshReading : std::uint8_t {
  kOtherHosts,  ///< everybody of the task on other hosts: what a network prober can use
  kEverybody,   ///< everybody else of the task, the own host included: the paper's N - 1
};

/// The source port of a probe, by ends and by which of several five-tuples between them it is.
using SourcePort = std::uint16_t (*)(RnicId source, RnicId target, std::uint32_t variant);

/// A hash into the dynamic ports. @ours
std::uint16_t hashed_source_port(RnicId source, RnicId target, std::uint32_t variant);

struct MatrixOptions {
  MeshReading mesh = MeshReading::kOtherHosts;
  /// r-pingmesh: that all parallel paths between two ToRs are used. @paper P = 0.99 (quoted)
  double path_probability = 0.99;
  /// r-pingmesh: no more five-tuples than this between two ToRs; 0: no limit.
  std::uint32_t most_five_tuples = 0;
  DetectorOptions detector{};
  /// skeleton-repaired: pairs of the same rail that each RNIC offers for the repair. @ours
  std::uint32_t candidates_per_rnic = 8;
  std::uint64_t seed = 1;               ///< skeleton-repaired: of the candidates
  std::uint64_t most_rows = 8'000'000;  ///< longer matrices are refused; sizes are closed forms
  /// One target of a list is visited in this time. @paper SkeletonHunter: about 1 s (inferred)
  Duration visit_period = std::chrono::seconds(1);
  Duration round = std::chrono::seconds(30);  ///< @paper SkeletonHunter's window
};

struct MatrixInput {
  const Fabric* fabric = nullptr;
  std::span<const PlannedTask> tasks{};
  const Router* router = nullptr;  ///< of skeleton-repaired alone
  SourcePort source_port = &hashed_source_port;
};

struct ProbeMatrix {
  ProbeScheme scheme = ProbeScheme::kFullMesh;
  bool pinned = false;                 ///< variants name ways (pinned_way), not five-tuples
  std::vector<std::uint32_t> first{};  ///< by RNIC, and one more: where its list begins
  std::vector<RnicId> targets{};
  std::vector<std::uint32_t> variants{};  ///< empty: all are 0

  std::size_t size() const { return targets.size(); }

  std::span<const RnicId> list(RnicId source) const {
    return std::span(targets).subspan(first[source.index()],
                                      first[source.index() + 1] - first[source.index()]);
  }

  std::uint32_t variant(std::size_t row) const { return variants.empty() ? 0 : variants[row]; }
};

/// Ways as variants, and back.
std::uint32_t pinned_variant(const Fabric& fabric, const WayChoice& way);
WayChoice pinned_way(const Fabric& fabric, std::uint32_t variant);

/// @errors kInvalid if the scheme needs a router and there is none; kUnavailable if the matrix has
/// more than options.most_rows rows, or the fabric is a graph and the scheme knows no tasks
/// Complexity: linear in rows, but for detector and skeleton-repaired
Expected<ProbeMatrix> probe_matrix(ProbeScheme scheme,
                                   const MatrixInput& input,
                                   const MatrixOptions& options = {});

}  // namespace bonescan
