#include "tools/report/trace_json.h"

#include "tools/report/format.h"
#include "tools/report/lanes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace bonescan {
namespace {

constexpr std::uint32_t kRunProcess = 1;
constexpr std::uint32_t kFirstHostProcess = 2;

double to_us(Duration duration) {
  return static_cast<double>(duration.count()) / 1e3;
}

double to_us(Time time) {
  return to_us(time.time_since_epoch());
}

struct Thread {
  std::uint32_t process = kRunProcess;
  std::uint32_t thread = 0;
};

class TraceWriter final {
 public:
  TraceWriter(const RunData& run, const Evaluation& evaluation)
      : run_(run), evaluation_(evaluation) {}

  Json write() {
    name_process(kRunProcess, "run " + run_.info.scenario_name);
    write_faults();
    write_incidents();
    write_windows();
    write_hosts();
    Json trace;
    trace["displayTimeUnit"] = "ms";
    trace["otherData"] = {{"scenario", run_.info.scenario_name},
                          {"seed", run_.info.seed},
                          {"provenance", provenance_text(run_.info)},
                          {"complete", run_.result.complete}};
    trace["traceEvents"] = std::move(events_);
    return trace;
  }

 private:
  /// The end of a bar, and of one that never ended the end of the run.
  Time end_of(Time start, const std::optional<Time>& end) const {
    return std::max(start, end.value_or(std::max(start, run_.result.reached)));
  }

  void name_process(std::uint32_t process, const std::string& name) {
    events_.push_back({{"name", "process_name"},
                       {"ph", "M"},
                       {"pid", process},
                       {"tid", 0},
                       {"args", {{"name", name}}}});
    events_.push_back({{"name", "process_sort_index"},
                       {"ph", "M"},
                       {"pid", process},
                       {"tid", 0},
                       {"args", {{"sort_index", process}}}});
  }

  /// The thread of this name in this process on which [from, to] is free.
  Thread free_thread(std::uint32_t process, const std::string& name, Time from, Time to) {
    const std::size_t lane = lanes_[{process, name}].place(to_us(from), to_us(to));
    const auto [found, is_new] = threads_.try_emplace({process, name, lane}, 0);
    if (is_new) {
      found->second = ++last_thread_[process];
      events_.push_back(
          {{"name", "thread_name"},
           {"ph", "M"},
           {"pid", process},
           {"tid", found->second},
           {"args", {{"name", lane == 0 ? name : fmt::format("{} ({})", name, lane + 1)}}}});
    }
    return {process, found->second};
  }

  void span(const std::string& name,
            const std::string& category,
            Thread at,
            Time from,
            Time to,
            Json args) {
    events_.push_back({{"name", name},
                       {"cat", category},
                       {"ph", "X"},
                       {"ts", to_us(from)},
                       {"dur", to_us(to - from)},
                       {"pid", at.process},
                       {"tid", at.thread},
                       {"args", std::move(args)}});
  }

  void flow(const char* phase, std::size_t fault, Thread at, Time time) {
    Json event = {{"name", "found by"},
                  {"cat", "detection"},
                  {"ph", phase},
                  {"id", fault},
                  {"ts", to_us(time)},
                  {"pid", at.process},
                  {"tid", at.thread}};
    if (*phase == 'f') {
      event["bp"] = "e";
    }
    events_.push_back(std::move(event));
  }

  void write_faults() {
    std::vector<std::size_t> order(run_.truth.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return run_.truth[a].injected < run_.truth[b].injected;
    });
    for (const std::size_t f : order) {
      const TruthRow& truth = run_.truth[f];
      const Time end = end_of(truth.injected, truth.ended);
      const Thread at = free_thread(kRunProcess, "faults", truth.injected, end);
      Json args = {{"kind", truth.kind},
                   {"component", truth.component},
                   {"layer", to_string(truth.layer)},
                   {"symptom", to_string(truth.symptom)}};
      if (evaluation_.detection) {
        args["status"] = to_string(evaluation_.faults[f].status);
        args["time_to_detect_s"] = json_number(evaluation_.faults[f].time_to_detect_s);
      }
      span(truth.name, "fault", at, truth.injected, end, std::move(args));
      if (evaluation_.faults[f].incident) {
        flow("s", f, at, truth.injected);
      }
    }
  }

  std::vector<std::size_t> incidents_by_opening() const {
    std::vector<std::size_t> order(run_.incidents.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return run_.incidents[a].opened < run_.incidents[b].opened;
    });
    return order;
  }

  Json incident_args(std::size_t i) const {
    const Incident& incident = run_.incidents[i];
    Json args = {{"id", incident_id_text(incident.id)},
                 {"layer", to_string(incident.layer)},
                 {"component", named_component(run_, incident)},
                 {"confidence", json_number(incident.confidence)},
                 {"pairs", incident.pairs.size()},
                 {"evidence", stages_text(incident)}};
    if (evaluation_.detection) {
      args["status"] = to_string(evaluation_.incidents[i].status);
    }
    return args;
  }

  void write_incidents() {
    for (const std::size_t i : incidents_by_opening()) {
      const Incident& incident = run_.incidents[i];
      const Time end = end_of(incident.opened, incident.closed);
      const Thread at = free_thread(kRunProcess, "incidents", incident.opened, end);
      const std::string name = incident.kind + " " + named_component(run_, incident);
      span(name, "incident", at, incident.opened, end, incident_args(i));
      events_.push_back({{"name", "opened: " + name},
                         {"cat", "detection"},
                         {"ph", "i"},
                         {"s", "p"},
                         {"ts", to_us(incident.opened)},
                         {"pid", at.process},
                         {"tid", at.thread}});
      const auto& outcome = evaluation_.incidents[i];
      if (outcome.fault && evaluation_.faults[*outcome.fault].incident == i) {
        flow("f", *outcome.fault, at, incident.opened);
      }
    }
  }

  void counter(const char* name, Time at, double value) {
    events_.push_back({{"name", name},
                       {"ph", "C"},
                       {"ts", to_us(at)},
                       {"pid", kRunProcess},
                       {"tid", 0},
                       {"args", {{"value", value}}}});
  }

  void write_windows() {
    for (const WindowRecord& window : run_.windows) {
      const Time end = std::max(window.from, window.to);
      const auto sent = static_cast<double>(window.probes);
      const double loss_ratio = window.probes == 0 ? 0.0 : static_cast<double>(window.lost) / sent;
      span("window",
           "window",
           free_thread(kRunProcess, "windows", window.from, end),
           window.from,
           end,
           {{"probes", window.probes},
            {"lost", window.lost},
            {"local_errors", window.local_errors},
            {"pairs_evaluated", window.pairs_evaluated},
            {"pairs_insufficient", window.pairs_insufficient},
            {"pairs_anomalous", window.pairs_anomalous}});
      counter("loss ratio", window.from, loss_ratio);
      counter("anomalous pairs", window.from, window.pairs_anomalous);
    }
  }

  std::uint32_t process_of_host(const std::string& host) {
    const auto next = kFirstHostProcess + static_cast<std::uint32_t>(hosts_.size());
    const auto [found, is_new] = hosts_.try_emplace(host, next);
    if (is_new) {
      name_process(found->second, host);
    }
    return found->second;
  }

  void write_hosts() {
    for (const std::size_t i : incidents_by_opening()) {
      const Incident& incident = run_.incidents[i];
      std::set<EndpointId> touched;
      for (const PairId pair : incident.pairs) {
        if (run_.pairs.contains(pair)) {
          touched.insert({run_.pairs[pair].source, run_.pairs[pair].target});
        }
      }
      const Time end = end_of(incident.opened, incident.closed);
      for (const EndpointId endpoint : touched) {
        if (!run_.endpoints.contains(endpoint)) {
          continue;
        }
        const Endpoint& where = run_.endpoints[endpoint];
        const std::uint32_t process = process_of_host(where.host);
        span(incident.kind + " " + named_component(run_, incident),
             "symptom",
             free_thread(process, fmt::format("rnic-{}", where.rail), incident.opened, end),
             incident.opened,
             end,
             {{"incident", incident_id_text(incident.id)}});
      }
    }
  }

  const RunData& run_;
  const Evaluation& evaluation_;
  Json events_ = Json::array();
  std::map<std::pair<std::uint32_t, std::string>, LanePacker> lanes_;
  std::map<std::tuple<std::uint32_t, std::string, std::size_t>, std::uint32_t> threads_;
  std::map<std::uint32_t, std::uint32_t> last_thread_;
  std::map<std::string, std::uint32_t> hosts_;
};

}  // namespace

Json trace_json(const RunData& run, const Evaluation& evaluation) {
  return TraceWriter(run, evaluation).write();
}

}  // namespace bonescan
