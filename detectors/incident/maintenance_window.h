// One window of planned work, as an operator declares it; maintenance.h says what it means.
//
// Invariant, which scenarios and agents check: it names exactly one of a component, a host or a
// task, exactly or by a prefix that ends in '*'.
#pragma once

#include "sim/base/units.h"

#include <string>

namespace bonescan {

struct MaintenanceWindow {
  Duration from{};         ///< after the start of the run
  Duration length{};       ///< zero: `to` says when it ends
  Duration to{};           ///< after the start of the run
  std::string from_utc{};  ///< instead of `from`: "2026-11-30T08:00:00Z"
  std::string component{};
  std::string host{};
  std::string task{};

  bool operator==(const MaintenanceWindow&) const = default;
};

}  // namespace bonescan
