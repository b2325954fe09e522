// What an Alertmanager should be told: the whole of it, each time.
//
// Alertmanager forgets an alert that nobody repeats, and knows it by its labels.  So the body holds
// every incident that is open, every one that ended a short while ago, and, where labels changed
// (a component was found, severity rose), the end of the alert under the old labels.  A body that
// gets lost is made good by the next.
// Invariants: 1. a planned incident is never in a body; 2. the size of a body is bounded, and the
// newest incidents are those that are told.  Thread-compatible.
#pragma once

#include "tools/report/alertmanager.h"

#include <cstddef>
#include <map>
#include <string>

namespace bonescan {

class AlertBoard final {
 public:
  static constexpr std::size_t kMostAlerts = 1000;

  /// Open alerts are repeated this often, and hold three times as long.
  static constexpr Duration kRepeat = std::chrono::minutes(1);
  /// The end of an alert is repeated for so long.
  static constexpr Duration kRemember = std::chrono::minutes(5);

  explicit AlertBoard(std::string generator_url) : generator_url_(std::move(generator_url)) {}

  void update(Time now, const IncidentNames& names, std::size_t index, const Incident& incident);

  /// Something changed, or it is time to repeat what is open.
  bool due(Time now) const;

  /// The body of POST /api/v2/alerts; afterwards it is not due.
  std::string body(Time now, std::int64_t epoch_unix_ns);

 private:
  struct Told {
    nlohmann::ordered_json alert;  ///< without its end
    std::optional<Time> ended;
  };

  void end(Time now, std::size_t index);

  std::string generator_url_;
  std::map<std::size_t, Told> current_;  ///< by index of the incident
  std::map<std::size_t, Told> former_;   ///< under labels that are no longer true, by number
  std::size_t next_former_ = 0;
  bool changed_ = false;
  Time told_at_ = kStartOfRun;
};

}  // namespace bonescan
