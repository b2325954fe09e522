// An incident outside of us: as JSON against its schema, and as Alertmanager wants it.
#include "tests/support/report_schema.h"
#include "tests/support/sample_run.h"
#include "tests/support/temporary_directory.h"
#include "tools/report/alertmanager.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace bonescan {
namespace {

using Json = nlohmann::ordered_json;

IncidentNames names_of(const RunData& run) {
  return {run.endpoints, run.components, run.pairs, run.info.epoch_unix_ns};
}

Incident& make_complete(RunData& run) {
  Incident& incident = run.incidents.front();
  incident.severity = Severity::kP1;
  incident.episodes = 2;
  incident.action = "Take link(tor-1.3, agg-2) out of service.";
  return incident;
}

TEST(IncidentJson, FollowsItsSchema) {
  if (!fakes::schema_validator_installed()) {
    GTEST_SKIP() << "python3-jsonschema is not installed";
  }
  const fakes::TemporaryDirectory scratch;
  const RunData run = sample_run();
  const auto follows = [&](const Json& json) {
    const std::string path = scratch.file("incident.json");
    std::ofstream(path) << json.dump();
    return fakes::follows_schema("incident.schema.json", path);
  };
  for (const Incident& incident : run.incidents) {
    Json json = incident_json(names_of(run), incident, incident.closed ? "closed" : "reopened");
    EXPECT_TRUE(follows(json)) << json.dump(2);
    json.erase("severity");
    EXPECT_FALSE(follows(json)) << "a missing key must be noticed";
  }
}

TEST(IncidentJson, SaysHowUrgentAndWhatToDo) {
  RunData run = sample_run();
  run.info.epoch_unix_ns = 1'796'025'600'000'000'000;
  Incident& incident = make_complete(run);
  incident.planned = true;
  const Json json = incident_json(names_of(run), incident, "open");
  EXPECT_EQ(json["severity"], "P1");
  EXPECT_EQ(json["episodes"], 2);
  EXPECT_EQ(json["planned"], true);
  EXPECT_EQ(json["action"], "Take link(tor-1.3, agg-2) out of service.");
  EXPECT_EQ(json["tasks"], Json::array({"job"}));
  EXPECT_EQ(json["detected_at"], "2026-11-30T08:04:12.400000000Z");
  EXPECT_EQ(json["candidates"].size(), 1u);
  EXPECT_EQ(json["candidates"][0]["id"], "link(tor-1.3, agg-2)");
}

TEST(Alertmanager, IsToldWhatToRouteByAndWhatToDo) {
  RunData run = sample_run();
  run.info.epoch_unix_ns = 1'796'025'600'000'000'000;
  Incident& incident = make_complete(run);
  incident.closed.reset();
  const Json expected = Json::parse(R"json({
    "labels": {
      "alertname": "BonescanIncident",
      "severity": "P1",
      "layer": "underlay",
      "kind": "link-loss",
      "component": "link(tor-1.3, agg-2)",
      "incident": "000000000000a000",
      "tasks": "job"
    },
    "annotations": {
      "summary": "P1 link-loss on link(tor-1.3, agg-2): 1 pairs, 2 episodes",
      "description": "loss-rule (found): 3 of 10 probes of )json"
                                    R"json(host-0.00/rnic-0 -> host-0.01/rnic-0 are lost.\n)json"
                                    R"json(overlay-walk (clear): Both directions are )json"
                                    R"json(delivered.\nunderlay-vote (found): )json"
                                    R"json(link(tor-1.3, agg-2) is on 7 of 7 bad paths )json"
                                    R"json(and on 0 of 41 good ones.",
      "action": "Take link(tor-1.3, agg-2) out of service."
    },
    "startsAt": "2026-11-30T08:04:12.400000000Z",
    "endsAt": "2026-11-30T08:10:00.000000000Z",
    "generatorURL": "http://127.0.0.1:9475/metrics"
  })json");
  EXPECT_EQ(alertmanager_alert(names_of(run), incident, at_s(600), "http://127.0.0.1:9475/metrics"),
            expected);
}

TEST(Alertmanager, IsToldTheEndOnceThereIsOne) {
  RunData run = sample_run();
  Incident& incident = make_complete(run);
  incident.closed.reset();
  EXPECT_FALSE(alertmanager_alert(names_of(run), incident, {}, "").contains("endsAt"));
  EXPECT_FALSE(alertmanager_alert(names_of(run), incident, {}, "").contains("generatorURL"));
  incident.closed = at_s(300);
  EXPECT_EQ(alertmanager_alert(names_of(run), incident, at_s(900), "")["endsAt"],
            "1970-01-01T00:05:00.000000000Z");
}

TEST(Alertmanager, IsNeverToldOfPlannedWork) {
  RunData run = sample_run();
  Incident& incident = make_complete(run);
  incident.planned = true;
  EXPECT_TRUE(alertmanager_alert(names_of(run), incident, {}, "").is_null());
}

TEST(Alertmanager, IsToldThatNothingIsNamed) {
  RunData run = sample_run();
  Incident& incident = make_complete(run);
  incident.candidates.clear();
  EXPECT_EQ(alertmanager_alert(names_of(run), incident, {}, "")["labels"]["component"], "unknown");
}

}  // namespace
}  // namespace bonescan
