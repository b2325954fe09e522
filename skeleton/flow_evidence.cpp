#include "skeleton/flow_evidence.h"

#include "skeleton/flow_judgement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

namespace bonescan {
namespace {

/// Rates are differences.
constexpr std::uint32_t kFewestReadings = 2;
/// More readings than that are not made, however many entries come and go.  @ours
constexpr std::uint32_t kMostReadings = 8;
/// What is true is asked for again after this.  @ours
constexpr Duration kOracleAgain = std::chrono::seconds(10);
/// Nothing that is only seen from outside is surer than that.  @ours
constexpr double kMostConfidence = 0.999;
/// Members of whom nothing is known may all talk to each other: up to so many are listed.  @ours
constexpr std::size_t kMostUnknown = 64;

/// Readings of one member are spaced wider than an idle entry lives, and not evenly: evenly spaced
/// ones could miss the bursts of a job whose step is a multiple.  @ours
Duration gap_after(std::uint32_t readings) {
  return kLongestIdle + std::chrono::milliseconds(1'300) * ((readings - 1) % 4);
}

/// What is known of one entry.
struct Entry {
  EndpointId peer;
  std::uint32_t listed = 0;  ///< readings that had it
  bool carries = false;
};

/// Readings that belong together.
struct Round {
  std::uint32_t readings = 0;
  std::vector<Entry> entries{};  ///< ascending by peer
  bool stands_still = false;   ///< counters did where they should have moved

  Entry& entry(EndpointId peer) {
    const auto place =
        std::lower_bound(entries.begin(), entries.end(), peer, [](const Entry& a, EndpointId b) {
          return a.peer < b;
        });
    return place != entries.end() && place->peer == peer ? *place
                                                         : *entries.insert(place, {peer, 0, false});
  }
};

struct Member {
  EndpointId id;
  Time due = Time::min();
  std::optional<FlowReading> last{};  ///< of the newest round
  Round now{};
  Round done{};  ///< the last that was finished; no readings: none, or the table cannot be read
  bool unreadable = false;
};

struct Edge {
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  std::uint32_t listed = 0;
};

}  // namespace

class FlowEvidence::Impl {
 public:
  Impl(const std::vector<EndpointId>& members, const SkeletonOptions& options) : options_(options) {
    members_.reserve(members.size());
    for (const EndpointId id : members) {
      members_.push_back({.id = id});
    }
  }

  std::size_t poll(FlowTableSource& tables, Time now, std::size_t budget) {
    std::vector<std::size_t> due;
    for (std::size_t i = 0; i < members_.size(); ++i) {
      if (members_[i].due <= now) {
        due.push_back(i);
      }
    }
    std::stable_sort(due.begin(), due.end(), [this](std::size_t a, std::size_t b) {
      return members_[a].due < members_[b].due;
    });
    if (!is_oracle()) {
      due.resize(std::min(due.size(), budget));
    }
    for (const std::size_t i : due) {
      ask(tables, members_[i], now);
    }
    read_on_if_unsure();
    return due.size();
  }

  std::optional<TaskSkeleton> skeleton() const {
    const bool complete = std::all_of(members_.begin(), members_.end(), [](const Member& member) {
      return member.unreadable || member.done.readings > 0;
    });
    if (!complete || members_.empty()) {
      return std::nullopt;
    }
    TaskSkeleton made;
    made.basis = SkeletonBasis::kFlowTable;
    const std::vector<Edge> edges = find_edges();
    made.peers = peers_of(edges);
    std::vector<std::size_t> unknown = unknown_members(made.peers);
    made.confidence = is_oracle() ? 1.0 : confidence_of(edges);
    made.scope = SkeletonScope::kPeers;
    if (edges.empty()) {
      made.scope = SkeletonScope::kSameRail;
      made.confidence = 0.0;
      made.why = "no table has an entry that carries more than probes do";
    } else if (unknown.size() > std::min(kMostUnknown, members_.size() / 2)) {
      made.scope = SkeletonScope::kSameRail;
      made.confidence = 0.0;
      made.why = fmt::format(
          "of {} of {} RNICs no table tells whom they talk to", unknown.size(), members_.size());
    } else {
      connect(unknown, made.peers);
      made.why = describe(edges.size(), unknown.size());
      if (made.confidence < options_.confidence) {
        made.scope = SkeletonScope::kSameRail;
        made.why += "; entries come and go between readings, so some may not have been seen";
      }
    }
    return made;
  }

 private:
  bool is_oracle() const { return options_.evidence == SkeletonEvidence::kOracle; }

  std::uint32_t needed() const { return is_oracle() ? 1 : needed_; }

  void ask(FlowTableSource& tables, Member& member, Time now) {
    const Expected<FlowCounterDump> answer = tables.flow_counters(member.id, now);
    if (answer) {
      member.unreadable = false;
      take(member, {now, answer->flows});
      return;
    }
    if (answer.error().code == ErrorCode::kPending) {
      return;  // It stays due.
    }
    member.unreadable = true;
    member.last.reset();
    member.now = {};
    member.done = {};
    member.due = now + again();
  }

  Duration again() const {
    return is_oracle() ? std::min(kOracleAgain, options_.dump_again) : options_.dump_again;
  }

  void take(Member& member, FlowReading reading) {
    Round& round = member.now;
    if (round.readings == 0) {
      member.last.reset();
    }
    ++round.readings;
    for (const FlowCounter& flow : reading.flows) {
      Entry& entry = round.entry(flow.peer);
      ++entry.listed;
      entry.carries = entry.carries || is_oracle();
    }
    if (member.last && !is_oracle()) {
      for (const JudgedFlow& flow : judge(*member.last, reading)) {
        Entry& entry = round.entry(flow.peer);
        entry.carries = entry.carries || flow.verdict != FlowVerdict::kQuiet;
        round.stands_still = round.stands_still || flow.verdict == FlowVerdict::kStandsStill;
      }
    }
    member.due = reading.at + gap_after(round.readings);
    member.last = std::move(reading);
    if (round.readings >= needed()) {
      finish(member);
    }
  }

  void finish(Member& member) {
    member.due = member.last->at + again();
    member.done = std::move(member.now);
    member.now = {};
  }

  /// Readings of the round that was finished last go on where two were not enough.
  void read_on_if_unsure() {
    const bool finished = std::all_of(members_.begin(), members_.end(), [this](const Member& m) {
      return m.unreadable || m.done.readings >= needed();
    });
    if (is_oracle() || !finished) {
      return;
    }
    const std::vector<Edge> edges = find_edges();
    if (edges.empty() || confidence_of(edges) >= options_.confidence) {
      needed_ = kFewestReadings;
      return;
    }
    if (needed_ >= kMostReadings) {
      return;
    }
    needed_ += kFewestReadings;
    for (Member& member : members_) {
      if (!member.unreadable && member.now.readings == 0) {
        member.now = member.done;
        member.due = member.last->at + gap_after(member.now.readings);
      }
    }
  }

  std::optional<std::uint32_t> index_of(EndpointId id) const {
    const auto place =
        std::lower_bound(members_.begin(), members_.end(), id, [](const Member& a, EndpointId b) {
          return a.id < b;
        });
    if (place == members_.end() || place->id != id) {
      return std::nullopt;
    }
    return static_cast<std::uint32_t>(place - members_.begin());
  }

  /// Pairs of members with a < b that either end's table names; `listed` is that of both ends.
  std::vector<Edge> find_edges() const {
    std::vector<Edge> found;
    for (std::uint32_t i = 0; i < members_.size(); ++i) {
      for (const Round* round : {&members_[i].done, &members_[i].now}) {
        for (const Entry& entry : round->entries) {
          const auto peer = index_of(entry.peer);
          if (entry.carries && peer && *peer != i) {
            found.push_back({std::min(i, *peer), std::max(i, *peer), 0});
          }
        }
      }
    }
    const auto ends = [](const Edge& edge) { return std::pair(edge.a, edge.b); };
    std::sort(found.begin(), found.end(), [&](const Edge& a, const Edge& b) {
      return ends(a) < ends(b);
    });
    found.erase(std::unique(found.begin(),
                            found.end(),
                            [&](const Edge& a, const Edge& b) { return ends(a) == ends(b); }),
                found.end());
    for (Edge& edge : found) {
      edge.listed = listed(edge.a, edge.b) + listed(edge.b, edge.a);
    }
    return found;
  }

  /// Readings of `at` that had an entry for `peer`.
  std::uint32_t listed(std::uint32_t at, std::uint32_t peer) const {
    const std::vector<Entry>& entries = members_[at].done.entries;
    const auto place = std::lower_bound(
        entries.begin(), entries.end(), members_[peer].id, [](const Entry& a, EndpointId b) {
          return a.peer < b;
        });
    return place != entries.end() && place->peer == members_[peer].id ? place->listed : 0;
  }

  /// Probability that no pair was missed, if pairs whose entries come and go are seen or not by
  /// chance.  Two estimates of how many were in no reading, the larger counts: that of the pairs
  /// seen once and twice (Chao 1987), and that of the share of readings that saw such a pair.
  double confidence_of(const std::vector<Edge>& edges) const {
    std::uint32_t once = 0;
    std::uint32_t twice = 0;
    double seen = 0.0;
    double looked = 0.0;
    double pairs = 0.0;
    for (const Edge& edge : edges) {
      if (edge.listed == 0) {
        continue;  // Only a round that is not finished knows it.
      }
      const std::uint32_t readings =
          members_[edge.a].done.readings + members_[edge.b].done.readings;
      once += edge.listed == 1 && readings > 1 ? 1 : 0;
      twice += edge.listed == 2 && readings > 2 ? 1 : 0;
      if (edge.listed < readings) {
        seen += edge.listed;
        looked += readings;
        pairs += 1.0;
      }
    }
    double missed = once == 0 ? 0.0 : 0.5 * once * once / std::max(twice, 1U);
    if (pairs > 0.0) {
      const double none = std::pow(1.0 - seen / looked, looked / pairs);
      missed = std::max(missed, none >= 1.0 ? pairs : pairs * none / (1.0 - none));
    }
    return std::exp(-missed) * kMostConfidence;
  }

  std::vector<std::vector<EndpointId>> peers_of(const std::vector<Edge>& edges) const {
    std::vector<std::vector<EndpointId>> peers(members_.size());
    for (const Edge& edge : edges) {
      peers[edge.a].push_back(members_[edge.b].id);
      peers[edge.b].push_back(members_[edge.a].id);
    }
    for (std::vector<EndpointId>& list : peers) {
      std::sort(list.begin(), list.end());
    }
    return peers;
  }

  /// Whose table was not read or is silent about everybody: nobody else's table tells that two of
  /// them talk.  For the oracle silence is known.
  std::vector<std::size_t> unknown_members(
      const std::vector<std::vector<EndpointId>>& peers) const {
    std::vector<std::size_t> unknown;
    for (std::size_t i = 0; i < members_.size(); ++i) {
      if (members_[i].unreadable || (peers[i].empty() && !is_oracle())) {
        unknown.push_back(i);
      }
    }
    return unknown;
  }

  void connect(const std::vector<std::size_t>& unknown,
               std::vector<std::vector<EndpointId>>& peers) const {
    for (const std::size_t i : unknown) {
      for (const std::size_t other : unknown) {
        if (other != i) {
          peers[i].push_back(members_[other].id);
        }
      }
      std::sort(peers[i].begin(), peers[i].end());
      peers[i].erase(std::unique(peers[i].begin(), peers[i].end()), peers[i].end());
    }
  }

  std::string describe(std::size_t pairs, std::size_t unknown) const {
    std::string text =
        is_oracle() ? fmt::format("{} pairs communicate", pairs)
                    : fmt::format("{} pairs have entries that carry more than probes do", pairs);
    if (unknown > 0) {
      text += fmt::format("; of {} RNICs nothing is known, so each of them may talk to each other",
                          unknown);
    }
    const auto still = std::count_if(members_.begin(), members_.end(), [](const Member& member) {
      return member.done.stands_still;
    });
    if (still > 0) {
      text += fmt::format("; counters of {} RNICs stand still, so their entries count as traffic",
                          still);
    }
    return text;
  }

  SkeletonOptions options_;
  std::vector<Member> members_;
  std::uint32_t needed_ = kFewestReadings;
};

FlowEvidence::FlowEvidence(std::vector<EndpointId> members, const SkeletonOptions& options)
    : impl_(std::make_unique<Impl>(members, options)) {}

FlowEvidence::~FlowEvidence() = default;
FlowEvidence::FlowEvidence(FlowEvidence&&) noexcept = default;
FlowEvidence& FlowEvidence::operator=(FlowEvidence&&) noexcept = default;

std::size_t FlowEvidence::poll(FlowTableSource& tables, Time now, std::size_t budget) {
  return impl_->poll(tables, now, budget);
}

std::optional<TaskSkeleton> FlowEvidence::skeleton() const {
  return impl_->skeleton();
}

}  // namespace bonescan
