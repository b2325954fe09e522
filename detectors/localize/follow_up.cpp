#include "detectors/localize/follow_up.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace bonescan {
namespace {

constexpr double kLeastBits = 0.01;
constexpr std::uint32_t kFirstPort = 49'152;
constexpr std::uint32_t kPortCount = 16'384;
/// Odd, so that its multiples visit every port; about the golden ratio of them. @ours
constexpr std::uint32_t kPortStride = 10'127;
/// Standard deviations below the controls' ratio that a fault may really be. @ours
constexpr double kRateDeviations = 2.0;

double entropy_bits(double x) {
  return x <= 0.0 || x >= 1.0 ? 0.0 : -x * std::log2(x) - (1.0 - x) * std::log2(1.0 - x);
}

/// Suspects that the flows chosen so far have not told apart, and their weight.
struct Cells {
  std::vector<std::uint32_t> cell_of;  ///< by suspect
  std::uint32_t count = 1;
};

double information_of(const FollowUpChoice& choice,
                      std::span<const Suspect> suspects,
                      const Cells& cells,
                      double total,
                      double detection) {
  std::vector<double> all(cells.count, 0.0);
  std::vector<double> crossed(cells.count, 0.0);
  for (std::size_t i = 0; i < suspects.size(); ++i) {
    all[cells.cell_of[i]] += suspects[i].weight;
    if (suspects[i].crossed_by(choice.path)) {
      crossed[cells.cell_of[i]] += suspects[i].weight;
    }
  }
  double bits = 0.0;
  for (std::size_t cell = 0; cell < all.size(); ++cell) {
    if (all[cell] > 0.0) {
      bits += all[cell] / total * flow_information_bits(crossed[cell] / all[cell], detection);
    }
  }
  return bits;
}

void cut(Cells& cells, const FollowUpChoice& choice, std::span<const Suspect> suspects) {
  std::vector<std::uint32_t> moved(cells.count, 0);  // 0: nobody crossed yet
  const std::uint32_t before = cells.count;
  for (std::size_t i = 0; i < suspects.size(); ++i) {
    const std::uint32_t cell = cells.cell_of[i];
    if (cell < before && suspects[i].crossed_by(choice.path)) {
      if (moved[cell] == 0) {
        moved[cell] = cells.count++;
      }
      cells.cell_of[i] = moved[cell];
    }
  }
}

/// Evidence for "as good as a healthy path" against "as bad as the control".
double passing_nats(std::uint32_t trials, std::uint32_t bad, double base, double rate) {
  return bad * std::log(base / rate) + (trials - bad) * std::log((1.0 - base) / (1.0 - rate));
}

/// Wilson's lower bound: a few controls that happened to lose much must clear nobody.
double lower_rate(std::uint32_t trials, std::uint32_t bad) {
  if (trials == 0) {
    return 0.0;
  }
  const double n = trials;
  const double share = bad / n;
  const double z2 = kRateDeviations * kRateDeviations;
  const double spread = std::sqrt(share * (1.0 - share) / n + z2 / (4.0 * n * n));
  return (share + z2 / (2.0 * n) - kRateDeviations * spread) / (1.0 + z2 / n);
}

struct Tally {
  std::uint32_t trials = 0;
  std::uint32_t bad = 0;
};

/// Results of one kind, added up by what was varied.
template <class Key>
std::vector<std::pair<Key, Tally>> tallies(std::span<const FollowUpResult> results,
                                           FollowUpKind kind,
                                           Key FollowUp::*varied) {
  std::vector<std::pair<Key, Tally>> sums;
  for (const FollowUpResult& result : results) {
    if (result.probe.kind != kind || result.trials == 0) {
      continue;
    }
    const Key key = result.probe.*varied;
    auto place = std::find_if(
        sums.begin(), sums.end(), [&](const auto& known) { return known.first == key; });
    if (place == sums.end()) {
      place = sums.insert(sums.end(), {key, Tally{}});
    }
    place->second.trials += result.trials;
    place->second.bad += result.bad;
  }
  std::sort(
      sums.begin(), sums.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return sums;
}

/// What the judge knows of the failing probe.
struct Scale {
  double base = 0.0;
  double rate = 0.0;
  double decide_nats = 0.0;

  bool passes(const Tally& tally) const {
    return passing_nats(tally.trials, tally.bad, base, rate) >= decide_nats;
  }

  bool fails(const Tally& tally) const {
    return passing_nats(tally.trials, tally.bad, base, rate) <= -decide_nats;
  }
};

void judge_sizes(std::span<const FollowUpResult> results,
                 const Scale& scale,
                 std::uint16_t normal,
                 PartialFault& partial) {
  std::vector<std::uint16_t> passing;
  std::vector<std::uint16_t> failing = {normal};
  for (const auto& [size, tally] :
       tallies(results, FollowUpKind::kPayload, &FollowUp::payload_bytes)) {
    if (scale.passes(tally)) {
      passing.push_back(size);
    } else if (scale.fails(tally)) {
      failing.push_back(size);
    }
  }
  std::sort(failing.begin(), failing.end());
  for (const std::uint16_t size : passing) {
    const auto above = std::upper_bound(failing.begin(), failing.end(), size);
    if (size < normal) {
      partial.largest_passing = size;  // `passing` ascends.
      partial.smallest_failing = *above;
    } else if (!partial.smallest_passing) {
      partial.smallest_passing = size;
      partial.largest_failing = *std::prev(above);
    }
  }
}

PartialFault judge_variations(std::span<const FollowUpResult> results,
                              const Scale& scale,
                              std::uint16_t normal_bytes) {
  PartialFault partial;
  for (const auto& [port, tally] :
       tallies(results, FollowUpKind::kSourcePort, &FollowUp::source_port)) {
    ++partial.ports_tried;
    partial.ports_passing += scale.passes(tally) ? 1 : 0;
  }
  judge_sizes(results, scale, normal_bytes, partial);
  for (const auto& [dscp, tally] : tallies(results, FollowUpKind::kDscp, &FollowUp::dscp)) {
    if (!partial.passing_dscp && scale.passes(tally)) {
      partial.passing_dscp = dscp;
    }
  }
  return partial;
}

/// Can the flow clear a suspect?  Only packets like those that fail can.
bool tells_suspects_apart(const FollowUpResult& result) {
  return result.path != nullptr && result.trials > 0 &&
         (result.probe.kind == FollowUpKind::kSplit ||
          result.probe.kind == FollowUpKind::kControl ||
          result.probe.kind == FollowUpKind::kSourcePort);
}

std::vector<double> log_posteriors(std::span<const Suspect> suspects,
                                   std::span<const FollowUpResult> results,
                                   const Scale& scale) {
  std::vector<double> scores;
  for (const Suspect& suspect : suspects) {
    // Sums of integers: the order of the results cannot change a bit.
    Tally crossing;
    Tally avoiding;
    for (const FollowUpResult& result : results) {
      if (tells_suspects_apart(result)) {
        Tally& tally = suspect.crossed_by(*result.path) ? crossing : avoiding;
        tally.trials += result.trials;
        tally.bad += result.bad;
      }
    }
    scores.push_back(std::log(suspect.weight) + crossing.bad * std::log(scale.rate) +
                     (crossing.trials - crossing.bad) * std::log1p(-scale.rate) +
                     avoiding.bad * std::log(scale.base) +
                     (avoiding.trials - avoiding.bad) * std::log1p(-scale.base));
  }
  return scores;
}

/// Does a flow pass that crosses the suspect, or fail that does not?  Then it does not explain all.
bool contradicted(const Suspect& suspect,
                  std::span<const FollowUpResult> results,
                  const Scale& scale) {
  return std::any_of(results.begin(), results.end(), [&](const FollowUpResult& result) {
    const Tally tally{result.trials, result.bad};
    return tells_suspects_apart(result) &&
           (suspect.crossed_by(*result.path) ? scale.passes(tally) : scale.fails(tally));
  });
}

void split_suspects(std::span<const Suspect> suspects,
                    std::span<const FollowUpResult> results,
                    const Scale& scale,
                    FollowUpFinding& finding) {
  const std::vector<double> scores = log_posteriors(suspects, results, scale);
  const double best = *std::max_element(scores.begin(), scores.end());
  const auto leader =
      static_cast<std::size_t>(std::find(scores.begin(), scores.end(), best) - scores.begin());
  std::vector<std::pair<double, ComponentId>> kept;
  bool up = false;
  bool down = false;
  bool both = false;
  const bool readable = !contradicted(suspects[leader], results, scale);
  for (std::size_t i = 0; i < suspects.size(); ++i) {
    if (!readable || best - scores[i] < scale.decide_nats) {
      kept.emplace_back(-scores[i], suspects[i].link);
      up = up || (suspects[i].up && !suspects[i].down);
      down = down || (suspects[i].down && !suspects[i].up);
      both = both || (suspects[i].up && suspects[i].down);
    }
  }
  std::sort(kept.begin(), kept.end());
  for (const auto& [score, link] : kept) {
    if (std::find(finding.remaining.begin(), finding.remaining.end(), link) ==
        finding.remaining.end()) {
      finding.remaining.push_back(link);
    }
  }
  for (const Suspect& suspect : suspects) {
    if (std::find(finding.remaining.begin(), finding.remaining.end(), suspect.link) ==
        finding.remaining.end()) {
      finding.cleared.push_back(suspect.link);
    }
  }
  std::sort(finding.cleared.begin(), finding.cleared.end());
  finding.cleared.erase(std::unique(finding.cleared.begin(), finding.cleared.end()),
                        finding.cleared.end());
  if (finding.remaining.size() == 1 && !both && up != down) {
    finding.direction = up ? LinkDirection::kUp : LinkDirection::kDown;
  }
}

}  // namespace

bool Suspect::crossed_by(const TracedPath& path) const {
  const auto hits = [&](const PathHop& hop) {
    return hop.link == link && (hop.direction == LinkDirection::kUp ? up : down);
  };
  return std::any_of(path.request.begin(), path.request.end(), hits) ||
         std::any_of(path.answer.begin(), path.answer.end(), hits);
}

std::vector<Suspect> readings_of(std::span<const ComponentId> links) {
  std::vector<Suspect> readings;
  const double third = 1.0 / (3.0 * static_cast<double>(std::max<std::size_t>(links.size(), 1)));
  for (const ComponentId link : links) {
    readings.push_back({.link = link, .up = true, .down = true, .weight = third});
    readings.push_back({.link = link, .up = true, .down = false, .weight = third});
    readings.push_back({.link = link, .up = false, .down = true, .weight = third});
  }
  return readings;
}

double flow_information_bits(double crossed, double detection) {
  return entropy_bits(crossed * detection) - crossed * entropy_bits(detection);
}

std::vector<FollowUpChoice> plan_split(std::span<const Suspect> suspects,
                                       std::span<const FollowUpChoice> choices,
                                       double detection,
                                       std::size_t count) {
  std::vector<FollowUpChoice> plan;
  Cells cells;
  cells.cell_of.assign(suspects.size(), 0);
  const double total =
      std::accumulate(suspects.begin(), suspects.end(), 0.0, [](double sum, const Suspect& s) {
        return sum + s.weight;
      });
  while (plan.size() < count && total > 0.0) {
    double most = kLeastBits;
    const FollowUpChoice* best = nullptr;
    for (const FollowUpChoice& choice : choices) {
      const double bits = information_of(choice, suspects, cells, total, detection);
      if (bits > most * (1.0 + 1e-9)) {
        most = bits;
        best = &choice;
      }
    }
    if (best == nullptr) {
      break;
    }
    plan.push_back(*best);
    plan.back().probe.kind = FollowUpKind::kSplit;
    plan.back().probe.information_bits = most;
    cut(cells, *best, suspects);
  }
  return plan;
}

std::vector<FollowUp> plan_variations(const FollowUp& failing,
                                      std::span<const std::uint16_t> same_path_ports,
                                      const VariationOptions& options) {
  std::vector<FollowUp> plan;
  const auto add = [&](FollowUpKind kind) -> FollowUp& {
    plan.push_back(failing);
    plan.back().kind = kind;
    return plan.back();
  };
  add(FollowUpKind::kControl).payload_bytes += kControlExtraBytes;
  for (std::size_t i = 0; i < std::min(options.ports, same_path_ports.size()); ++i) {
    add(FollowUpKind::kSourcePort).source_port = same_path_ports[i];
  }
  // A size that is nearly the probe's own would say nothing.
  if (failing.payload_bytes / 2 >= options.small_bytes) {
    add(FollowUpKind::kPayload).payload_bytes = options.small_bytes;
  }
  if (options.large_bytes / 2 >= failing.payload_bytes) {
    add(FollowUpKind::kPayload).payload_bytes = options.large_bytes;
  }
  if (options.other_dscp != failing.dscp) {
    add(FollowUpKind::kDscp).dscp = options.other_dscp;
  }
  return plan;
}

std::uint16_t alternative_port(std::uint16_t port, std::uint32_t index) {
  const std::uint32_t from = (port + kPortCount - kFirstPort % kPortCount) % kPortCount;
  const std::uint32_t step = (index % (kPortCount - 1) + 1) * kPortStride % kPortCount;
  return static_cast<std::uint16_t>(kFirstPort + (from + step) % kPortCount);
}

std::vector<std::uint16_t> sizes_between(std::uint16_t a, std::uint16_t b, std::size_t count) {
  const std::uint32_t low = std::min(a, b);
  const std::uint32_t high = std::max(a, b);
  std::vector<std::uint16_t> sizes;
  for (std::uint32_t i = 1; i <= count; ++i) {
    const auto parts = static_cast<std::uint32_t>(count) + 1;
    const std::uint32_t size = (low + (high - low) * i / parts) / 4 * 4;
    if (size > low && size < high && (sizes.empty() || size > sizes.back())) {
      sizes.push_back(static_cast<std::uint16_t>(size));
    }
  }
  return sizes;
}

FollowUpFinding judge_follow_ups(std::span<const Suspect> suspects,
                                 std::span<const FollowUpResult> results,
                                 const JudgeOptions& options) {
  FollowUpFinding finding;
  std::uint16_t normal_bytes = 0;
  for (const FollowUpResult& result : results) {
    if (result.probe.kind == FollowUpKind::kControl) {
      finding.control_trials += result.trials;
      finding.control_bad += result.bad;
      normal_bytes = static_cast<std::uint16_t>(result.probe.payload_bytes - kControlExtraBytes);
    }
  }
  const double rate = lower_rate(finding.control_trials, finding.control_bad);
  finding.failing = finding.control_bad > 0 && rate > options.base_ratio;
  if (finding.failing) {
    const Scale scale{options.base_ratio, rate, options.decide_nats};
    finding.partial = judge_variations(results, scale, normal_bytes);
    if (!suspects.empty() && !finding.partial.five_tuple()) {
      split_suspects(suspects, results, scale, finding);
      return finding;
    }
  }
  for (const Suspect& suspect : suspects) {
    if (std::find(finding.remaining.begin(), finding.remaining.end(), suspect.link) ==
        finding.remaining.end()) {
      finding.remaining.push_back(suspect.link);
    }
  }
  return finding;
}

std::string partial_text(const PartialFault& partial) {
  std::string text;
  const auto add = [&](std::string part) { text += (text.empty() ? "" : "; ") + std::move(part); };
  if (partial.five_tuple()) {
    add(fmt::format("five-tuple: {} of {} other source ports on the same links pass",
                    partial.ports_passing,
                    partial.ports_tried));
  }
  if (partial.largest_passing) {
    add(fmt::format("packet-size: {} bytes of payload pass, {} fail",
                    *partial.largest_passing,
                    *partial.smallest_failing));
  }
  if (partial.smallest_passing) {
    add(fmt::format("packet-size: {} bytes of payload pass, {} fail",
                    *partial.smallest_passing,
                    *partial.largest_failing));
  }
  if (partial.dscp()) {
    add(fmt::format("dscp: DSCP {} passes", *partial.passing_dscp));
  }
  return text;
}

}  // namespace bonescan
