// Sends bodies to an Alertmanager over plain HTTP, on a thread of its own.
//
// The agent's loop hands a body over and goes on; it never waits for a network.  Only the newest
// body is kept: it says all that older ones said.  What could not be delivered is tried again after
// 1, 2, 4, ... 60 s.  There is no encryption: put a proxy on loopback where that is needed.
// Thread-safe.
#pragma once

#include "tools/agent/agent_config.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace bonescan {

struct HttpTarget {
  SocketAddress address;
  std::string path;  ///< "/api/v2/alerts", behind the prefix of a proxy if there is one
};

/// "http://127.0.0.1:9093" or "http://[::1]:9093/prefix"; names are not looked up.
std::optional<HttpTarget> parse_alertmanager_url(std::string_view url);

class AlertPoster final {
 public:
  struct Counts {
    std::uint64_t delivered = 0;
    std::uint64_t failed = 0;  ///< attempts
    std::string last_error{};  ///< of the last attempt; empty if it was delivered
  };

  explicit AlertPoster(HttpTarget target);
  ~AlertPoster();
  AlertPoster(const AlertPoster&) = delete;
  AlertPoster& operator=(const AlertPoster&) = delete;

  void post(std::string body);

  Counts counts() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace bonescan
