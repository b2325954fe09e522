#include "detectors/backend_ovs/ovs_tables.h"

#include <memory>

namespace bonescan::backend_ovs {
namespace {

class Dumping final : public Answerer<TableQuestion, TableAnswer> {
 public:
  explicit Dumping(OvsWorkshop& workshop) : workshop_(workshop) {}

  Expected<TableAnswer> answer(const TableQuestion& question,
                               const std::stop_token& stop) override {
    workshop_.gate().obey(stop);
    return read_tables(question, workshop_.hosts(), stop);
  }

 private:
  OvsWorkshop& workshop_;
};

class Counting final : public Answerer<CounterQuestion, std::vector<FlowCounter>> {
 public:
  explicit Counting(OvsWorkshop& workshop) : workshop_(workshop) {}

  Expected<std::vector<FlowCounter>> answer(const CounterQuestion& question,
                                            const std::stop_token& stop) override {
    workshop_.gate().obey(stop);
    return book_.read(question, workshop_.hosts());
  }

 private:
  OvsWorkshop& workshop_;
  CounterBook book_;
};

}  // namespace

OvsTables::OvsTables(OvsWorkshop& workshop,
                     const EndpointDirectory& endpoints,
                     ComponentTable& components)
    : workshop_(workshop),
      endpoints_(endpoints),
      components_(components),
      desk_(workshop.worker(), std::make_unique<Dumping>(workshop), workshop.desk_options()),
      counter_desk_(
          workshop.worker(), std::make_unique<Counting>(workshop), workshop.desk_options()) {}

Expected<void> OvsTables::can_inspect(EndpointId at) const {
  if (!endpoints_.contains(at)) {
    return fail(ErrorCode::kUnavailable, "an unknown endpoint");
  }
  const std::string& host = endpoints_[at].host;
  if (configured_host(workshop_.config(), host) == nullptr) {
    return no_view_of(host);
  }
  return {};
}

Expected<FlowTableDump> OvsTables::dump(EndpointId at, std::span<const FlowKey> flows, Time now) {
  const Expected<void> possible = can_inspect(at);
  if (!possible) {
    return tl::unexpected(possible.error());
  }
  const Endpoint& endpoint = endpoints_[at];
  TableQuestion question{endpoint.name, endpoint.host, {}, workshop_.config().statistics_lag};
  for (const FlowKey& flow : flows) {
    auto ends = chain_question(workshop_.config(), endpoints_, flow);
    if (!ends) {
      return tl::unexpected(ends.error());
    }
    question.flows.push_back({flow, std::move(*ends)});
  }
  const auto answer = desk_.ask({at, {flows.begin(), flows.end()}}, question, now);
  if (!answer) {
    return tl::unexpected(answer.error());
  }
  return FlowTableDump{components_.intern(ComponentType::kRnic, endpoint.name),
                       components_.intern(ComponentType::kBridge, answer->bridge),
                       answer->rows};
}

Expected<FlowCounterDump> OvsTables::flow_counters(EndpointId at, Time now) {
  const Expected<void> possible = can_inspect(at);
  if (!possible) {
    return tl::unexpected(possible.error());
  }
  const Endpoint& endpoint = endpoints_[at];
  // Addresses are those of one tenant: others may use the same.
  CounterQuestion question{endpoint.name, endpoint.host, {}, now};
  for (std::uint32_t i = 0; i < endpoints_.size(); ++i) {
    const EndpointId peer(i);
    if (peer == at || endpoints_[peer].task != endpoint.task) {
      continue;
    }
    auto ends = chain_question(workshop_.config(), endpoints_, {at, peer, 0});
    if (!ends) {
      return tl::unexpected(ends.error());
    }
    question.peers.push_back({peer, std::move(ends->target)});
  }
  auto answer = counter_desk_.ask(at, question, now);
  if (!answer) {
    return tl::unexpected(answer.error());
  }
  return FlowCounterDump{components_.intern(ComponentType::kRnic, endpoint.name),
                         std::move(*answer)};
}

}  // namespace bonescan::backend_ovs
