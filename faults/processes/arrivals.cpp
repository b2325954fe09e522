#include "faults/processes/arrivals.h"

#include "faults/processes/failure_laws.h"
#include "sim/base/distributions.h"

namespace bonescan {
namespace {

template <class Gap>
std::vector<Arrival> arrivals(const RngStream& stream, Duration span, Gap&& gap_s) {
  std::vector<Arrival> found;
  const double end_s = seconds(span);
  double at_s = 0.0;
  for (std::uint64_t n = 0; n < kMostArrivals; ++n) {
    at_s += gap_s(stream.open01_at(2 * n));
    if (at_s >= end_s) {
      break;
    }
    found.push_back({from_seconds(at_s), stream.at(2 * n + 1)});
  }
  return found;
}

}  // namespace

std::vector<Arrival> poisson_arrivals(const RngStream& stream, double per_second, Duration span) {
  if (per_second <= 0.0) {
    return {};
  }
  return arrivals(
      stream, span, [&](double u) { return exponential_quantile(u, 1.0 / per_second); });
}

std::vector<Arrival> weibull_arrivals(const RngStream& stream,
                                      double per_second,
                                      double shape,
                                      Duration span) {
  if (per_second <= 0.0) {
    return {};
  }
  return arrivals(
      stream, span, [&](double u) { return weibull_quantile(u, shape, 1.0 / per_second); });
}

}  // namespace bonescan
