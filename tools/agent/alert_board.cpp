#include "tools/agent/alert_board.h"

#include <algorithm>
#include <utility>

namespace bonescan {

using Json = nlohmann::ordered_json;

void AlertBoard::update(Time now,
                        const IncidentNames& names,
                        std::size_t index,
                        const Incident& incident) {
  Json alert = alertmanager_alert(names, incident, std::nullopt, generator_url_);
  const auto known = current_.find(index);
  if (known != current_.end() &&
      (alert.is_null() || known->second.alert["labels"] != alert["labels"])) {
    end(now, index);
  }
  if (alert.is_null()) {
    return;
  }
  alert.erase("endsAt");
  // News of an alert that goes on can wait for its next repetition.
  const auto same = current_.find(index);
  changed_ = changed_ || same == current_.end() || same->second.ended != incident.closed;
  current_[index] = {.alert = std::move(alert), .ended = incident.closed};
  while (current_.size() > kMostAlerts) {
    current_.erase(current_.begin());
  }
}

void AlertBoard::end(Time now, std::size_t index) {
  Told told = std::move(current_.at(index));
  current_.erase(index);
  told.ended = now;
  former_.emplace(next_former_++, std::move(told));
  changed_ = true;
  while (former_.size() > kMostAlerts) {
    former_.erase(former_.begin());
  }
}

bool AlertBoard::due(Time now) const {
  return changed_ || (!(current_.empty() && former_.empty()) && now - told_at_ >= kRepeat);
}

std::string AlertBoard::body(Time now, std::int64_t epoch_unix_ns) {
  for (auto* alerts : {&former_, &current_}) {
    std::erase_if(*alerts, [&](const auto& item) {
      return item.second.ended && now - *item.second.ended > kRemember;
    });
  }
  Json all = Json::array();
  // What ended goes first: an alert that is told twice is what was told last.
  for (const auto* alerts : {&former_, &current_}) {
    for (const auto& [key, told] : *alerts) {
      const Time end = told.ended.value_or(now + 3 * kRepeat);
      all.push_back(told.alert);
      all.back()["endsAt"] = utc_text(epoch_unix_ns + nanoseconds(end));
    }
  }
  changed_ = false;
  told_at_ = now;
  return all.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace bonescan
