#include "detectors/incident/maintenance.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>

namespace bonescan {
namespace {

/// The digits of `text` at `at`; nullopt if one of them is none.
std::optional<int> digits(std::string_view text, std::size_t at, std::size_t count) {
  int value = 0;
  const char* first = text.data() + at;
  const auto [end, status] = std::from_chars(first, first + count, value);
  return status == std::errc() && end == first + count && *first != '-' ? std::optional(value)
                                                                        : std::nullopt;
}

/// Is the component a part of the host?  Names are those of ComponentType.
bool part_of_host(std::string_view pattern, std::string_view component) {
  // A cable is part of the hosts at its ends: "link(host-0.01/rnic-3, tor-0.3)".
  if (component.starts_with("link(") && component.ends_with(")")) {
    const std::string_view inside = component.substr(5, component.size() - 6);
    const std::size_t comma = inside.find(", ");
    return comma != std::string_view::npos && (part_of_host(pattern, inside.substr(0, comma)) ||
                                               part_of_host(pattern, inside.substr(comma + 2)));
  }
  return name_matches(pattern, component.substr(0, component.find('/')));
}

bool covers(const MaintenanceWindow& window,
            const Component& component,
            const EndpointDirectory& endpoints) {
  if (!window.component.empty()) {
    return name_matches(window.component, component.name);
  }
  if (!window.host.empty()) {
    return part_of_host(window.host, component.name);
  }
  // An RNIC that only this task uses.  Hosts and bridges may serve others as well.
  bool used = false;
  bool only = true;
  for (const Endpoint& endpoint : endpoints) {
    if (component.type == ComponentType::kRnic && endpoint.name == component.name) {
      used = true;
      only = only && name_matches(window.task, endpoint.task);
    }
  }
  return used && only;
}

bool covers(const MaintenanceWindow& window, const Endpoint& endpoint) {
  if (!window.component.empty()) {
    return name_matches(window.component, endpoint.name);
  }
  return window.host.empty() ? name_matches(window.task, endpoint.task)
                             : name_matches(window.host, endpoint.host);
}

}  // namespace

std::optional<std::int64_t> unix_s_from_utc(std::string_view text) {
  constexpr std::string_view kForm = "0000-00-00T00:00:00Z";
  if (text.size() != kForm.size()) {
    return std::nullopt;
  }
  for (const std::size_t i : {4u, 7u, 10u, 13u, 16u, 19u}) {
    if (text[i] != kForm[i]) {
      return std::nullopt;
    }
  }
  const auto year = digits(text, 0, 4);
  const auto month = digits(text, 5, 2);
  const auto day = digits(text, 8, 2);
  const auto hour = digits(text, 11, 2);
  const auto minute = digits(text, 14, 2);
  const auto second = digits(text, 17, 2);
  if (!year || !month || !day || !hour || !minute || !second || *hour > 23 || *minute > 59 ||
      *second > 59) {
    return std::nullopt;
  }
  const std::chrono::year_month_day date{std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok()) {
    return std::nullopt;
  }
  const auto days = std::chrono::sys_days(date).time_since_epoch();
  return (std::int64_t{days.count()} * 24 + *hour) * 3600 + std::int64_t{*minute} * 60 + *second;
}

std::vector<MaintenanceWindow> anchored(std::vector<MaintenanceWindow> windows,
                                        std::int64_t epoch_unix_ns) {
  for (MaintenanceWindow& window : windows) {
    if (const auto unix_s = unix_s_from_utc(window.from_utc)) {
      window.from = std::chrono::seconds(*unix_s) - std::chrono::nanoseconds(epoch_unix_ns);
    }
    if (window.length > Duration::zero()) {
      window.to = window.from + window.length;
    }
  }
  return windows;
}

bool name_matches(std::string_view pattern, std::string_view name) {
  return pattern.ends_with('*') ? name.starts_with(pattern.substr(0, pattern.size() - 1))
                                : name == pattern;
}

bool MaintenanceCalendar::holds(const MaintenanceWindow& window, const Incident& incident) const {
  const Time end = kStartOfRun + window.to + settle_;
  return incident.opened >= kStartOfRun + window.from && incident.opened <= end &&
         incident.last_seen <= end;
}

bool MaintenanceCalendar::planned(const Incident& incident,
                                  const EndpointDirectory& endpoints,
                                  const ComponentTable& components,
                                  const PairTable& pairs) const {
  std::vector<const MaintenanceWindow*> now;
  for (const MaintenanceWindow& window : windows_) {
    if (holds(window, incident)) {
      now.push_back(&window);
    }
  }
  const auto any_covers = [&](const auto&... subject) {
    return std::any_of(now.begin(), now.end(), [&](const MaintenanceWindow* window) {
      return covers(*window, subject...);
    });
  };
  const bool candidates =
      !incident.candidates.empty() &&
      std::all_of(incident.candidates.begin(), incident.candidates.end(), [&](const auto& one) {
        return one.component.valid() && any_covers(components[one.component], endpoints);
      });
  return candidates || (!incident.pairs.empty() &&
                        std::all_of(incident.pairs.begin(), incident.pairs.end(), [&](PairId pair) {
                          return any_covers(endpoints[pairs[pair].source]) ||
                                 any_covers(endpoints[pairs[pair].target]);
                        }));
}

}  // namespace bonescan
