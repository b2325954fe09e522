// Which build this is: for manifests, reports and --version.
#pragma once

#include <string>

namespace bonescan {

struct BuildInfo {
  std::string version;
  std::string commit;  ///< as of the last configure; "unknown" outside a checkout
  std::string compiler;
  std::string preset;  ///< the CMake build type, lower case
};

BuildInfo build_info();

}  // namespace bonescan
