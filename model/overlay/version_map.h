// States of things that change now and then, with the moment of every change.
//
// A megaflow keeps the actions of the version it was translated by until a sweep has compared
// them, so old versions are asked for.  Nearly nothing ever changes: what never did has the state
// that a default-made State is.  Invariant: the versions of a key ascend in time.
#pragma once

#include "sim/base/check.h"
#include "sim/base/units.h"

#include <map>
#include <vector>

namespace bonescan {

template <class Key, class State>
class VersionMap final {
 public:
  /// REQUIRES: `now` at or after every earlier change of the key.
  void change(const Key& key, State state, Time now) {
    std::vector<Version>& versions = versions_[key];
    BONESCAN_CHECK(versions.empty() || versions.back().since <= now);
    versions.push_back({now, state});
  }

  /// As it was at `at`.
  State at(const Key& key, Time at) const {
    State state{};
    const auto found = versions_.find(key);
    if (found != versions_.end()) {
      for (const Version& version : found->second) {
        if (version.since > at) {
          break;
        }
        state = version.state;
      }
    }
    return state;
  }

  /// When it changed last, up to `by`; the start of the run if never.
  Time last_change(const Key& key, Time by) const {
    Time last = kStartOfRun;
    const auto found = versions_.find(key);
    if (found != versions_.end()) {
      for (const Version& version : found->second) {
        last = version.since <= by ? version.since : last;
      }
    }
    return last;
  }

  /// Calls `visit(key, state)` for everything whose newest state is not the default one, by key.
  template <class Visit>
  void for_each_changed(Visit&& visit) const {
    for (const auto& [key, versions] : versions_) {
      if (versions.back().state != State{}) {
        visit(key, versions.back().state);
      }
    }
  }

 private:
  struct Version {
    Time since;
    State state{};
  };

  std::map<Key, std::vector<Version>> versions_;
};

}  // namespace bonescan
