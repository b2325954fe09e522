// An HTTP server for one page: /metrics, for a Prometheus server on the same host.
//
// One thread, one request per connection, at most kMaxConnections at a time, each with a deadline,
// so that nobody who connects can cost the agent memory or time.  There is no encryption and no
// proof of identity: listen on loopback.
// Thread-safe: the page is made on the server's thread.
#pragma once

#include "sim/base/error.h"
#include "tools/agent/agent_config.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace bonescan {

class MetricsServer final {
 public:
  static constexpr std::size_t kMaxConnections = 16;

  /// @param page called for every request, on another thread
  /// @errors kIo with one sentence: the port is in use, or may not be used
  static Expected<std::unique_ptr<MetricsServer>> start(const SocketAddress& address,
                                                        std::function<std::string()> page);
  ~MetricsServer();
  MetricsServer(const MetricsServer&) = delete;
  MetricsServer& operator=(const MetricsServer&) = delete;

  /// Where it listens; the system's choice if port 0 was asked for.
  std::uint16_t port() const;

 private:
  class Impl;
  explicit MetricsServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace bonescan
