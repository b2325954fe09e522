// A detector of one's own: "twice as slow as this pair ever was, or three probes lost in a visit".
//
//   two_times RECORDED/run.sqlite OUT     then: bonescan score --truth RECORDED OUT
#include "detectors/telemetry/probe.h"
#include "detectors/trial/detector_trial.h"

#include <algorithm>
#include <cstdio>

namespace {

class TwoTimes final : public bonescan::Detector {
 public:
  std::string_view name() const override { return "two-times"; }

  void resize(std::size_t pairs) override { best_ns_.resize(pairs, bonescan::kFirstOutcome); }

  void set_class(bonescan::PairId, std::uint8_t) override {}
  void release(bonescan::PairRange) override {}

  void observe(bonescan::Time now, std::span<const bonescan::ObservedVisit> visits) override {
    for (const bonescan::ObservedVisit& visit : visits) {
      const auto lost = std::count(visit.rtts_ns.begin(), visit.rtts_ns.end(), bonescan::kLostRtt);
      // Outcomes without a round trip are the greatest values of the column.
      const std::uint32_t fastest = *std::min_element(visit.rtts_ns.begin(), visit.rtts_ns.end());
      std::uint32_t& best = best_ns_[visit.pair.index()];
      if (lost >= 3) {
        found_.push_back({now,
                          visit.pair,
                          bonescan::VerdictKind::kUnreachable,
                          bonescan::VerdictRule::kConsecutiveLoss,
                          static_cast<float>(lost)});
      } else if (!visit.cold && bonescan::answered(fastest) && fastest / 2 > best) {
        found_.push_back({now,
                          visit.pair,
                          bonescan::VerdictKind::kAnomalous,
                          bonescan::VerdictRule::kOther,
                          static_cast<float>(fastest) / best});
      }
      best = std::min(best, fastest);
    }
  }

  void evaluate(bonescan::Time, std::vector<bonescan::Verdict>& verdicts) override {
    std::sort(found_.begin(), found_.end(), [](auto& a, auto& b) { return a.pair < b.pair; });
    verdicts.insert(verdicts.end(), found_.begin(), found_.end());
    found_.clear();
  }

 private:
  std::vector<std::uint32_t> best_ns_;
  std::vector<bonescan::Verdict> found_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: two_times RECORDED/run.sqlite OUT\n");
    return 2;
  }
  TwoTimes detector;
  const auto summary = bonescan::try_detector(argv[1], argv[2], detector, nullptr);
  if (!summary) {
    std::fprintf(stderr, "two_times: %s\n", summary.error().detail.c_str());
    return 1;
  }
  std::printf("%zu visits, %zu verdicts, %zu incidents\n",
              summary->visits,
              summary->verdicts,
              summary->incidents);
}
