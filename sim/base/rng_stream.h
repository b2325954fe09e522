// Counter-based random numbers: a draw is a function of (run seed, purpose, entity, counter).
//
// Intuition: instead of one generator that everybody advances, every entity owns an infinite table
// of numbers and reads any row of it.  Adding an entity, a fault or a detector shifts nobody's
// draws, a fault-free twin meets the same noise, and any order of evaluation gives the same run.
// The generator is Philox4x32-10 (Salmon et al., SC'11), checked against Random123's vectors.
#pragma once

#include <array>
#include <cstdint>

namespace bonescan {

using PhiloxCounter = std::array<std::uint32_t, 4>;
using PhiloxKey = std::array<std::uint32_t, 2>;

// Constants of Philox4x32-10 @paper Salmon et al., table 2
constexpr std::uint64_t kPhiloxMul0 = 0xD2511F53;
constexpr std::uint64_t kPhiloxMul1 = 0xCD9E8D57;
constexpr std::uint32_t kPhiloxWeyl0 = 0x9E3779B9;
constexpr std::uint32_t kPhiloxWeyl1 = 0xBB67AE85;
constexpr int kPhiloxRounds = 10;

/// The bijection: 10 rounds of multiply, swap, and xor with a Weyl-bumped key.
constexpr PhiloxCounter philox4x32_10(PhiloxCounter counter, PhiloxKey key) {
  for (int round = 0; round < kPhiloxRounds; ++round) {
    const std::uint64_t p0 = kPhiloxMul0 * counter[0];
    const std::uint64_t p1 = kPhiloxMul1 * counter[2];
    counter = {static_cast<std::uint32_t>(p1 >> 32) ^ counter[1] ^ key[0],
               static_cast<std::uint32_t>(p1),
               static_cast<std::uint32_t>(p0 >> 32) ^ counter[3] ^ key[1],
               static_cast<std::uint32_t>(p0)};
    key[0] += kPhiloxWeyl0;
    key[1] += kPhiloxWeyl1;
  }
  return counter;
}

/// What a stream is for.  Values are part of every fingerprint: append, never renumber.
enum class Purpose : std::uint32_t {
  kProbe = 1,
  kEcmpSalt = 2,
  kSourcePort = 3,
  kContainerStart = 4,
  kTrainingStep = 5,
  kCongestion = 6,
  kFault = 7,
  kRevalidatorPhase = 8,
  kCounterPhase = 9,
  kHostOrder = 10,
  kThroughput = 11,
  kAgentPhase = 12,
  kBondSalt = 20,
  kPacketLoss = 40,
  kPacketMark = 41,
  kPacketArrival = 42,
  kPacketWait = 43,
  kCloudArrival = 60,
  kCloudTask = 61,
  kCloudContainer = 62,
  kCloudAgent = 63,
  kCloudStep = 64,
  kGidLayout = 65,
  kRuleOrder = 70,
  kEcnMark = 71,
  kLoadPort = 80,
  kIncastSender = 81,
  kHostClock = 85,
  kClockStep = 86,
  kVisitChannel = 87,
  kSampleChannel = 88,
  kEventChannel = 89,
  kSampler = 90,
  kTimestampNoise = 91,
  kSkeletonStart = 110,
  kSkeletonOrder = 115,
  kStudyNoise = 120,
  kStudyEvent = 121,
  kStudyDraw = 122,
  kStudySkew = 123,
  kTraceFault = 130,
  kTraceNoise = 131,
  kTraceFlow = 132,
  kDetectionNoise = 160,
  kDetectionLayout = 161,
  kDetectionTraits = 162,
  kDetectionFault = 163,
  kDetectionRegime = 164,
  kDetectionOnset = 165,
  kDetectionWander = 166,
  kDetectionCheck = 167,
  kFailure = 180,
  kFailurePlace = 181,
  kFailureFrailty = 182,
  kFailureRepair = 183,
  kFailureGroup = 184,
  kConfounder = 190,
  kRehash = 191,
  kSlowCode = 192,
  kTaskStop = 193,
  kGpuFault = 194,
  kAgentUpgrade = 195,
  kMaintenanceWork = 196,
  kGateBootstrap = 200,
  kGateDrop = 201,
  kHoldOut = 202,
  kTest = 1000,
};

/// Uniform in (0, 1): never 0 and never 1, so log() and quantiles are finite.
constexpr double open01(std::uint32_t bits) {
  return (static_cast<double>(bits) + 0.5) * 0x1.0p-32;
}

/// One independent stream per (run seed, purpose, entity).
class RngStream {
 public:
  constexpr RngStream(std::uint64_t run_seed, Purpose purpose, std::uint32_t entity)
      : key_{static_cast<std::uint32_t>(run_seed), static_cast<std::uint32_t>(run_seed >> 32)},
        purpose_(static_cast<std::uint32_t>(purpose)),
        entity_(entity) {}

  constexpr PhiloxKey key() const { return key_; }

  /// What Philox turns into row `n`.
  constexpr PhiloxCounter counter(std::uint64_t n) const {
    return {static_cast<std::uint32_t>(n), static_cast<std::uint32_t>(n >> 32), entity_, purpose_};
  }

  /// The 128 bits of row `n`, as four words.
  constexpr PhiloxCounter block(std::uint64_t n) const { return philox4x32_10(counter(n), key_); }

  /// The low 64 bits of row `n`.
  constexpr std::uint64_t at(std::uint64_t n) const {
    const PhiloxCounter out = block(n);
    return (static_cast<std::uint64_t>(out[1]) << 32) | out[0];
  }

  /// Uniform in (0, 1) from row `n`, 52 bits.
  constexpr double open01_at(std::uint64_t n) const {
    return (static_cast<double>(at(n) >> 12) + 0.5) * 0x1.0p-52;
  }

 private:
  PhiloxKey key_;
  std::uint32_t purpose_;
  std::uint32_t entity_;
};

}  // namespace bonescan
