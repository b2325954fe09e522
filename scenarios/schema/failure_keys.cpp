#include "scenarios/schema/failure_keys.h"

#include "faults/processes/fault_trace.h"
#include "scenarios/schema/quantity.h"
#include "scenarios/schema/yaml_edit.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace bonescan {
namespace {

constexpr Range<Duration> kWithinARun{Duration::zero(), std::chrono::hours(24 * 366)};
/// Names that failures get when they arise.
constexpr std::string_view kDrawnName = "drawn-";

constexpr Range<double> kRate{0.0, 1e6};
constexpr Range<Duration> kRepair{std::chrono::milliseconds(1), std::chrono::hours(24 * 366)};
constexpr Range<Duration> kTraceTime{Duration::zero(), std::chrono::hours(24 * 3'660)};
constexpr Range<std::size_t> kName{1, 200};

auto failures(auto... members) {
  return field(&Scenario::failures, members...);
}

KeyTable<KindShare> share_table() {
  KeyTable<KindShare> table;
  table
      .choice("kind",
              fault_kind_names(),
              field(&KindShare::kind),
              "A named kind; see the table of kinds below.")
      .required();
  table.number("share", {0.0, 1e6}, field(&KindShare::share), "How often, relative to the others.");
  return table;
}

void add_onsets(ScenarioTable& table) {
  table.choice<FailureProcess>("failures.process",
                               {{"count", FailureProcess::kCount},
                                {"exponential", FailureProcess::kExponential},
                                {"weibull", FailureProcess::kWeibull},
                                {"trace", FailureProcess::kTrace}},
                               failures(&FailureOptions::process),
                               "When failures begin: so many at uniform times; at a steady rate; "
                               "with Weibull gaps at the same rate; or as recorded.");
  table.choice<FailureMix>("failures.mix",
                           {{"list", FailureMix::kList},
                            {"equal", FailureMix::kEqual},
                            {"production", FailureMix::kProduction}},
                           failures(&FailureOptions::mix),
                           "Which kinds arise: those of `kinds`; every kind that has a place in "
                           "this world, in turn; or as in production, by the rates of their "
                           "classes and documented shares.");
  table.list("failures.kinds",
             {1, 100},
             share_table(),
             failures(&FailureOptions::kinds),
             "mix list: which kinds arise, and how often each in relation to the others.");
  table.count("failures.count",
              {0, 100'000},
              failures(&FailureOptions::count),
              "process count: so many failures arise, at times that are uniform between the next "
              "two.");
  table.duration(
      "failures.from", kWithinARun, failures(&FailureOptions::from), "No failure arises earlier.");
  table.duration("failures.until",
                 kWithinARun,
                 failures(&FailureOptions::until),
                 "No failure arises later; 0s: until the end of the run.");
  table.duration(
      "failures.apart",
      kWithinARun,
      failures(&FailureOptions::apart),
      "process count: each failure has a slot of its own, and begins at a random moment of "
      "it that leaves so long between its end and the next slot; 0s: any moments.");
  const auto rate = [](auto member) { return failures(&FailureOptions::rates, member); };
  table.number("failures.rates.link",
               kRate,
               rate(&FailureRates::link),
               "Failures of a cable that jobs use, a month of 30 days. With the next three: the "
               "rate of the processes, and the classes of the production mix.");
  table.number("failures.rates.tor", kRate, rate(&FailureRates::tor), "The same of a ToR.");
  table.number("failures.rates.rnic", kRate, rate(&FailureRates::rnic), "The same of an RNIC.");
  table.number("failures.rates.software",
               kRate,
               rate(&FailureRates::software),
               "The same of the software and configuration of an RNIC.");
  table.number("failures.times",
               {1e-6, 1e9},
               failures(&FailureOptions::times),
               "All rates are so many times as high.");
  table.number("failures.weibull_shape",
               {0.1, 10.0},
               failures(&FailureOptions::weibull_shape),
               "process weibull: below 1 failures come in bursts, at 1 at random.");
}

void add_repair(ScenarioTable& table) {
  const auto repair = [](auto member) { return failures(&FailureOptions::repair, member); };
  table.duration("failures.length",
                 kWithinARun,
                 failures(&FailureOptions::length),
                 "repair fixed: how long each of them lasts; 0s: until the end of the run.");
  table.choice<RepairLaw>("failures.repair.law",
                          {{"fixed", RepairLaw::kFixed}, {"log-normal", RepairLaw::kLogNormal}},
                          repair(&RepairOptions::law),
                          "How long a failure lasts: `length`, or log-normal by the next two. "
                          "Nothing outlasts the run.");
  table.duration("failures.repair.median",
                 kRepair,
                 repair(&RepairOptions::median),
                 "log-normal: half of them last for less.");
  table.duration("failures.repair.p90",
                 kRepair,
                 repair(&RepairOptions::p90),
                 "log-normal: 90% of them last for less.");
  table.ratio("failures.repair.comes_back",
              {0.0, 1.0},
              repair(&RepairOptions::comes_back),
              "Share of repairs that do not help: the same failure comes back at the same place.");
  table.duration("failures.repair.within",
                 kRepair,
                 repair(&RepairOptions::within),
                 "Mean time until it comes back.");
}

void add_places(ScenarioTable& table) {
  const auto group = [](auto member) { return failures(&FailureOptions::groups, member); };
  table.number("failures.frailty.shape",
               {0.0, 1e6},
               failures(&FailureOptions::frailty_shape),
               "Hosts, cables and switches are not equally good: each fails at a rate of its own, "
               "gamma-distributed with this shape around the mean. 0: all are alike.");
  table.ratio("failures.groups.share",
              {0.0, 1.0},
              group(&GroupOptions::share),
              "Share of the failures that strike several members of a group at once.");
  table.choice<FailureGroup>("failures.groups.of",
                             {{"any", FailureGroup::kAny},
                              {"segment", FailureGroup::kSegment},
                              {"tor", FailureGroup::kTor},
                              {"firmware", FailureGroup::kFirmware}},
                             group(&GroupOptions::of),
                             "What its members have in common: the rack row of a segment, the "
                             "ToR, the batch of firmware, or one of these by seed.");
  table.count("failures.groups.members",
              {2, 1000},
              group(&GroupOptions::members),
              "How many are struck, if the group has so many.");
  table.duration("failures.groups.spread",
                 kRepair,
                 group(&GroupOptions::spread),
                 "All of them within this time.");
  table.count("failures.groups.batches",
              {1, 10'000},
              group(&GroupOptions::batches),
              "Batches of firmware, among which hosts and switches are spread by hash.");
}

KeyTable<TraceFault> trace_fault_table() {
  KeyTable<TraceFault> table;
  table.text("node", kName, field(&TraceFault::node), "The node that was struck.").required();
  table.duration("at", kTraceTime, field(&TraceFault::at), "When, since the start of the trace.")
      .required();
  table.duration("length", kTraceTime, field(&TraceFault::length), "For how long.")
      .otherwise("it never ended");
  table.text("class", kName, field(&TraceFault::fault_class), "Its class.").required();
  table.text("fault", kName, field(&TraceFault::fault), "Its description.").required();
  return table;
}

void add_trace(ScenarioTable& table) {
  const auto trace = [](auto member) { return failures(&FailureOptions::trace, member); };
  table
      .text("failures.trace.file",
            {1, 1000},
            field(&ScenarioDraft::failure_trace_file),
            "process trace: a JSON file as InfiniteHBD published its own, relative to this one: "
            "events with node_id, event_time in days, event_type fault_start or fault_end, and "
            "fault_type with Class and Desc.")
      .otherwise("none");
  table.list("failures.trace.faults",
             {0, 100'000},
             trace_fault_table(),
             trace(&TraceOptions::faults),
             "What is read from that file.");
  table.number("failures.trace.speedup",
               {1e-3, 1e9},
               trace(&TraceOptions::speedup),
               "The trace runs so many times as fast as it was recorded, repairs included.");
  table.duration("failures.trace.offset",
                 kTraceTime,
                 trace(&TraceOptions::offset),
                 "Where in the trace `failures.from` is.");
  table.choice<TraceNodes>(
      "failures.trace.nodes",
      {{"hash", TraceNodes::kHash}, {"order", TraceNodes::kOrder}},
      trace(&TraceOptions::nodes),
      "Which host a node is: by a hash of its name, or in the order of their first faults.");
  table.choice<TraceOthers>(
      "failures.trace.others",
      {{"left-out", TraceOthers::kLeftOut}, {"stall", TraceOthers::kStall}},
      trace(&TraceOptions::others),
      "What becomes of faults that are not of the network: nothing, or the first job stands still "
      "as for `confounders.gpu_faults`.");
}

class FailureChecker final {
 public:
  FailureChecker(const ScenarioDraft& draft, const YamlNode& root)
      : draft_(draft), failures_(draft.failures), root_(root) {}

  void check() const {
    check_times();
    check_slots();
    check_repair();
    check_trace();
    check_kinds();
    check_names();
  }

 private:
  [[noreturn]] void complain(const std::string& path, const Complaint& complaint) const {
    raise(locate(root_, path), path, complaint);
  }

  std::string found(const std::string& path) const {
    const YamlNode* node = find_path(root_, path);
    return node == nullptr ? "nothing" : describe(*node);
  }

  void check_times() const {
    if (failures_.until > draft_.duration) {
      complain("failures.until",
               {fmt::format("at most the end of the run at {}", format_duration(draft_.duration)),
                found("failures.until"),
                "let them end earlier, or raise duration"});
    }
    if (failures_.from >= failures_.until) {
      complain("failures.from",
               {fmt::format("a time before failures.until, which is {}",
                            format_duration(failures_.until)),
                found("failures.from"),
                "failures arise between the two"});
    }
  }

  /// Slots hold a failure and the pause after it.
  void check_slots() const {
    if (failures_.apart == Duration::zero() || failures_.count == 0) {
      return;
    }
    const bool fits = failures_.process == FailureProcess::kCount &&
                      failures_.repair.law == RepairLaw::kFixed &&
                      failures_.length > Duration::zero();
    const Duration slot = (failures_.until - failures_.from) / failures_.count;
    if (!fits || slot < failures_.length + failures_.apart) {
      complain(
          "failures.apart",
          {fits ? fmt::format("at most {}, so that {} failures of {} have slots of {}",
                              format_duration(std::max(Duration::zero(), slot - failures_.length)),
                              failures_.count,
                              format_duration(failures_.length),
                              format_duration(slot))
                : "process count with repairs of a fixed length",
           found("failures.apart"),
           fits ? "take fewer failures, or a longer run" : "leave it out"});
    }
  }

  void check_repair() const {
    if (failures_.repair.p90 < failures_.repair.median) {
      complain("failures.repair.p90",
               {fmt::format("at least failures.repair.median, which is {}",
                            format_duration(failures_.repair.median)),
                found("failures.repair.p90"),
                "90% of the repairs take no less than half of them"});
    }
  }

  void check_trace() const {
    const bool asked = failures_.process == FailureProcess::kTrace;
    if (asked && find_path(root_, "failures.trace.faults") == nullptr) {
      complain("failures.process",
               {"a trace beside it", "none", "add for example 'trace: {file: faults.json}'"});
    }
  }

  void check_kinds() const {
    const bool lists = failures_.mix == FailureMix::kList;
    if (!lists && !failures_.kinds.empty()) {
      complain("failures.kinds",
               {"no list beside another mix",
                found("failures.mix"),
                "delete one of the two, or say 'mix: list'"});
    }
    const bool arise = failures_.process == FailureProcess::kExponential ||
                       failures_.process == FailureProcess::kWeibull ||
                       (failures_.process == FailureProcess::kCount && failures_.count > 0);
    if (arise && lists && failures_.kinds.empty()) {
      complain("failures.kinds",
               {"the kinds that arise", "none", "add for example 'kinds: [{kind: crc-error}]'"});
    }
    const bool has_share = std::ranges::any_of(
        failures_.kinds, [](const KindShare& kind) { return kind.share > 0.0; });
    if (!failures_.kinds.empty() && !has_share) {
      complain("failures.kinds", {"a share above 0", "zeros only", "give one of them a share"});
    }
    for (std::size_t i = 0; i < failures_.kinds.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (failures_.kinds[i].kind == failures_.kinds[j].kind) {
          complain(fmt::format("failures.kinds[{}].kind", i),
                   {"every kind once",
                    in_quotes(failures_.kinds[i].kind),
                    fmt::format("failures.kinds[{}] has it already", j)});
        }
      }
    }
  }

  /// Listed faults and drawn ones are in one list.
  void check_names() const {
    if (!failures_.active()) {
      return;
    }
    for (std::size_t i = 0; i < draft_.fault_drafts.size(); ++i) {
      if (draft_.fault_drafts[i].name.starts_with(kDrawnName)) {
        complain(fmt::format("faults[{}].name", i),
                 {fmt::format("no name that begins with '{}'", kDrawnName),
                  in_quotes(draft_.fault_drafts[i].name),
                  "failures that arise are called so"});
      }
    }
  }

  const ScenarioDraft& draft_;
  const FailureOptions& failures_;
  const YamlNode& root_;
};

}  // namespace

void add_failure_keys(ScenarioTable& table) {
  add_onsets(table);
  add_repair(table);
  add_places(table);
  add_trace(table);
}

void resolve_failures(ScenarioDraft& draft, const YamlNode& root) {
  if (draft.failures.until == Duration::zero()) {
    draft.failures.until = draft.duration;
  }
  FailureChecker(draft, root).check();
  draft.confounders.gpu_fault_moments = trace_stalls(draft.failures);
}

}  // namespace bonescan
