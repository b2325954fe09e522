// The primitive effects as a scenario names them: where each may be put, which keys it takes.
#pragma once

#include "faults/fault_spec.h"

#include <string_view>
#include <vector>

namespace bonescan {

struct EffectInfo {
  std::string_view name;  ///< "link.loss"
  EffectKind kind;
  std::vector<RefKind> on;    ///< kinds of component that `on:` may name
  std::string_view required;  ///< blank-separated keys
  std::string_view optional;  ///< blank-separated keys
  std::string_view meaning;   ///< one line
};

/// All effects, in the order of EffectKind.
const std::vector<EffectInfo>& effect_infos();

/// What may be put after `on:`, for people: "a cable, as in link(tor-1.3, agg-2)".
std::string_view example_of(RefKind kind);

/// Blank-separated words.
std::vector<std::string_view> split_words(std::string_view text);

}  // namespace bonescan
