#include "detectors/telemetry/probe.h"

#include <algorithm>
#include <tuple>

namespace bonescan {

std::string_view to_string(LocalError error) {
  switch (error) {
    case LocalError::kOther:
      return "other";
    case LocalError::kNoDevice:
      return "no-device";
    case LocalError::kPortDown:
      return "port-down";
    case LocalError::kNoRoute:
      return "no-route";
    case LocalError::kNoPeerAddress:
      return "no-peer-address";
    case LocalError::kQueueFull:
      return "queue-full";
    case LocalError::kSendFailed:
      return "send-failed";
    case LocalError::kThrottled:
      return "throttled";
    case LocalError::kBadTimestamps:
      return "bad-timestamps";
  }
  return "unknown";
}

std::string_view to_string(TimestampSource source) {
  switch (source) {
    case TimestampSource::kModel:
      return "model";
    case TimestampSource::kHost:
      return "host";
    case TimestampSource::kDevice:
      return "device";
    case TimestampSource::kMixed:
      return "mixed";
  }
  return "unknown";
}

void append_visit(const ProbeBatch& from, const Visit& visit, ProbeBatch& to) {
  const auto sent_after = from.sent_after(visit);
  const auto rtts = from.rtts(visit);
  to.visits.push_back(visit);
  to.visits.back().first = static_cast<std::uint32_t>(to.rtt_ns.size());
  to.sent_after_ns.insert(to.sent_after_ns.end(), sent_after.begin(), sent_after.end());
  to.rtt_ns.insert(to.rtt_ns.end(), rtts.begin(), rtts.end());
}

void append_in_order(const ProbeBatch& from, ProbeBatch& to) {
  std::vector<const Visit*> visits;
  visits.reserve(from.visits.size());
  for (const Visit& visit : from.visits) {
    visits.push_back(&visit);
  }
  std::stable_sort(visits.begin(), visits.end(), [](const Visit* a, const Visit* b) {
    return std::tie(a->start, a->pair) < std::tie(b->start, b->pair);
  });
  for (const Visit* visit : visits) {
    append_visit(from, *visit, to);
  }
}

}  // namespace bonescan
