#include "skeleton/task_skeleton.h"

namespace bonescan {

std::string_view to_string(SkeletonScope scope) {
  switch (scope) {
    case SkeletonScope::kMesh:
      return "mesh";
    case SkeletonScope::kSameRail:
      return "same-rail";
    case SkeletonScope::kAdjacentGroups:
      return "adjacent-groups";
    case SkeletonScope::kPeers:
      return "peers";
  }
  return "?";
}

std::string_view to_string(SkeletonBasis basis) {
  switch (basis) {
    case SkeletonBasis::kPreload:
      return "preload";
    case SkeletonBasis::kThroughput:
      return "throughput";
    case SkeletonBasis::kFlowTable:
      return "flow-table";
  }
  return "?";
}

}  // namespace bonescan
