#include "detectors/incident/severity.h"

#include <gtest/gtest.h>

#include <vector>

namespace bonescan {
namespace {

TEST(Severity, FollowsFromTheSymptomAndItsStrength) {
  struct Case {
    const char* name;
    IncidentStrength strength;
    Severity expected;
  };
  const Symptom gone = Symptom::kUnreachable;
  const Symptom loss = Symptom::kLoss;
  const Symptom late = Symptom::kLatency;
  const Layer agent = Layer::kAgent;
  for (const Case& c :
       {Case{"a link is down", {.symptom = gone, .pairs = 40}, Severity::kP0},
        Case{"one pair is cut off", {.symptom = gone}, Severity::kP0},
        Case{"a prober died", {.symptom = gone, .layer = agent, .pairs = 40}, Severity::kP2},
        Case{"a host's check", {.symptom = late, .layer = Layer::kHost}, Severity::kP1},
        Case{"loss of an unknown share", {.symptom = loss}, Severity::kP1},
        Case{"jobs stop", {.symptom = loss, .loss_ratio = 0.10}, Severity::kP0},
        Case{"jobs are slowed", {.symptom = loss, .loss_ratio = 0.0999}, Severity::kP1},
        Case{"slowed by 15 %", {.symptom = loss, .loss_ratio = 0.001}, Severity::kP1},
        Case{"hardly slowed", {.symptom = loss, .loss_ratio = 0.0009}, Severity::kP2},
        Case{"nobody knows how late", {.symptom = late, .pairs = 9}, Severity::kP2},
        Case{"slight jitter", {.symptom = late, .latency_factor = 1.15, .pairs = 9}, Severity::kP2},
        Case{"many are late", {.symptom = late, .latency_factor = 1.16, .pairs = 2}, Severity::kP1},
        Case{"two tasks are", {.symptom = late, .latency_factor = 1.16, .tasks = 2}, Severity::kP1},
        Case{"one pair is a little late", {.symptom = late, .latency_factor = 1.5}, Severity::kP2},
        Case{"one pair is late", {.symptom = late, .latency_factor = 1.51}, Severity::kP1}}) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(severity_of(c.strength), c.expected);
  }
}

TEST(Severity, NeverFallsWhileAnythingGetsWorse) {
  const std::vector<double> losses = {0.0, 0.0005, 0.001, 0.05, 0.1, 1.0};
  const std::vector<double> factors = {1.0, 1.15, 1.2, 1.5, 1.6, 7.5};
  for (const Symptom symptom : {Symptom::kLoss, Symptom::kLatency, Symptom::kUnreachable}) {
    for (const std::size_t pairs : {1u, 2u, 100u}) {
      Severity before = Severity::kP2;
      for (std::size_t i = 0; i < losses.size(); ++i) {
        const Severity now = severity_of({.symptom = symptom,
                                          .loss_ratio = losses[i],
                                          .latency_factor = factors[i],
                                          .pairs = pairs});
        EXPECT_EQ(worse(before, now), now);
        before = now;
      }
    }
  }
}

}  // namespace
}  // namespace bonescan
