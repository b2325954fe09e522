#include "tests/support/sample_run.h"
#include "tools/report/trace_json.h"

#include <map>
#include <set>
#include <utility>

namespace bonescan {
namespace {

Json trace_of(const RunData& run) {
  return Json::parse(json_text(trace_json(run, evaluate(run))));
}

TEST(Trace, ParsesAndHasEveryKindOfEvent) {
  const Json trace = trace_of(sample_run());
  std::map<std::string, int> phases;
  for (const Json& event : trace.at("traceEvents")) {
    ++phases[event.at("ph").get<std::string>()];
    EXPECT_TRUE(event.contains("pid"));
    EXPECT_TRUE(event.contains("tid"));
    EXPECT_TRUE(event.contains("name"));
    if (event["ph"] != "M") {
      EXPECT_GE(event.at("ts").get<double>(), 0.0);
    }
  }
  EXPECT_EQ(phases["s"], 3);
  EXPECT_EQ(phases["f"], 3);
  EXPECT_EQ(phases["i"], 7) << "one for every incident";
  EXPECT_EQ(phases["C"], 4) << "two counters in two windows";
}

TEST(Trace, TimesAreMicroseconds) {
  const Json trace = trace_of(sample_run());
  for (const Json& event : trace.at("traceEvents")) {
    if (event["name"] == "crc-on-trunk" && event["ph"] == "X") {
      EXPECT_DOUBLE_EQ(event["ts"].get<double>(), 240e6);
      EXPECT_DOUBLE_EQ(event["dur"].get<double>(), 180e6);
      return;
    }
  }
  FAIL() << "the fault has no span";
}

TEST(Trace, ArrowsBeginAndEndInsideSpansOfTheirThread) {
  const Json trace = trace_of(sample_run());
  for (const Json& arrow : trace.at("traceEvents")) {
    if (arrow["ph"] != "s" && arrow["ph"] != "f") {
      continue;
    }
    bool inside = false;
    for (const Json& span : trace.at("traceEvents")) {
      inside |= span["ph"] == "X" && span["pid"] == arrow["pid"] && span["tid"] == arrow["tid"] &&
                span["ts"].get<double>() <= arrow["ts"].get<double>() &&
                span["ts"].get<double>() + span["dur"].get<double>() >= arrow["ts"].get<double>();
    }
    EXPECT_TRUE(inside) << arrow;
  }
}

TEST(Trace, SpansOfAThreadNeverOverlap) {
  RunDataBuilder b;
  for (int i = 0; i < 5; ++i) {
    b.fault("f" + std::to_string(i), {.injected_s = 100.0 + 10 * i});
    b.incident({.opened_s = 101.0 + 10 * i});
  }
  std::map<std::pair<int, int>, double> ends;
  int spans = 0;
  const Json trace = trace_of(b.run);
  for (const Json& event : trace.at("traceEvents")) {
    if (event["ph"] != "X") {
      continue;
    }
    double& end = ends[{event["pid"].get<int>(), event["tid"].get<int>()}];
    EXPECT_GE(event["ts"].get<double>(), end) << event;
    end = event["ts"].get<double>() + event["dur"].get<double>();
    ++spans;
  }
  EXPECT_EQ(spans, 5 + 5 + 10) << "faults, incidents, and each incident on two RNICs";
}

TEST(Trace, NamesHostsAndRnics) {
  std::set<std::string> processes;
  std::set<std::string> threads;
  const Json trace = trace_of(sample_run());
  for (const Json& event : trace.at("traceEvents")) {
    if (event["name"] == "process_name") {
      processes.insert(event["args"]["name"].get<std::string>());
    }
    if (event["name"] == "thread_name") {
      threads.insert(event["args"]["name"].get<std::string>());
    }
  }
  EXPECT_THAT(processes, testing::IsSupersetOf({"run sample", "host-0.00", "host-0.01"}));
  EXPECT_THAT(threads, testing::IsSupersetOf({"faults", "incidents", "windows", "rnic-0"}));
}

TEST(Trace, EmptyRunIsStillATrace) {
  EXPECT_TRUE(trace_of(RunData()).at("traceEvents").is_array());
}

}  // namespace
}  // namespace bonescan
