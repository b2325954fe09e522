#include "faults/processes/failure_mix.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace bonescan {
namespace {

constexpr double kMonthS = 30.0 * 86'400.0;
/// Places are drawn so often before a kind is said to have none.
constexpr std::uint32_t kTries = 8;

constexpr std::string_view kLink = "link";
constexpr std::string_view kTor = "tor";
constexpr std::string_view kRnic = "rnic";
constexpr std::string_view kSoftware = "software";

/// @ours, after the split of public reports: software failures are configuration 30, flow tables
/// 25, rules 20, agents and drivers 15, containers 10; the rest by which faults reports name.
constexpr std::array kShares = {
    ProductionShare{"switch-port-down", kLink, 0.40},
    ProductionShare{"crc-error", kLink, 0.35},
    ProductionShare{"switch-port-flapping", kLink, 0.25},
    ProductionShare{"switch-offline", kTor, 1.00},
    ProductionShare{"rnic-hardware-failure", kRnic, 0.25},
    ProductionShare{"rnic-port-down", kRnic, 0.20},
    ProductionShare{"rnic-port-flapping", kRnic, 0.25},
    ProductionShare{"rnic-firmware-stall", kRnic, 0.15},
    ProductionShare{"bond-error", kRnic, 0.05},
    ProductionShare{"pcie-nic-error", kRnic, 0.05},
    ProductionShare{"gpudirect-error", kRnic, 0.05},
    ProductionShare{"gid-change", kSoftware, 0.15},
    ProductionShare{"hugepage-mismatch", kSoftware, 0.08},
    ProductionShare{"congestion-control-off", kSoftware, 0.07},
    ProductionShare{"offloading-failure", kSoftware, 0.07},
    ProductionShare{"stale-flow-counters", kSoftware, 0.06},
    ProductionShare{"repetitive-flow-offloading", kSoftware, 0.06},
    ProductionShare{"suboptimal-flow-offloading", kSoftware, 0.06},
    ProductionShare{"missing-overlay-rule", kSoftware, 0.15},
    ProductionShare{"overlay-loop", kSoftware, 0.05},
    ProductionShare{"not-using-rdma", kSoftware, 0.15},
    ProductionShare{"container-crash", kSoftware, 0.10},
};

double class_rate(std::string_view entity, const FailureRates& rates, const FaultSite& site) {
  const auto count = [](const auto& components) { return static_cast<double>(components.size()); };
  if (entity == kLink) {
    return rates.link * (count(site.access_cables()) + count(site.fabric_cables()));
  }
  if (entity == kTor) {
    return rates.tor * count(site.tors());
  }
  return (entity == kRnic ? rates.rnic : rates.software) * count(site.rnics());
}

double production_share(const FaultKind& kind, const FailureRates& rates, const FaultSite& site) {
  const auto found = std::ranges::find(kShares, kind.name, &ProductionShare::kind);
  return found == kShares.end() ? 0.0 : found->share * class_rate(found->entity, rates, site);
}

Expected<std::vector<MixedKind>> listed(const FailureOptions& options) {
  std::vector<MixedKind> mixed;
  for (const KindShare& entry : options.kinds) {
    const FaultKind* kind = find_fault_kind(entry.kind);
    if (kind == nullptr) {
      return fail(ErrorCode::kInvalid, fmt::format("there is no fault kind '{}'", entry.kind));
    }
    mixed.push_back({kind, entry.share});
  }
  return mixed;
}

}  // namespace

std::span<const ProductionShare> production_shares() {
  return kShares;
}

double total_rate(const FailureOptions& options, const FaultSite& site) {
  double sum = 0.0;
  for (const std::string_view entity : {kLink, kTor, kRnic, kSoftware}) {
    sum += class_rate(entity, options.rates, site);
  }
  return options.times * sum / kMonthS;
}

bool has_place(const FaultKind& kind, const FaultSite& site) {
  for (std::uint32_t i = 0; i < kTries; ++i) {
    if (kind.draw(site, RngStream(0, Purpose::kFailurePlace, i))) {
      return true;
    }
  }
  return false;
}

Expected<std::vector<MixedKind>> resolve_mix(const FailureOptions& options, const FaultSite& site) {
  std::vector<MixedKind> mixed;
  if (options.mix == FailureMix::kList) {
    auto found = listed(options);
    if (!found) {
      return found;
    }
    mixed = std::move(*found);
  } else {
    for (const FaultKind& kind : fault_kinds()) {
      const bool equal = options.mix == FailureMix::kEqual;
      const double share = equal ? 1.0 : production_share(kind, options.rates, site);
      if (share > 0.0 && has_place(kind, site)) {
        mixed.push_back({&kind, share});
      }
    }
  }
  std::erase_if(mixed, [](const MixedKind& kind) { return kind.share <= 0.0; });
  double sum = 0.0;
  for (const MixedKind& kind : mixed) {
    sum += kind.share;
  }
  if (mixed.empty()) {
    return fail(ErrorCode::kInvalid, "no kind has a place in this world");
  }
  for (MixedKind& kind : mixed) {
    kind.share /= sum;
  }
  return mixed;
}

}  // namespace bonescan
