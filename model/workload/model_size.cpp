#include "model/workload/model_size.h"

#include "model/workload/parallel_layout.h"

#include <algorithm>

namespace bonescan {
namespace {

constexpr double kBytesPerNumber = 2.0;  // bf16
/// Pipeline traffic is about a thousandth of the rate of gradients (GPT-3 175B, HPN).
constexpr double kPipelineShare = 1.0 / 1000;

double tokens(const ModelSize& model) {
  return static_cast<double>(model.batch) * model.sequence;
}

/// Of the layers of one stage, and of the tokens of one RNIC.
double activations(const JobOptions& options) {
  const double ranks = static_cast<double>(options.dp) * options.cp * options.tp;
  return kBytesPerNumber * tokens(options.model) * options.model.hidden / ranks;
}

double ring_volume(const JobOptions& options) {
  const double members = layout_of(options).gradient_group();
  const double parameters = options.model.parameters / (options.tp * options.pp);
  return 2.0 * (members - 1.0) / members * kBytesPerNumber * parameters;
}

}  // namespace

double burst_bytes_per_second(const JobOptions& options) {
  return static_cast<double>(options.model.sync_rate.count()) / 8;
}

JobOptions derived(JobOptions options) {
  if (!options.model.given()) {
    return options;
  }
  const ModelSize& model = options.model;
  const double flops = 6.0 * model.parameters * tokens(model);
  const double step_s = flops / (options.gpus * model.peak_flops * model.mfu);
  options.step_time = std::max(from_seconds(step_s), Duration(std::chrono::milliseconds(10)));
  const double burst_s = ring_volume(options) / burst_bytes_per_second(options);
  options.burst_share = std::min(burst_s / seconds(options.step_time), kLongestBurst);
  return options;
}

StepVolumes step_volumes(const JobOptions& options) {
  const double step_s = seconds(options.step_time);
  StepVolumes volumes;
  volumes.gradients = options.burst_share * step_s * burst_bytes_per_second(options);
  if (!options.model.given()) {
    volumes.pipeline = step_s * burst_bytes_per_second(options) * kPipelineShare;
    volumes.experts = options.expert_volume * volumes.gradients;
    volumes.context = options.context_volume * volumes.gradients;
    return volumes;
  }
  const double layers = static_cast<double>(options.model.layers) / options.pp;
  const double experts =
      options.ep * (options.expert_rails == ExpertRails::kCross ? options.tp : 1.0);
  volumes.pipeline = activations(options);
  volumes.experts = 4.0 * layers * options.model.experts_per_token * activations(options) *
                    (experts - 1.0) / experts;
  volumes.context = 3.0 * layers * 2.0 * (options.cp - 1.0) * activations(options);
  return volumes;
}

}  // namespace bonescan
