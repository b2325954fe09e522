#include "scenarios/schema/long_term_keys.h"

#include "scenarios/schema/quantity.h"
#include "scenarios/schema/yaml_edit.h"

#include <fmt/format.h>

#include <chrono>
#include <string>

namespace bonescan {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr Duration kDay = hours(24);

template <class... Members>
auto long_term(Members... members) {
  return field(&PipelineOptions::long_term, members...);
}

void add_drift_keys(KeyTable<PipelineOptions>& table) {
  table.choice<bool>("detection.long_term.enabled",
                     {{"no", false}, {"yes", true}},
                     long_term(&LongTermOptions::enabled),
                     "Whether levels that creep away over hours are looked for at all.");
  table.duration("detection.long_term.period",
                 {minutes(1), hours(12)},
                 long_term(&LongTermOptions::period),
                 "Levels are means over so long; a day is a whole number of them.");
  table.duration(
      "detection.long_term.reference",
      {minutes(2), hours(720)},
      long_term(&LongTermOptions::reference),
      "A pair is compared with its own first level, the mean of so long; it then stays.");
  table.duration("detection.long_term.least_reference",
                 {minutes(2), hours(720)},
                 long_term(&LongTermOptions::least_reference),
                 "... and is judged from here on, with what is not known yet taken into account.");
  table.duration("detection.long_term.relearn_after",
                 {minutes(2), hours(720)},
                 long_term(&LongTermOptions::relearn_after),
                 "A pair that drifts for so long starts anew from the level it is at.");
  table.number("detection.long_term.least_factor",
               {1.0001, 1000.0},
               long_term(&LongTermOptions::least_factor),
               "A drift moves the level by at least this factor, or by `least_shift`.");
  table.duration("detection.long_term.least_shift",
                 {nanoseconds(1), hours(1)},
                 long_term(&LongTermOptions::least_shift),
                 "A drift moves the level by at least this, or by `least_factor`.");
}

void add_budget_keys(KeyTable<PipelineOptions>& table) {
  table.number("detection.long_term.ewma_weight",
               {0.001, 1.0},
               long_term(&LongTermOptions::ewma_weight),
               "Weight of the newest period in the smoothed level.");
  table.number("detection.long_term.cusum_slack",
               {0.01, 3.0},
               long_term(&LongTermOptions::cusum_slack),
               "What the cumulative sum loses in each period, in standard deviations.");
  table.count("detection.long_term.least_pairs",
              {2, 1'000'000},
              long_term(&LongTermOptions::least_pairs),
              "Pairs of a class before their median is taken out as the load of all.");
  table.number("detection.long_term.false_alarms_per_day",
               {1e-9, 1000.0},
               long_term(&LongTermOptions::false_alarms_per_day),
               "Pairs of a fleet of `fleet_pairs` that may be said to drift a day though nothing "
               "is wrong.");
  table.count("detection.long_term.fleet_pairs",
              {1, 1'000'000'000},
              long_term(&LongTermOptions::fleet_pairs),
              "Pairs that share that budget, however many this run has.");
}

void add_lag_keys(KeyTable<PipelineOptions>& table) {
  const auto lags = [](auto member) { return long_term(&LongTermOptions::lags, member); };
  constexpr const char* kLag =
      "A lag of the paper's long-term test, in periods; 0 leaves it out. Only of "
      "`detection.configuration: paper`.";
  table.count(
      "detection.long_term.lags.first", {0, kMostLagPeriods}, lags(&LagOptions::first), kLag);
  table.count(
      "detection.long_term.lags.second", {0, kMostLagPeriods}, lags(&LagOptions::second), kLag);
  table.count(
      "detection.long_term.lags.third", {0, kMostLagPeriods}, lags(&LagOptions::third), kLag);
  table.choice<ZForm>("detection.long_term.lags.form",
                      {{"published", ZForm::kPublished}, {"two-sample", ZForm::kWithBaselineError}},
                      lags(&LagOptions::form),
                      "Single probes against an earlier fit that is taken for the truth, or the "
                      "medians of visits of both periods.");
  table.count("detection.long_term.lags.least_samples",
              {2, 1'000'000},
              lags(&LagOptions::least_samples),
              "Samples of a period before it is compared.");
  table.number("detection.long_term.lags.significance",
               {1e-300, 0.5},
               lags(&LagOptions::significance),
               "Probability below which one comparison is anomalous; the paper gives none.");
}

class Checker final {
 public:
  Checker(const LongTermOptions& options, const YamlNode& root) : options_(options), root_(root) {}

  void check(Duration window_length) const {
    if (kDay % options_.period != Duration::zero()) {
      complain("period",
               "period",
               {"a period of which a day is a whole number",
                format_duration(options_.period),
                "take 15min, 30min or 1h"});
    }
    if (options_.period < window_length) {
      complain("period",
               "detection.window.length",
               {"a period that is not shorter than a window",
                fmt::format("periods of {} and windows of {}",
                            format_duration(options_.period),
                            format_duration(window_length)),
                "lengthen detection.long_term.period, or set detection.long_term.enabled: no"});
    }
    check_references();
    check_budget();
    if (options_.lags.first + options_.lags.second + options_.lags.third == 0) {
      complain("lags.first",
               "lags.first",
               {"one lag at least", "none", "set detection.long_term.enabled: no instead"});
    }
  }

 private:
  void check_references() const {
    if (options_.least_reference < 2 * options_.period) {
      complain("least_reference",
               "period",
               {"two periods in the least reference",
                fmt::format("{} and periods of {}",
                            format_duration(options_.least_reference),
                            format_duration(options_.period)),
                "raise detection.long_term.least_reference"});
    }
    if (options_.reference < options_.least_reference) {
      complain("reference",
               "least_reference",
               {"a reference that is not shorter than the least one",
                fmt::format("{} and {}",
                            format_duration(options_.reference),
                            format_duration(options_.least_reference)),
                "lower detection.long_term.least_reference"});
    }
  }

  void check_budget() const {
    const double tests =
        static_cast<double>(options_.fleet_pairs) * static_cast<double>(kDay / options_.period);
    if (options_.false_alarms_per_day >= tests) {
      complain("false_alarms_per_day",
               "fleet_pairs",
               {"fewer false alarms than tests",
                fmt::format("{} a day and {} tests", options_.false_alarms_per_day, tests),
                "lower detection.long_term.false_alarms_per_day"});
    }
  }

  /// At the first of two keys that is in the file; the other is a default.
  [[noreturn]] void complain(const std::string& key,
                             const std::string& other,
                             const Complaint& what) const {
    const std::string section = "detection.long_term.";
    const std::string path = find_path(root_, section + key) != nullptr ? section + key
                             : other.starts_with("detection.")          ? other
                                                                        : section + other;
    raise(locate(root_, path), path, what);
  }

  const LongTermOptions& options_;
  const YamlNode& root_;
};

}  // namespace

void add_long_term_keys(KeyTable<PipelineOptions>& table) {
  add_drift_keys(table);
  add_budget_keys(table);
  add_lag_keys(table);
}

void check_long_term(const PipelineOptions& pipeline, const YamlNode& root) {
  if (pipeline.long_term.enabled) {
    Checker(pipeline.long_term, root).check(pipeline.window.length);
  }
}

}  // namespace bonescan
