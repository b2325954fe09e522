// What the localization study found, as Markdown, JSON and a chart, and whether it is enough.
#pragma once

#include "tests/validation/localization_methods.h"

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace bonescan::validation {

/// What is asked for on the odd reference traces of one size, of 60 failed links.
struct Allowance {
  std::uint32_t flows = 0;
  std::uint32_t found_least = 0;
  std::uint32_t false_most = 0;
  double median_ms_most = 0.0;
};

inline constexpr std::array<Allowance, 2> kAllowances = {Allowance{50'000, 56, 1, 10.0},
                                                         Allowance{12'500, 41, 2, 10.0}};

inline constexpr const char* kOurs = "bonescan";
inline constexpr const char* kOursChosen = "bonescan, chosen";
inline constexpr const char* kSampled = "bonescan, sampled";
inline constexpr const char* kFlockStyle = "flock-style";
inline constexpr const char* kBound = "bound";

/// Seeds of each number of faults in what is required: five numbers, 400 traces.
inline constexpr std::uint32_t kFreshSeeds = 80;

/// One method on the odd reference traces.
struct ReferenceRow {
  std::uint32_t flows = 0;
  std::string method{};
  std::string setting{};
  std::vector<Score> scores{};
  std::vector<Score> published{};  ///< answers of the published program, if there are any
  std::string their_setting{};     ///< of the published program
  std::vector<Score> alike{};      ///< ours at that setting, on the traces of even and odd seeds
  std::vector<std::string> different{};  ///< of those, where other links were named: ours, theirs
};

struct FreshRow {
  std::uint32_t flows = 0;
  std::string method{};
  std::string setting{};
  std::vector<Score> scores{};
};

struct StudyTables {
  std::string command = "localization_study";
  std::string commit = "unknown";
  bool quick = false;
  bool complete = true;  ///< the reference traces were there
  std::vector<ReferenceRow> reference{};
  std::vector<FreshRow> fresh{};
  std::map<std::string, std::vector<std::pair<double, double>>> chart{};  ///< flows, recall
};

/// Difference of two shares of failed links found, over the same traces.
struct PairedRecall {
  double difference = 0.0;
  double low = 0.0;  ///< 95 % interval of the bootstrap over traces
  double high = 0.0;
};

PairedRecall compare(const std::vector<Score>& ours, const std::vector<Score>& theirs);

std::string markdown(const StudyTables& tables);
std::string json(const StudyTables& tables);
std::string chart(const StudyTables& tables);

/// Everything that is required.
bool holds(const StudyTables& tables);

}  // namespace bonescan::validation
