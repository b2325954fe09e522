// Visits gathered into tumbling windows, for detectors that judge windows.
//
// Samples of a window go to one of two stores, as in the pipeline: the next one fills while the
// last one settles, since visits are told when they are complete. Invariants: 1. windows close in
// order, each once, also empty ones; 2. a visit that starts before the open window or after the one
// that follows it is left out.  Thread-compatible.
#pragma once

#include "detectors/detect/detector.h"
#include "detectors/window/window_store.h"
#include "sim/base/units.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bonescan {

struct TumblingOptions {
  Duration length = std::chrono::seconds(30);        ///< @paper
  Duration settle = std::chrono::milliseconds(500);  ///< after its end, until a window is closed
};

class TumblingWindows final {
 public:
  /// REQUIRES: length > 0, 0 <= settle < length.
  explicit TumblingWindows(const TumblingOptions& options) : options_(options) {}

  Duration length() const { return options_.length; }

  void add(std::span<const ObservedVisit> visits) {
    for (const ObservedVisit& visit : visits) {
      const std::int64_t window = visit.start.time_since_epoch() / options_.length;
      if (window < window_ || window > window_ + 1 || visit.rtts_ns.empty()) {
        continue;
      }
      store(window).add(visit.pair, visit.cold ? visit.rtts_ns.subspan(1) : visit.rtts_ns);
    }
  }

  /// The next window that is over, into `out`, and its end; false if there is none.
  bool close_next(Time now, ClosedWindow& out, Time& end) {
    end = kStartOfRun + (window_ + 1) * options_.length;
    if (end + options_.settle > now) {
      return false;
    }
    store(window_).close(out);
    for (const Released& one : released_) {
      leave_out(one.pairs, out);
    }
    std::erase_if(released_, [&](const Released& one) {
      if (one.last > window_) {
        return false;
      }
      stores_[0].release(one.pairs);
      stores_[1].release(one.pairs);
      return true;
    });
    ++window_;
    return true;
  }

  /// Nothing more is heard of these pairs, and what waits of them is not told.
  void release(PairRange pairs) { released_.push_back({pairs, window_ + 1}); }

 private:
  struct Released {
    PairRange pairs;
    std::int64_t last = 0;  ///< window that may hold a sample of them
  };

  static void leave_out(PairRange pairs, ClosedWindow& out) {
    std::size_t left = 0;
    for (std::size_t row = 0; row < out.pairs.size(); ++row) {
      if (!pairs.holds(out.pairs[row])) {
        out.pairs[left] = out.pairs[row];
        out.features_us[left] = out.features_us[row];
        out.samples[left++] = out.samples[row];
      }
    }
    out.pairs.resize(left);
    out.features_us.resize(left);
    out.samples.resize(left);
  }

  WindowStore& store(std::int64_t window) { return stores_[static_cast<std::size_t>(window % 2)]; }

  TumblingOptions options_;
  std::array<WindowStore, 2> stores_;
  std::vector<Released> released_;
  std::int64_t window_ = 0;  ///< the one that closes next
};

}  // namespace bonescan
