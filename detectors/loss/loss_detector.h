// Loss as a detector: pairs that fall silent, and components whose visits are lossy together.
//
// Two rules.  A pair that lost several probes in a row, across visits, is unreachable: a visit of
// which nothing came back is enough.  And ComponentEvidence pools what every directed link, cable
// and pair lost; an alarm names the pairs whose lossy visits made it.  Visits of one turn are held
// back until the next one or until somebody asks, and then taken in the order of their start, so
// how they were handed over changes nothing.  Complexity: that of ComponentEvidence, and a sort of
// the visits of a turn.  Thread-compatible.
#pragma once

#include "detectors/detect/detector.h"
#include "detectors/loss/component_evidence.h"
#include "sim/base/paged_column.h"

namespace bonescan {

struct LossDetectorOptions {
  LossEvidenceOptions evidence;
  std::uint32_t consecutive = 4;  ///< lost probes in a row: unreachable @ours
};

class LossDetector final : public Detector {
 public:
  /// REQUIRES: as ComponentEvidence; consecutive > 0.
  explicit LossDetector(const LossDetectorOptions& options = {});

  std::string_view name() const override { return "bonescan-loss"; }

  void resize(std::size_t pairs) override;

  /// Loss knows no classes: what is healthy is the same for all.
  void set_class(PairId pair, std::uint8_t pair_class) override;

  void observe(Time now, std::span<const ObservedVisit> visits) override;
  void evaluate(Time now, std::vector<Verdict>& verdicts) override;
  void release(PairRange pairs) override;

  const ComponentEvidence& evidence() const { return evidence_; }

  /// What alarmed at the last evaluate(), in the order of the visits.
  std::span<const ComponentAlarm> alarms() const { return alarms_; }

 private:
  struct Held {
    Time start;
    PairId pair;
    std::uint8_t probes = 0;
    std::uint8_t lost = 0;
    std::uint8_t lost_last = 0;  ///< in a row at the end
    std::uint32_t first_hop = 0;
    std::uint32_t hops = 0;
  };

  void hold(const ObservedVisit& visit);
  void take_held();
  void take(const Held& visit);

  LossDetectorOptions options_;
  ComponentEvidence evidence_;
  Time turn_ = Time::min();
  std::vector<Held> held_;
  std::vector<PathHop> hops_;  ///< of the held visits
  PagedColumn<PairId, std::uint32_t> streaks_;
  std::vector<Verdict> silent_;  ///< pairs found unreachable since the last evaluate()
  std::vector<ComponentAlarm> alarms_;
};

}  // namespace bonescan
