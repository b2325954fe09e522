#include "faults/load_sight.h"

#include "model/fabric/ecmp_hash.h"
#include "model/packet_mode/packet.h"

#include <chrono>

namespace bonescan {
namespace {

/// Bursts are known for so long after a look; nobody asks about later.
constexpr Duration kAhead = std::chrono::milliseconds(1);

MeanLoad mean_load(const LinkLoads& loads,
                   const LinkPath& request,
                   const LinkPath& answer,
                   const ProbeSpec& spec,
                   Time now) {
  const ProbeWays ways{
      .request = request,
      .answer = answer,
      .wire_bytes = static_cast<double>(wire_bytes(PacketKind::kUdRequest, spec.bytes))};
  Time until = kNever;
  const PathLoad load = loads.along(ways, now, until);
  return {.pass_ratio = load.round_pass, .wait_ns = load.mean_ns()};
}

}  // namespace

LoadSight::LoadSight(const World& world, const PlannedRoutes& planned)
    : world_(&world), planned_(&planned) {}

void LoadSight::look(Time now) {
  is_.cover(*world_, now, now + kAhead);
  was_.cover_planned(*world_, planned_->router(), now, now + kAhead);
  now_ = now;
}

LoadDifference LoadSight::compare(const ProbeSpec& spec) const {
  const auto ways = [&](const Router& router, RnicId source, RnicId target) {
    return router.path(source, target, flow_hash(source.index(), target.index(), spec.source_port));
  };
  const auto met = [&](const LinkLoads& loads, const Router& router) {
    return mean_load(loads,
                     ways(router, spec.source, spec.target),
                     ways(router, spec.target, spec.source),
                     spec,
                     now_);
  };
  return {.is = met(is_, world_->router()), .was = met(was_, planned_->router())};
}

}  // namespace bonescan
