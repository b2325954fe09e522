#include "tools/agent/agent_metrics.h"

#include "sim/base/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace bonescan {
namespace {

constexpr std::array kLayers = {Layer::kOverlay,
                                Layer::kUnderlay,
                                Layer::kRnic,
                                Layer::kHost,
                                Layer::kAgent,
                                Layer::kUndetermined};

constexpr std::array kLocalErrors = {LocalError::kOther,
                                     LocalError::kNoDevice,
                                     LocalError::kPortDown,
                                     LocalError::kNoRoute,
                                     LocalError::kNoPeerAddress,
                                     LocalError::kQueueFull,
                                     LocalError::kSendFailed,
                                     LocalError::kThrottled,
                                     LocalError::kBadTimestamps};

/// "no peer address" as a label: "no_peer_address".
std::string label_of(std::string_view words) {
  std::string label(words);
  std::replace_if(
      label.begin(), label.end(), [](char c) { return c == ' ' || c == '-'; }, '_');
  return label;
}

std::string outcome_of(std::uint32_t rtt) {
  if (answered(rtt)) {
    return "answered";
  }
  return is_local_error(rtt) ? label_of(to_string(local_error_of(rtt))) : "lost";
}

std::string escaped(std::string_view value) {
  std::string text;
  for (const char c : value) {
    if (c == '\n') {
      text += "\\n";
      continue;
    }
    if (c == '"' || c == '\\') {
      text += '\\';
    }
    text += c;
  }
  return text;
}

/// Builds the text family by family.
class Exposition {
 public:
  void family(std::string_view name, std::string_view type, std::string_view help) {
    name_ = name;
    fmt::format_to(
        std::back_inserter(text_), "# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
  }

  template <class V>
  void sample(V value) {
    fmt::format_to(std::back_inserter(text_), "{} {}\n", name_, value);
  }

  template <class V>
  void sample(std::string_view label, std::string_view label_value, V value) {
    fmt::format_to(std::back_inserter(text_),
                   "{}{{{}=\"{}\"}} {}\n",
                   name_,
                   label,
                   escaped(label_value),
                   value);
  }

  void append(std::string_view text) { text_ += text; }

  std::string take() { return std::move(text_); }

 private:
  std::string name_;
  std::string text_;
};

/// Seconds of a whole number of nanoseconds, shortest exact form.
double as_seconds(std::uint64_t ns) {
  return static_cast<double>(ns) / 1e9;
}

void add_gauges(const AgentGauges& gauges, Exposition& out) {
  out.family("bonescan_rate_ratio", "gauge", "Share of the allowed probe rate in use.");
  out.sample(gauges.rate_ratio);
  out.family("bonescan_turn_lag_seconds", "gauge", "How late the last turn of the agent began.");
  out.sample(gauges.turn_lag_s);
  if (gauges.disk_free_bytes) {
    out.family("bonescan_disk_free_bytes", "gauge", "Free space where the run is written.");
    out.sample(*gauges.disk_free_bytes);
  }
  out.family("process_cpu_seconds_total",
             "counter",
             "Processor time used, that of the tools it ran included.");
  out.sample(gauges.cpu_s);
  out.family("process_resident_memory_bytes", "gauge", "Resident memory.");
  out.sample(gauges.memory_bytes);
  out.family("process_start_time_seconds", "gauge", "Start of the run, Unix time.");
  out.sample(gauges.start_unix_s);
}

}  // namespace

AgentMetrics::AgentMetrics(std::string version, std::string commit)
    : version_(std::move(version)), commit_(std::move(commit)) {
  outcomes_["answered"] = 0;
  outcomes_["lost"] = 0;
  for (const LocalError error : kLocalErrors) {
    outcomes_[label_of(to_string(error))] = 0;
  }
}

void AgentMetrics::observed(const ProbeBatch& batch) {
  const std::lock_guard lock(mutex_);
  visits_ += batch.visits.size();
  for (const std::uint32_t rtt : batch.rtt_ns) {
    ++outcomes_[outcome_of(rtt)];
    if (answered(rtt)) {
      const auto bucket = std::lower_bound(kProbeBucketsNs.begin(), kProbeBucketsNs.end(), rtt);
      ++buckets_[static_cast<std::size_t>(bucket - kProbeBucketsNs.begin())];
      rtt_sum_ns_ += rtt;
    }
  }
}

void AgentMetrics::membership(std::span<const MembershipEvent> events) {
  const std::lock_guard lock(mutex_);
  for (const MembershipEvent& event : events) {
    if (event.kind != MembershipKind::kAddressChanged) {
      ready_[event.endpoint] = event.kind == MembershipKind::kReady;
    }
  }
}

void AgentMetrics::window_closed() {
  const std::lock_guard lock(mutex_);
  ++windows_;
}

void AgentMetrics::incidents(std::span<const Incident> incidents) {
  const std::lock_guard lock(mutex_);
  opened_.fill(0);
  open_.fill(0);
  for (const Incident& incident : incidents) {
    const auto layer = static_cast<std::size_t>(incident.layer);
    BONESCAN_CHECK(layer < kLayerCount);
    ++opened_[layer];
    open_[layer] += incident.closed ? 0 : 1;
  }
}

void AgentMetrics::reports(const IntakeCounts& counts) {
  const std::lock_guard lock(mutex_);
  reports_ = counts;
}

void AgentMetrics::reloaded(bool applied) {
  const std::lock_guard lock(mutex_);
  ++(applied ? reloads_applied_ : reloads_refused_);
}

void AgentMetrics::gauges(const AgentGauges& gauges) {
  const std::lock_guard lock(mutex_);
  gauges_ = gauges;
}

std::string AgentMetrics::text() const {
  const std::lock_guard lock(mutex_);
  Exposition out;
  out.family("bonescan_build_info", "gauge", "Always 1; which build this is.");
  out.append(fmt::format("bonescan_build_info{{version=\"{}\",commit=\"{}\"}} 1\n",
                         escaped(version_),
                         escaped(commit_)));
  out.family("bonescan_probes_total", "counter", "Probes by what became of them.");
  for (const auto& [outcome, count] : outcomes_) {
    out.sample("outcome", outcome, count);
  }
  out.family("bonescan_probe_duration_seconds",
             "histogram",
             "Network round trips of answered probes, both hosts' delays taken out.");
  std::uint64_t below = 0;
  for (std::size_t i = 0; i < kProbeBucketsNs.size(); ++i) {
    below += buckets_[i];
    out.append(fmt::format("bonescan_probe_duration_seconds_bucket{{le=\"{}\"}} {}\n",
                           as_seconds(kProbeBucketsNs[i]),
                           below));
  }
  below += buckets_.back();
  out.append(
      fmt::format("bonescan_probe_duration_seconds_bucket{{le=\"+Inf\"}} {}\n"
                  "bonescan_probe_duration_seconds_sum {}\n"
                  "bonescan_probe_duration_seconds_count {}\n",
                  below,
                  as_seconds(rtt_sum_ns_),
                  below));
  out.family("bonescan_visits_total", "counter", "Visits that were carried out.");
  out.sample(visits_);
  out.family("bonescan_reports_total",
             "counter",
             "Reports of planned visits by what became of them; a missing one says nothing.");
  out.sample("outcome", "received", reports_.received);
  out.sample("outcome", "missing", reports_.missing);
  out.sample("outcome", "late", reports_.late);
  out.sample("outcome", "duplicate", reports_.duplicates);
  out.sample("outcome", "unplanned", reports_.unplanned);
  out.family("bonescan_windows_total", "counter", "Detection windows that were closed.");
  out.sample(windows_);
  out.family("bonescan_endpoints_ready", "gauge", "Endpoints that can be probed at the moment.");
  out.sample(std::count_if(ready_.begin(), ready_.end(), [](const auto& e) { return e.second; }));
  out.family("bonescan_incidents_total", "counter", "Incidents that were opened.");
  for (const Layer layer : kLayers) {
    out.sample("layer", to_string(layer), opened_[static_cast<std::size_t>(layer)]);
  }
  out.family("bonescan_incidents_open", "gauge", "Incidents that are open.");
  for (const Layer layer : kLayers) {
    out.sample("layer", to_string(layer), open_[static_cast<std::size_t>(layer)]);
  }
  out.family("bonescan_reloads_total", "counter", "SIGHUPs by whether the file was taken over.");
  out.sample("result", "applied", reloads_applied_);
  out.sample("result", "refused", reloads_refused_);
  add_gauges(gauges_, out);
  return out.take();
}

}  // namespace bonescan
