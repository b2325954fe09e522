// The localizers of the study, each with the settings that may be chosen from, and how one is
// scored.
#pragma once

#include "detectors/localize/localizer.h"
#include "tests/support/flow_traces.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace bonescan::validation {

/// How the last parameter of a method thins out what it names, so that one call answers for a whole
/// family of settings that differ in it only.
enum class Cut : std::uint8_t {
  kNone,       ///< it does not: a family is one setting
  kScore,      ///< links below the cut are left out
  kPosterior,  ///< links with a posterior below the cut are left out
};

struct Setting {
  std::string text;
  std::unique_ptr<Localizer> localizer;
  std::uint32_t family = 0;  ///< neighbours; the first has the smallest cut
  double cut = 0.0;
};

struct Method {
  std::string name;
  Cut rule = Cut::kNone;
  bool contest = false;  ///< scored on all fresh traces, not only on the first 400
  std::vector<Setting> settings{};
};

std::vector<Method> study_methods();

/// Our method of this name with what the published program was run with, or nothing: 007,
/// netbouncer and flock-style at 12,500 and 50,000 flows.  The programs' runs tell settings by
/// number only; these are the values at which the answers agree, over all of the programs' settings
/// that were run.
Setting published_setting(std::string_view method, std::uint32_t flows);

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

/// A named link, in the order of the answer.
struct Named {
  double score = 0.0;
  double posterior = 0.0;
  bool right = false;
};

std::vector<Named> check_names(const test::FlowTrace& trace,
                               const std::vector<Accusation>& accusations);

/// What would be left of an answer with this cut; without times.
Score score_names(const test::FlowTrace& trace,
                  const std::vector<Named>& named,
                  Cut rule,
                  double cut);

Score score_trace(const test::FlowTrace& trace, Localizer& localizer);

Score sum_of(const std::vector<Score>& scores);

/// Of mean precision and mean recall.
double macro_f1(const std::vector<Score>& scores);

double median_cpu_ms(const std::vector<Score>& scores);

}  // namespace bonescan::validation
