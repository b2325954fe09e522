#include "tools/study/paper/paper_figures.h"

#include "detectors/run_log/run_log.h"
#include "tools/evaluate/statistics.h"
#include "tools/gates/strata.h"
#include "tools/study/output/line_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace bonescan {
namespace {

constexpr double kUsPerNs = 1e-3;
/// A pair is late if a visit's median is so many times that of its first ones. @ours
constexpr double kLateFactor = 3.0;
constexpr double kSettledS = 60.0;

/// Median of the answered probes of a visit; nullopt if none was.
std::optional<double> median_us(std::span<const std::uint32_t> rtts) {
  std::vector<double> answers;
  for (const std::uint32_t rtt : rtts) {
    if (answered(rtt)) {
      answers.push_back(static_cast<double>(rtt) * kUsPerNs);
    }
  }
  return quantile(answers, 0.5);
}

using Series = std::vector<std::pair<double, double>>;

/// The pair whose level rose by most.
std::optional<PairId> slowest(const std::map<PairId, Series>& all) {
  std::optional<PairId> pair;
  double most = kLateFactor;
  for (const auto& [id, series] : all) {
    if (series.size() < 4) {
      continue;
    }
    const double factor = series.back().second / series.front().second;
    if (factor > most) {
      most = factor;
      pair = id;
    }
  }
  return pair;
}

std::string found_text(const std::vector<Incident>& incidents, const ComponentTable& components) {
  std::string text;
  for (const Incident& incident : incidents) {
    if (incident.symptom != Symptom::kLatency || incident.candidates.empty()) {
      continue;
    }
    text += fmt::format("{:.1f} s: {} {}; ",
                        seconds(incident.opened),
                        to_string(incident.layer),
                        components[incident.candidates.front().component].name);
    for (const Evidence& evidence : incident.evidence) {
      text += fmt::format("{} {}, ", evidence.stage, evidence.clear ? "clear" : "found");
    }
  }
  return text.empty() ? "no incident" : text.substr(0, text.size() - 2);
}

/// What of the containers of a cloud the platform saw.
struct Lives {
  std::map<std::pair<std::string, std::string>, std::uint32_t> rnics;  ///< by (task, host)
  std::map<std::string, std::vector<double>> ready_s;                  ///< by task
  std::map<std::string, double> submitted_s;
  std::map<std::string, double> gone_s;
};

Lives lives_of(const RunData& cloud) {
  Lives lives;
  for (const MembershipEvent& event : cloud.membership) {
    if (event.endpoint.index() >= cloud.endpoints.size()) {
      continue;
    }
    const Endpoint& endpoint = cloud.endpoints[event.endpoint];
    const double at = seconds(event.at);
    switch (event.kind) {
      case MembershipKind::kSubmitted:
        ++lives.rnics[{endpoint.task, endpoint.host}];
        lives.submitted_s[endpoint.task] = at;
        break;
      case MembershipKind::kReady:
        lives.ready_s[endpoint.task].push_back(at);
        break;
      case MembershipKind::kGone:
        lives.gone_s[endpoint.task] = at;
        break;
      case MembershipKind::kStopping:
      case MembershipKind::kAddressChanged:
        break;
    }
  }
  return lives;
}

/// Share of the tasks that began early enough for it to be known whether they live so long.
double shorter_than(const Lives& lives, double limit_s, double end_s) {
  std::size_t all = 0;
  std::size_t shorter = 0;
  for (const auto& [task, from] : lives.submitted_s) {
    if (from + limit_s > end_s) {
      continue;
    }
    const auto gone = lives.gone_s.find(task);
    ++all;
    shorter += gone != lives.gone_s.end() && gone->second - from < limit_s ? 1 : 0;
  }
  return all == 0 ? 0.0 : static_cast<double>(shorter) / static_cast<double>(all);
}

}  // namespace

std::string delays_svg(const CampaignData& types) {
  LineChart chart{.title = "Abrupt visible failures found in time (simulated)",
                  .x_label = "seconds after time zero",
                  .y_label = "share found",
                  .lines = {},
                  .x_scale = ChartScale::kLinear};
  for (const std::string& scheme : schemes_of(types)) {
    std::vector<double> delays;
    std::size_t all = 0;
    for (const CampaignFault& fault : types.faults) {
      if (fault.scheme == scheme && fault.visible && !fault.gray && is_decided(fault.status)) {
        ++all;
        if (fault.time_to_detect_s) {
          delays.push_back(*fault.time_to_detect_s);
        }
      }
    }
    ChartLine line{.name = scheme, .points = {}};
    for (int second = 0; second <= 60; ++second) {
      const auto found = std::count_if(delays.begin(), delays.end(), [second](double delay) {
        return delay <= static_cast<double>(second);
      });
      if (all > 0) {
        line.points.emplace_back(second, static_cast<double>(found) / static_cast<double>(all));
      }
    }
    chart.lines.push_back(std::move(line));
  }
  return to_svg(chart);
}

Expected<Episode> read_episode(const std::string& run_sqlite) {
  const auto log = RunLogReader::open(run_sqlite);
  if (!log) {
    return tl::unexpected(log.error());
  }
  std::map<PairId, Series> all;
  const auto read = (*log)->for_each_round([&](const ObservedRound& round) {
    for (const Visit& visit : round.batch.visits) {
      const auto median = median_us(round.batch.rtts(visit));
      if (median && seconds(visit.start) > kSettledS) {
        all[visit.pair].emplace_back(seconds(visit.start), *median);
      }
    }
  });
  if (!read) {
    return tl::unexpected(read.error());
  }
  const auto pair = slowest(all);
  if (!pair) {
    return fail(ErrorCode::kNotFound, run_sqlite + ": no pair became late");
  }
  const RunResult result = (*log)->result();
  Episode episode;
  episode.rtt_us = all[*pair];
  episode.lost_share = result.probes_sent == 0 ? 0.0
                                               : static_cast<double>(result.probes_lost) /
                                                     static_cast<double>(result.probes_sent);
  episode.summary = found_text((*log)->incidents(), (*log)->components());
  return episode;
}

std::string episode_svg(const Episode& episode) {
  return to_svg({.title = "Flow counters stop (simulated): one pair of RNICs",
                 .x_label = "seconds",
                 .y_label = "round trip, us",
                 .lines = {{.name = "median of a visit", .points = episode.rtt_us}},
                 .x_scale = ChartScale::kLinear,
                 .y_scale = ChartScale::kLinear});
}

std::string environment_table(const RunData& cloud) {
  const Lives lives = lives_of(cloud);
  const double end_s = seconds(cloud.result.reached);
  std::map<std::uint32_t, std::size_t> sizes;
  for (const auto& [container, rnics] : lives.rnics) {
    ++sizes[rnics];
  }
  const auto of_size = [&](std::uint32_t rnics) {
    return lives.rnics.empty() ? 0.0
                               : 100.0 * static_cast<double>(sizes[rnics]) /
                                     static_cast<double>(lives.rnics.size());
  };
  double widest_s = 0.0;
  for (const auto& [task, ready] : lives.ready_s) {
    const auto [first, last] = std::minmax_element(ready.begin(), ready.end());
    widest_s = std::max(widest_s, *last - *first);
  }
  std::string text = "| fact | paper, quoted | simulated |\n|---|---|---|\n";
  text += fmt::format("| containers that live less than 60 min | more than 50 % | {:.0f} % |\n",
                      100.0 * shorter_than(lives, 3600.0, end_s));
  text += fmt::format("| ... less than 100 min | 70 % | {:.0f} % |\n",
                      100.0 * shorter_than(lives, 6000.0, end_s));
  text += fmt::format("| containers that bind 8, 4 RNICs | 83.1 %, 8.9 % | {:.1f} %, {:.1f} % |\n",
                      of_size(8),
                      of_size(4));
  text += fmt::format("| start-up skew inside one task | up to 10 min | up to {:.1f} min |\n",
                      widest_s / 60.0);
  text += fmt::format(
      "| containers created | about 2,000 a minute at peak, in a fleet of 32,768 RNICs | {} in "
      "{:.1f} h on {} RNICs |\n",
      lives.rnics.size(),
      end_s / 3600.0,
      cloud.endpoints.size());
  return text;
}

}  // namespace bonescan
