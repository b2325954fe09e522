#include "tests/validation/localization_methods.h"

#include "detectors/baselines/detector_pll.h"
#include "detectors/baselines/flock_search.h"
#include "detectors/baselines/flow_vote_007.h"
#include "detectors/baselines/net_bouncer.h"
#include "detectors/baselines/path_votes.h"
#include "detectors/localize/fault_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <utility>

namespace bonescan::validation {
namespace {

double thread_cpu_ms() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e3 * static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_nsec);
}

template <class T, class Options>
void add(Method& method, std::string text, const Options& options) {
  method.settings.push_back({std::move(text), std::make_unique<T>(options)});
}

Method bonescan_as_shipped() {
  Method method{"bonescan", {}};
  add<FaultSearch>(method, "defaults", FaultSearchOptions{});
  return method;
}

Method bonescan_chosen() {
  Method method{"bonescan, chosen", {}};
  for (const double most : {0.999, 0.1}) {
    for (const double slope : {0.0, 0.5, 1.0}) {
      for (const double prior : {6.0, 6.5, 7.0, 7.5, 8.0}) {
        for (const double posterior : {0.5, 0.6, 0.7}) {
          FaultSearchOptions options;
          options.loss.fault_most = most;
          options.loss.fault_slope = slope;
          options.prior_nats = prior;
          options.posterior_least = posterior;
          add<FaultSearch>(
              method,
              fmt::format("fault_most {} fault_slope {} prior_nats {} posterior_least {}",
                          most,
                          slope,
                          prior,
                          posterior),
              options);
        }
      }
    }
  }
  return method;
}

Method flock_style() {
  Method method{"flock-style", {}};
  for (const double faulty : {2e-3, 3e-3, 4e-3, 6e-3, 8e-3}) {
    for (const double healthy : {2e-4, 3e-4, 4e-4}) {
      for (const double prior : {6.0, 7.0, 8.0, 9.0, 10.0}) {
        add<FlockSearch>(
            method,
            fmt::format("faulty_loss {} healthy_loss {} prior_nats {}", faulty, healthy, prior),
            FlockOptions{.faulty_loss = faulty, .healthy_loss = healthy, .prior_nats = prior});
      }
    }
  }
  return method;
}

Method vote_007() {
  Method method{"007", {}};
  for (const double share :
       {0.002, 0.0025, 0.003, 0.0035, 0.004, 0.005, 0.006, 0.0075, 0.01, 0.015}) {
    add<FlowVote007>(method, fmt::format("vote_share_least {}", share), FlowVoteOptions{share});
  }
  return method;
}

Method net_bouncer() {
  Method method{"netbouncer", {}};
  for (const double lambda : {0.5, 1.0, 2.0}) {
    for (const double loss : {5e-4, 1e-3, 2e-3, 4e-3}) {
      add<NetBouncer>(method,
                      fmt::format("lambda {} link_loss_least {}", lambda, loss),
                      NetBouncerOptions{.lambda = lambda, .link_loss_least = loss});
    }
  }
  return method;
}

Method pll() {
  Method method{"detector-pll", {}};
  for (const double ratio : {0.1, 0.12, 0.15, 0.2, 0.6}) {
    for (const std::uint64_t lost : {1U, 3U, 6U}) {
      add<DeTectorPll>(method,
                       fmt::format("hit_ratio {} lost_least {}", ratio, lost),
                       PllOptions{.hit_ratio = ratio, .lost_least = lost});
    }
  }
  return method;
}

Method r_pingmesh() {
  Method method{"r-pingmesh", {}};
  for (const std::uint64_t votes : {2U, 5U, 10U, 20U, 50U}) {
    add<RPingmeshVote>(
        method, fmt::format("votes_least {}", votes), RPingmeshVoteOptions{.votes_least = votes});
  }
  return method;
}

}  // namespace

std::vector<Method> study_methods() {
  std::vector<Method> methods;
  methods.push_back(bonescan_as_shipped());
  methods.push_back(bonescan_chosen());
  methods.push_back(flock_style());
  methods.push_back(vote_007());
  methods.push_back(net_bouncer());
  methods.push_back(pll());
  methods.push_back(r_pingmesh());
  Method raw{"raw-vote", {}};
  raw.settings.push_back({"as published", std::make_unique<RawVote>()});
  methods.push_back(std::move(raw));
  return methods;
}

Score score_trace(const test::FlowTrace& trace, Localizer& localizer) {
  const std::vector<PathEvidence> evidence = trace.evidence();
  Score score;
  const double before = thread_cpu_ms();
  const std::vector<Accusation> accusations = localizer.localize(evidence, Symptom::kLoss);
  score.cpu_ms = thread_cpu_ms() - before;
  score.failed = static_cast<std::uint32_t>(trace.broken.size());
  score.named = static_cast<std::uint32_t>(accusations.size());
  for (const Accusation& one : accusations) {
    const LinkScore& named = one.suspects.front();
    score.right += std::any_of(trace.broken.begin(), trace.broken.end(), [&](const auto& link) {
      return link.hop.link == named.link &&
             (named.both_directions || link.hop.direction == named.direction);
    });
  }
  const auto share = [](std::uint32_t part, std::uint32_t whole) {
    return whole == 0 ? 1.0 : static_cast<double>(part) / static_cast<double>(whole);
  };
  score.precision = share(score.right, score.named);
  score.recall = share(score.right, score.failed);
  return score;
}

Score sum_of(const std::vector<Score>& scores) {
  Score sum;
  for (const Score& one : scores) {
    sum.failed += one.failed;
    sum.named += one.named;
    sum.right += one.right;
    sum.cpu_ms += one.cpu_ms;
  }
  return sum;
}

double macro_f1(const std::vector<Score>& scores) {
  double precision = 0.0;
  double recall = 0.0;
  for (const Score& one : scores) {
    precision += one.precision;
    recall += one.recall;
  }
  const auto count = static_cast<double>(std::max<std::size_t>(scores.size(), 1));
  return precision + recall > 0.0 ? 2.0 * precision * recall / (precision + recall) / count : 0.0;
}

double median_cpu_ms(const std::vector<Score>& scores) {
  std::vector<double> times;
  for (const Score& one : scores) {
    times.push_back(one.cpu_ms);
  }
  std::sort(times.begin(), times.end());
  return times.empty() ? 0.0 : times[times.size() / 2];
}

}  // namespace bonescan::validation
