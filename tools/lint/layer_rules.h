// Who may include whom: the table of ARCHITECTURE.md, read against every #include line.
//
// The table is data (layer_table()), one row per folder.  The row of a file is the one with the
// longest folder that holds it, so model/backend_sim can be allowed more than model.  A folder
// without a row is a finding: a new layer needs a decision.
#pragma once

#include "tools/lint/source_tree.h"

#include <string_view>
#include <vector>

namespace bonescan::lint {

struct Layer {
  std::string_view folder;
  std::vector<std::string_view> may_include;  ///< folders, or single headers; its own is implied
  std::vector<std::string_view> but_not;      ///< folders inside may_include that are closed
};

const std::vector<Layer>& layer_table();

/// The row of a file or folder; nullptr if it belongs to no layer.
const Layer* layer_of(std::string_view path);

/// Our own headers, by the layer table.
std::vector<Finding> check_layers(const SourceTree& tree);

/// Headers of libraries, the operating system and threads, each of which has its folders.
std::vector<Finding> check_library_includes(const SourceTree& tree);

/// Every header is included by a file other than its own .cpp, every .cpp is named to the build.
std::vector<Finding> check_dead_files(const SourceTree& tree);

}  // namespace bonescan::lint
