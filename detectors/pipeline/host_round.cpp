#include "detectors/pipeline/host_round.h"

namespace bonescan {

void HostRound::extend(const EndpointDirectory& endpoints, std::uint32_t count) {
  for (; taken_ < count; ++taken_) {
    const EndpointId at(taken_);
    if (!endpoints[at].local) {
      continue;
    }
    const auto [known, is_new] = index_of_.try_emplace(endpoints[at].host, hosts_.size());
    if (is_new) {
      hosts_.emplace_back();
    }
    hosts_[known->second].endpoints.push_back(at);
    host_of_.emplace(at, known->second);
  }
}

void HostRound::release(EndpointId endpoint) {
  const auto host = host_of_.find(endpoint);
  if (host != host_of_.end()) {
    std::erase(hosts_[host->second].endpoints, endpoint);
    host_of_.erase(host);
  }
}

}  // namespace bonescan
