#include "detectors/backend_ovs/port_counters.h"

#include "sim/base/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fcntl.h>
#include <filesystem>
#include <limits>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace bonescan::backend_ovs {
namespace {

constexpr std::uint64_t kBytesPerWord = 4;
constexpr std::uint64_t kTop32 = std::numeric_limits<std::uint32_t>::max();
/// A 64-bit counter this close to its top may wrap: two years at 800 Gbit/s. @ours
constexpr std::uint64_t kWrapZone = std::uint64_t{1} << 60U;

bool earlier(const ThroughputSample& a, const ThroughputSample& b) {
  return a.at != b.at ? a.at < b.at : a.endpoint < b.endpoint;
}

}  // namespace

std::optional<std::uint64_t> bytes_between(std::optional<std::uint64_t> before_words,
                                           std::optional<std::uint64_t> after_words) {
  if (!before_words || !after_words || *after_words == kTop32) {
    return std::nullopt;
  }
  const std::uint64_t words = *after_words - *before_words;  // modulo 2^64
  const bool wrapped =
      *before_words > std::numeric_limits<std::uint64_t>::max() - kWrapZone && words < kWrapZone;
  if (*after_words < *before_words && !wrapped) {
    return std::nullopt;
  }
  if (words > std::numeric_limits<std::uint64_t>::max() / kBytesPerWord) {
    return std::nullopt;
  }
  return words * kBytesPerWord;
}

std::optional<std::uint64_t> read_counter(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) {
    return std::nullopt;
  }
  std::array<char, 64> buffer{};
  const ssize_t count = ::read(file, buffer.data(), buffer.size());
  ::close(file);
  if (count <= 0) {
    return std::nullopt;
  }
  const char* const end = buffer.data() + count;
  std::uint64_t value = 0;
  const auto [rest, error] = std::from_chars(buffer.data(), end, value);
  const bool alone = std::all_of(rest, end, [](char c) { return c == '\n' || c == ' '; });
  if (error != std::errc() || !alone) {
    return std::nullopt;
  }
  return value;
}

PortCounters::PortCounters(std::vector<CounterPort> ports, PortCountersOptions options)
    : ports_(std::move(ports)), options_(std::move(options)), states_(ports_.size()) {
  BONESCAN_CHECK(options_.period > Duration(0));
}

std::string PortCounters::folder(const CounterPort& port) const {
  return fmt::format(
      "{}/class/infiniband/{}/ports/{}", options_.sysfs_root, port.device, port.port);
}

void PortCounters::read(const CounterPort& port, State& state) const {
  const std::string counters = folder(port) + "/counters/";
  const auto sent = read_counter(counters + "port_xmit_data");
  const auto received = read_counter(counters + "port_rcv_data");
  state.traffic = {bytes_between(state.sent_words, sent),
                   bytes_between(state.received_words, received)};
  state.sent_words = sent;
  state.received_words = received;
}

void PortCounters::collect(Time now, std::vector<ThroughputSample>& samples) {
  if (read_at_ && now - *read_at_ < options_.period) {
    return;
  }
  for (std::size_t i = 0; i < ports_.size(); ++i) {
    read(ports_[i], states_[i]);
  }
  const std::optional<Time> before = std::exchange(read_at_, now);
  if (!before) {
    return;
  }
  const Duration span = now - *before;
  const auto periods = static_cast<std::uint64_t>((span + options_.period / 2) / options_.period);
  if (periods > options_.periods_spread_max) {
    return;
  }
  const std::size_t first = samples.size();
  for (std::size_t i = 0; i < ports_.size(); ++i) {
    if (!states_[i].traffic.sent) {
      continue;
    }
    const std::uint64_t bytes = *states_[i].traffic.sent;
    for (std::uint64_t k = 1; k <= periods; ++k) {
      // The last one takes the remainder.
      const std::uint64_t share =
          k < periods ? bytes / periods : bytes - bytes / periods * (periods - 1);
      const auto part = static_cast<Duration::rep>(k);
      samples.push_back(
          {*before + span * part / static_cast<Duration::rep>(periods), ports_[i].endpoint, share});
    }
  }
  std::sort(samples.begin() + static_cast<std::ptrdiff_t>(first), samples.end(), earlier);
}

std::vector<HardwareCounter> PortCounters::hardware_counters(std::size_t index) const {
  std::vector<HardwareCounter> counters;
  std::error_code error;
  const std::filesystem::directory_iterator entries(folder(ports_[index]) + "/hw_counters", error);
  if (error) {
    return counters;
  }
  auto entry = begin(entries);
  while (entry != end(entries) && counters.size() < options_.hardware_counters_max) {
    const std::string name = entry->path().filename().string();
    // The refresh period of the others, in milliseconds.
    if (name != "lifespan") {
      if (const auto value = read_counter(entry->path().string())) {
        counters.push_back({name, *value});
      }
    }
    entry.increment(error);
    if (error) {
      break;
    }
  }
  std::sort(counters.begin(), counters.end(), [](const auto& a, const auto& b) {
    return a.name < b.name;
  });
  return counters;
}

}  // namespace bonescan::backend_ovs
