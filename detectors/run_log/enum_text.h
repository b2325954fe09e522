// Enumerators as the words that SQL users read.
#pragma once

#include "detectors/records/verdict.h"
#include "detectors/telemetry/component.h"
#include "detectors/telemetry/inspection.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace bonescan::run_log {

/// The enumerator among 0 … `last` whose text this is.
template <class Enum, class ToText>
std::optional<Enum> enum_from(std::string_view text, Enum last, ToText to_text) {
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    const Enum value = static_cast<Enum>(i);
    if (to_text(value) == text) {
      return value;
    }
  }
  return std::nullopt;
}

inline std::optional<MembershipKind> membership_from(std::string_view text) {
  return enum_from(
      text, MembershipKind::kSubmitted, [](MembershipKind value) { return to_string(value); });
}

inline std::optional<ComponentType> component_type_from(std::string_view text) {
  return enum_from(
      text, ComponentType::kHost, [](ComponentType value) { return to_string(value); });
}

inline std::optional<VerdictKind> verdict_kind_from(std::string_view text) {
  return enum_from(
      text, VerdictKind::kInsufficientData, [](VerdictKind value) { return to_string(value); });
}

inline std::optional<VerdictRule> verdict_rule_from(std::string_view text) {
  return enum_from(text, VerdictRule::kOther, [](VerdictRule value) { return to_string(value); });
}

}  // namespace bonescan::run_log
