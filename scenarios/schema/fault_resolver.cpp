#include "scenarios/schema/fault_resolver.h"

#include "faults/kinds/fault_kind.h"
#include "scenarios/schema/effect_info.h"
#include "scenarios/schema/yaml_edit.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

namespace bonescan {
namespace {

std::string join_words(const std::vector<std::string_view>& words) {
  return fmt::format("{}", fmt::join(words, ", "));
}

class FaultResolver final {
 public:
  FaultResolver(const Fabric& fabric, Duration run, const YamlNode& root)
      : fabric_(fabric), run_(run), root_(root) {}

  FaultSpec resolve(const FaultDraft& draft, const std::string& path) {
    check_name(draft.name, path + ".name");
    check_times(draft, path);
    const bool has_kind = !draft.kind.empty();
    if (has_kind != draft.effects.empty()) {
      complain(path,
               {"either kind or effects",
                has_kind ? "both" : "neither",
                has_kind ? "delete one of the two" : "add for example 'kind: crc-error'"});
    }
    FaultSpec fault{.name = draft.name,
                    .kind = has_kind ? draft.kind : "custom",
                    .on = {},
                    .at = kStartOfRun + draft.at,
                    .duration = draft.length,
                    .effects = {}};
    if (has_kind) {
      resolve_kind(draft, path, fault);
    } else {
      resolve_effects(draft, path, fault);
    }
    return fault;
  }

 private:
  [[noreturn]] void complain(const std::string& path, const Complaint& complaint) const {
    raise(locate(root_, path), path, complaint);
  }

  std::string found(const std::string& path) const {
    const YamlNode* node = find_path(root_, path);
    return node == nullptr ? "nothing" : describe(*node);
  }

  void check_name(const std::string& name, const std::string& path) {
    const auto [known, is_new] = names_.emplace(name, path);
    if (!is_new) {
      complain(path,
               {"a name that no other fault has",
                in_quotes(name),
                fmt::format("{} is the same; reports tell faults apart by name", known->second)});
    }
  }

  void check_times(const FaultDraft& draft, const std::string& path) const {
    const std::string end = format_duration(run_);
    if (draft.at >= run_) {
      complain(path + ".at",
               {fmt::format("a time before the end of the run at {}", end),
                found(path + ".at"),
                "let the fault begin earlier, or raise duration"});
    }
    if (draft.length > run_ - draft.at) {
      complain(path + ".for",
               {fmt::format("a fault that ends with the run at {}", end),
                found(path + ".for"),
                "leave `for` out: the fault then lasts until the end of the run"});
    }
  }

  /// Every key of the map at `path` is one of `allowed`.
  void check_keys(const std::string& path,
                  std::string_view owner,
                  const std::vector<std::string_view>& allowed) const {
    for (const YamlEntry& entry : find_path(root_, path)->entries) {
      if (std::ranges::find(allowed, entry.key) == allowed.end()) {
        raise(entry.at,
              path + "." + entry.key,
              {fmt::format("a key that {} takes", owner),
               in_quotes(entry.key),
               "it takes " + join_words(allowed)});
      }
    }
  }

  ComponentRef component(const std::string& name,
                         const std::string& path,
                         const std::vector<RefKind>& kinds) const {
    std::vector<std::string_view> examples;
    examples.reserve(kinds.size());
    for (const RefKind kind : kinds) {
      if (kind != RefKind::kPort || fabric_.ports() > 1) {
        examples.push_back(example_of(kind));
      }
    }
    const std::string expected = fmt::format("{}", fmt::join(examples, ", or "));
    if (name.empty()) {
      complain(path, {expected, "nothing", "add this key"});
    }
    const auto ref = parse_component(fabric_, name);
    if (!ref) {
      const bool absent = ref.error().code == ErrorCode::kNotFound;
      complain(path,
               {absent ? "a component of this fabric" : expected, found(path), ref.error().detail});
    }
    if (std::ranges::find(kinds, ref->kind) == kinds.end()) {
      complain(path, {expected, found(path), "name the part that is broken"});
    }
    return *ref;
  }

  /// `to`, which goes with encap rules and with nothing else.
  std::optional<RnicId> peer(RuleRole rule,
                             RnicId own,
                             const std::string& to,
                             const std::string& path) const {
    const bool is_encap = rule == RuleRole::kEncap;
    if (is_encap == to.empty()) {
      complain(path,
               {is_encap ? "the remote RNIC of the encap rule" : "no `to` without `rule: encap`",
                found(path),
                is_encap ? "add for example 'to: host-1.00/rnic-0'" : "delete this key"});
    }
    if (!is_encap) {
      return std::nullopt;
    }
    const RnicId remote = component(to, path, {RefKind::kRnic}).rnic();
    if (fabric_.host_of(remote) == fabric_.host_of(own)) {
      complain(path,
               {"an RNIC of another host",
                found(path),
                "packets within a host enter no tunnel, so they meet no encap rule"});
    }
    return remote;
  }

  /// `to` of cables that are swapped.
  RnicId sister(RnicId own, const std::string& to, const std::string& path) const {
    const RnicId other = component(to, path, {RefKind::kRnic}).rnic();
    if (other == own || fabric_.host_of(other) != fabric_.host_of(own)) {
      complain(path,
               {"another RNIC of the same host",
                found(path),
                "cables are swapped where both ends are in reach: on one host"});
    }
    return other;
  }

  void resolve_kind(const FaultDraft& draft, const std::string& path, FaultSpec& fault) const {
    // CORRECTNESS: the reader of `kind` accepts the names of fault_kinds() and nothing else.
    const FaultKind& info =
        *std::ranges::find(fault_kinds(), std::string_view(draft.kind), &FaultKind::name);
    if (info.with != nullptr) {
      complain(path + ".kind",
               {"a kind that is one fault",
                in_quotes(info.name),
                "list each of its faults, or let it arise: failures.kinds takes it"});
    }
    std::vector<std::string_view> allowed = {"name", "kind", "on", "at", "for"};
    const std::vector<std::string_view> own = split_words(info.keys);
    allowed.insert(allowed.end(), own.begin(), own.end());
    check_keys(path, info.name, allowed);
    KindParameters parameters = draft.parameters;
    std::vector<RefKind> on = {info.on};
    if (info.or_port) {
      on.push_back(RefKind::kPort);
    }
    parameters.on = fault.on = component(draft.on, path + ".on", on);
    if (std::ranges::find(own, "rule") != own.end()) {
      parameters.peer = peer(parameters.rule, parameters.on.rnic(), draft.to, path + ".to");
    } else if (info.name == "miscabled-rails") {
      parameters.peer = sister(parameters.on.rnic(), draft.to, path + ".to");
    } else if (std::ranges::find(own, "to") != own.end()) {
      parameters.peer = peer(RuleRole::kEncap, parameters.on.rnic(), draft.to, path + ".to");
    }
    auto effects = effects_of_kind(info.name, parameters);
    if (!effects) {
      complain(path,
               {"values that fit together",
                fmt::format("a {} that cannot be", info.name),
                effects.error().detail});
    }
    fault.effects = std::move(*effects);
  }

  EffectSpec resolve_effect(const EffectDraft& draft,
                            const std::string& fault_on,
                            const std::string& path) const {
    EffectSpec effect = draft.spec;
    const EffectInfo& info = effect_infos()[static_cast<std::size_t>(effect.kind)];
    std::vector<std::string_view> allowed = {"effect", "on"};
    for (const std::string_view key : split_words(info.required)) {
      allowed.push_back(key);
      const std::string key_path = fmt::format("{}.{}", path, key);
      if (find_path(root_, key_path) == nullptr) {
        complain(key_path,
                 {fmt::format("this key, without which {} does nothing", info.name),
                  "nothing",
                  fmt::format("add '{}: ...'", key)});
      }
    }
    for (const std::string_view key : split_words(info.optional)) {
      allowed.push_back(key);
    }
    check_keys(path, info.name, allowed);
    effect.on = component(draft.on.empty() ? fault_on : draft.on, path + ".on", info.on);
    if (effect.kind == EffectKind::kRuleRemove || effect.kind == EffectKind::kRuleAlter) {
      effect.peer = peer(effect.rule, effect.on.rnic(), draft.to, path + ".to");
    }
    if (effect.kind == EffectKind::kTunnelNeighbour || effect.kind == EffectKind::kTunnelRoute ||
        effect.kind == EffectKind::kFlowEdit) {
      effect.peer = peer(RuleRole::kEncap, effect.on.rnic(), draft.to, path + ".to");
    }
    if (effect.kind == EffectKind::kCableSwap) {
      effect.peer = sister(effect.on.rnic(), draft.to, path + ".to");
    }
    if ((effect.over > Duration::zero()) != (effect.ber_from > 0.0)) {
      const bool has_from = effect.ber_from > 0.0;
      complain(path + (has_from ? ".over" : ".ber_from"),
               {"both over and ber_from, or neither",
                found(path + (has_from ? ".over" : ".ber_from")),
                has_from ? "add for example 'over: 60s'" : "add for example 'ber_from: 1e-5'"});
    }
    if (effect.packets.min_bytes > effect.packets.max_bytes) {
      complain(path + ".min_packet",
               {"no more than max_packet", found(path + ".min_packet"), "swap the two"});
    }
    return effect;
  }

  void resolve_effects(const FaultDraft& draft, const std::string& path, FaultSpec& fault) const {
    check_keys(path, "a list of effects", {"name", "on", "at", "for", "effects"});
    for (std::size_t i = 0; i < draft.effects.size(); ++i) {
      fault.effects.push_back(
          resolve_effect(draft.effects[i], draft.on, fmt::format("{}.effects[{}]", path, i)));
    }
    const auto any = {RefKind::kHost,
                      RefKind::kRnic,
                      RefKind::kSwitch,
                      RefKind::kCable,
                      RefKind::kOvs,
                      RefKind::kAgent,
                      RefKind::kPort};
    fault.on = draft.on.empty() ? fault.effects.front().on : component(draft.on, path + ".on", any);
  }

  const Fabric& fabric_;
  const Duration run_;
  const YamlNode& root_;
  std::map<std::string, std::string> names_;  ///< of the faults so far, and their paths
};

}  // namespace

std::vector<FaultSpec> resolve_faults(const std::vector<FaultDraft>& drafts,
                                      const Fabric& fabric,
                                      Duration run,
                                      const YamlNode& root) {
  FaultResolver resolver(fabric, run, root);
  std::vector<FaultSpec> faults;
  for (std::size_t i = 0; i < drafts.size(); ++i) {
    faults.push_back(resolver.resolve(drafts[i], fmt::format("faults[{}]", i)));
  }
  return faults;
}

std::vector<SwitchHashOverride> resolve_hashes(const std::vector<SwitchHashDraft>& drafts,
                                               const Fabric& fabric,
                                               const YamlNode& root) {
  std::vector<SwitchHashOverride> hashes;
  for (std::size_t i = 0; i < drafts.size(); ++i) {
    const std::string path = fmt::format("fabric.hash.switches[{}].switch", i);
    const auto ref = parse_component(fabric, drafts[i].name);
    if (!ref || ref->kind != RefKind::kSwitch) {
      raise(locate(root, path),
            path,
            {"a switch of this fabric",
             in_quotes(drafts[i].name),
             ref ? "name a switch, as in tor-1.3 or agg-2" : ref.error().detail});
    }
    hashes.push_back(drafts[i].hash);
    hashes.back().switch_index = ref->index;
  }
  return hashes;
}

}  // namespace bonescan
