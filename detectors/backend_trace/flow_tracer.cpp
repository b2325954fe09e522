#include "detectors/backend_trace/flow_tracer.h"

#include <iterator>
#include <utility>

namespace bonescan {

FlowTracer::FlowTracer(std::unique_ptr<HopProber> prober, const FlowTracerOptions& options)
    : prober_(std::move(prober)), options_(options), worker_([this] { work(); }) {}

FlowTracer::~FlowTracer() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  worker_.join();
}

Expected<HopAnswers> FlowTracer::ask(const OuterFlow& flow, std::uint8_t hops, Time now) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(flow);
  if (found != entries_.end()) {
    const Entry& entry = found->second;
    if (!entry.done) {
      return fail(ErrorCode::kPending, "being traced");
    }
    if (entry.hops >= hops && now - entry.asked_at <= options_.max_age) {
      return entry.answer;
    }
    entries_.erase(found);
  }
  if (waiting_.size() >= options_.max_waiting) {
    return fail(ErrorCode::kPending, "other flows are traced first");
  }
  make_room(now);
  entries_.emplace(flow, Entry{hops, now, false, HopAnswers{}});
  waiting_.push_back(flow);
  wake_.notify_all();
  return fail(ErrorCode::kPending, "being traced");
}

void FlowTracer::make_room(Time now) {
  if (entries_.size() < options_.max_kept) {
    return;
  }
  std::erase_if(entries_, [&](const auto& entry) {
    return entry.second.done && now - entry.second.asked_at > options_.max_age;
  });
  for (auto entry = entries_.begin();
       entry != entries_.end() && entries_.size() >= options_.max_kept;) {
    entry = entry->second.done ? entries_.erase(entry) : std::next(entry);
  }
}

void FlowTracer::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
    if (stopping_) {
      return;
    }
    const OuterFlow flow = std::move(waiting_.front());
    waiting_.pop_front();
    const std::uint8_t hops = entries_.at(flow).hops;
    lock.unlock();
    Expected<HopAnswers> answer = trace(flow, hops);
    lock.lock();
    Entry& entry = entries_.at(flow);
    entry.answer = std::move(answer);
    entry.done = true;
  }
}

Expected<HopAnswers> FlowTracer::trace(const OuterFlow& flow, std::uint8_t hops) {
  Expected<HopAnswers> answers = HopAnswers{};
  if (const auto begun = prober_->begin(flow); !begun) {
    answers = tl::unexpected(begun.error());
  }
  for (int ttl = 1; ttl <= hops && answers && !stopping(); ++ttl) {
    auto answer = hop(static_cast<std::uint8_t>(ttl));
    if (answer) {
      answers->push_back(std::move(*answer));
    } else {
      answers = tl::unexpected(answer.error());
    }
  }
  prober_->end();
  return answers;
}

Expected<std::string> FlowTracer::hop(std::uint8_t ttl) {
  for (int attempt = 0; attempt < options_.attempts; ++attempt) {
    pause();
    auto answer = prober_->probe(ttl);
    if (!answer || !answer->empty()) {
      return answer;
    }
  }
  return std::string();
}

bool FlowTracer::stopping() {
  const std::lock_guard lock(mutex_);
  return stopping_;
}

/// Keeps packets apart; the end of the tracer cuts it short.
void FlowTracer::pause() {
  std::unique_lock lock(mutex_);
  wake_.wait_for(lock, options_.spacing, [this] { return stopping_; });
}

}  // namespace bonescan
