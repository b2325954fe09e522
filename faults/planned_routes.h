// The ways that flows were planned to take: every switch hashes as at first, and no link is
// avoided.
#pragma once

#include "model/fabric/link_table.h"
#include "model/fabric/router.h"
#include "model/world.h"

namespace bonescan {

class PlannedRoutes final {
 public:
  /// REQUIRES: `world` outlives this.
  explicit PlannedRoutes(const World& world)
      : links_(world.fabric()), router_(world.fabric(), links_, world.options().seed) {}

  PlannedRoutes(const PlannedRoutes&) = delete;
  PlannedRoutes& operator=(const PlannedRoutes&) = delete;

  const Router& router() const { return router_; }

 private:
  LinkTable links_;
  Router router_;
};

}  // namespace bonescan
