#include "faults/processes/failure_plan.h"

#include "faults/kinds/fault_kind.h"
#include "sim/base/rng_stream.h"

#include <fmt/format.h>

#include <algorithm>

namespace bonescan {
namespace {

/// Rows of a failure's stream: its time and kind, then those of its kind's draw().
enum Row : std::uint64_t {
  kOnset,
  kKind
};

std::string_view draw_kind(const std::vector<KindShare>& kinds, double u) {
  double total = 0.0;
  for (const KindShare& kind : kinds) {
    total += kind.share;
  }
  double left = u * total;
  for (const KindShare& kind : kinds) {
    left -= kind.share;
    if (left < 0.0) {
      return kind.kind;
    }
  }
  return kinds.back().kind;
}

}  // namespace

Expected<std::vector<FaultSpec>> plan_failures(const FailureOptions& options,
                                               const FaultSite& site,
                                               std::uint64_t seed,
                                               Duration run) {
  std::vector<FaultSpec> faults;
  if (options.kinds.empty()) {
    return faults;
  }
  for (std::uint32_t i = 0; i < options.count; ++i) {
    const RngStream when(seed, Purpose::kFailure, i);
    const double span = seconds(options.until - options.from);
    FaultSpec fault;
    fault.at = kStartOfRun + options.from + from_seconds(span * when.open01_at(kOnset));
    fault.kind = draw_kind(options.kinds, when.open01_at(kKind));
    fault.duration = std::min(options.length, kStartOfRun + run - fault.at);
    const FaultKind* kind = find_fault_kind(fault.kind);
    if (kind == nullptr) {
      return fail(ErrorCode::kInvalid, fmt::format("there is no fault kind '{}'", fault.kind));
    }
    const RngStream place(seed, Purpose::kFailurePlace, i);
    const auto drawn = kind->draw(site, place);
    if (!drawn) {
      return fail(ErrorCode::kInvalid,
                  fmt::format("'{}' has no place in this world{}{}",
                              fault.kind,
                              kind->needs.empty() ? "" : "; it needs ",
                              kind->needs));
    }
    auto effects = kind->effects(*drawn);
    if (!effects) {
      return tl::unexpected(effects.error());
    }
    fault.on = drawn->on;
    fault.effects = std::move(*effects);
    const auto with = faults_with(*kind, site, *drawn, fault, place, kStartOfRun + run);
    if (!with) {
      return tl::unexpected(with.error());
    }
    faults.push_back(std::move(fault));
    faults.insert(faults.end(), with->begin(), with->end());
  }
  std::stable_sort(faults.begin(), faults.end(), [](const FaultSpec& a, const FaultSpec& b) {
    return a.at < b.at;
  });
  for (std::size_t i = 0; i < faults.size(); ++i) {
    faults[i].name = fmt::format("drawn-{}", i);
  }
  return faults;
}

}  // namespace bonescan
