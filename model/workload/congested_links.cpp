#include "model/workload/congested_links.h"

#include <algorithm>
#include <map>

namespace bonescan {
namespace {

/// Bits of rounding are no overload.
constexpr double kOverload = 1.0 + 1e-9;

double offered(const FedLink& link) {
  double sum = 0.0;
  for (const FedLink::Input& input : link.inputs) {
    sum += input.bytes_per_ns;
  }
  return sum;
}

std::uint32_t ports_behind(const FedLink& link) {
  return static_cast<std::uint32_t>(
      std::count_if(link.inputs.begin(), link.inputs.end(), [](const FedLink::Input& input) {
        return input.link.valid();
      }));
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
    for (std::size_t i = 0; i < paused_.size(); ++i) {  // Grows while it runs.
      pause(paused_[i]);
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
    double arriving = 0.0;
    for (const FedLink::Input& input : link.inputs) {
      const auto behind = through_.find(input.link);
      arriving += input.bytes_per_ns * (behind == through_.end() ? 1.0 : behind->second);
    }
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
    const StandingQueue queue = standing_queue(options, load, ports_behind(link));
    found_[link.link] = {.link = link.link,
                         .wait = standing_wait(queue.low_bytes, queue.high_bytes, link.rate),
                         .mark_ratio = queue.mark_ratio,
                         .loss_ratio = queue.loss_ratio};
    if (queue.pauses) {
      pause_inputs(link, 1.0 / load);
    }
  }

  void pause_inputs(const FedLink& link, double passing) {
    for (const FedLink::Input& input : link.inputs) {
      if (input.link.valid() && input.bytes_per_ns > 0.0) {
        paused_.push_back({input.link, passing});
      }
    }
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
    const std::uint32_t behind = std::max(1u, ports_behind(link));
    congested.wait =
        standing_wait(behind * options_.xon_bytes, behind * options_.xoff_bytes, drained);
    pause_inputs(link, paused.passing);
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
