#include "tools/evaluate/localization.h"

#include <set>

namespace bonescan {
namespace {

constexpr std::string_view kRnicPrefix = "rnic ";
constexpr std::string_view kLinkPrefix = "link link(";

}  // namespace

std::string_view to_string(Placement placement) {
  switch (placement) {
    case Placement::kNotJudged:
      return "not-judged";
    case Placement::kCorrect:
      return "correct";
    case Placement::kWrong:
      return "wrong";
    case Placement::kAbstained:
      return "abstained";
  }
  return "unknown";
}

std::string type_and_name(const Component& component) {
  return std::string(to_string(component.type)) + " " + component.name;
}

std::string component_class(Layer layer, std::string_view type_and_name) {
  // An RNIC's flow table is no port: the class exists for physical faults only.
  if (layer == Layer::kUnderlay) {
    if (type_and_name.starts_with(kRnicPrefix)) {
      return "access port " + std::string(type_and_name.substr(kRnicPrefix.size()));
    }
    if (type_and_name.starts_with(kLinkPrefix)) {
      const std::string_view ends = type_and_name.substr(kLinkPrefix.size());
      const std::string_view first = ends.substr(0, ends.find(','));
      // Only an access cable has an RNIC, which is named host/rnic, at its first end.
      if (first.find('/') != std::string_view::npos) {
        return "access port " + std::string(first);
      }
    }
  }
  return std::string(type_and_name);
}

std::string_view host_in(std::string_view component_name) {
  if (component_name.starts_with("link(")) {
    component_name.remove_prefix(5);
    if (component_name.substr(0, component_name.find(',')).find('/') == std::string_view::npos) {
      return {};
    }
  }
  return component_name.substr(0, component_name.find('/'));
}

const Component* find_component(const ComponentTable& components, ComponentId id) {
  return id.valid() && id.index() < components.size() ? &components[id] : nullptr;
}

PlacementJudgement judge_placement(const Incident& incident,
                                   const ComponentTable& components,
                                   const TruthRow& truth) {
  const bool by_host = incident.layer == Layer::kHost && truth.host_visible;
  const Layer layer = by_host ? truth.layer : incident.layer;
  std::set<std::string> named;
  for (const Candidate& candidate : incident.candidates) {
    if (const Component* component = find_component(components, candidate.component)) {
      named.insert(component_class(layer, type_and_name(*component)));
    }
  }
  const std::string truth_class =
      component_class(truth.layer, type_and_name({truth.component_type, truth.component}));
  std::set<std::string> equivalent = {truth_class};
  for (const std::string& other : truth.equivalent) {
    equivalent.insert(component_class(truth.layer, other));
  }

  PlacementJudgement judgement;
  judgement.set_size = named.size();
  judgement.class_size = equivalent.size();
  if (incident.layer == Layer::kUndetermined || named.empty()) {
    judgement.placement = Placement::kAbstained;
    return judgement;
  }
  judgement.truth_in_set = layer == truth.layer && named.contains(truth_class);
  if (judgement.truth_in_set) {
    judgement.top1_credit = 1.0 / static_cast<double>(named.size());
  }
  const bool small_enough = named.size() <= equivalent.size();
  judgement.placement =
      judgement.truth_in_set && small_enough ? Placement::kCorrect : Placement::kWrong;
  return judgement;
}

}  // namespace bonescan
