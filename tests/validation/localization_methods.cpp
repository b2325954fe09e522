#include "tests/validation/localization_methods.h"

#include "detectors/baselines/detector_pll.h"
#include "detectors/baselines/flock_search.h"
#include "detectors/baselines/flow_vote_007.h"
#include "detectors/baselines/net_bouncer.h"
#include "detectors/baselines/path_votes.h"
#include "detectors/localize/fault_search.h"
#include "detectors/localize/posterior_search.h"

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

/// A setting of its own, which no cut relates to another.
template <class T, class Options>
void add(Method& method, std::string text, const Options& options) {
  const auto family = static_cast<std::uint32_t>(method.settings.size());
  method.settings.push_back({std::move(text), std::make_unique<T>(options), family, 0.0});
}

/// One more of the family that the cut belongs to; ascending cuts.
template <class T, class Options>
void add_cut(
    Method& method, std::uint32_t family, double cut, std::string text, const Options& options) {
  method.settings.push_back({std::move(text), std::make_unique<T>(options), family, cut});
}

Method bonescan_as_shipped() {
  Method method{.name = "bonescan", .contest = true};
  add<FaultSearch>(method, "defaults", FaultSearchOptions{});
  return method;
}

/// The range and the slope of a fault's rate are what an operator can know of a fabric's faults.
Method bonescan_chosen() {
  Method method{.name = "bonescan, chosen", .rule = Cut::kPosterior, .contest = true};
  std::uint32_t family = 0;
  for (const double least : {1e-3, 2e-3}) {
    for (const double most : {0.02, 0.1, 0.999}) {
      for (const double slope : {0.0, 1.0}) {
        for (const double prior : {6.0}) {
          for (int percent = 50; percent < 100; percent += 5) {
            FaultSearchOptions options;
            options.loss.fault_least = least;
            options.loss.fault_most = most;
            options.loss.fault_slope = slope;
            options.prior_nats = prior;
            options.posterior_least = percent / 100.0;
            add_cut<FaultSearch>(
                method,
                family,
                options.posterior_least,
                fmt::format(
                    "fault_least {} fault_most {} fault_slope {} prior_nats {} posterior_least {}",
                    least,
                    most,
                    slope,
                    prior,
                    options.posterior_least),
                options);
          }
          ++family;
        }
      }
    }
  }
  return method;
}

Method flock_style() {
  Method method{.name = "flock-style", .rule = Cut::kScore, .contest = true};
  std::uint32_t family = 0;
  for (const double faulty : {2e-3, 3e-3, 4e-3, 6e-3, 8e-3}) {
    for (const double healthy : {2e-4, 3e-4, 4e-4}) {
      for (int halves = 8; halves <= 28; ++halves) {
        const double prior = 0.5 * halves;
        add_cut<FlockSearch>(
            method,
            family,
            prior,
            fmt::format("faulty_loss {} healthy_loss {} prior_nats {}", faulty, healthy, prior),
            FlockOptions{.faulty_loss = faulty, .healthy_loss = healthy, .prior_nats = prior});
      }
      ++family;
    }
  }
  return method;
}

Method vote_007() {
  Method method{.name = "007"};
  for (const double share :
       {0.002, 0.003, 0.0035, 0.004, 0.005, 0.006, 0.007, 0.008, 0.01, 0.012}) {
    add<FlowVote007>(method, fmt::format("vote_share_least {}", share), FlowVoteOptions{share});
  }
  return method;
}

Method net_bouncer() {
  Method method{.name = "netbouncer", .rule = Cut::kScore};
  std::uint32_t family = 0;
  for (const double lambda : {0.2, 0.5}) {
    for (const double loss : {1e-3, 2e-3, 3e-3, 4e-3, 5e-3, 6e-3, 8e-3, 0.01}) {
      add_cut<NetBouncer>(method,
                          family,
                          loss,
                          fmt::format("lambda {} link_loss_least {}", lambda, loss),
                          NetBouncerOptions{.lambda = lambda, .link_loss_least = loss});
    }
    ++family;
  }
  return method;
}

/// As the traces are drawn.
PosteriorSearchOptions drawn_options(int percent) {
  return {.posterior_least = percent / 100.0,
          .prior_nats = 6.7,
          .fault_least = 0.002,
          .fault_most = 0.02,
          .fault_slope = 1.0,
          .fault_values = 12};
}

Method bonescan_sampled() {
  Method method{.name = "bonescan, sampled", .rule = Cut::kPosterior, .contest = true};
  std::uint32_t family = 0;
  for (const double least : {1e-3, 2e-3}) {
    for (const double most : {0.02, 0.1}) {
      for (int percent = 30; percent < 100; percent += 5) {
        PosteriorSearchOptions options = drawn_options(percent);
        options.fault_least = least;
        options.fault_most = most;
        add_cut<PosteriorSearch>(method,
                                 family,
                                 options.posterior_least,
                                 fmt::format("fault_least {} fault_most {} posterior_least {}",
                                             least,
                                             most,
                                             options.posterior_least),
                                 options);
      }
      ++family;
    }
  }
  return method;
}

/// No competitor: told the distributions of all rates, it shows how much could be found at all.
Method posterior_bound() {
  Method method{.name = "bound", .rule = Cut::kPosterior};
  for (int percent = 20; percent < 100; percent += 5) {
    const PosteriorSearchOptions options = drawn_options(percent);
    add_cut<PosteriorSearch>(method,
                             0,
                             options.posterior_least,
                             fmt::format("posterior_least {}", options.posterior_least),
                             options);
  }
  return method;
}

Method pll() {
  Method method{.name = "detector-pll"};
  for (const double ratio : {0.1, 0.12, 0.15, 0.2, 0.6}) {
    for (const std::uint64_t lost : {1U, 6U}) {
      add<DeTectorPll>(method,
                       fmt::format("hit_ratio {} lost_least {}", ratio, lost),
                       PllOptions{.hit_ratio = ratio, .lost_least = lost});
    }
  }
  return method;
}

Method r_pingmesh() {
  Method method{.name = "r-pingmesh"};
  for (const std::uint64_t votes : {5U, 20U, 50U}) {
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
  methods.push_back(bonescan_sampled());
  methods.push_back(flock_style());
  methods.push_back(vote_007());
  methods.push_back(net_bouncer());
  methods.push_back(pll());
  methods.push_back(r_pingmesh());
  Method raw{.name = "raw-vote"};
  raw.settings.push_back({"as published", std::make_unique<RawVote>(), 0, 0.0});
  methods.push_back(std::move(raw));
  methods.push_back(posterior_bound());
  return methods;
}

Setting published_setting(std::string_view method, std::uint32_t flows) {
  const bool many = flows == 50'000;
  if (method == "007") {
    const double share = many ? 0.003 : 0.006;
    return {fmt::format("vote_share_least {}", share),
            std::make_unique<FlowVote007>(FlowVoteOptions{.vote_share_least = share})};
  }
  if (method == "netbouncer") {
    return {
        "lambda 0.2 link_loss_least 0.005",
        std::make_unique<NetBouncer>(NetBouncerOptions{.lambda = 0.2, .link_loss_least = 0.005})};
  }
  if (method == "flock-style") {
    const FlockOptions options{.faulty_loss = many ? 0.002 : 0.008,
                               .healthy_loss = 1e-4,
                               .prior_nats = many ? 20.0 : 10.0};
    return {fmt::format("faulty_loss {} healthy_loss {} prior_nats {}",
                        options.faulty_loss,
                        options.healthy_loss,
                        options.prior_nats),
            std::make_unique<FlockSearch>(options)};
  }
  return {};
}

std::vector<Named> check_names(const test::FlowTrace& trace,
                               const std::vector<Accusation>& accusations) {
  std::vector<Named> named;
  for (const Accusation& one : accusations) {
    const LinkScore& first = one.suspects.front();
    const bool right = std::any_of(trace.broken.begin(), trace.broken.end(), [&](const auto& link) {
      return link.hop.link == first.link &&
             (first.both_directions || link.hop.direction == first.direction);
    });
    named.push_back({.score = first.llr, .posterior = one.posterior, .right = right});
  }
  return named;
}

Score score_names(const test::FlowTrace& trace,
                  const std::vector<Named>& named,
                  Cut rule,
                  double cut) {
  Score score;
  score.failed = static_cast<std::uint32_t>(trace.broken.size());
  for (const Named& one : named) {
    if ((rule == Cut::kScore && one.score < cut) ||
        (rule == Cut::kPosterior && one.posterior < cut)) {
      continue;
    }
    score.named += 1;
    score.right += one.right ? 1 : 0;
  }
  const auto share = [](std::uint32_t part, std::uint32_t whole) {
    return whole == 0 ? 1.0 : static_cast<double>(part) / static_cast<double>(whole);
  };
  score.precision = share(score.right, score.named);
  score.recall = share(score.right, score.failed);
  return score;
}

Score score_trace(const test::FlowTrace& trace, Localizer& localizer) {
  const std::vector<PathEvidence> evidence = trace.evidence();
  const double before = thread_cpu_ms();
  const std::vector<Accusation> accusations = localizer.localize(evidence, Symptom::kLoss);
  const double cpu_ms = thread_cpu_ms() - before;
  Score score = score_names(trace, check_names(trace, accusations), Cut::kNone, 0.0);
  score.cpu_ms = cpu_ms;
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
  times.reserve(scores.size());
  for (const Score& one : scores) {
    times.push_back(one.cpu_ms);
  }
  std::sort(times.begin(), times.end());
  return times.empty() ? 0.0 : times[times.size() / 2];
}

}  // namespace bonescan::validation
