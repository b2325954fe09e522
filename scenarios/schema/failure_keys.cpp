#include "scenarios/schema/failure_keys.h"

#include "scenarios/schema/quantity.h"
#include "scenarios/schema/yaml_edit.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace bonescan {
namespace {

constexpr Range<Duration> kWithinARun{Duration::zero(), std::chrono::hours(24 * 366)};
/// Names that failures get when they arise.
constexpr std::string_view kDrawnName = "drawn-";

auto failures(auto member) {
  return field(&Scenario::failures, member);
}

KeyTable<KindShare> share_table() {
  KeyTable<KindShare> table;
  table
      .choice("kind",
              fault_kind_names(),
              field(&KindShare::kind),
              "A named kind; see the table of kinds below.")
      .required();
  table.number("share", {0.0, 1e6}, field(&KindShare::share), "How often, relative to the others.");
  return table;
}

class FailureChecker final {
 public:
  FailureChecker(const ScenarioDraft& draft, const YamlNode& root)
      : draft_(draft), failures_(draft.failures), root_(root) {}

  void check() const {
    check_times();
    check_kinds();
    check_names();
  }

 private:
  [[noreturn]] void complain(const std::string& path, const Complaint& complaint) const {
    raise(locate(root_, path), path, complaint);
  }

  std::string found(const std::string& path) const {
    const YamlNode* node = find_path(root_, path);
    return node == nullptr ? "nothing" : describe(*node);
  }

  void check_times() const {
    if (failures_.until > draft_.duration) {
      complain("failures.until",
               {fmt::format("at most the end of the run at {}", format_duration(draft_.duration)),
                found("failures.until"),
                "let them end earlier, or raise duration"});
    }
    if (failures_.from >= failures_.until) {
      complain("failures.from",
               {fmt::format("a time before failures.until, which is {}",
                            format_duration(failures_.until)),
                found("failures.from"),
                "failures arise between the two"});
    }
  }

  void check_kinds() const {
    if (failures_.count > 0 && failures_.kinds.empty()) {
      complain("failures.kinds",
               {"the kinds that arise", "none", "add for example 'kinds: [{kind: crc-error}]'"});
    }
    const bool has_share = std::ranges::any_of(
        failures_.kinds, [](const KindShare& kind) { return kind.share > 0.0; });
    if (!failures_.kinds.empty() && !has_share) {
      complain("failures.kinds", {"a share above 0", "zeros only", "give one of them a share"});
    }
    for (std::size_t i = 0; i < failures_.kinds.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (failures_.kinds[i].kind == failures_.kinds[j].kind) {
          complain(fmt::format("failures.kinds[{}].kind", i),
                   {"every kind once",
                    in_quotes(failures_.kinds[i].kind),
                    fmt::format("failures.kinds[{}] has it already", j)});
        }
      }
    }
  }

  /// Listed faults and drawn ones are in one list.
  void check_names() const {
    if (failures_.kinds.empty()) {
      return;
    }
    for (std::size_t i = 0; i < draft_.fault_drafts.size(); ++i) {
      if (draft_.fault_drafts[i].name.starts_with(kDrawnName)) {
        complain(fmt::format("faults[{}].name", i),
                 {fmt::format("no name that begins with '{}'", kDrawnName),
                  in_quotes(draft_.fault_drafts[i].name),
                  "failures that arise are called so"});
      }
    }
  }

  const ScenarioDraft& draft_;
  const FailureOptions& failures_;
  const YamlNode& root_;
};

}  // namespace

void add_failure_keys(ScenarioTable& table) {
  table.list("failures.kinds",
             {1, 100},
             share_table(),
             failures(&FailureOptions::kinds),
             "Which kinds arise, and how often each in relation to the others.");
  table.count("failures.count",
              {0, 100'000},
              failures(&FailureOptions::count),
              "So many failures arise, at times that are uniform between the next two.");
  table.duration(
      "failures.from", kWithinARun, failures(&FailureOptions::from), "No failure arises earlier.");
  table.duration("failures.until",
                 kWithinARun,
                 failures(&FailureOptions::until),
                 "No failure arises later; 0s: until the end of the run.");
  table.duration("failures.length",
                 kWithinARun,
                 failures(&FailureOptions::length),
                 "How long each of them lasts; 0s: until the end of the run.");
}

void resolve_failures(ScenarioDraft& draft, const YamlNode& root) {
  if (draft.failures.until == Duration::zero()) {
    draft.failures.until = draft.duration;
  }
  FailureChecker(draft, root).check();
}

}  // namespace bonescan
