// The directed links that a row of a probe matrix crosses: the request's and the answer's.
#pragma once

#include "planner/matrix/probe_matrix.h"

#include <utility>

namespace bonescan {

struct RowPaths {
  LinkPath request;
  LinkPath answer;
};

/// Of a probe by five-tuple: the answer comes from the same port number, and hashes by itself.
inline RowPaths flow_paths(const Router& router, RnicId source, RnicId target, std::uint16_t port) {
  return {router.path(source, target, flow_hash(source.index(), target.index(), port)),
          router.path(target, source, flow_hash(target.index(), source.index(), port))};
}

/// Of a pinned probe: the answer takes the same way back.
inline RowPaths pinned_paths(const Fabric& fabric,
                             RnicId source,
                             RnicId target,
                             std::uint32_t variant) {
  WayChoice way = pinned_way(fabric, variant);
  RowPaths paths;
  paths.request = fabric.path(source, target, way);
  std::swap(way.source_port, way.target_port);
  paths.answer = fabric.path(target, source, way);
  return paths;
}

}  // namespace bonescan
