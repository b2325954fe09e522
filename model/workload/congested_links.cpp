#include "model/workload/congested_links.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace bonescan {
namespace {

/// Bits of rounding are no overload.
constexpr double kOverload = 1.0 + 1e-9;

constexpr std::size_t kMostRounds = 16;

double offered(const FedLink& link) {
  double sum = 0.0;
  for (const FedLink::Input& input : link.inputs) {
    sum += input.bytes_per_ns;
  }
  return sum;
}

/// Every port is paused by what came from it alone, so ports share a queue's rate as max-min
/// fairness has it: who brings less than the fair share is never paused.
double fair_share(const std::vector<double>& brought, double rate) {
  std::vector<double> ordered = brought;
  std::sort(ordered.begin(), ordered.end());
  double left = rate;
  for (std::size_t i = 0; i < ordered.size(); ++i) {
    const double share = left / static_cast<double>(ordered.size() - i);
    if (ordered[i] > share) {
      return share;
    }
    left -= ordered[i];
  }
  return rate;
}

/// Uniform between the two, at this rate, for everyone.
BurstWait standing_wait(double low_bytes, double high_bytes, double bytes_per_ns) {
  return {.idle_ratio = 0.0,
          .ramp_ratio = 1.0,
          .low_ns = low_bytes / bytes_per_ns,
          .peak_ns = high_bytes / bytes_per_ns};
}

class Spread final {
 public:
  Spread(const CongestionOptions& options, std::span<const FedLink> links) : options_(options) {
    for (const FedLink& link : links) {
      links_[link.link] = &link;
    }
    for (const FedLink& link : links) {
      pass_on(link);
    }
    // Grows while it runs; in a graph with cycles pauses could chase each other for ever.
    for (std::size_t i = 0; i < std::min(paused_.size(), kMostRounds * links.size()); ++i) {
      pause(Paused(paused_[i]));
    }
  }

  std::vector<CongestedLink> found() const {
    std::vector<CongestedLink> all;
    for (const auto& [link, congested] : found_) {
      all.push_back(congested);
    }
    return all;
  }

 private:
  struct Paused {
    LinkId link;
    double passing = 1.0;
  };

  void pass_on(const FedLink& link) {
    const double wanted = offered(link);
    const std::vector<double> brought = arrivals(link);
    const double arriving = std::accumulate(brought.begin(), brought.end(), 0.0);
    if (wanted <= 0.0) {
      return;
    }
    const double load = arriving / link.rate;
    through_[link.link] = arriving / wanted / std::max(1.0, load);
    if (load <= kOverload) {
      return;
    }
    CongestionOptions options = options_;
    if (!link.marks) {
      options.control = CongestionControl::kOff;
    }
    if (link.host_port) {
      return;  // An RNIC sends what it can.
    }
    const std::vector<Paused> throttled = throttled_inputs(link, brought, link.rate);
    const StandingQueue queue =
        standing_queue(options, load, static_cast<std::uint32_t>(throttled.size()));
    found_[link.link] = {.link = link.link,
                         .wait = standing_wait(queue.low_bytes, queue.high_bytes, link.rate),
                         .mark_ratio = queue.mark_ratio,
                         .loss_ratio = queue.loss_ratio};
    if (queue.pauses) {
      paused_.insert(paused_.end(), throttled.begin(), throttled.end());
    }
  }

  /// What comes over each input, behind the bottlenecks further back.
  std::vector<double> arrivals(const FedLink& link) const {
    std::vector<double> brought;
    for (const FedLink::Input& input : link.inputs) {
      const auto behind = through_.find(input.link);
      brought.push_back(input.bytes_per_ns * (behind == through_.end() ? 1.0 : behind->second));
    }
    return brought;
  }

  /// The ports that are paused if so much of what they bring gets through.
  static std::vector<Paused> throttled_inputs(const FedLink& link,
                                              const std::vector<double>& brought,
                                              double bytes_per_ns) {
    const double share = fair_share(brought, bytes_per_ns);
    std::vector<Paused> throttled;
    for (std::size_t i = 0; i < brought.size(); ++i) {
      if (link.inputs[i].link.valid() && brought[i] > share * kOverload) {
        throttled.push_back({link.inputs[i].link, share / brought[i]});
      }
    }
    return throttled;
  }

  void pause(const Paused& paused) {
    const auto known = links_.find(paused.link);
    const auto [seen, is_new] = passing_.emplace(paused.link, paused.passing);
    if (known == links_.end() || (!is_new && seen->second <= paused.passing)) {
      return;
    }
    seen->second = paused.passing;
    const FedLink& link = *known->second;
    const PortPause pause = port_pause(options_, link.rate, offered(link), paused.passing);
    if (pause.ratio <= 0.0) {
      return;
    }
    CongestedLink& congested = found_[link.link];
    congested.link = link.link;
    congested.pause_ratio = pause.ratio;
    if (link.host_port) {
      congested.wait = {
          .idle_ratio = 1.0 - pause.ratio, .ramp_ratio = pause.ratio, .peak_ns = pause.length_ns};
      return;
    }
    const double drained = link.rate * (1.0 - pause.ratio);
    const std::vector<Paused> throttled = throttled_inputs(link, arrivals(link), drained);
    const double behind = std::max(1.0, static_cast<double>(throttled.size()));
    congested.wait =
        standing_wait(behind * options_.xon_bytes, behind * options_.xoff_bytes, drained);
    paused_.insert(paused_.end(), throttled.begin(), throttled.end());
  }

  const CongestionOptions& options_;
  std::map<LinkId, const FedLink*> links_;
  std::map<LinkId, double> through_;  ///< what is left of the load behind a link
  std::map<LinkId, double> passing_;  ///< of paused ports
  std::vector<Paused> paused_;
  std::map<LinkId, CongestedLink> found_;
};

}  // namespace

std::vector<CongestedLink> congested_links(const CongestionOptions& options,
                                           std::span<const FedLink> links) {
  return Spread(options, links).found();
}

}  // namespace bonescan
