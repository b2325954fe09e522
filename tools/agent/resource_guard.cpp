#include "tools/agent/resource_guard.h"

#include "scenarios/schema/quantity.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <sys/resource.h>
#include <unistd.h>

namespace bonescan {
namespace {

/// Below this share of every limit the rate may grow again.
constexpr double kComfortable = 0.8;

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

double cpu_of(int who) {
  rusage usage{};
  getrusage(who, &usage);
  return seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
}

std::string in_mib(std::int64_t bytes) {
  return fmt::format("{:.0f}MiB", static_cast<double>(bytes) / (1024.0 * 1024.0));
}

/// What is over its limit, and by how much: 1 is at the limit.
struct Pressure {
  double load = 0.0;  ///< the largest
  bool far = false;
  bool disk_is_short = false;
  std::string text;  ///< of the largest
};

Pressure pressure_of(double cpu, const ResourceUse& use, const AgentLimits& limits) {
  Pressure pressure;
  const auto consider = [&pressure](double load, bool far, std::string text) {
    pressure.far = pressure.far || far;
    if (load > pressure.load) {
      pressure.load = load;
      pressure.text = std::move(text);
    }
  };
  consider(cpu / limits.cpu,
           false,
           fmt::format(
               "{:.1f}% of a core is used and limits.cpu is {:.1f}%", 100 * cpu, 100 * limits.cpu));
  const double memory =
      static_cast<double>(use.memory_bytes) / static_cast<double>(limits.memory_bytes);
  consider(memory,
           memory >= 2.0,
           fmt::format("{} are resident and limits.memory is {}",
                       in_mib(use.memory_bytes),
                       in_mib(limits.memory_bytes)));
  if (use.disk_free_bytes && limits.disk_free_bytes > 0) {
    const double wanted = static_cast<double>(limits.disk_free_bytes);
    const double free = static_cast<double>(*use.disk_free_bytes);
    pressure.disk_is_short = free < wanted;
    consider(free > 0 ? wanted / free : 1e9,
             free < wanted / 4,
             fmt::format("{} of the disk are free and limits.disk_free is {}",
                         in_mib(*use.disk_free_bytes),
                         in_mib(limits.disk_free_bytes)));
  }
  return pressure;
}

}  // namespace

ResourceUse SystemMeter::read(const std::string& directory) {
  ResourceUse use;
  use.cpu_s = cpu_of(RUSAGE_SELF) + cpu_of(RUSAGE_CHILDREN);
  std::int64_t total_pages = 0;
  std::int64_t resident_pages = 0;
  std::ifstream("/proc/self/statm") >> total_pages >> resident_pages;
  use.memory_bytes = resident_pages * sysconf(_SC_PAGESIZE);
  std::error_code error;
  const auto space = std::filesystem::space(directory, error);
  if (!error) {
    use.disk_free_bytes = static_cast<std::int64_t>(space.available);
  }
  return use;
}

ResourceGuard::Verdict ResourceGuard::judge(Time now,
                                            const ResourceUse& use,
                                            const AgentLimits& limits) {
  const double wall_s = seconds(now - judged_at_);
  const double cpu = wall_s > 0.0 ? (use.cpu_s - judged_.cpu_s) / wall_s : 0.0;
  judged_at_ = now;
  judged_ = use;
  const Pressure pressure = pressure_of(cpu, use, limits);
  Verdict verdict;
  verdict.disk_is_short = pressure.disk_is_short;
  if (pressure.far || (pressure.load > 1.0 && level_ == kMaxLevel)) {
    verdict.stop = fmt::format("stopping before this host is harmed: {}", pressure.text);
  } else if (pressure.load > 1.0) {
    ++level_;
    verdict.news = fmt::format("half as many probes from now on: {}", pressure.text);
  } else if (pressure.load < kComfortable && level_ > 0) {
    --level_;
    verdict.news = "within all limits again: twice as many probes from now on";
  }
  verdict.rate_ratio = 1.0 / (1 << level_);
  return verdict;
}

}  // namespace bonescan
