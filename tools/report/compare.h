// Two runs side by side: is the second better, worse, or the same?
//
// Faults are paired by name.  They count for the exact McNemar test only if they are decided in
// both runs and both runs had the same scenario and seed: only then are the pairs the same trials.
#pragma once

#include "tools/evaluate/evaluate.h"
#include "tools/evaluate/run_data.h"
#include "tools/report/report_json.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace bonescan {

/// One figure of both runs.  `difference` is second minus first.
struct MetricComparison {
  std::string name;
  std::optional<double> first;
  std::optional<double> second;
  std::optional<double> difference;
};

struct Comparison {
  bool same_scenario = false;
  bool same_seed = false;
  bool same_build = false;
  std::optional<bool> same_fingerprint;  ///< unknown if one of the runs was cut
  std::vector<MetricComparison> metrics;
  std::vector<std::string> only_first;  ///< faults that the first run alone found
  std::vector<std::string> only_second;
  std::size_t both = 0;
  std::size_t neither = 0;
  std::optional<double> mcnemar_p;  ///< absent unless both runs have truth and one seed
};

Comparison compare_runs(const RunData& first_run,
                        const Evaluation& first,
                        const RunData& second_run,
                        const Evaluation& second);

std::string comparison_text(const Comparison& comparison);
Json comparison_json(const Comparison& comparison);

}  // namespace bonescan
