// NetBouncer: link success probabilities that fit the success of the paths, by coordinate descent.
//
// Model: a path succeeds with the product of its links' x.  Minimise
//   sum over paths (y - product of x)^2 + lambda * sum over links x (1 - x)
// one x at a time.  With t the product of the other links of a path, s1 = sum t y, s2 = sum t^2:
//   x = (2 s1 - lambda) / (2 (s2 - lambda)), clamped to [0, 1];
// where lambda >= s2 the parabola opens downwards and the better end of [0, 1] is taken.  Devices
// go first: one through which a share of `device_lossy_ratio` of the paths is lossy is blamed, and
// its paths leave.  A device is where consecutive hops of the evidence meet.
// @paper NetBouncer (NSDI 2019), from published descriptions: METHODS.md.  Thread-compatible.
#pragma once

#include "detectors/localize/localizer.h"
#include "detectors/localize/path_columns.h"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace bonescan {

struct NetBouncerOptions {
  double lambda = 1.0;
  double link_loss_least = 1e-3;          ///< blamed if 1 - x reaches it
  double device_lossy_ratio = 1.0;        ///< blamed if no path through it is clean @paper
  std::uint32_t device_paths_least = 10;  ///< fewer say nothing about a device @ours
  double settled = 1e-8;                  ///< change of the objective at which it stops
  int sweeps_max = 100;
};

class NetBouncer final : public Localizer {
 public:
  explicit NetBouncer(const NetBouncerOptions& options = {}) : options_(options) {}

  std::string_view name() const override { return "netbouncer"; }

  std::vector<Accusation> localize(std::span<const PathEvidence> evidence,
                                   Symptom symptom) override;

  /// Of the last call, by link of the columns.
  std::span<const double> success() const { return x_; }

 private:
  struct Device {
    std::uint32_t paths = 0;
    std::uint32_t lossy = 0;
    std::uint32_t last_item = 0;
  };

  // Devices: the ends of cables, joined where hops follow each other.
  void join_ends(std::span<const PathEvidence> evidence);
  std::uint32_t device_of(std::uint32_t end);
  void blame_devices(std::span<const PathEvidence> evidence, std::vector<Accusation>& accusations);
  void accuse_device(std::uint32_t device, std::vector<Accusation>& accusations);

  void descend();
  double best_success(std::uint32_t link) const;
  double objective() const;

  NetBouncerOptions options_;
  PathColumns columns_;
  std::vector<std::uint32_t> parent_;  ///< by end: twice the cable, plus one for the upper end
  std::vector<Device> devices_;        ///< by representative end
  std::vector<std::uint8_t> dropped_;  ///< by path
  std::vector<double> x_;              ///< by link
  std::vector<double> y_;              ///< by path
};

}  // namespace bonescan
