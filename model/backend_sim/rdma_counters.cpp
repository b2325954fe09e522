#include "model/backend_sim/rdma_counters.h"

#include <algorithm>

namespace bonescan {

double rdma_bytes(const World& world, RnicId rnic, Time from, Time to) {
  const JobPlace& place = world.jobs().place(rnic);
  if (!place.job.valid()) {
    return 0.0;
  }
  const Job& job = world.jobs()[place.job.index()];
  double bytes = job.bytes_counted(place.traffic_class, from, to);
  for (const BypassSpan& span : world.troubles().bypasses(rnic)) {
    const Time begin = std::max(span.from, from);
    const Time end = std::min(span.to, to);
    if (begin < end) {
      bytes -= job.bytes_counted(place.traffic_class, begin, end);
    }
  }
  return std::max(bytes, 0.0);
}

}  // namespace bonescan
