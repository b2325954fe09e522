// Which RNICs' flow tables are worth reading again and again.
//
// Entries that come and go many times a minute leave no visit late as a whole: some of its probes
// find them, the others take the slow way.  Such a visit is late in part: its upper quartile rose
// by a factor that queues rarely reach.  One says nothing and opens nothing; when several pairs of
// one RNIC have such visits, its tables are read once a turn for a while, at moments that have
// nothing to do with the visits, since a reading that finds the entries away is the proof.
//
// Invariants: 1. what is late in part is no evidence, it only chooses what is read; 2. an RNIC that
// was read in vain rests before it is read again.  Internal to detectors/pipeline;
// thread-compatible.
#pragma once

#include "detectors/localize/inspector.h"
#include "detectors/pipeline/pipeline_state.h"

#include <map>
#include <vector>

namespace bonescan {

/// A visit is late in part if its upper quartile grew by this. @ours
constexpr float kPartFactor = 3.0F;

class TableWatch final {
 public:
  explicit TableWatch(PipelineState& state) : state_(&state) {}

  /// A visit of the pair was late in part, and no open incident says why.
  void late_in_part(Time now, PairId pair, float upper_factor);

  /// Tables that disagree, and whose visits made somebody read them.
  struct Found {
    TableFinding tables;
    PairId pair;  ///< the last of them
    float upper_factor = 1.0F;
    std::size_t pairs = 0;  ///< of the RNIC, late in part
    int reads = 0;
  };

  /// Reads within the allowance of the turn.
  std::vector<Found> read(Time now);

  /// Forgets pairs of an ended task.
  void release(PairRange pairs);

 private:
  struct Part {
    PairId pair;
    Time at;
    float upper_factor = 1.0F;
  };

  struct Watched {
    std::vector<Part> parts;  ///< one a visit, oldest first
    int reads = 0;
    Time rests_until = Time::min();
  };

  void add(EndpointId at, const Part& part);
  std::size_t distinct_pairs(const Watched& watched) const;

  PipelineState* state_;
  std::map<EndpointId, Watched> watched_;  ///< few: ends of pairs that were late in part lately
};

}  // namespace bonescan
