// From reports of visits as they come in to visits as the pipeline needs them: once, and those of
// each source in the order in which they were planned.
//
// Intuition: whoever planned the visits knows what is owed.  Each planned visit is a slot in the
// queue of its source; a report fills its slot, and filled slots leave from the front.  An open
// slot at the front holds back the later ones of the same source alone, and no longer than
// `lateness` after its visit must have been complete.  So nothing waits where nothing is late, and
// one silent agent delays nobody else.
//   open --report--> filled --front--> done           again the same (pair, start): a duplicate
//   open --overdue, and a later slot is filled, or a grace of one visit period is over--> missing
//   missing --report--> late: counted and dropped
// A missing report is unknown: it is no loss and no health, and nothing is handed on for it.
// Reports that nobody planned (an imported recording) pass, if they are newer than what was handed
// on of their pair.
// Invariants: 1. a (pair, start) is handed on at most once; 2. of a source, planned visits are
// handed on in the order of their plan; 3. expected = received + missing + open; 4. memory is at
// most the slots of `lateness` and a fixed while, apart from counts and two words a pair.
// Thread-compatible.
// Complexity: a step per slot of the source that is remembered, at most; nothing for sources that
// nobody asks any more.
#pragma once

#include "detectors/telemetry/probe.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bonescan {

/// Of one source, or of all.
struct IntakeCounts {
  std::uint64_t expected = 0;
  std::uint64_t received = 0;    ///< in time; one for each expected at most
  std::uint64_t missing = 0;     ///< given up
  std::uint64_t late = 0;        ///< came after they were given up: dropped
  std::uint64_t duplicates = 0;  ///< dropped
  std::uint64_t unplanned = 0;   ///< handed on although nobody asked for them
};

/// What can be said of an endpoint as a prober.  Nothing of it is about the network.
enum class Reporting : std::uint8_t {
  kUnasked,    ///< no visit of it was due yet
  kReporting,  ///< the last visit that was due was reported
  kUnknown,    ///< the last visits that were due were not reported: nothing is known from it
};

struct IntakeOptions {
  Duration lateness{};                       ///< see above
  Duration grace = std::chrono::seconds(1);  ///< a visit period
};

class VisitIntake final {
 public:
  VisitIntake(std::size_t endpoint_count, const IntakeOptions& options);

  /// The directory has become longer.
  void grow(std::size_t endpoint_count);

  /// Reports of these are owed from now on.  REQUIRES: starts of a source ascend from call to call.
  void expect(std::span<const ProbeRequest> requests);

  /// Takes what came in by `now` and gives what is to be handed on, ordered by (start, pair).
  /// Valid until the next call; it may be `received` itself.
  const ProbeBatch& admit(Time now, const ProbeBatch& received);

  /// At the end of a run: what is held back, whatever is still open before it.
  const ProbeBatch& flush();

  const IntakeCounts& counts(EndpointId source) const { return sources_[source].counts; }

  IntakeCounts total() const;

  Reporting reporting(EndpointId source) const;

 private:
  enum class State : std::uint8_t {
    kOpen,
    kFilled,
    kDone,
    kMissing
  };

  struct Slot {
    Time planned;
    Time due;    ///< its visit is complete by then
    Time start;  ///< as reported
    PairId pair;
    std::uint32_t visit = 0;  ///< filled: index of its visit in held_ or in what has just come in
    bool just_came = false;   ///< ... which of the two
    State state = State::kOpen;
  };

  struct Source {
    std::vector<Slot> slots;       ///< in the order of the plan
    std::size_t front = 0;         ///< those before it are done or missing
    std::uint32_t filled = 0;      ///< slots that wait
    Time forgotten = Time::min();  ///< newest plan that is no longer remembered
    std::uint32_t missing_in_a_row = 0;
    IntakeCounts counts;
  };

  /// A visit to hand on.
  struct Reference {
    const ProbeBatch* batch = nullptr;
    std::uint32_t visit = 0;
  };

  Source* source_of(PairId pair);
  /// Finds the visit's slot and fills it, or hands it on, or counts why not.
  void take(const ProbeBatch& received, std::uint32_t index);
  void take_unplanned(Source* source, const ProbeBatch& received, std::uint32_t index);
  void release(Source& source, Time now, const ProbeBatch& received, bool all);
  bool given_up(const Source& source, const Slot& slot, Time now) const;
  void hand_on(const ProbeBatch& batch, std::uint32_t visit);
  void forget(Source& source, Time now) const;
  void drop_idle();
  /// Copies what waits out of `received`, and drops from held_ what does not wait any more.
  void hold_back(const ProbeBatch& received);
  const ProbeBatch& result(const ProbeBatch& received);

  IntakeOptions options_;
  IdVector<EndpointId, Source> sources_;
  std::vector<EndpointId> busy_;  ///< sources with slots
  IdVector<PairId, EndpointId> source_of_;
  IdVector<PairId, Time> newest_;  ///< start of the newest visit handed on
  ProbeBatch held_;                ///< visits of filled slots
  ProbeBatch still_held_;          ///< scratch of hold_back()
  ProbeBatch ready_;
  std::vector<Reference> handed_on_;  ///< of this call
  IntakeCounts orphans_;              ///< of pairs that nobody ever planned
};

}  // namespace bonescan
