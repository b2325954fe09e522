// `bonescan score --gates`: a campaign's database against a file of gates.
#pragma once

#include <string>

namespace bonescan {

struct GateArguments {
  std::string file;      ///< of gates
  std::string baseline;  ///< empty: none
  std::string junit;     ///< empty: not written
  std::string markdown;  ///< empty: not written
};

/// Prints the table and writes the files.  @returns 0 if every gate is passed, else 1
/// @throws ConfigError, EnvironmentError
int gate_campaign(const GateArguments& arguments, const std::string& database);

}  // namespace bonescan
