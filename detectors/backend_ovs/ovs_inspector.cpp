#include "detectors/backend_ovs/ovs_inspector.h"

#include <memory>

namespace bonescan::backend_ovs {
namespace {

class Walking final : public Answerer<ChainQuestion, ChainAnswer> {
 public:
  explicit Walking(OvsWorkshop& workshop) : workshop_(workshop) {}

  Expected<ChainAnswer> answer(const ChainQuestion& question,
                               const std::stop_token& stop) override {
    workshop_.gate().obey(stop);
    return walk_chain(question, workshop_.hosts());
  }

 private:
  OvsWorkshop& workshop_;
};

}  // namespace

OvsInspector::OvsInspector(OvsWorkshop& workshop,
                           const EndpointDirectory& endpoints,
                           ComponentTable& components)
    : workshop_(workshop),
      endpoints_(endpoints),
      components_(components),
      desk_(workshop.worker(), std::make_unique<Walking>(workshop), workshop.desk_options()) {}

Expected<OverlayWalk> OvsInspector::walk(const FlowKey& flow, Time now) {
  const auto question = chain_question(workshop_.config(), endpoints_, flow);
  if (!question) {
    return tl::unexpected(question.error());
  }
  if (configured_host(workshop_.config(), question->source.host) == nullptr) {
    return no_view_of(question->source.host);
  }
  const auto answer = desk_.ask(flow, *question, now);
  if (!answer) {
    return tl::unexpected(answer.error());
  }
  OverlayWalk walk;
  walk.end = answer->end;
  walk.reason = answer->reason;
  walk.hops.reserve(answer->hops.size());
  for (const ChainHop& hop : answer->hops) {
    walk.hops.push_back(
        {components_.intern(ComponentType::kBridge, hop.bridge), hop.rule, hop.action});
  }
  if (answer->culprit) {
    walk.culprit = components_.intern(answer->culprit->type, answer->culprit->name);
  }
  return walk;
}

}  // namespace bonescan::backend_ovs
