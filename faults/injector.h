// Schedules the faults of a scenario on the engine, and the confounders beside them.
//
// A fault is a set of effects with one beginning and one end.  Confounders are ordinary effects too
// (an agent that stops, a link that queues); they are placed by seed and are never part of the
// truth.
#pragma once

#include "faults/confounders.h"
#include "faults/effects/effect.h"
#include "faults/fault_spec.h"
#include "model/world.h"

#include <memory>
#include <vector>

namespace bonescan {

class Injector final {
 public:
  /// Called when a fault has just begun (true) or ended (false), by its index in the scenario.
  using Observer = void (*)(void* subject, std::size_t fault, bool begun);

  explicit Injector(World& world) : world_(&world), confounders_(world) {}

  /// @errors kInvalid naming the fault whose effect cannot act on its component
  Expected<void> schedule(const std::vector<FaultSpec>& faults);

  /// Draws confounders over [0, duration) from the world's seed and schedules them.
  void schedule(const ConfounderOptions& confounders, Duration duration) {
    confounders_.schedule(confounders, duration);
  }

  void observe(Observer observer, void* subject) {
    observer_ = observer;
    subject_ = subject;
  }

 private:
  struct Planned {
    std::vector<std::unique_ptr<Effect>> effects;
  };

  void begin(std::uint64_t fault);
  void end(std::uint64_t fault);

  World* world_;
  std::vector<Planned> planned_;
  Confounders confounders_;
  Observer observer_ = nullptr;
  void* subject_ = nullptr;
};

}  // namespace bonescan
