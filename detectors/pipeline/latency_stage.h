// From anomalous windows to incidents: what is late, and where.
//
// One late window is a hint, not an incident: congestion makes some.  An incident opens when a
// stage can prove it: a link that most of its pairs find slow (vote), an RNIC whose tables disagree
// (diff), or a pair that stays slow for a second window.  Algorithm 1's order is kept: overlay
// walk, vote, tables. Internal to detectors/pipeline; thread-compatible.
#pragma once

#include "detectors/pipeline/pipeline_state.h"
#include "detectors/shortterm/short_term_detector.h"

#include <span>
#include <vector>

namespace bonescan {

class LatencyStage final {
 public:
  explicit LatencyStage(PipelineState& state);

  /// All results of a window that has just closed.
  void window_closed(Time now, std::span<const ShortTermResult> results);

  /// Between windows: goes on with table dumps that the allowance put off.
  void run(Time now);

  /// Forgets pairs of an ended task.
  void release(PairRange pairs);

  /// Bytes that go with pairs, and bytes that stay.
  std::size_t held_size() const { return evidence_.held_size() + late_windows_.held_size(); }

  std::size_t kept_size() const { return evidence_.kept_size() + late_windows_.kept_size(); }

 private:
  struct Late {
    PairId pair;
    float lof = 0.0F;
    float factor = 1.0F;
    int asked = 0;  ///< times its tables were asked for without an answer
  };

  /// Links that only one RNIC's pairs accuse: its own link, or what its tables do with packets.
  struct Held {
    Accusation accusation;
    std::vector<LinkVotes> raw;
  };

  bool attribute(Time now, PairId pair);
  /// Do all pairs of the accusation share an end?
  bool one_end(const Accusation& accusation) const;
  void accuse_links(Time now, std::span<const ShortTermResult> results);
  void open_link(Time now, const Accusation& accusation, std::span<const LinkVotes> raw);
  void check_tables(Time now);
  /// Tables do not explain the pair: what was held back because of it is blamed.  False if nothing
  /// was.
  bool open_held(Time now, PairId pair);
  void open_rnic(Time now, const Late& late, const TableFinding& tables);
  void open_persistent(Time now, const Late& late, const TableFinding& tables);
  void describe(Time now, IncidentIndex index, const Late& late);
  bool claimed(PairId pair) const;

  PipelineState* state_;
  UnderlayVote vote_;
  EvidenceTable evidence_;
  std::vector<Late> late_;  ///< of the last window, not yet explained, worst first
  std::vector<Held> held_;  ///< of the last window
  PagedColumn<PairId, std::uint8_t> late_windows_;  ///< late windows in a row
  std::string vote_clear_text_;
};

}  // namespace bonescan
