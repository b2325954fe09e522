// Schedules the faults of a scenario on the engine, and the confounders beside them.
//
// A fault is a set of effects with one beginning and one end.  Confounders are ordinary effects too
// (an agent that stops, a link that queues); they are placed by seed and are never part of the
// truth.
#pragma once

#include "faults/confounder_options.h"
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

  explicit Injector(World& world) : world_(&world) {}

  /// @errors kInvalid naming the fault whose effect cannot act on its component
  Expected<void> schedule(const std::vector<FaultSpec>& faults);

  /// Draws confounders over [0, duration) from the world's seed and schedules them.
  void schedule(const ConfounderOptions& confounders, Duration duration);

  void observe(Observer observer, void* subject) {
    observer_ = observer;
    subject_ = subject;
  }

 private:
  struct Planned {
    std::vector<std::unique_ptr<Effect>> effects;
  };

  struct Congestion {
    LinkId link;
    Duration queue_mean{};
    Duration length{};
    ImpairmentId active;
  };

  void begin(std::uint64_t fault);
  void end(std::uint64_t fault);
  void begin_crash(std::uint64_t host);
  void end_crash(std::uint64_t host);
  void begin_congestion(std::uint64_t index);
  void end_congestion(std::uint64_t index);

  World* world_;
  std::vector<Planned> planned_;
  std::vector<Congestion> congestions_;
  Observer observer_ = nullptr;
  void* subject_ = nullptr;
};

}  // namespace bonescan
