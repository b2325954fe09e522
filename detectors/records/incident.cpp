#include "detectors/records/incident.h"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace bonescan {
namespace {

constexpr std::array<std::pair<Layer, std::string_view>, 6> kLayers = {{
    {Layer::kOverlay, "overlay"},
    {Layer::kUnderlay, "underlay"},
    {Layer::kRnic, "rnic"},
    {Layer::kHost, "host"},
    {Layer::kAgent, "agent"},
    {Layer::kUndetermined, "undetermined"},
}};

constexpr std::array<std::pair<Symptom, std::string_view>, 3> kSymptoms = {{
    {Symptom::kUnreachable, "unreachable"},
    {Symptom::kLoss, "loss"},
    {Symptom::kLatency, "latency"},
}};

constexpr std::array<std::pair<Severity, std::string_view>, 3> kSeverities = {{
    {Severity::kP0, "P0"},
    {Severity::kP1, "P1"},
    {Severity::kP2, "P2"},
}};

template <class Enum, std::size_t N>
std::string_view name_of(const std::array<std::pair<Enum, std::string_view>, N>& names,
                         Enum value) {
  for (const auto& [key, name] : names) {
    if (key == value) {
      return name;
    }
  }
  return "unknown";
}

template <class Enum, std::size_t N>
std::optional<Enum> value_of(const std::array<std::pair<Enum, std::string_view>, N>& names,
                             std::string_view text) {
  for (const auto& [key, name] : names) {
    if (name == text) {
      return key;
    }
  }
  return std::nullopt;
}

}  // namespace

std::string_view to_string(Layer layer) {
  return name_of(kLayers, layer);
}

std::optional<Layer> layer_from_string(std::string_view text) {
  return value_of(kLayers, text);
}

std::string_view to_string(Symptom symptom) {
  return name_of(kSymptoms, symptom);
}

std::optional<Symptom> symptom_from_string(std::string_view text) {
  return value_of(kSymptoms, text);
}

std::string_view to_string(Severity severity) {
  return name_of(kSeverities, severity);
}

std::optional<Severity> severity_from_string(std::string_view text) {
  return value_of(kSeverities, text);
}

std::string incident_id_text(std::uint64_t id) {
  return fmt::format("{:016x}", id);
}

}  // namespace bonescan
