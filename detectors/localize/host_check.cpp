#include "detectors/localize/host_check.h"

#include <fmt/format.h>

#include <algorithm>

namespace bonescan {
namespace {

std::vector<HugepagePool> without_free(std::vector<HugepagePool> pools) {
  for (HugepagePool& pool : pools) {
    pool.free = 0;
  }
  return pools;
}

const HugepagePool* pool_of(const std::vector<HugepagePool>& pools, std::uint64_t page_size) {
  const auto found = std::find_if(pools.begin(), pools.end(), [&](const HugepagePool& pool) {
    return pool.page_size == page_size;
  });
  return found == pools.end() ? nullptr : &*found;
}

/// fe80::/10, of which no router knows.
bool is_link_local(const GidRow& row) {
  const std::string_view start = std::string_view(row.gid).substr(0, 3);
  return start == "fe8" || start == "fe9" || start == "fea" || start == "feb";
}

/// Appends findings about one report.
class Check {
 public:
  Check(const HostReport& report, const HostReference& reference, const HostRules& rules)
      : report_(report), reference_(reference), rules_(rules) {}

  std::vector<HostFinding> run() {
    if (report_.gids) {
      gids(*report_.gids);
    }
    hugepages();
    bond();
    rdma();
    if (report_.pcie) {
      pcie(*report_.pcie);
    }
    if (report_.port) {
      port(*report_.port);
    }
    return std::move(findings_);
  }

 private:
  void find(HostFindingKind kind, ComponentId at, std::string text) {
    findings_.push_back({kind, at, std::move(text)});
  }

  void gids(const std::vector<GidRow>& rows) {
    for (std::size_t i = 1; i < rows.size(); ++i) {
      if (rows[i].index > rows[i - 1].index + 1) {
        find(HostFindingKind::kGidSparse,
             report_.rnic,
             fmt::format("the GID table is sparse: nothing between index {} and {}; who is "
                         "configured with a fixed index fails here",
                         rows[i - 1].index,
                         rows[i].index));
        break;
      }
    }
    const bool typed =
        std::all_of(rows.begin(), rows.end(), [](const GidRow& row) { return !row.type.empty(); });
    const auto second = std::count_if(
        rows.begin(), rows.end(), [](const GidRow& row) { return row.type == "RoCE v2"; });
    const auto routed = std::count_if(rows.begin(), rows.end(), [](const GidRow& row) {
      return row.type == "RoCE v2" && !is_link_local(row);
    });
    if (typed && second == 0) {
      find(HostFindingKind::kGidType,
           report_.rnic,
           fmt::format("none of the {} GIDs is of type RoCE v2", rows.size()));
    } else if (typed && routed == 0) {
      find(HostFindingKind::kGidType,
           report_.rnic,
           fmt::format("the {} GIDs of type RoCE v2 are link-local: none is routed", second));
    }
    if (reference_.earlier != nullptr && reference_.earlier->gids) {
      changed(*reference_.earlier->gids, rows);
    }
  }

  void changed(const std::vector<GidRow>& before, const std::vector<GidRow>& now) {
    for (const GidRow& row : before) {
      const auto same = std::find_if(now.begin(), now.end(), [&](const GidRow& other) {
        return other.gid == row.gid && other.type == row.type;
      });
      if (same == now.end()) {
        find(HostFindingKind::kGidChanged,
             report_.rnic,
             fmt::format("GID {} is gone from index {}", row.gid, row.index));
        return;
      }
      if (same->index != row.index) {
        find(
            HostFindingKind::kGidChanged,
            report_.rnic,
            fmt::format("GID {} moved from index {} to {}: a remembered index points elsewhere now",
                        row.gid,
                        row.index,
                        same->index));
        return;
      }
    }
  }

  void hugepages() {
    for (const HugepagePool& pool : report_.hugepages) {
      if (pool.expected > pool.pages) {
        find(HostFindingKind::kHugepages,
             report_.host,
             fmt::format("{} huge pages of {} bytes, its configuration asks for {}",
                         pool.pages,
                         pool.page_size,
                         pool.expected));
        return;
      }
    }
    if (!reference_.hugepages || report_.hugepages.empty()) {
      return;
    }
    for (const HugepagePool& usual : *reference_.hugepages) {
      const HugepagePool* own = pool_of(report_.hugepages, usual.page_size);
      const std::uint64_t pages = own == nullptr ? 0 : own->pages;
      if (pages != usual.pages) {
        find(HostFindingKind::kHugepages,
             report_.host,
             fmt::format("{} huge pages of {} bytes, most hosts have {}",
                         pages,
                         usual.page_size,
                         usual.pages));
        return;
      }
    }
  }

  void bond() {
    const auto down = std::find_if(report_.bond.begin(),
                                   report_.bond.end(),
                                   [](const BondMember& member) { return !member.up; });
    if (down != report_.bond.end()) {
      const auto up = std::count_if(report_.bond.begin(),
                                    report_.bond.end(),
                                    [](const BondMember& member) { return member.up; });
      find(HostFindingKind::kBondDegraded,
           report_.rnic,
           fmt::format("{} of {} members of the bond carry traffic; {} is down",
                       up,
                       report_.bond.size(),
                       down->name));
      findings_.back().port = down->name;
    }
  }

  void rdma() {
    const std::optional<double> rate = rdma_rate(report_, rules_);
    if (rate && *rate <= rules_.idle_rate && reference_.rdma_moves.value_or(false)) {
      find(HostFindingKind::kRdmaUnused,
           report_.rnic,
           fmt::format("RDMA counters stand still ({:.0f} bytes/s) while those of most others "
                       "move: the job does not use RDMA here, the network is not at fault",
                       *rate));
    }
  }

  void pcie(const PcieLink& link) {
    const std::uint32_t width =
        std::max(link.width_limit, reference_.pcie ? reference_.pcie->width : 0);
    if (link.width > 0 && link.width < width) {
      find(HostFindingKind::kPcieWidth,
           report_.rnic,
           fmt::format("PCIe runs with {} of {} lanes", link.width, width));
    }
    if (link.speed_gts > 0.0 && link.speed_gts < link.speed_limit_gts) {
      find(HostFindingKind::kPcieSpeed,
           report_.rnic,
           fmt::format("PCIe runs at {:.1f} of {:.1f} GT/s", link.speed_gts, link.speed_limit_gts));
    }
  }

  void port(const PortLink& link) {
    if (!link.state.empty() && link.state != "ACTIVE") {
      find(HostFindingKind::kPortState, report_.rnic, fmt::format("the port is {}", link.state));
    } else if (link.speed.count() > 0 && link.speed < link.speed_limit) {
      find(HostFindingKind::kPortSpeed,
           report_.rnic,
           fmt::format("the port runs at {:.0f} of {:.0f} Gbit/s",
                       static_cast<double>(link.speed.count()) / 1e9,
                       static_cast<double>(link.speed_limit.count()) / 1e9));
    }
  }

  const HostReport& report_;
  const HostReference& reference_;
  const HostRules& rules_;
  std::vector<HostFinding> findings_;
};

}  // namespace

std::string_view to_string(HostFindingKind kind) {
  switch (kind) {
    case HostFindingKind::kGidSparse:
      return "gid-sparse";
    case HostFindingKind::kGidType:
      return "gid-type";
    case HostFindingKind::kGidChanged:
      return "gid-moved";
    case HostFindingKind::kHugepages:
      return "hugepages";
    case HostFindingKind::kBondDegraded:
      return "bond-degraded";
    case HostFindingKind::kRdmaUnused:
      return "rdma-unused";
    case HostFindingKind::kPcieWidth:
      return "pcie-width";
    case HostFindingKind::kPcieSpeed:
      return "pcie-speed";
    case HostFindingKind::kPortState:
      return "port-state";
    case HostFindingKind::kPortSpeed:
      return "port-speed";
  }
  return "unknown";
}

std::optional<double> rdma_rate(const HostReport& report, const HostRules& rules) {
  if (report.counts.size() < 2) {
    return std::nullopt;
  }
  const RdmaCount& first = report.counts.front();
  const RdmaCount& last = report.counts.back();
  if (last.at - first.at < rules.flat_after || last.sent_bytes < first.sent_bytes ||
      last.received_bytes < first.received_bytes) {
    return std::nullopt;
  }
  const std::uint64_t moved =
      (last.sent_bytes - first.sent_bytes) + (last.received_bytes - first.received_bytes);
  return static_cast<double>(moved) / seconds(last.at - first.at);
}

std::vector<HostFinding> check_host(const HostReport& report,
                                    const HostReference& reference,
                                    const HostRules& rules) {
  return Check(report, reference, rules).run();
}

HostFleet::Told HostFleet::told(const HostReport& report) const {
  Told told;
  told.pcie = report.pcie;
  if (!report.hugepages.empty()) {
    told.hugepages = without_free(report.hugepages);
  }
  if (const auto rate = rdma_rate(report, rules_)) {
    told.rdma_moves = *rate > rules_.idle_rate;
  }
  return told;
}

HostReference HostFleet::reference(EndpointId at) const {
  const auto found = known_.find(at);
  const Known* earlier = found == known_.end() ? nullptr : &found->second;
  const Told nothing;
  const Told& own = earlier == nullptr ? nothing : earlier->told;
  return {.pcie = pcie_.majority(own.pcie),
          .hugepages = hugepages_.majority(own.hugepages),
          .rdma_moves = rdma_moves_.majority(own.rdma_moves),
          .earlier = earlier == nullptr ? nullptr : &earlier->report};
}

void HostFleet::put(EndpointId at, HostReport report) {
  forget(at);
  Told values = told(report);
  pcie_.add(values.pcie);
  hugepages_.add(values.hugepages);
  rdma_moves_.add(values.rdma_moves);
  known_.emplace(at, Known{std::move(report), std::move(values)});
}

void HostFleet::forget(EndpointId at) {
  const auto known = known_.find(at);
  if (known != known_.end()) {
    pcie_.remove(known->second.told.pcie);
    hugepages_.remove(known->second.told.hugepages);
    rdma_moves_.remove(known->second.told.rdma_moves);
    known_.erase(known);
  }
}

}  // namespace bonescan
