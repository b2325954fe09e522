// The steps of flow_steps.py, taken by the model, and the comparison of its states with those of
// real Open vSwitch.
//
// Compared after each step: is there an entry, does it forward or drop, do packets pass, does
// OpenFlow count them, does each cost an upcall, and when an idle entry goes.  Right after OpenFlow
// changed, the entry is not compared: real Open vSwitch sweeps at once, the model when it is time.
// Thread-compatible.
#pragma once

#include "model/probe_path.h"
#include "model/world.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace bonescan::lab {

struct FlowState {
  std::string step;
  int sent = 0;
  int answered = 0;
  int counted = 0;  ///< by OpenFlow
  int upcalls = 0;
  std::string entry;  ///< "absent", "forwards" or "drops"
  std::optional<double> idle_s;
};

inline nlohmann::json to_json(const FlowState& state) {
  nlohmann::json json = {{"entry", state.entry}};
  if (state.sent > 0) {
    json["answered"] = state.answered;
    json["counted"] = state.counted;
    json["upcall_each"] = state.upcalls >= state.sent;
  }
  if (state.idle_s) {
    json["idle_s"] = *state.idle_s;
  }
  return json;
}

/// One flow from host 0 to host 1 in the world, seen at host 0.
class FlowModel final {
 public:
  explicit FlowModel(Duration max_idle) : world_(options(max_idle), engine_) {}

  FlowState take(const std::string& step) {
    std::istringstream words(step);
    std::string name;
    int number = 0;
    words >> name >> number;
    FlowState state;
    state.step = step;
    pass(kCommand);
    if (name == "send") {
      send(number, state);
    } else if (name == "wait") {
      pass(std::chrono::milliseconds(number));
    } else if (name == "until-idle") {
      while (flow().place != FlowPlace::kAbsent && engine_.now() < last_packet_ + kPatience) {
        pass(std::chrono::milliseconds(1));
      }
      state.idle_s = std::chrono::duration<double>(engine_.now() - last_packet_).count();
    } else {
      command(name);
    }
    state.entry = entry();
    return state;
  }

 private:
  static constexpr Duration kCommand = std::chrono::milliseconds(50);
  static constexpr Duration kPatience = std::chrono::seconds(30);

  static WorldOptions options(Duration max_idle) {
    WorldOptions options;
    options.fabric.segments = 1;
    options.fabric.hosts_per_segment = 3;
    options.fabric.rails = 1;
    options.fabric.aggregation_switches = 1;
    options.overlay.max_idle = max_idle;
    options.overlay.reoffload = Reoffload::kOnUpcall;
    // A datapath in software counts at once.
    options.overlay.counter_refresh = std::chrono::milliseconds(10);
    return options;
  }

  void pass(Duration length) { engine_.run_until(engine_.now() + length); }

  Megaflow& flow() {
    FlowQuad& quad = world_.flows()[world_.flows().find_or_add(source_, target_, world_.jobs())];
    world_.settle_quad(quad, engine_.now());
    return quad.encap[quad.end_of(source_)];
  }

  void send(int count, FlowState& state) {
    const std::uint32_t hits = flow().hits;
    const auto upcall_ns = static_cast<double>(world_.options().overlay.upcall.count());
    for (int i = 0; i < count; ++i) {
      pass(std::chrono::milliseconds(10));
      const auto cost_ns = cross_bridge(world_, flow(), {source_, source_, target_}, engine_.now());
      ++state.sent;
      state.answered += cost_ns ? 1 : 0;
      state.upcalls += cost_ns && *cost_ns >= upcall_ns ? 1 : 0;
    }
    last_packet_ = engine_.now();
    state.counted = static_cast<int>(flow().hits - hits);
  }

  void command(const std::string& name) {
    const HostId host = world_.fabric().host_of(source_);
    const RuleKey own{host, RuleTable::kEncap, target_};
    const RuleKey other{host, RuleTable::kEncap, RnicId(2)};
    if (name == "purge") {
      world_.purge_flows(host);
    } else if (name == "touch") {
      world_.change_rule(other, RuleState::kMissing);
      world_.change_rule(other, RuleState::kPresent);
    } else if (name == "drop" || name == "undrop") {
      world_.change_rule(own, name == "drop" ? RuleState::kDropping : RuleState::kPresent);
    } else {
      const DatapathEdit edit = name == "alter"    ? DatapathEdit::kAlter
                                : name == "delete" ? DatapathEdit::kDelete
                                : name == "shadow" ? DatapathEdit::kShadow
                                                   : DatapathEdit::kUnshadow;
      world_.edit_flow(source_, source_, target_, edit);
    }
  }

  /// As Open vSwitch's dump shows it: without the foreign rule before it.
  std::string entry() {
    Megaflow own = flow();
    own.shadowed = false;
    if (own.place == FlowPlace::kAbsent) {
      return "absent";
    }
    return bridge_translation(world_, own, source_, source_, target_, engine_.now()).forwards()
               ? "forwards"
               : "drops";
  }

  Engine engine_;
  World world_;
  RnicId source_{0};
  RnicId target_{1};
  Time last_packet_;
};

inline FlowState state_of(const nlohmann::json& json) {
  FlowState state;
  state.step = json.value("step", "");
  state.sent = json.value("sent", 0);
  state.answered = json.value("answered", 0);
  state.counted = json.value("counted", 0);
  state.upcalls = json.value("upcalls", 0);
  state.entry = json.value("entry", "");
  if (json.contains("idle_s")) {
    state.idle_s = json["idle_s"].get<double>();
  }
  return state;
}

inline std::string text_of(const FlowState& state) {
  std::string text = state.entry;
  if (state.sent > 0) {
    text += fmt::format(", {} of {} pass, {} counted{}",
                        state.answered,
                        state.sent,
                        state.counted,
                        state.upcalls >= state.sent ? ", an upcall each" : "");
  }
  return text + (state.idle_s ? fmt::format(", after {:.2f} s", *state.idle_s) : "");
}

/// max-idle, then a sweep, then a second for what the machine does besides.
inline void expect_in_window(const FlowState& state, Duration max_idle) {
  const double idle_s = std::chrono::duration<double>(max_idle).count();
  EXPECT_GE(*state.idle_s, idle_s);
  EXPECT_LE(*state.idle_s, idle_s + 0.5 + 1.0);
}

inline void expect_same(const FlowState& model, const FlowState& real, Duration max_idle) {
  SCOPED_TRACE(model.step);
  EXPECT_EQ(model.step, real.step);
  EXPECT_EQ(model.sent, real.sent);
  EXPECT_EQ(model.answered, real.answered);
  // A drop rule's packets are told late, and some with the next reading.
  EXPECT_LE(real.counted, model.counted);
  EXPECT_GE(2 * real.counted, model.counted);
  EXPECT_EQ(model.upcalls >= model.sent, real.upcalls >= real.sent);
  if (model.step != "touch" && model.step != "drop" && model.step != "undrop") {
    EXPECT_EQ(model.entry, real.entry);
  }
  ASSERT_EQ(model.idle_s.has_value(), real.idle_s.has_value());
  if (model.idle_s) {
    expect_in_window(model, max_idle);
    expect_in_window(real, max_idle);
  }
}

/// Takes the model through the steps of `real` (what flow_steps.py printed) and compares; prints
/// both side by side.  With BONESCAN_VALIDATION=DIRECTORY, `name`.json there gets the same.
inline void compare_with_model(const nlohmann::json& real,
                               Duration max_idle,
                               const std::string& name) {
  ASSERT_TRUE(real.is_array());
  ASSERT_GT(real.size(), 10U) << "Open vSwitch was not taken through the steps";
  FlowModel model(max_idle);
  nlohmann::json rows = nlohmann::json::array();
  std::printf("%-12s %-56s %s\n", "step", "model", "Open vSwitch");
  for (const nlohmann::json& json : real) {
    const FlowState theirs = state_of(json);
    const FlowState ours = model.take(theirs.step);
    std::printf(
        "%-12s %-56s %s\n", ours.step.c_str(), text_of(ours).c_str(), text_of(theirs).c_str());
    expect_same(ours, theirs, max_idle);
    rows.push_back({{"step", ours.step}, {"model", to_json(ours)}, {"ovs", to_json(theirs)}});
  }
  if (const char* directory = std::getenv("BONESCAN_VALIDATION")) {
    const nlohmann::json result = {
        {"command", "BONESCAN_VALIDATION=$PWD/results/validation ctest -R 'FlowSteps|GuestOvs'"},
        {"open_vswitch", "3.1.0, Debian 12"},
        {"max_idle_s", std::chrono::duration<double>(max_idle).count()},
        {"steps", rows}};
    std::ofstream(fmt::format("{}/{}.json", directory, name)) << result.dump(1) << "\n";
  }
}

}  // namespace bonescan::lab
