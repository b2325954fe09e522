// What the guest left behind, for tests that judge it.
//
// The boot that runs before these tests (run_lab.sh) writes one directory per suite.  Where the
// machine cannot boot the guest, every test says so and is skipped.  Thread-compatible.
#pragma once

#include "tests/support/bonescan_cli.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>

namespace bonescan::lab {

inline std::string lab_file(const std::string& suite, const std::string& name) {
  return std::string(BONESCAN_LAB_RESULTS) + "/" + suite + "/" + name;
}

/// Why there are no results; empty if there are.
inline std::string why_skipped(const std::string& suite) {
  const std::string file = lab_file(suite, "skipped");
  return std::filesystem::exists(file) ? fakes::read_file(file) : "";
}

/// A JSON file of a suite; `null` if it is not there or broken.
inline nlohmann::json lab_json(const std::string& suite, const std::string& name) {
  const std::string text = fakes::read_file(lab_file(suite, name));
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  return json.is_discarded() ? nlohmann::json() : json;
}

}  // namespace bonescan::lab
