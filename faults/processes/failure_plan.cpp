#include "faults/processes/failure_plan.h"

#include "faults/processes/arrivals.h"
#include "faults/processes/failure_laws.h"
#include "faults/processes/failure_mix.h"
#include "faults/processes/failure_places.h"
#include "faults/processes/fault_trace.h"
#include "model/fabric/ecmp_hash.h"
#include "sim/base/distributions.h"
#include "sim/base/rng_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace bonescan {
namespace {

/// Rows of a failure's own stream, Purpose::kFailure.
enum Row : std::uint64_t {
  kOnset,
  kKind
};

/// Rows of Purpose::kFailureGroup.
enum GroupRow : std::uint64_t {
  kStrikesGroup,
  kWhichGroup,
  kFirstSpread
};

/// Of all onsets together, in Purpose::kFailure: no failure has this number.
constexpr std::uint32_t kFleet = 0xFFFF'FFFF;
/// Returns of one failure; with a probability of 1/2 one in a thousand has more. @ours
constexpr std::uint64_t kMostReturns = 10;

/// One thing that breaks, before it has a place.
struct Onset {
  std::uint32_t number = 0;
  Duration at{};
  const FaultKind* kind = nullptr;
  std::optional<HostId> host{};
  std::optional<Duration> length{};  ///< as recorded; zero: until the end of the run
};

class Planner final {
 public:
  Planner(const FailureOptions& options, const FaultSite& site, std::uint64_t seed, Duration run)
      : options_(options),
        site_(site),
        seed_(seed),
        end_(kStartOfRun + run),
        places_(options, site, seed) {}

  Expected<std::vector<FaultSpec>> plan() {
    auto onsets = options_.process == FailureProcess::kTrace ? recorded() : drawn();
    if (!onsets) {
      return tl::unexpected(onsets.error());
    }
    for (const Onset& onset : *onsets) {
      if (auto struck = strike(onset); !struck) {
        return tl::unexpected(struck.error());
      }
    }
    std::stable_sort(faults_.begin(), faults_.end(), [](const FaultSpec& a, const FaultSpec& b) {
      return a.at < b.at;
    });
    for (std::size_t i = 0; i < faults_.size(); ++i) {
      faults_[i].name = fmt::format("drawn-{}", i);
    }
    return std::move(faults_);
  }

 private:
  Expected<std::vector<Onset>> drawn() const {
    const auto mix = resolve_mix(options_, site_);
    if (!mix) {
      return tl::unexpected(mix.error());
    }
    std::vector<Onset> onsets;
    for (const Duration at : moments()) {
      const auto number = static_cast<std::uint32_t>(onsets.size());
      onsets.push_back({.number = number, .at = at, .kind = kind_of(*mix, number)});
    }
    return onsets;
  }

  std::vector<Duration> moments() const {
    std::vector<Duration> moments;
    const Duration span = options_.until - options_.from;
    if (options_.process == FailureProcess::kCount) {
      const bool slots = options_.apart > Duration::zero();
      const Duration slot = slots ? span / options_.count : Duration::zero();
      const Duration room = slots ? slot - options_.length - options_.apart : span;
      for (std::uint32_t i = 0; i < options_.count; ++i) {
        const RngStream stream(seed_, Purpose::kFailure, i);
        moments.push_back(options_.from + i * slot +
                          from_seconds(seconds(room) * stream.open01_at(kOnset)));
      }
      return moments;
    }
    const RngStream fleet(seed_, Purpose::kFailure, kFleet);
    const double rate = total_rate(options_, site_);
    const auto arrivals = options_.process == FailureProcess::kWeibull
                              ? weibull_arrivals(fleet, rate, options_.weibull_shape, span)
                              : poisson_arrivals(fleet, rate, span);
    for (const Arrival& arrival : arrivals) {
      moments.push_back(options_.from + arrival.at);
    }
    return moments;
  }

  /// In an equal mix kinds take turns, and seeds of one parity begin with the next kind each.
  const FaultKind* kind_of(const std::vector<MixedKind>& mix, std::uint32_t number) const {
    if (options_.mix == FailureMix::kEqual) {
      return mix[(seed_ / 2 + number) % mix.size()].kind;
    }
    double left = RngStream(seed_, Purpose::kFailure, number).open01_at(kKind);
    for (const MixedKind& kind : mix) {
      left -= kind.share;
      if (left < 0.0) {
        return kind.kind;
      }
    }
    return mix.back().kind;
  }

  Expected<std::vector<Onset>> recorded() const {
    std::vector<Onset> onsets;
    std::map<std::string_view, std::size_t> nodes;
    for (const TraceFault& fault : options_.trace.faults) {
      nodes.emplace(fault.node, nodes.size());
    }
    for (const TimedTraceFault& timed : faults_in_run(options_)) {
      const std::string_view kind = kind_of_trace_fault(*timed.fault);
      if (kind.empty()) {
        continue;
      }
      const std::size_t node = options_.trace.nodes == TraceNodes::kOrder
                                   ? nodes.at(timed.fault->node)
                                   : hash_of(timed.fault->node);
      onsets.push_back({.number = static_cast<std::uint32_t>(onsets.size()),
                        .at = timed.at,
                        .kind = find_fault_kind(kind),
                        .host = site_.hosts()[node % site_.hosts().size()],
                        .length = timed.length});
    }
    return onsets;
  }

  static std::size_t hash_of(std::string_view node) {
    std::uint64_t hash = 0;
    for (const char c : node) {
      hash = mix64(hash * 0x100'0000'01B3ull + static_cast<unsigned char>(c) + 1);
    }
    return hash;
  }

  Duration length_of(const Onset& onset, std::uint64_t row) const {
    if (onset.length) {
      return *onset.length;
    }
    if (options_.repair.law == RepairLaw::kFixed) {
      return options_.length;
    }
    const RngStream stream(seed_, Purpose::kFailureRepair, onset.number);
    return repair_quantile(stream.open01_at(row), options_.repair.median, options_.repair.p90);
  }

  /// When something that began then, and lasts so long, ends.
  Time end_of(Time at, Duration length) const {
    return length == Duration::zero() || length >= end_ - at ? end_ : at + length;
  }

  Expected<void> strike(const Onset& onset) {
    const RngStream groups(seed_, Purpose::kFailureGroup, onset.number);
    const Time at = kStartOfRun + onset.at;
    PlaceWish wish{.failure = onset.number,
                   .from = at,
                   .to = end_of(at, length_of(onset, 0)),
                   .host = onset.host};
    auto first = places_.take(*onset.kind, wish);
    if (!first && onset.host) {
      wish.host.reset();  // A kind that is no matter of hosts.
      first = places_.take(*onset.kind, wish);
    }
    if (!first) {
      return fail(ErrorCode::kInvalid,
                  fmt::format("'{}' has no place in this world{}{}",
                              onset.kind->name,
                              onset.kind->needs.empty() ? "" : "; it needs ",
                              onset.kind->needs));
    }
    if (auto added = add(onset, *first, wish.from, wish.to); !added) {
      return added;
    }
    if (groups.open01_at(kStrikesGroup) >= options_.groups.share || onset.length) {
      return come_back(onset, *first, wish.to);
    }
    wish.group = options_.groups.of;
    if (wish.group == FailureGroup::kAny) {
      constexpr FailureGroup kGroups[] = {
          FailureGroup::kSegment, FailureGroup::kTor, FailureGroup::kFirmware};
      wish.group = kGroups[groups.at(kWhichGroup) % std::size(kGroups)];
    }
    wish.group_id = group_of(site_.fabric(), first->on, wish.group, options_.groups, seed_);
    wish.others = {first->on};
    return wish.group_id ? strike_others(onset, wish, groups) : Expected<void>();
  }

  /// The other members of a group; one that finds no place is none.
  Expected<void> strike_others(const Onset& onset, PlaceWish wish, const RngStream& groups) {
    const Duration length = length_of(onset, 0);
    for (std::uint32_t member = 1; member < options_.groups.members; ++member) {
      const double share = groups.open01_at(kFirstSpread + member);
      const Time at =
          kStartOfRun + onset.at + from_seconds(share * seconds(options_.groups.spread));
      if (at >= end_) {
        continue;
      }
      wish.member = member;
      wish.from = at;
      wish.to = end_of(at, length);
      if (const auto place = places_.take(*onset.kind, wish)) {
        wish.others.push_back(place->on);
        if (auto added = add(onset, *place, wish.from, wish.to); !added) {
          return added;
        }
      }
    }
    return {};
  }

  /// A repair that did not help: the same again, a while later.
  Expected<void> come_back(const Onset& onset, const KindParameters& place, Time healed) {
    const RngStream stream(seed_, Purpose::kFailureRepair, onset.number);
    for (std::uint64_t n = 0; n < kMostReturns; ++n) {
      const std::uint64_t row = 1 + 3 * n;
      if (stream.open01_at(row) >= options_.repair.comes_back) {
        break;
      }
      const double gap_s =
          exponential_quantile(stream.open01_at(row + 1), seconds(options_.repair.within));
      const Time at = healed + from_seconds(gap_s);
      if (at >= end_) {
        break;
      }
      healed = end_of(at, length_of(onset, row + 2));
      if (!places_.retake(place.on, at, healed)) {
        break;
      }
      if (auto added = add(onset, place, at, healed); !added) {
        return added;
      }
    }
    return {};
  }

  Expected<void> add(const Onset& onset, const KindParameters& place, Time from, Time to) {
    auto effects = onset.kind->effects(place);
    if (!effects) {
      return tl::unexpected(effects.error());
    }
    faults_.push_back({.name = {},
                       .kind = std::string(onset.kind->name),
                       .on = place.on,
                       .at = from,
                       .duration = to == end_ ? Duration::zero() : to - from,
                       .effects = std::move(*effects)});
    const RngStream stream(seed_, Purpose::kFailurePlace, onset.number);
    const auto with = faults_with(*onset.kind, site_, place, faults_.back(), stream, end_);
    if (!with) {
      return tl::unexpected(with.error());
    }
    for (const FaultSpec& fault : *with) {
      if (places_.retake(fault.on, fault.at, end_of(fault.at, fault.duration))) {
        faults_.push_back(fault);
      }
    }
    return {};
  }

  const FailureOptions& options_;
  const FaultSite& site_;
  std::uint64_t seed_;
  Time end_;
  FailurePlaces places_;
  std::vector<FaultSpec> faults_;
};

}  // namespace

Expected<std::vector<FaultSpec>> plan_failures(const FailureOptions& options,
                                               const FaultSite& site,
                                               std::uint64_t seed,
                                               Duration run) {
  if (!options.active()) {
    return std::vector<FaultSpec>();
  }
  return Planner(options, site, seed, run).plan();
}

}  // namespace bonescan
