// Whose turn it is in the slow round: of every host one endpoint in so many visit periods.
//
// A host tells of itself, so hosts are asked side by side, as agents do that each ask their own;
// they take their turns in different periods.  Endpoints of other processes are left to those.
// Invariants: 1. whose turn it is follows from ids and names alone; 2. between two turns of an
// endpoint every other one of its host has had one.  Internal to detectors/pipeline;
// thread-compatible.
#pragma once

#include "detectors/telemetry/endpoint.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace bonescan {

class HostRound final {
 public:
  /// REQUIRES: periods >= 1.
  explicit HostRound(std::size_t periods) : periods_(periods) {}

  /// Takes in endpoints up to `count`.
  void extend(const EndpointDirectory& endpoints, std::uint32_t count);

  /// Forgets an endpoint of an ended task.
  void release(EndpointId endpoint);

  /// Goes on to the next period and appends whose turn it is, one a host at most.
  /// @param ready  may it be asked?  Who may not is passed over
  template <class Ready>
  void next(const Ready& ready, std::vector<EndpointId>& due) {
    const std::size_t turn = period_++ % periods_;
    for (std::size_t h = turn; h < hosts_.size(); h += periods_) {
      Host& host = hosts_[h];
      for (std::size_t tried = 0; tried < host.endpoints.size(); ++tried) {
        const EndpointId at = host.endpoints[host.next % host.endpoints.size()];
        ++host.next;
        if (ready(at)) {
          due.push_back(at);
          break;
        }
      }
    }
  }

 private:
  struct Host {
    std::vector<EndpointId> endpoints;  ///< ascending
    std::size_t next = 0;
  };

  std::size_t periods_;
  std::size_t period_ = 0;
  std::vector<Host> hosts_;
  std::map<std::string, std::size_t, std::less<>> index_of_;
  std::map<EndpointId, std::size_t> host_of_;
  std::uint32_t taken_ = 0;
};

}  // namespace bonescan
