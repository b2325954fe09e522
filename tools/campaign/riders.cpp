#include "tools/campaign/riders.h"

#include "detectors/baselines/counter_rules.h"
#include "detectors/baselines/detector_pll.h"
#include "detectors/baselines/flock_search.h"
#include "detectors/baselines/flow_vote_007.h"
#include "detectors/baselines/mesh_vote_detector.h"
#include "detectors/baselines/net_bouncer.h"
#include "detectors/baselines/path_votes.h"
#include "detectors/baselines/pingmesh_detector.h"
#include "detectors/baselines/r_pingmesh_detector.h"
#include "tools/campaign/memory_run.h"

#include <array>

namespace bonescan {
namespace {

struct DetectorRow {
  std::string_view name;
  std::unique_ptr<Detector> (*make)(const PairTable& pairs);
};

constexpr std::array kDetectors = {
    DetectorRow{"mesh-vote",
                [](const PairTable&) -> std::unique_ptr<Detector> {
                  return std::make_unique<MeshVoteDetector>();
                }},
    DetectorRow{"pingmesh",
                [](const PairTable&) -> std::unique_ptr<Detector> {
                  return std::make_unique<PingmeshDetector>();
                }},
    DetectorRow{"pingmesh-roce",
                [](const PairTable&) -> std::unique_ptr<Detector> {
                  return std::make_unique<PingmeshDetector>(PingmeshOptions::roce());
                }},
    DetectorRow{"r-pingmesh",
                [](const PairTable& pairs) -> std::unique_ptr<Detector> {
                  return std::make_unique<RPingmeshDetector>(pairs);
                }},
    DetectorRow{"counter-rules",
                [](const PairTable& pairs) -> std::unique_ptr<Detector> {
                  return std::make_unique<CounterRulesDetector>(pairs);
                }},
};

struct LocalizerRow {
  std::string_view name;
  std::unique_ptr<Localizer> (*make)();
};

template <class T>
std::unique_ptr<Localizer> make() {
  return std::make_unique<T>();
}

constexpr std::array kLocalizers = {
    LocalizerRow{"raw-vote", make<RawVote>},
    LocalizerRow{"r-pingmesh", make<RPingmeshVote>},
    LocalizerRow{"detector-pll", make<DeTectorPll>},
    LocalizerRow{"007", make<FlowVote007>},
    LocalizerRow{"netbouncer", make<NetBouncer>},
    LocalizerRow{"flock-style", make<FlockSearch>},
};

template <class Rows>
std::vector<std::string> names(const Rows& rows) {
  std::vector<std::string> found;
  found.reserve(rows.size());
  for (const auto& row : rows) {
    found.emplace_back(row.name);
  }
  return found;
}

}  // namespace

std::unique_ptr<Detector> make_rider_detector(std::string_view name, const PairTable& pairs) {
  for (const DetectorRow& row : kDetectors) {
    if (row.name == name) {
      return row.make(pairs);
    }
  }
  return nullptr;
}

std::unique_ptr<Localizer> make_rider_localizer(std::string_view name) {
  for (const LocalizerRow& row : kLocalizers) {
    if (row.name == name) {
      return row.make();
    }
  }
  return nullptr;
}

std::vector<std::string> rider_detectors() {
  return names(kDetectors);
}

std::vector<std::string> rider_localizers() {
  return names(kLocalizers);
}

}  // namespace bonescan
