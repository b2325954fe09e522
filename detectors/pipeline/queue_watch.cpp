#include "detectors/pipeline/queue_watch.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

namespace bonescan {
namespace {

/// So many episodes in this time, or in what the log keeps (loss.pool_window); steps of up to a
/// third of it are seen. @ours
constexpr std::size_t kEpisodes = 3;
constexpr Duration kTogether = std::chrono::seconds(48);

/// Weight of the late visits of these; one that is strongly late weighs kStrongly.  In 80 hours of
/// 128 RNICs under load without a failure one link came to so much. @ours
constexpr std::size_t kEnough = 14;
constexpr std::size_t kStrongly = 3;

/// In so long before there may be one episode: congestion comes and goes. @ours
constexpr Duration kQuiet = std::chrono::seconds(150);
constexpr Duration kRemembered = kTogether + kQuiet;
constexpr std::size_t kMostBefore = 1;

/// Pairs that a link must have made late in these moments. @ours
constexpr std::size_t kFewestPairs = 4;

/// Of the evidence that opens an incident, at a link for which others wait: most of what it delays
/// is late on their account as well. @ours
constexpr double kRootShare = 0.5;

/// Links that a change of the job's traffic leaves alone, and a failure does not reach. @ours
constexpr std::size_t kMostLinks = 2;

/// Late visits up to which a queue at one link can be the reason. @ours
constexpr std::size_t kMostLate = 4096;

/// Of the visits that cross the link in hot moments; who comes at the edge of a burst is in time.
/// @ours
FaultSearchOptions search_options() {
  FaultSearchOptions options;
  options.latency = {.noise_least = 1e-5, .noise_most = 1e-2, .fault_least = 0.3};
  return options;
}

}  // namespace

QueueWatch::QueueWatch(PipelineState& state) : state_(&state), search_(search_options()) {}

void QueueWatch::late(PairId pair, Time start, bool strongly) {
  late_.push_back({pair, start, strongly});
  ++fresh_;
}

std::optional<QueueWatch::Found> QueueWatch::look(Time now) {
  while (!late_.empty() && now - late_.front().start > kRemembered) {
    late_.pop_front();
  }
  const std::size_t fresh = std::min(std::exchange(fresh_, 0), late_.size());
  if (fresh < 2 || late_.size() > kMostLate) {
    return std::nullopt;
  }
  state_->devices.update();
  std::optional<History> all;
  for (const PathHop& way : hot_ways(fresh)) {
    const History found = history(now, way);
    if (found.episodes < kEpisodes || found.weight < kEnough || found.before > kMostBefore) {
      continue;
    }
    if (!all) {
      all.emplace();
    }
    all->hot.insert(found.hot.begin(), found.hot.end());
    all->episodes = std::max(all->episodes, found.episodes);
  }
  if (!all) {
    return std::nullopt;
  }
  const Time since = kStartOfRun + *all->hot.begin() * state_->options.probing.visit;
  if (judging_since_ > since - kQuiet) {
    return std::nullopt;
  }
  std::optional<Found> found = accuse(*all);
  if (!found || !known_since(found->accusation.pairs, since - kQuiet)) {
    return std::nullopt;
  }
  found->episodes = all->episodes;
  found->since = since;
  return found;
}

void QueueWatch::release(PairRange pairs) {
  std::erase_if(late_, [&](const LateVisit& visit) { return pairs.holds(visit.pair); });
  fresh_ = std::min(fresh_, late_.size());
  evidence_.release(pairs);
}

QueueWatch::Moment QueueWatch::moment(Time start) const {
  return (start - kStartOfRun) / state_->options.probing.visit;
}

std::vector<PathHop> QueueWatch::hot_ways(std::size_t fresh) const {
  std::map<PathHop, std::vector<PairId>> late;
  for (std::size_t i = late_.size() - fresh; i < late_.size(); ++i) {
    if (const TracedPath* path = state_->paths.at(late_[i].pair, late_[i].start)) {
      for_each_hop(*path, [&](const PathHop& hop) {
        if (state_->chooser(hop.link).valid()) {
          late[hop].push_back(late_[i].pair);
        }
      });
    }
  }
  std::vector<PathHop> ways;
  for (const auto& [way, pairs] : late) {
    if (state_->distinct_pairs(pairs) >= 2) {
      ways.push_back(way);
    }
  }
  return ways;
}

QueueWatch::History QueueWatch::history(Time now, const PathHop& way) const {
  struct Met {
    std::vector<PairId> pairs;
    std::size_t weight = 0;
  };
  std::map<Moment, Met> moments;
  for (const LateVisit& visit : late_) {
    const TracedPath* path = state_->paths.at(visit.pair, visit.start);
    if (path != nullptr && crosses(*path, way)) {
      Met& met = moments[moment(visit.start)];
      met.pairs.push_back(visit.pair);
      met.weight += visit.strongly ? kStrongly : 1;
    }
  }
  History history;
  const Moment from = moment(now - std::min(kTogether, state_->options.loss.pool_window));
  Moment last = moment(kStartOfRun) - 3;
  for (const auto& [at, met] : moments) {
    if (state_->distinct_pairs(met.pairs) < 2) {
      continue;
    }
    const bool another = at - last > 2;
    last = at;
    if (at < from) {
      history.before += another ? 1 : 0;
    } else {
      history.episodes += another ? 1 : 0;
      history.hot.insert(at);
      history.weight += met.weight;
    }
  }
  return history;
}

bool QueueWatch::known_since(std::span<const PairId> pairs, Time since) const {
  const auto there = [&](EndpointId endpoint) {
    const auto ready = state_->activation.ready_since(endpoint);
    return ready && *ready <= since;
  };
  std::vector<PairId> known;
  std::copy_if(pairs.begin(), pairs.end(), std::back_inserter(known), [&](PairId pair) {
    return there(state_->ends(pair).source) && there(state_->ends(pair).target);
  });
  return 2 * known.size() >= pairs.size() && state_->distinct_pairs(known) >= kFewestPairs;
}

std::optional<QueueWatch::Found> QueueWatch::accuse(const History& history) {
  std::set<std::pair<PairId, Time>> late;
  for (const LateVisit& visit : late_) {
    late.emplace(visit.pair, visit.start);
  }
  evidence_.clear();
  for (const VisitOutcome& visit : state_->log.recent()) {
    if (history.hot.contains(moment(visit.start)) && state_->live(visit.pair)) {
      evidence_.add_then(
          state_->paths, visit.pair, visit.start, late.contains({visit.pair, visit.start}) ? 1 : 0);
    }
  }
  std::vector<Accusation> accusations =
      search_.localize(evidence_.relevant(state_->paths), Symptom::kLatency);
  std::erase_if(accusations, [&](const Accusation& accusation) {
    return accusation.suspects.front().llr < kRootShare * state_->options.loss.open_llr;
  });
  return root_of(accusations);
}

std::optional<QueueWatch::Found> QueueWatch::root_of(
    const std::vector<Accusation>& accusations) const {
  Found found;
  std::size_t reasons = 0;
  double most = 0.0;
  std::vector<PairId> pairs;
  for (const Accusation& one : accusations) {
    const LinkScore& score = one.suspects.front();
    const bool held_up =
        std::any_of(accusations.begin(), accusations.end(), [&](const Accusation& other) {
          return feeds(score, other.suspects.front());
        });
    if (held_up) {
      found.held_up.push_back(score.link);
    } else if (++reasons == 1) {
      found.accusation = one;
    }
    most = std::max(most, score.llr);
    pairs.insert(pairs.end(), one.pairs.begin(), one.pairs.end());
  }
  const bool clear = reasons > 0 && reasons <= kMostLinks &&
                     most >= state_->options.loss.open_llr &&
                     state_->distinct_pairs(pairs) >= kFewestPairs &&
                     state_->chooser(found.accusation.suspects.front().link).valid() &&
                     !state_->share_an_end(found.accusation.pairs);
  return clear ? std::optional(found) : std::nullopt;
}

bool QueueWatch::feeds(const LinkScore& one, const LinkScore& other) const {
  if (one.link == other.link || one.both_directions) {
    return false;
  }
  const bool down = other.both_directions || other.direction == LinkDirection::kDown;
  const auto [lower, upper] = state_->devices.ends(one.link).devices;
  const auto above = state_->devices.ends(other.link).devices[1];
  return down && (one.direction == LinkDirection::kUp ? upper == above : lower == above);
}

}  // namespace bonescan
