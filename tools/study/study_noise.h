// What an RNIC's counter sees besides the job: noise for the study of the skeleton.
//
// Detector and generator share no code, and a detector that assumes white noise must meet other
// kinds.  All kinds have the same standard deviation; what is traffic of somebody else (spikes,
// storage, co-tenants) has a positive mean as well.  No public recording of RNIC throughput is
// known to us, so bootstrap blocks are cut out of a synthetic series with memory.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace bonescan {

enum class StudyNoise : std::uint8_t {
  kWhite,      ///< Gaussian
  kBlocks,     ///< blocks of 10 to 40 s of a Gaussian series with memory
  kStudentT,   ///< three degrees of freedom
  kSpikes,     ///< self-exciting: a spike brings others
  kRegimes,    ///< quiet and loud minutes
  kCotenants,  ///< checkpoints, storage and neighbours: on and off, the same on all rails of a host
};

inline constexpr std::array kStudyNoises = {StudyNoise::kWhite,
                                            StudyNoise::kBlocks,
                                            StudyNoise::kStudentT,
                                            StudyNoise::kSpikes,
                                            StudyNoise::kRegimes,
                                            StudyNoise::kCotenants};

std::string_view to_string(StudyNoise kind);

/// Adds noise with standard deviation `sd` to a row.
void add_noise(StudyNoise kind,
               std::uint64_t seed,
               std::uint32_t rnic,
               std::uint32_t host,
               double sd,
               std::span<float> row);

}  // namespace bonescan
