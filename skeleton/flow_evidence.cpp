#include "skeleton/flow_evidence.h"

#include "skeleton/flow_judgement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
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

/// First readings are spread over this, about the longest step of common jobs: all members of a
/// stage burst at once, so readings made at once would see all of their entries or none.  @ours
constexpr Duration kSpread = std::chrono::seconds(30);

/// When a member is read first, after the first poll; neighbours far from each other (multiples of
/// the golden ratio are spread evenly).
Duration delay_of(std::size_t index) {
  const double turns = static_cast<double>(index) * 0.6180339887498949;
  return std::chrono::duration_cast<Duration>(kSpread * (turns - std::floor(turns)));
}

/// What is known of one entry.
struct Entry {
  EndpointId peer;
  std::uint32_t carried = 0;  ///< between how many readings and the next it carried traffic
  bool was_busy = false;      ///< it had, before
};

/// Readings that belong together.
struct Round {
  std::uint32_t readings = 0;
  std::vector<Entry> entries{};  ///< ascending by peer
  bool stands_still = false;     ///< counters did where they should have moved

  Entry& entry(EndpointId peer) {
    const auto place = std::lower_bound(entries.begin(), entries.end(), peer, &is_before);
    return place != entries.end() && place->peer == peer ? *place
                                                         : *entries.insert(place, {peer, 0, false});
  }

  /// Between how many readings the entry for `peer` carried traffic.
  std::uint32_t carried(EndpointId peer) const {
    const auto place = std::lower_bound(entries.begin(), entries.end(), peer, &is_before);
    return place != entries.end() && place->peer == peer ? place->carried : 0;
  }

  /// Pairs of neighbouring readings.
  std::uint32_t spans() const { return readings == 0 ? 0 : readings - 1; }

  static bool is_before(const Entry& entry, EndpointId peer) { return entry.peer < peer; }
};

/// A campaign reads every member a few times; what it found stays until the next is over.
struct Member {
  Time due = Time::min();
  std::optional<FlowReading> last{};  ///< of the campaign
  Round now{};                        ///< of the campaign
  Round found{};                      ///< of the campaign before
  bool failed = false;                ///< could not be read in the campaign
  bool unreadable = false;            ///< could not be read in the campaign before
};

struct Edge {
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  std::uint32_t carried = 0;  ///< in how many spans of both ends it carried traffic
  std::uint32_t spans = 0;    ///< of both ends
};

}  // namespace

class FlowEvidence::Impl {
 public:
  Impl(std::vector<EndpointId> members, const SkeletonOptions& options)
      : options_(options), ids_(std::move(members)), members_(ids_.size()) {}

  std::size_t poll(FlowTableSource& tables, Time now, std::size_t budget) {
    if (!began_) {
      began_ = true;
      for (std::size_t i = 0; i < members_.size(); ++i) {
        members_[i].due = is_oracle() ? now : now + delay_of(i);
      }
    }
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
      ask(tables, i, now);
    }
    if (!due.empty()) {
      settle(now);
    }
    return due.size();
  }

  std::optional<TaskSkeleton> skeleton() const {
    if (!told_) {
      return std::nullopt;
    }
    TaskSkeleton made;
    made.basis = SkeletonBasis::kFlowTable;
    const std::vector<Edge> edges = find_edges({&Member::found, &Member::now});
    made.peers = peers_of(edges);
    const std::vector<std::size_t> unknown = unknown_members(made.peers);
    made.confidence = confidence_;
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
      if (!sure_) {
        made.scope = SkeletonScope::kSameRail;
        made.why += "; that is not certain enough to leave anybody out";
      }
    }
    return made;
  }

 private:
  bool is_oracle() const { return options_.evidence == SkeletonEvidence::kOracle; }

  std::uint32_t fewest() const { return is_oracle() ? 1 : kFewestReadings; }

  void ask(FlowTableSource& tables, std::size_t index, Time now) {
    Member& member = members_[index];
    const Expected<FlowCounterDump> answer = tables.flow_counters(ids_[index], now);
    if (answer) {
      take(member, {now, answer->flows});
    } else if (answer.error().code != ErrorCode::kPending) {
      member.failed = true;
      member.now = {};
      member.due = Time::max();
    }
  }

  Duration again() const {
    return is_oracle() ? std::min(kOracleAgain, options_.dump_again) : options_.dump_again;
  }

  void take(Member& member, FlowReading reading) {
    Round& round = member.now;
    ++round.readings;
    if (is_oracle()) {
      for (const FlowCounter& flow : reading.flows) {
        round.entry(flow.peer).carried = 1;
      }
    } else if (member.last) {
      for (const JudgedFlow& flow : judge(*member.last, reading)) {
        Entry& entry = round.entry(flow.peer);
        entry.carried +=
            flow.verdict == FlowVerdict::kCarries || flow.verdict == FlowVerdict::kStandsStill ? 1
                                                                                               : 0;
        entry.was_busy = entry.was_busy || flow.verdict == FlowVerdict::kWasBusy;
        round.stands_still = round.stands_still || flow.verdict == FlowVerdict::kStandsStill;
      }
    }
    member.due = round.readings < needed_ ? reading.at + gap_after(round.readings) : Time::max();
    member.last = std::move(reading);
  }

  /// Once all were read as often as they should be: is that enough?  If not, on it goes.
  void settle(Time now) {
    const bool read = std::all_of(members_.begin(), members_.end(), [this](const Member& member) {
      return member.failed || member.now.readings >= needed_;
    });
    if (!read) {
      return;
    }
    const std::vector<Edge> edges = find_edges({&Member::now});
    const double confidence = is_oracle() ? 1.0 : confidence_of(edges);
    const bool sure =
        is_oracle() || (confidence >= options_.confidence && !is_anything_open(edges));
    const bool ends = sure || edges.empty() || needed_ >= kMostReadings;
    if (ends || !told_) {
      for (Member& member : members_) {
        member.found = member.now;
        member.unreadable = member.failed;
      }
      confidence_ = confidence;
      sure_ = ends && confidence >= options_.confidence;
      told_ = true;
    }
    if (ends) {
      begin_next(now);
    } else {
      read_on();
    }
  }

  void begin_next(Time now) {
    for (Member& member : members_) {
      member.due = (member.last ? member.last->at : now) + again();
      member.last.reset();
      member.now = {};
      member.failed = false;
    }
    needed_ = fewest();
  }

  void read_on() {
    needed_ += kFewestReadings;
    for (Member& member : members_) {
      if (!member.failed) {
        member.due = member.last->at + gap_after(member.now.readings);
      }
    }
  }

  std::optional<std::uint32_t> index_of(EndpointId id) const {
    const auto place = std::lower_bound(ids_.begin(), ids_.end(), id);
    if (place == ids_.end() || *place != id) {
      return std::nullopt;
    }
    return static_cast<std::uint32_t>(place - ids_.begin());
  }

  /// Pairs of members with a < b that either end's tables name in these rounds; counts are those
  /// of the first.
  std::vector<Edge> find_edges(std::initializer_list<Round Member::*> rounds) const {
    std::vector<Edge> found;
    for (std::uint32_t i = 0; i < members_.size(); ++i) {
      for (Round Member::*const round : rounds) {
        for (const Entry& entry : (members_[i].*round).entries) {
          const auto peer = index_of(entry.peer);
          if (entry.carried > 0 && peer && *peer != i) {
            found.push_back({std::min(i, *peer), std::max(i, *peer), 0, 0});
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
      const Round& one = members_[edge.a].*(*rounds.begin());
      const Round& other = members_[edge.b].*(*rounds.begin());
      edge.carried = one.carried(ids_[edge.b]) + other.carried(ids_[edge.a]);
      edge.spans = one.spans() + other.spans();
    }
    return found;
  }

  /// Probability that no pair was missed, if pairs that do not carry traffic between all readings
  /// are seen or not by chance.  Two estimates of how many were not seen at all, the larger counts:
  /// by those seen once and twice (Chao 1987), and by the share of spans that saw such a pair.
  double confidence_of(const std::vector<Edge>& edges) const {
    double once = 0.0;
    double twice = 0.0;
    double seen = 0.0;
    double looked = 0.0;
    double pairs = 0.0;
    for (const Edge& edge : edges) {
      if (edge.carried < edge.spans) {
        once += edge.carried == 1 ? 1.0 : 0.0;
        twice += edge.carried == 2 ? 1.0 : 0.0;
        seen += edge.carried;
        looked += edge.spans;
        pairs += 1.0;
      }
    }
    double missed = 0.5 * once * once / std::max(twice, 1.0);
    if (pairs > 0.0) {
      const double none = std::pow(1.0 - seen / looked, looked / pairs);
      missed = std::max(missed, none >= 1.0 ? pairs : pairs * none / (1.0 - none));
    }
    return std::exp(-missed) * kMostConfidence;
  }

  std::vector<std::vector<EndpointId>> peers_of(const std::vector<Edge>& edges) const {
    std::vector<std::vector<EndpointId>> peers(members_.size());
    for (const Edge& edge : edges) {
      peers[edge.a].push_back(ids_[edge.b]);
      peers[edge.b].push_back(ids_[edge.a]);
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

  /// Is there a sign that a pair was missed: a table that names nobody, whose owner may be idle, or
  /// an entry that was busy once and is not now?
  bool is_anything_open(const std::vector<Edge>& edges) const {
    const std::vector<std::vector<EndpointId>> peers = peers_of(edges);
    for (std::size_t i = 0; i < members_.size(); ++i) {
      const std::vector<Entry>& entries = members_[i].now.entries;
      const bool was_busy = std::any_of(entries.begin(), entries.end(), [&](const Entry& entry) {
        return entry.was_busy &&
               !std::binary_search(peers[i].begin(), peers[i].end(), entry.peer) &&
               index_of(entry.peer).has_value();
      });
      if (was_busy || (!members_[i].failed && peers[i].empty())) {
        return true;
      }
    }
    return false;
  }

  void connect(const std::vector<std::size_t>& unknown,
               std::vector<std::vector<EndpointId>>& peers) const {
    for (const std::size_t i : unknown) {
      for (const std::size_t other : unknown) {
        if (other != i) {
          peers[i].push_back(ids_[other]);
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
      return member.found.stands_still || member.now.stands_still;
    });
    if (still > 0) {
      text += fmt::format("; counters of {} RNICs stand still, so their entries count as traffic",
                          still);
    }
    return text;
  }

  SkeletonOptions options_;
  std::vector<EndpointId> ids_;  ///< ascending
  std::vector<Member> members_;
  std::uint32_t needed_ = fewest();  ///< readings of each member in this campaign
  double confidence_ = 0.0;
  bool began_ = false;
  bool told_ = false;  ///< there is something in Member::found
  bool sure_ = false;
};

FlowEvidence::FlowEvidence(std::vector<EndpointId> members, const SkeletonOptions& options)
    : impl_(std::make_unique<Impl>(std::move(members), options)) {}

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
