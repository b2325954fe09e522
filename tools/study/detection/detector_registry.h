// Every detector of this tree by name, as the conformance battery and the study make them.
//
// A new detector needs one row in detector_registry.cpp; the battery and the tables then hold it.
#pragma once

#include "detectors/detect/detector.h"
#include "detectors/localize/localizer.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace bonescan {

struct LearnedNulls;

/// What a detector may know of its fleet before it hears anything.
struct DetectorSite {
  const PairTable* pairs = nullptr;       ///< outlives the detector
  Duration sweep{};                       ///< a pair is visited this often
  double base_loss_ratio = 1e-5;          ///< what the operator believes
  const LearnedNulls* learned = nullptr;  ///< of a fleet that has run for hours; nullptr: nothing
};

struct DetectorEntry {
  std::string name;
  std::function<std::unique_ptr<Detector>(const DetectorSite&)> make;
  /// The pair whose visit raised the alarm behind a verdict of the last evaluate(); empty: it came
  /// with the turn.
  std::function<PairId(const Detector&, const Verdict&)> raised_by{};
  bool sees_loss = true;
  bool sees_latency = true;
  bool learns_scale = false;  ///< is of no use before a class of pairs is known
  bool uses_learned = false;  ///< reads DetectorSite::learned
  bool ours = false;          ///< part of the bonescan configuration
  bool paper = false;         ///< part of the published one
  bool slow = false;          ///< a rule about hours: left out where a study lasts for minutes
};

const std::vector<DetectorEntry>& detector_registry();

/// A short-term detector at several settings, from strict to loose, for its operating curve.
struct OperatingCurve {
  std::string name;
  std::string setting;  ///< what is varied
  std::vector<double> values;
  std::function<DetectorEntry(double value)> make;
};

const std::vector<OperatingCurve>& operating_curves();

/// The bonescan rules with one part switched off each, the whole first.
struct Ablation {
  std::string name;
  std::vector<DetectorEntry> entries{};
  bool counter_phase = true;
};

const std::vector<Ablation>& ablations();

struct LocalizerEntry {
  std::string name;
  std::function<std::unique_ptr<Localizer>()> make;
};

const std::vector<LocalizerEntry>& localizer_registry();

}  // namespace bonescan
