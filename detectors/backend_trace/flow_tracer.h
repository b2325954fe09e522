// Traces flows in the background: packets with a growing TTL on the flow's own five-tuple.
//
// One worker thread sends them one at a time and no faster than allowed, so a trace takes as long
// as its silent routers do; whoever asks gets kPending meanwhile.  An answer is kept for a while,
// since the same flow is asked for in both directions of thought: when it is first seen and when it
// fails. Invariants: 1. at most max_waiting flows wait and max_kept answers are kept; 2. a TTL
// never exceeds what was asked for, so that the packets expire before they reach an RNIC.
// Thread-safe.
#pragma once

#include "sim/base/error.h"
#include "sim/base/units.h"

#include <compare>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace bonescan {

/// What the switches see of a flow: behind a tunnel, the outer header.
struct OuterFlow {
  std::string source;  ///< IP addresses, both IPv4 or both IPv6
  std::string target;
  std::uint16_t source_port = 0;
  std::uint16_t target_port = 4791;  ///< RoCEv2; a tunnel has another
  std::uint8_t dscp = 0;

  auto operator<=>(const OuterFlow&) const = default;
};

/// Sends the packets of one flow.  Used by one thread.
class HopProber {
 public:
  virtual ~HopProber() = default;

  /// Makes ready for the packets of another flow.
  /// @errors kUnavailable with the reason
  virtual Expected<void> begin(const OuterFlow& flow) = 0;

  /// One packet: the address that its death was reported from, empty if nobody did in time.
  /// @errors kUnavailable if it could not be sent
  virtual Expected<std::string> probe(std::uint8_t ttl) = 0;

  /// Gives back what the flow needed, its port for one.
  virtual void end() = 0;
};

/// Who answered to a TTL of 1, 2, ...; empty: nobody.
using HopAnswers = std::vector<std::string>;

struct FlowTracerOptions {
  Duration spacing = std::chrono::milliseconds(20);  ///< between any two packets
  std::uint8_t attempts = 2;                         ///< per TTL
  Duration max_age = std::chrono::seconds(30);       ///< an older answer is asked for anew
  std::size_t max_waiting = 256;
  std::size_t max_kept = 4096;
};

class FlowTracer final {
 public:
  FlowTracer(std::unique_ptr<HopProber> prober, const FlowTracerOptions& options);
  ~FlowTracer();
  FlowTracer(const FlowTracer&) = delete;
  FlowTracer& operator=(const FlowTracer&) = delete;

  /// @param hops the highest TTL
  /// @errors kPending, kUnavailable
  Expected<HopAnswers> ask(const OuterFlow& flow, std::uint8_t hops, Time now);

 private:
  struct Entry {
    std::uint8_t hops = 0;
    Time asked_at;
    bool done = false;
    Expected<HopAnswers> answer;
  };

  void work();
  Expected<HopAnswers> trace(const OuterFlow& flow, std::uint8_t hops);
  Expected<std::string> hop(std::uint8_t ttl);
  void pause();
  bool stopping();
  void make_room(Time now);

  std::unique_ptr<HopProber> prober_;
  FlowTracerOptions options_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::deque<OuterFlow> waiting_;
  std::map<OuterFlow, Entry> entries_;
  std::thread worker_;  ///< last: it uses all of the above
};

}  // namespace bonescan
