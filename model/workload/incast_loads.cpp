#include "model/workload/incast_loads.h"

#include <algorithm>
#include <map>

namespace bonescan {
namespace {

/// Bursts at a link, by the link that they come over.
using Inputs = std::map<LinkId, double>;

std::uint32_t ports_of(const Inputs& inputs) {
  return static_cast<std::uint32_t>(inputs.size()) - (inputs.contains(LinkId()) ? 1u : 0u);
}

/// Bytes that flow control keeps out of a link, and how they get in.
struct HeldBack {
  LinkId link;
  double bytes = 0.0;       ///< at the ports that feed it
  double drained = 0.0;     ///< bytes per ns, into it
  double held_ratio = 0.0;  ///< of the period
};

class Incast final {
 public:
  Incast(const CongestionOptions& options,
         const IncastShape& shape,
         std::span<const LinkPath> ways,
         const LinkColumns& links)
      : options_(options), shape_(shape), links_(links) {
    for (const LinkPath& way : ways) {
      LinkId input;
      for (const LinkId link : way.span()) {
        inputs_[link][input] += 1.0;
        input = link;
      }
    }
    for (const auto& [link, inputs] : inputs_) {
      meet(link, inputs);
    }
    for (std::size_t i = 0; i < held_back_.size(); ++i) {  // Grows while it runs.
      hold_back(HeldBack(held_back_[i]));
    }
  }

  std::vector<IncastAtLink> take() { return std::move(found_); }

 private:
  void meet(LinkId link, const Inputs& inputs) {
    MeetingBursts bursts{
        .rate = links_.rates[link], .input_rate = links_.rates[link], .inputs = ports_of(inputs)};
    for (const auto& [input, count] : inputs) {
      const double bytes = count * shape_.burst_bytes;
      bursts.total_bytes += bytes;
      if (bytes > bursts.longest_input_bytes) {
        bursts.longest_input_bytes = bytes;
        bursts.input_rate = input.valid() ? links_.rates[input] : bursts.rate;
      }
    }
    // More than a period's worth keeps the link busy all the time, and no more.
    const double busy_ns = bursts.total_bytes / bursts.rate;
    bursts.period_ns = std::max(shape_.period_ns, busy_ns);
    CongestionOptions options = options_;
    if (links_.controlled[link] == 0) {
      options.control = CongestionControl::kOff;
    }
    const BurstQueue queue = burst_queue(options, bursts);
    found_.push_back({.link = link,
                      .wait = queue.wait,
                      .utilisation = busy_ns / bursts.period_ns,
                      .mark_ratio = queue.mark_ratio,
                      .loss_ratio = queue.loss_ratio});
    if (queue.upstream_bytes > 0.0) {
      held_back_.push_back({link, queue.upstream_bytes, bursts.rate, queue.held_ratio});
    }
  }

  void hold_back(const HeldBack& held) {
    const Inputs& inputs = inputs_.at(held.link);
    const double ports = std::max(1u, ports_of(inputs));
    const double drained = held.drained / ports;
    for (const auto& [input, count] : inputs) {
      if (!input.valid()) {
        continue;
      }
      const double rate = links_.rates[input];
      const double paused = held.held_ratio * std::max(0.0, 1.0 - drained / rate);
      IncastAtLink at{.link = input, .pause_ratio = paused};
      if (links_.host_ports[input] != 0) {
        // An RNIC has a queue for every flow: others wait for the pause alone.
        const PortPause pause = port_pause(options_, rate, drained, 1.0);
        at.wait = {.idle_ratio = 1.0 - paused, .ramp_ratio = paused, .peak_ns = pause.length_ns};
      } else {
        const double behind = std::max(1u, ports_of(inputs_.at(input)));
        const double bytes = std::min(held.bytes / ports, behind * options_.xoff_bytes);
        at.wait = {.idle_ratio = 1.0 - held.held_ratio,
                   .ramp_ratio = held.held_ratio,
                   .peak_ns = bytes / drained};
        if (held.bytes / ports > bytes) {
          held_back_.push_back({input, held.bytes / ports - bytes, drained, held.held_ratio});
        }
      }
      found_.push_back(at);
    }
  }

  const CongestionOptions& options_;
  const IncastShape& shape_;
  const LinkColumns& links_;
  std::map<LinkId, Inputs> inputs_;
  std::vector<HeldBack> held_back_;
  std::vector<IncastAtLink> found_;
};

}  // namespace

std::vector<IncastAtLink> incast_loads(const CongestionOptions& options,
                                       const IncastShape& shape,
                                       std::span<const LinkPath> ways,
                                       const LinkColumns& links) {
  return Incast(options, shape, ways, links).take();
}

}  // namespace bonescan
