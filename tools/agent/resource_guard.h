// Keeps the agent within its limits: slower first, and if that is not enough, not at all.
//
// Over a limit for one period, the rate is halved, up to kMaxLevel times; well below all limits, it
// is doubled again.  Over a limit at the lowest rate, or far over it at any rate, the agent must
// stop.  Far: twice the memory, or less than a quarter of the disk that was to stay free.  While
// the disk is short the files of visits are the first to go, since run.sqlite holds the same.
// Thread-compatible.
#pragma once

#include "sim/base/units.h"
#include "tools/agent/agent_config.h"

#include <cstdint>
#include <optional>
#include <string>

namespace bonescan {

struct ResourceUse {
  double cpu_s = 0.0;  ///< since the process began, with the children that ended
  std::int64_t memory_bytes = 0;
  std::optional<std::int64_t> disk_free_bytes{};  ///< absent: cannot be told
};

/// Reads what this process uses, and what is free where `directory` is.
class ResourceMeter {
 public:
  virtual ~ResourceMeter() = default;
  virtual ResourceUse read(const std::string& directory) = 0;
};

class SystemMeter final : public ResourceMeter {
 public:
  ResourceUse read(const std::string& directory) override;
};

class ResourceGuard final {
 public:
  static constexpr Duration kPeriod = std::chrono::seconds(10);
  static constexpr int kMaxLevel = 3;

  struct Verdict {
    double rate_ratio = 1.0;     ///< of the allowed rate
    bool disk_is_short = false;  ///< write no visits
    std::string news;            ///< one sentence if something changed, else empty
    std::string stop;            ///< one sentence if the agent must stop, else empty
  };

  /// `first` is what was used when the watch began.
  ResourceGuard(Time now, const ResourceUse& first) : judged_at_(now), judged_(first) {}

  /// Whether a period has passed, so that judge() should be called.
  bool due(Time now) const { return now - judged_at_ >= kPeriod; }

  Verdict judge(Time now, const ResourceUse& use, const AgentLimits& limits);

 private:
  Time judged_at_;
  ResourceUse judged_;
  int level_ = 0;
};

}  // namespace bonescan
