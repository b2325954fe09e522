// The localizers of the study, each with the settings that may be chosen from, and how one is
// scored.
#pragma once

#include "detectors/localize/localizer.h"
#include "tests/support/flow_traces.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace bonescan::validation {

struct Setting {
  std::string text;
  std::unique_ptr<Localizer> localizer;
};

struct Method {
  std::string name;
  std::vector<Setting> settings;
};

std::vector<Method> study_methods();

/// One trace, or sums over many.  A named link is right if it is one that fails, in the direction
/// in which it fails; the first of a set counts, the others do not.
struct Score {
  std::uint32_t failed = 0;
  std::uint32_t named = 0;
  std::uint32_t right = 0;
  double precision = 0.0;  ///< of one trace: 1 if nobody is named
  double recall = 0.0;     ///< of one trace: 1 if nothing fails
  double cpu_ms = 0.0;

  std::uint32_t wrong() const { return named - right; }
};

Score score_trace(const test::FlowTrace& trace, Localizer& localizer);

Score sum_of(const std::vector<Score>& scores);

/// Of mean precision and mean recall.
double macro_f1(const std::vector<Score>& scores);

double median_cpu_ms(const std::vector<Score>& scores);

}  // namespace bonescan::validation
