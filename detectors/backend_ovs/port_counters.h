// Throughput and error counters of RDMA ports, from sysfs.
//
//   ROOT/class/infiniband/DEVICE/ports/N/counters/port_xmit_data     4-byte words, sent
//   ROOT/class/infiniband/DEVICE/ports/N/counters/port_rcv_data      4-byte words, received
//   ROOT/class/infiniband/DEVICE/ports/N/hw_counters/*               events
//
// A sample counts the bytes sent, as the simulated source does; what came in is in `traffic()`.
// Invariants:
// 1. A counter that is not there, cannot be read or does not make sense gives no sample.  It is
//    never taken for zero: many virtual functions and software devices lack these files.
// 2. A counter that went back was reset, or wrapped if it was close to its top; after a reset the
//    next interval is the first that counts again.
// 3. A 32-bit counter that stands at its top is stuck there, as the InfiniBand standard has it.
// 4. A late reading is spread evenly over the periods that it covers: the sum is right and the
//    resolution is lost.
// Reads are bounded.  Thread-compatible.
#pragma once

#include "detectors/telemetry/endpoint.h"
#include "detectors/telemetry/telemetry.h"
#include "sim/base/units.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bonescan::backend_ovs {

struct CounterPort {
  EndpointId endpoint;
  std::string device;  ///< "mlx5_0"
  std::uint32_t port = 1;
};

struct PortCountersOptions {
  std::string sysfs_root = "/sys";
  Duration period = std::chrono::seconds(1);
  /// A gap of more periods than this starts afresh.
  std::size_t periods_spread_max = 10;
  std::size_t hardware_counters_max = 256;
};

/// Bytes of the last interval.
struct PortTraffic {
  std::optional<std::uint64_t> sent;
  std::optional<std::uint64_t> received;
};

struct HardwareCounter {
  std::string name;
  std::uint64_t value = 0;
};

class PortCounters final : public Throughput {
 public:
  explicit PortCounters(std::vector<CounterPort> ports, PortCountersOptions options = {});

  void collect(Time now, std::vector<ThroughputSample>& samples) override;

  /// Of the i-th port, as of the last reading.
  const PortTraffic& traffic(std::size_t index) const { return states_[index].traffic; }

  /// Every event counter of the i-th port by name; settings such as `lifespan` are left out.
  std::vector<HardwareCounter> hardware_counters(std::size_t index) const;

 private:
  struct State {
    std::optional<std::uint64_t> sent_words;
    std::optional<std::uint64_t> received_words;
    PortTraffic traffic;
  };

  std::string folder(const CounterPort& port) const;
  void read(const CounterPort& port, State& state) const;

  std::vector<CounterPort> ports_;
  PortCountersOptions options_;
  std::vector<State> states_;
  std::optional<Time> read_at_;
};

/// How far a counter of 4-byte words went, in bytes; nullopt if that cannot be known.
std::optional<std::uint64_t> bytes_between(std::optional<std::uint64_t> before_words,
                                           std::optional<std::uint64_t> after_words);

/// A decimal number alone in a file; nullopt if the file holds anything else.
std::optional<std::uint64_t> read_counter(const std::string& path);

}  // namespace bonescan::backend_ovs
