#include "detectors/backend_replay/replay_backend.h"

#include "detectors/backend_replay/replay_sources.h"
#include "detectors/run_log/cursors.h"
#include "detectors/run_log/database.h"
#include "detectors/run_log/inquiry_codec.h"
#include "detectors/run_log/row_reader.h"

#include <utility>

namespace bonescan {
namespace {

/// The recorded answers of the on-demand sources.
class Answers {
 public:
  Answers(run_log::InquiryLookup lookup, std::size_t component_count)
      : lookup_(std::move(lookup)), component_count_(component_count) {}

  template <class T>
  Expected<T> find(std::string_view kind, Time now, const std::string& key) {
    const std::optional<std::span<const std::byte>> blob = lookup_.find(kind, now, key);
    if (!blob) {
      return fail(ErrorCode::kUnavailable, "the recorded run did not ask this");
    }
    Expected<T> answer{T{}};
    if (const Expected<void> read = run_log::decode_answer(*blob, component_count_, answer);
        !read) {
      return fail(ErrorCode::kUnavailable, read.error().detail);
    }
    return answer;
  }

 private:
  run_log::InquiryLookup lookup_;
  std::size_t component_count_;
};

class ReplayTracer final : public PathTracer {
 public:
  explicit ReplayTracer(Answers& answers) : answers_(answers) {}

  Expected<TracedPath> trace(const FlowKey& flow, Time now) override {
    return answers_.find<TracedPath>(run_log::inquiry_kind::kTrace, now, run_log::trace_key(flow));
  }

 private:
  Answers& answers_;
};

class ReplayInspector final : public OverlayInspector {
 public:
  explicit ReplayInspector(Answers& answers) : answers_(answers) {}

  Expected<OverlayWalk> walk(const FlowKey& flow, Time now) override {
    return answers_.find<OverlayWalk>(run_log::inquiry_kind::kWalk, now, run_log::walk_key(flow));
  }

 private:
  Answers& answers_;
};

class ReplayTables final : public FlowTableSource {
 public:
  explicit ReplayTables(Answers& answers) : answers_(answers) {}

  Expected<FlowTableDump> dump(EndpointId at, std::span<const FlowKey> flows, Time now) override {
    return answers_.find<FlowTableDump>(
        run_log::inquiry_kind::kDump, now, run_log::dump_key(at, flows));
  }

  Expected<FlowCounterDump> flow_counters(EndpointId at, Time now) override {
    return answers_.find<FlowCounterDump>(
        run_log::inquiry_kind::kCounters, now, run_log::counters_key(at));
  }

 private:
  Answers& answers_;
};

class ReplayHosts final : public HostInspector {
 public:
  explicit ReplayHosts(Answers& answers) : answers_(answers) {}

  Expected<HostReport> inspect(EndpointId at, Time now) override {
    return answers_.find<HostReport>(run_log::inquiry_kind::kHost, now, run_log::host_key(at));
  }

 private:
  Answers& answers_;
};

class ReplayMembership final : public Membership {
 public:
  /// Appends to `directory` what is submitted, from `all`.
  ReplayMembership(std::vector<run_log::HandedEvent> events,
                   Answers& answers,
                   EndpointDirectory all,
                   EndpointDirectory& directory)
      : events_(std::move(events)),
        answers_(answers),
        all_(std::move(all)),
        directory_(directory) {}

  void collect(Time now, std::vector<MembershipEvent>& events) override {
    for (; next_ < events_.size() && events_[next_].handed <= now; ++next_) {
      const MembershipEvent& event = events_[next_].event;
      if (event.kind == MembershipKind::kSubmitted) {
        directory_.push_back(all_[event.endpoint]);
      }
      events.push_back(event);
    }
  }

  AgentState alive(EndpointId endpoint, Time now) override {
    return answers_
        .find<AgentState>(run_log::inquiry_kind::kAlive, now, run_log::alive_key(endpoint))
        .value_or(AgentState::kUnknown);
  }

 private:
  std::vector<run_log::HandedEvent> events_;
  std::size_t next_ = 0;
  Answers& answers_;
  EndpointDirectory all_;
  EndpointDirectory& directory_;
};

EndpointDirectory first_of(const EndpointDirectory& all, std::size_t count) {
  EndpointDirectory first;
  for (std::uint32_t i = 0; i < count; ++i) {
    first.push_back(all[EndpointId(i)]);
  }
  return first;
}

/// What has to be read before the sources can be made.
struct Opened {
  std::unique_ptr<RunLogReader> reader;
  run_log::Database database;
  run_log::ProbeCursor probes;
  run_log::ThroughputCursor throughput;
  run_log::InquiryLookup inquiries;
  std::vector<run_log::HandedEvent> membership;
  std::size_t initial_endpoints = 0;
};

template <class T>
tl::unexpected<Error> error_of(const Expected<T>& failed) {
  return tl::unexpected(failed.error());
}

Expected<Opened> open_all(const std::string& path) {
  Expected<std::unique_ptr<RunLogReader>> reader = RunLogReader::open(path);
  if (!reader) {
    return error_of(reader);
  }
  if (const Expected<void> sound = (*reader)->verify(); !sound) {
    return error_of(sound);
  }
  Expected<run_log::Database> database = run_log::open_run_log(path);
  if (!database) {
    return error_of(database);
  }
  Expected<run_log::ProbeCursor> probes = run_log::ProbeCursor::open(*database);
  if (!probes) {
    return error_of(probes);
  }
  Expected<run_log::ThroughputCursor> throughput = run_log::ThroughputCursor::open(*database);
  if (!throughput) {
    return error_of(throughput);
  }
  Expected<run_log::InquiryLookup> inquiries = run_log::InquiryLookup::open(*database);
  if (!inquiries) {
    return error_of(inquiries);
  }
  std::vector<run_log::HandedEvent> membership;
  const Expected<void> read =
      run_log::read_membership(*database, (*reader)->endpoints().size(), membership);
  if (!read) {
    return error_of(read);
  }
  const Expected<std::size_t> initial =
      run_log::initial_endpoint_count(membership, (*reader)->endpoints().size());
  if (!initial) {
    return error_of(initial);
  }
  return Opened{std::move(*reader),
                std::move(*database),
                std::move(*probes),
                std::move(*throughput),
                std::move(*inquiries),
                std::move(membership),
                *initial};
}

}  // namespace

class ReplayBackend::Impl {
 public:
  explicit Impl(Opened opened)
      : reader(std::move(opened.reader)),
        database(std::move(opened.database)),
        endpoints(first_of(reader->endpoints(), opened.initial_endpoints)),
        components(reader->components()),
        answers(std::move(opened.inquiries), components.size()),
        probes(std::move(opened.probes), reader->pairs()),
        throughput(std::move(opened.throughput)),
        membership(std::move(opened.membership), answers, reader->endpoints(), endpoints) {}

  std::unique_ptr<RunLogReader> reader;
  run_log::Database database;  ///< before the statements of the sources, which it must outlive
  EndpointDirectory endpoints;
  ComponentTable components;
  Answers answers;
  backend_replay::ReplayProbes probes;
  backend_replay::ReplayThroughput throughput;
  ReplayMembership membership;
  ReplayTracer tracer{answers};
  ReplayInspector inspector{answers};
  ReplayTables tables{answers};
  ReplayHosts hosts{answers};
  std::size_t pairs_named = 0;
};

ReplayBackend::ReplayBackend(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

ReplayBackend::~ReplayBackend() = default;

Expected<std::unique_ptr<ReplayBackend>> ReplayBackend::open(const std::string& run_sqlite) {
  Expected<Opened> opened = open_all(run_sqlite);
  if (!opened) {
    return error_of(opened);
  }
  return std::unique_ptr<ReplayBackend>(
      new ReplayBackend(std::make_unique<Impl>(std::move(*opened))));
}

const RunLogReader& ReplayBackend::log() const {
  return *impl_->reader;
}

Telemetry ReplayBackend::telemetry() {
  return {impl_->endpoints,
          impl_->components,
          impl_->probes,
          impl_->tracer,
          impl_->inspector,
          impl_->tables,
          impl_->throughput,
          impl_->membership,
          &impl_->hosts};
}

void ReplayBackend::use_pair_ids(const PairTable& pairs) {
  for (; impl_->pairs_named < pairs.size(); ++impl_->pairs_named) {
    const PairId pair(static_cast<std::uint32_t>(impl_->pairs_named));
    impl_->probes.names().name(pairs[pair], pair);
  }
}

Expected<void> ReplayBackend::status() const {
  for (const std::optional<Error>* failure :
       {&impl_->probes.failure(), &impl_->throughput.failure()}) {
    if (*failure) {
      return tl::unexpected(**failure);
    }
  }
  return {};
}

}  // namespace bonescan
