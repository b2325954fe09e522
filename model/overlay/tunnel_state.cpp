#include "model/overlay/tunnel_state.h"

#include "sim/base/check.h"
#include "sim/base/fingerprint.h"

namespace bonescan {

std::string_view trace_words(TunnelFault fault) {
  switch (fault) {
    case TunnelFault::kNone:
    case TunnelFault::kWrongMac:
      return "";
    case TunnelFault::kWrongVni:
      return "no rule takes this VNI: table miss, drop";
    case TunnelFault::kNoRoute:
      return "native tunnel routing failed";
    case TunnelFault::kNoNeighbour:
      return "neighbor cache miss, sending ARP request";
  }
  return "";
}

TunnelState::TunnelState(const Fabric& fabric, std::uint32_t mtu)
    : fabric_(&fabric),
      mtu_(mtu),
      changed_(fabric.host_count()),
      mtus_(fabric.rnic_count()),
      bad_checksums_(fabric.rnic_count()),
      spoof_drops_(fabric.rnic_count()) {}

std::uint64_t TunnelState::fingerprint() const {
  Fingerprint print;
  versions_.for_each_changed([&print](const TunnelKey& key, TunnelFault fault) {
    print.add(std::uint64_t{key.host.index()} << 32 | key.endpoint.index());
    print.add(static_cast<std::uint64_t>(key.part) << 8 | static_cast<std::uint64_t>(fault));
  });
  for (std::uint32_t r = 0; r < mtus_.size(); ++r) {
    const RnicId rnic(r);
    print.add(std::uint64_t{mtus_[rnic]} << 32 | std::uint32_t{bad_checksums_[rnic]} << 16 |
              spoof_drops_[rnic]);
  }
  return print.value();
}

TunnelFault TunnelState::fault(RnicId source, RnicId target, Time at) const {
  const HostId host = fabric_->host_of(source);
  if (!changed(host)) {
    return TunnelFault::kNone;
  }
  // In the order of the way: a packet without a route asks for no neighbour.
  for (const TunnelKey& key : {TunnelKey{host, TunnelPart::kRoute, target},
                               TunnelKey{host, TunnelPart::kNeighbour, target},
                               TunnelKey{host, TunnelPart::kVni, source}}) {
    const TunnelFault found = versions_.at(key, at);
    if (found != TunnelFault::kNone) {
      return found;
    }
  }
  return TunnelFault::kNone;
}

void TunnelState::change(const TunnelKey& key, TunnelFault fault, Time now) {
  versions_.change(key, fault, now);
  changed_[key.host] = 1;
}

void TunnelState::set_mtu(RnicId rnic, std::uint32_t mtu) {
  const bool was_own = mtus_[rnic] != 0;
  mtus_[rnic] = mtu;
  if (was_own != (mtu != 0)) {
    ports_changed_ += was_own ? -1U : 1U;
  }
}

void TunnelState::begin_bad_checksums(RnicId rnic) {
  if (bad_checksums_[rnic]++ == 0) {
    ++ports_changed_;
  }
}

void TunnelState::end_bad_checksums(RnicId rnic) {
  BONESCAN_CHECK(bad_checksums_[rnic] > 0);
  if (--bad_checksums_[rnic] == 0) {
    --ports_changed_;
  }
}

void TunnelState::end_spoof_drops(RnicId rnic) {
  BONESCAN_CHECK(spoof_drops_[rnic] > 0);
  --spoof_drops_[rnic];
}

}  // namespace bonescan
