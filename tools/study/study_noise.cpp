#include "tools/study/study_noise.h"

#include "sim/base/distributions.h"
#include "sim/base/rng_stream.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace bonescan {
namespace {

/// Hosts' streams come after those of RNICs.
constexpr std::uint32_t kHostEntity = 1u << 24;
constexpr double kMemory = 0.8;  ///< lag-1 autocorrelation of the series that blocks are cut from
constexpr double kSpikesPerSecond = 0.01;
constexpr double kSpikeChildren = 0.6;  ///< that one spike brings
constexpr double kSpikeDecay = 0.5;     ///< of the excitement, a second
constexpr double kRegimeSwitch = 1.0 / 30.0;
constexpr double kQuietSd = 0.4;
constexpr double kOn = 1.0 / 60.0;  ///< a second
constexpr double kOff = 1.0 / 8.0;

class Dice {
 public:
  Dice(std::uint64_t seed, Purpose purpose, std::uint32_t entity)
      : stream_(seed, purpose, entity) {}

  double uniform(std::size_t n) const { return stream_.open01_at(n); }

  double normal(std::size_t n) const { return normal_quantile(uniform(n)); }

 private:
  RngStream stream_;
};

/// Student's t with three degrees of freedom, from its closed form of four normals, unit variance.
double student(const Dice& dice, std::size_t n) {
  double chi = 0.0;
  for (std::size_t i = 1; i < 4; ++i) {
    const double x = dice.normal(4 * n + i);
    chi += x * x;
  }
  return dice.normal(4 * n) / std::sqrt(chi / 3.0) / std::sqrt(3.0);
}

std::vector<double> blocks(const Dice& dice, const Dice& events, std::size_t count) {
  std::vector<double> series(8 * count);
  double last = dice.normal(0);
  for (std::size_t i = 0; i < series.size(); ++i) {
    last = kMemory * last + std::sqrt(1.0 - kMemory * kMemory) * dice.normal(i + 1);
    series[i] = last;
  }
  std::vector<double> values;
  for (std::size_t n = 0; values.size() < count; n += 2) {
    const auto length = static_cast<std::size_t>(10.0 + 30.0 * events.uniform(n));
    const auto from = static_cast<std::size_t>(
        events.uniform(n + 1) * static_cast<double>(series.size() - std::min(length, count)));
    for (std::size_t i = 0; i < length && values.size() < count; ++i) {
      values.push_back(series[from + i]);
    }
  }
  return values;
}

std::vector<double> spikes(const Dice& dice, const Dice& events, std::size_t count) {
  std::vector<double> values(count);
  double excited = 0.0;
  for (std::size_t i = 0; i < count; ++i) {
    const double chance = std::min(0.9, kSpikesPerSecond + excited);
    excited *= kSpikeDecay;
    if (events.uniform(i) < chance) {
      excited += kSpikeChildren * (1.0 - kSpikeDecay);
      values[i] = exponential_quantile(dice.uniform(i), 1.0);
    }
  }
  // Rate r of spikes with mean 1 and second moment 2.
  const double rate = kSpikesPerSecond / (1.0 - kSpikeChildren);
  for (double& value : values) {
    value /= std::sqrt(2.0 * rate - rate * rate);
  }
  return values;
}

std::vector<double> regimes(const Dice& dice, const Dice& events, std::size_t count) {
  const double loud = std::sqrt(2.0 - kQuietSd * kQuietSd);
  bool quiet = events.uniform(0) < 0.5;
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    quiet = events.uniform(i + 1) < kRegimeSwitch ? !quiet : quiet;
    values[i] = dice.normal(i) * (quiet ? kQuietSd : loud);
  }
  return values;
}

/// Half of the variance is what the host's neighbours do, the rest is white.
std::vector<double> cotenants(const Dice& dice, const Dice& host, std::size_t count) {
  const double share = kOn / (kOn + kOff);
  const double height = std::sqrt(0.5 / (share * (1.0 - share)));
  bool on = host.uniform(0) < share;
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    on = host.uniform(i + 1) < (on ? kOff : kOn) ? !on : on;
    values[i] = dice.normal(i) * std::sqrt(0.5) + (on ? height : 0.0);
  }
  return values;
}

}  // namespace

std::string_view to_string(StudyNoise kind) {
  switch (kind) {
    case StudyNoise::kWhite:
      return "white";
    case StudyNoise::kBlocks:
      return "blocks";
    case StudyNoise::kStudentT:
      return "student-t";
    case StudyNoise::kSpikes:
      return "spikes";
    case StudyNoise::kRegimes:
      return "regimes";
    case StudyNoise::kCotenants:
      return "cotenants";
  }
  return "";
}

void add_noise(StudyNoise kind,
               std::uint64_t seed,
               std::uint32_t rnic,
               std::uint32_t host,
               double sd,
               std::span<float> row) {
  const Dice dice(seed, Purpose::kStudyNoise, rnic);
  const Dice events(seed, Purpose::kStudyEvent, rnic);
  std::vector<double> values(row.size());
  switch (kind) {
    case StudyNoise::kWhite:
      for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = dice.normal(i);
      }
      break;
    case StudyNoise::kStudentT:
      for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = student(dice, i);
      }
      break;
    case StudyNoise::kBlocks:
      values = blocks(dice, events, row.size());
      break;
    case StudyNoise::kSpikes:
      values = spikes(dice, events, row.size());
      break;
    case StudyNoise::kRegimes:
      values = regimes(dice, events, row.size());
      break;
    case StudyNoise::kCotenants:
      values = cotenants(dice, Dice(seed, Purpose::kStudyEvent, kHostEntity + host), row.size());
      break;
  }
  for (std::size_t i = 0; i < row.size(); ++i) {
    row[i] += static_cast<float>(sd * values[i]);
  }
}

}  // namespace bonescan
