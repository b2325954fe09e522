#include "tools/run/build_info.h"

namespace bonescan {

BuildInfo build_info() {
  return {.version = BONESCAN_VERSION,
          .commit = BONESCAN_COMMIT,
          .compiler = BONESCAN_COMPILER,
          .preset = BONESCAN_PRESET};
}

}  // namespace bonescan
