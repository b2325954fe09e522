#include "model/host/container.h"

#include "sim/base/rng_stream.h"

namespace bonescan {

Time draw_ready_time(const JobOptions& job,
                     const LateStartOptions& late,
                     JobId id,
                     std::uint32_t position,
                     std::uint64_t seed) {
  const RngStream stream(seed, Purpose::kContainerStart, id.index());
  const PhiloxCounter bits = stream.block(position);
  const double spread = open01(bits[0]) * static_cast<double>(job.ready_spread.count());
  Time ready = kStartOfRun + job.start + Duration(static_cast<std::int64_t>(spread));
  if (open01(bits[1]) < late.share) {
    ready += late.delay;
  }
  return ready;
}

}  // namespace bonescan
