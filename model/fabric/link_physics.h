// From a link's bit errors to what packets meet: forward error correction, then link-level retry.
//
//   pre-FEC BER -> codeword loss -> frame loss -> (link-level retry) -> effective loss, capacity
//
// Every step is a closed form.  FEC: RS(544,514) over 10-bit symbols ("KP4") corrects 15 symbols of
// a codeword, so a codeword is lost with P(Binomial(544, 1 - (1 - BER)^10) > 15); errors are taken
// as independent, which bursts of a real receiver are not.  Retry: every frame is sent n times in
// all, with the smallest n that brings p^n to the target; this reproduces the four effective losses
// that LinkGuardian measured at 100 Gb/s within a factor of 3 (a test).  Capacity under retry is
// theirs: log-linear between their four points, since it depends on their reordering buffer.
// @source KP4 limit and frame-loss budgets: quoted second-hand, a public specification citing IEEE
// @source retry: measured by LinkGuardian, SIGCOMM 2023 (quoted; MIT-licensed data set)
#pragma once

#include "sim/base/units.h"

#include <array>
#include <cstdint>

namespace bonescan {

/// Pre-FEC bit error ratio up to which KP4 keeps its budget.  @source quoted second-hand
constexpr double kKp4PreFecLimit = 2.4e-4;
/// Budgets of frame loss after FEC.  @source quoted second-hand
constexpr double kFrameLossBudget200G = 6.2e-11;  ///< 200G and faster
constexpr double kFrameLossBudget100G = 6.2e-10;

/// One measurement of link-level retry.
struct RetryPoint {
  double raw_loss;
  double effective_loss;
  double capacity_ratio;
};

/// LinkGuardian at 100 Gb/s.  @source quoted
constexpr std::array<RetryPoint, 4> kLinkGuardian = {{{1.43e-5, 5.97e-10, 0.9876},
                                                      {9.16e-5, 7.56e-9, 0.9874},
                                                      {1.16e-3, 1.29e-9, 0.9088},
                                                      {1e-2, 1e-8, 0.60}}};

/// Share of corrupting links by their loss ratio.  @source CorrOpt via LinkGuardian, quoted
struct CorruptionShare {
  double loss_from;
  double loss_to;
  double share;
};

constexpr std::array<CorruptionShare, 4> kCorrOpt = {
    {{1e-8, 1e-5, 0.4723}, {1e-5, 1e-4, 0.1843}, {1e-4, 1e-3, 0.2167}, {1e-3, 1e-2, 0.1267}}};

/// Loss ratio of a corrupting link at quantile `u` of that table, log-uniform within its rows.
/// REQUIRES: 0 <= u <= 1
double corruption_loss_quantile(double u);

/// Share of KP4 codewords that cannot be corrected.  REQUIRES: 0 <= pre_fec_ber <= 0.5
double kp4_codeword_loss(double pre_fec_ber);

/// Share of frames lost after KP4: a frame lies in as many codewords of 642.5 payload bytes as it
/// needs, at least one.
double kp4_frame_loss(double pre_fec_ber, std::uint32_t frame_bytes);

/// Loss that retry aims at.  @source LinkGuardian, quoted
constexpr double kRetryTargetLoss = 1e-8;

/// What is left of a raw frame loss after link-level retry.
double retry_effective_loss(double raw_loss);

/// Share of the line rate that is left under link-level retry; 1 without loss.
double retry_capacity_ratio(double raw_loss);

struct LinkQuality {
  double loss_ratio = 0.0;
  double capacity_ratio = 1.0;
};

/// A link with these bit errors, with or without retry.
LinkQuality link_quality(double pre_fec_ber, std::uint32_t frame_bytes, bool llr);

/// Capacity of a link that has lost lanes and gone on with the rest.  REQUIRES: left <= lanes
constexpr double lane_capacity_ratio(std::uint32_t left, std::uint32_t lanes) {
  return static_cast<double>(left) / static_cast<double>(lanes);
}

}  // namespace bonescan
