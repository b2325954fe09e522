// The keys below `clocks` and `confounders.telemetry`.
#include "scenarios/schema/scenario_keys.h"

#include <chrono>

namespace bonescan {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr Range<double> kShare{0.0, 1.0};
constexpr Range<Duration> kOff{nanoseconds(0), hours(1)};
constexpr Range<Duration> kPeriod{milliseconds(1), hours(24)};

void add_clocks(ScenarioTable& table) {
  const auto clocks = [](auto member) { return field(&Scenario::clocks, member); };
  table.duration("clocks.offset",
                 kOff,
                 clocks(&HostClockOptions::offset),
                 "Standard deviation of how far a host's clock stands off.");
  table.duration("clocks.wander",
                 kOff,
                 clocks(&HostClockOptions::wander),
                 "Amplitude of the slow wander of a clock under PTP around where it stands.");
  table.duration("clocks.wander_period",
                 kPeriod,
                 clocks(&HostClockOptions::wander_period),
                 "Mean period of the wander.");
  table.number("clocks.drift_ppm",
               {0.0, 1000.0},
               clocks(&HostClockOptions::drift_ppm),
               "Standard deviation of the error of oscillators, in millionths. A round trip is "
               "measured with it; the clock of a host runs away with it in holdover.");
  table.ratio("clocks.holdover.share",
              kShare,
              clocks(&HostClockOptions::holdover_share),
              "Share of hosts that have lost PTP.");
  table.duration("clocks.holdover.from",
                 {nanoseconds(0), hours(24 * 366)},
                 clocks(&HostClockOptions::holdover_from),
                 "Since when they have.");
  table.duration("clocks.steps.size",
                 kOff,
                 clocks(&HostClockOptions::step),
                 "Largest step of a clock, forward or back.");
  table.duration("clocks.steps.period",
                 {seconds(1), hours(24 * 366)},
                 clocks(&HostClockOptions::step_period),
                 "The clock of each host steps once in every such period, at a random moment.");
  table.duration("clocks.steps.lasts",
                 kPeriod,
                 clocks(&HostClockOptions::step_lasts),
                 "Until PTP takes the step back.");
  table.choice<TimestampTaker>(
      "clocks.timestamps",
      {{"model", TimestampTaker::kModel},
       {"host", TimestampTaker::kHost},
       {"rnic", TimestampTaker::kRnic}},
      clocks(&HostClockOptions::timestamps),
      "Whose timestamps probes have: the RNICs', so that round trips are the network's alone; the "
      "hosts', so that the waits of the agents for a processor are inside; or ideal ones.");
  table.duration("clocks.scheduling",
                 {nanoseconds(0), milliseconds(100)},
                 clocks(&HostClockOptions::scheduling),
                 "Mean wait of an agent for a processor, at each end.");
}

void add_channel(ScenarioTable& table) {
  const auto channel = [](auto member) { return field(&Scenario::telemetry, member); };
  table.ratio("confounders.telemetry.lost",
              kShare,
              channel(&TelemetryChannelOptions::lost),
              "Share of reports (visits, throughput samples, membership events) that get lost on "
              "the way from an agent to the analyzer.");
  table.ratio("confounders.telemetry.late",
              kShare,
              channel(&TelemetryChannelOptions::late),
              "Share of reports that come late; see `probing.lateness`.");
  table.duration("confounders.telemetry.late_by",
                 kPeriod,
                 channel(&TelemetryChannelOptions::late_by),
                 "How late they are at most.");
  table.ratio("confounders.telemetry.duplicated",
              kShare,
              channel(&TelemetryChannelOptions::duplicated),
              "Share of reports that come a second time, late.");
  table.duration("confounders.telemetry.repeat",
                 kPeriod,
                 channel(&TelemetryChannelOptions::repeat),
                 "A membership event that got lost is announced again after this.");
  table.duration("confounders.telemetry.sampler.phase",
                 {nanoseconds(0), seconds(1)},
                 channel(&TelemetryChannelOptions::sampler_phase),
                 "Throughput samplers read up to this much after the full second, each its own.");
  table.duration("confounders.telemetry.sampler.jitter",
                 {nanoseconds(0), milliseconds(400)},
                 channel(&TelemetryChannelOptions::sampler_jitter),
                 "Standard deviation of the moment of a reading.");
  table.ratio("confounders.telemetry.sampler.missed",
              kShare,
              channel(&TelemetryChannelOptions::sampler_missed),
              "Share of readings that do not happen: the next one covers both intervals.");
  table.duration("confounders.telemetry.sampler.period",
                 {milliseconds(100), seconds(1)},
                 channel(&TelemetryChannelOptions::sampler_period),
                 "Time between two readings of a throughput counter.");
  table.duration("confounders.telemetry.sampler.dither",
                 {nanoseconds(0), seconds(1)},
                 channel(&TelemetryChannelOptions::sampler_dither),
                 "Readings are moved on purpose, each uniformly within such a span, so that a step "
                 "as long as the period does not hide between them.");
  table.number("confounders.telemetry.sampler.noise",
               {0.0, 5.0},
               channel(&TelemetryChannelOptions::sampler_noise),
               "Log-normal sigma of one reading around the true volume.");
  table.choice<bool>("confounders.telemetry.rdma_counters",
                     {{"no", false}, {"yes", true}},
                     channel(&TelemetryChannelOptions::rdma_counters),
                     "Whether hosts tell what the RDMA counters of their RNICs counted.");
  table.rate("confounders.telemetry.background",
             {BitsPerSecond(0), BitsPerSecond(1'000'000'000'000)},
             channel(&TelemetryChannelOptions::background),
             "Standard deviation, second by second, of what RNICs send besides their jobs: white, "
             "its mean three times as large.");
}

}  // namespace

void add_clock_keys(ScenarioTable& table) {
  add_clocks(table);
  add_channel(table);
}

}  // namespace bonescan
