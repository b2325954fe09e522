#include "detectors/backend_verbs/ibverbs_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace bonescan::verbs {
namespace {

constexpr std::size_t kMostHandles = 1024;
/// Until a send is surely over: soft-RoCE looks its handle up when it sends, not when it is posted.
constexpr Duration kInUse = std::chrono::seconds(2);
constexpr Duration kRetry = std::chrono::seconds(1);

SendRefusal refusal(int error) {
  if (error == EIO || error == ENODEV) {
    return {.error = LocalError::kNoDevice, .detail = std::strerror(error)};
  }
  return {.error = LocalError::kNoRoute,
          .detail = error == 0 ? "the peer's address is still being resolved"
                               : fmt::format("no address handle: {}", std::strerror(error))};
}

}  // namespace

AddressHandles::AddressHandles(ibv_pd* pd, std::uint8_t port, const HostClock& clock)
    : pd_(pd), port_(port), clock_(clock), thread_([this] { run(); }) {}

AddressHandles::~AddressHandles() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  asked_.notify_one();
  thread_.join();
}

void AddressHandles::use_gid(std::uint32_t gid_index, const GidBytes& gid) {
  const std::lock_guard lock(mutex_);
  if (gid_index != gid_index_ || gid != gid_) {
    gid_index_ = gid_index;
    gid_ = gid;
    ++generation_;
    entries_.clear();
    queue_.clear();
  }
}

void AddressHandles::prepare(const Destination& to) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(to);
  if (found == entries_.end()) {
    if (make_room()) {
      ask(to, entries_[to]);
    }
  } else if (found->second.state == State::kFailed && clock_.now() - found->second.used > kRetry) {
    ask(to, found->second);
  }
}

void AddressHandles::ask(const Destination& to, Entry& entry) {
  entry.state = State::kAsked;
  queue_.push_back(to);
  asked_.notify_one();
}

tl::expected<ibv_ah*, SendRefusal> AddressHandles::get(const Destination& to) {
  std::unique_lock lock(mutex_);
  const auto found = entries_.find(to);
  if (found == entries_.end()) {
    if (!make_room()) {
      return tl::unexpected<SendRefusal>(
          {.error = LocalError::kQueueFull, .detail = "too many address handles in use"});
    }
    entries_[to] = {};
    make_and_settle(to, lock);
  }
  Entry& entry = entries_[to];
  if (entry.state == State::kReady) {
    entry.used = clock_.now();
    return entry.handle.get();
  }
  if (entry.state == State::kFailed) {
    const int error = entry.error;
    if (clock_.now() - entry.used > kRetry) {
      ask(to, entry);
    }
    return tl::unexpected<SendRefusal>(refusal(error));
  }
  return tl::unexpected<SendRefusal>(refusal(0));
}

bool AddressHandles::make_room() {
  if (entries_.size() < kMostHandles) {
    return true;
  }
  const auto oldest =
      std::min_element(entries_.begin(), entries_.end(), [](const auto& a, const auto& b) {
        return a.second.used < b.second.used;
      });
  if (clock_.now() - oldest->second.used < kInUse) {
    return false;
  }
  entries_.erase(oldest);
  return true;
}

AhHandle AddressHandles::make(const Destination& to, std::uint32_t gid_index, int& error) const {
  ibv_ah_attr attributes{};
  attributes.is_global = 1;
  std::copy(to.gid.begin(), to.gid.end(), std::begin(attributes.grh.dgid.raw));
  attributes.grh.flow_label = to.flow_label;
  attributes.grh.sgid_index = static_cast<std::uint8_t>(gid_index);
  attributes.grh.hop_limit = 64;
  attributes.grh.traffic_class = to.traffic_class;
  attributes.sl = to.service_level;
  attributes.port_num = port_;
  errno = 0;
  AhHandle handle(ibv_create_ah(pd_, &attributes));
  error = handle ? 0 : (errno != 0 ? errno : EHOSTUNREACH);
  return handle;
}

/// Without the lock while the kernel resolves.
void AddressHandles::make_and_settle(const Destination& to, std::unique_lock<std::mutex>& lock) {
  const std::uint32_t gid_index = gid_index_;
  const std::uint64_t generation = generation_;
  lock.unlock();
  int error = 0;
  AhHandle handle = make(to, gid_index, error);
  lock.lock();
  const auto found = entries_.find(to);
  if (found == entries_.end() || generation != generation_ ||
      found->second.state == State::kReady) {
    return;
  }
  Entry& entry = found->second;
  entry.state = handle ? State::kReady : State::kFailed;
  entry.handle = std::move(handle);
  entry.used = clock_.now();
  entry.error = error;
}

void AddressHandles::run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (queue_.empty()) {
      asked_.wait(lock);
      continue;
    }
    const Destination to = queue_.front();
    queue_.pop_front();
    make_and_settle(to, lock);
  }
}

}  // namespace bonescan::verbs
