// What the skeleton study runs: sweeps of one quantity at a time, and kinds of jobs drawn at
// random.
//
// Seeds are odd: what was tuned was tuned on even ones.
#pragma once

#include "tools/study/study_case.h"

#include <cstdint>
#include <string>
#include <vector>

namespace bonescan {

enum class StudySize : std::uint8_t {
  kQuick,
  kFull,
};

/// What the text that asked for the study wants to hold; 0 and 1 want nothing.
struct StudyBound {
  double adjusted_rand = 0.0;
  double recall = 0.0;
  double fallback = 1.0;

  bool wanted() const { return adjusted_rand > 0.0 || recall > 0.0; }
};

struct StudyPoint {
  std::string sweep;   ///< "snr"
  std::string series;  ///< "offset 0.5 s"
  double x = 0.0;
  StudyCase run;
  std::uint32_t seeds = 20;
  StudyBound bound{};
};

std::vector<StudyPoint> study_sweeps(StudySize size);

/// A kind of job whose shape, rhythm and noise are drawn by seed.
struct StudyKind {
  std::string name;
  StudyCase base;
  std::uint32_t seeds = 300;
};

std::vector<StudyKind> study_kinds(StudySize size);

/// REQUIRES: `kind` is of study_kinds().
StudyCase draw_case(const StudyKind& kind, std::uint64_t seed);

/// Stage offsets of jobs as they may be: model, shape and schedule drawn from stated ranges.
struct RealisticJob {
  JobOptions job;
  double offset_s = 0.0;  ///< between the bursts of neighbouring stages
  double step_s = 0.0;
};

RealisticJob draw_realistic_job(std::uint64_t seed);

}  // namespace bonescan
