#include "tools/lint/layer_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <set>
#include <string>

namespace bonescan::lint {
namespace {

struct Include {
  std::size_t line;
  std::string_view path;
  bool ours;  ///< in quotes
};

std::vector<Include> includes_of(const SourceFile& file) {
  std::vector<Include> includes;
  std::size_t number = 0;
  for (const std::string_view line : split_lines(file.text)) {
    ++number;
    if (line.substr(0, 8) != "#include") {
      continue;
    }
    const std::size_t open = line.find_first_of("\"<");
    const std::size_t close =
        open == std::string_view::npos ? open : line.find_first_of("\">", open + 1);
    if (close != std::string_view::npos) {
      includes.push_back({number, line.substr(open + 1, close - open - 1), line[open] == '"'});
    }
  }
  return includes;
}

bool holds(const std::vector<std::string_view>& folders, std::string_view path) {
  return std::any_of(folders.begin(), folders.end(), [path](std::string_view folder) {
    return is_in(path, folder);
  });
}

bool allowed(const Layer& layer, std::string_view included) {
  const Layer* target = layer_of(included);
  if (target == &layer) {
    return true;
  }
  return holds(layer.may_include, included) && !holds(layer.but_not, included);
}

/// The folders of the production library that only compute.
const std::vector<std::string_view> kNumerics = {"skeleton",
                                                 "detectors/schedule",
                                                 "detectors/window",
                                                 "detectors/shortterm",
                                                 "detectors/longterm",
                                                 "detectors/loss",
                                                 "detectors/detect",
                                                 "detectors/localize",
                                                 "detectors/incident",
                                                 "detectors/intake",
                                                 "detectors/pipeline",
                                                 "detectors/baselines"};

const std::vector<std::string_view> kRealWorld = {"detectors/backend_verbs",
                                                  "detectors/backend_ovs",
                                                  "detectors/backend_peers",
                                                  "detectors/backend_trace",
                                                  "tools",
                                                  "tests"};

struct LibraryRule {
  std::string_view header;  ///< whole, or a prefix that ends in a slash or a star
  std::vector<std::string_view> folders;
};

std::vector<std::string_view> with(std::vector<std::string_view> folders,
                                   std::initializer_list<std::string_view> more) {
  folders.insert(folders.end(), more);
  return folders;
}

const std::vector<LibraryRule>& library_table() {
  static const std::vector<std::string_view> kThreads = with(kRealWorld, {"sim/engine"});
  static const std::vector<std::string_view> kFiles = with(
      kRealWorld,
      {"scenarios/schema", "detectors/run_log", "detectors/backend_replay", "detectors/trial"});
  static const std::vector<LibraryRule> kTable = {
      {"Eigen/", with(kNumerics, {"tools", "tests"})},
      {"fftw3.h", with(kNumerics, {"tools", "tests"})},
      {"sqlite3.h", {"detectors/run_log", "tools", "tests"}},
      {"yaml-cpp/", {"scenarios/schema", "tools", "tests"}},
      {"nlohmann/", {"detectors/backend_peers", "detectors/backend_ovs", "tools", "tests"}},
      {"boost/asio*", kRealWorld},
      {"boost/beast*", {"tools", "tests"}},
      {"boost/mpi*", {"tools/campaign"}},
      {"CLI/", {"tools", "tests"}},
      {"tinyxml2.h", {"tools/topology", "tests"}},
      {"gtest/", {"tests"}},
      {"gmock/", {"tests"}},
      {"benchmark/", {"tests"}},
      {"ns3/", {"tests/validation"}},
      {"Random123/", {"tests"}},
      {"infiniband/", kRealWorld},
      {"rdma/", kRealWorld},
      {"sys/", kRealWorld},
      {"netinet/", kRealWorld},
      {"arpa/", kRealWorld},
      {"poll.h", kRealWorld},
      {"malloc.h", {"tools", "tests"}},
      {"sched.h", kRealWorld},
      {"spawn.h", kRealWorld},
      {"linux/", kRealWorld},
      {"unistd.h", with(kRealWorld, {"detectors/run_log"})},
      {"fcntl.h", with(kRealWorld, {"detectors/run_log"})},
      {"emmintrin.h", {"detectors/shortterm"}},
      {"immintrin.h", {"sim/base"}},
      {"thread", kThreads},
      // The planner of FFTW is not thread-safe.
      {"mutex", with(kThreads, {"skeleton"})},
      {"atomic", kThreads},
      {"condition_variable", kThreads},
      {"future", kThreads},
      {"filesystem", kFiles},
      {"fstream", kFiles},
  };
  return kTable;
}

/// Libraries that the vocabulary itself is made of.
bool is_open_to_all(std::string_view included) {
  constexpr std::array<std::string_view, 3> kOpen = {"boost/", "fmt/", "tl/"};
  return std::any_of(kOpen.begin(), kOpen.end(), [included](std::string_view prefix) {
    return included.substr(0, prefix.size()) == prefix;
  });
}

bool matches(const LibraryRule& rule, std::string_view included) {
  if (rule.header.back() == '*') {
    return included.substr(0, rule.header.size() - 1) ==
           rule.header.substr(0, rule.header.size() - 1);
  }
  return rule.header.back() == '/' ? included.substr(0, rule.header.size()) == rule.header
                                   : included == rule.header;
}

std::string own_source(std::string_view header) {
  return std::string(header.substr(0, header.size() - 2)) + ".cpp";
}

/// Folders and files that some CMakeLists.txt names, from the root.
std::set<std::string> named_to_the_build(const SourceTree& tree) {
  constexpr std::string_view kHere = "${CMAKE_CURRENT_SOURCE_DIR}/";
  std::set<std::string> named;
  for (const SourceFile& file : tree) {
    if (file.path != "CMakeLists.txt" && file.path.find("/CMakeLists.txt") == std::string::npos) {
      continue;
    }
    const std::string_view folder = folder_of(file.path);
    std::string_view text = file.text;
    while (!text.empty()) {
      const std::size_t end = text.find_first_of(" ()\n");
      std::string_view word = text.substr(0, end);
      if (word.substr(0, kHere.size()) == kHere) {
        word.remove_prefix(kHere.size());
      }
      if (!word.empty()) {
        named.insert(folder.empty() ? std::string(word) : fmt::format("{}/{}", folder, word));
      }
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
  }
  return named;
}

}  // namespace

const std::vector<Layer>& layer_table() {
  static const std::vector<std::string_view> kSeam = {
      "sim/base", "detectors/telemetry", "detectors/records"};
  static const std::vector<std::string_view> kCore =
      with(kSeam,
           {"detectors/schedule",
            "detectors/window",
            "detectors/shortterm",
            "detectors/longterm",
            "detectors/loss",
            "detectors/detect",
            "detectors/localize",
            "detectors/incident",
            "detectors/intake",
            "detectors/baselines",
            "detectors/pipeline/pipeline_options.h"});
  static const std::vector<std::string_view> kBackend = with(kSeam, {"detectors/run_log"});
  static const std::vector<std::string_view> kBelowTools = {
      "sim", "model", "faults", "skeleton", "detectors"};
  static const std::vector<std::string_view> kProduct =
      with(kBelowTools, {"planner", "scenarios/schema", "tools"});
  static const std::vector<Layer> kTable = {
      {"sim/base", {}, {}},
      {"sim/engine", {"sim/base"}, {}},
      {"detectors/telemetry", kSeam, {}},
      {"detectors/records", kSeam, {}},
      {"skeleton", kSeam, {}},
      {"detectors/schedule", with(kCore, {"skeleton"}), {}},
      {"detectors/window", kCore, {}},
      {"detectors/shortterm", kCore, {}},
      {"detectors/longterm", kCore, {}},
      {"detectors/loss", kCore, {}},
      {"detectors/detect", kCore, {}},
      {"detectors/localize", kCore, {}},
      {"detectors/incident", kCore, {}},
      {"detectors/intake", kSeam, {}},
      {"detectors/baselines", kCore, {}},
      {"detectors/pipeline", with(kCore, {"skeleton"}), {}},
      {"detectors/run_log", kSeam, {}},
      {"detectors/backend_replay", kBackend, {}},
      {"detectors/trial", with(kCore, {"detectors/run_log", "detectors/backend_replay"}), {}},
      {"detectors/backend_peers", kBackend, {}},
      {"detectors/backend_verbs", with(kBackend, {"detectors/backend_peers"}), {}},
      {"detectors/backend_ovs", kBackend, {}},
      {"detectors/backend_trace", kBackend, {}},
      {"model", {"sim/base", "sim/engine"}, {}},
      {"model/backend_sim", with(kSeam, {"sim/engine", "model"}), {}},
      {"faults", {"sim/base", "sim/engine", "model"}, {"model/backend_sim"}},
      {"planner/matrix", with(kSeam, {"model", "skeleton"}), {"model/backend_sim"}},
      {"planner/predict", with(kCore, {"skeleton"}), {}},
      {"planner/optimize", with(kSeam, {"model/fabric", "planner"}), {}},
      {"scenarios/schema", kBelowTools, {}},
      {"tools", kProduct, {}},
      {"tests", kProduct, {}},
      {"examples", {"sim/base", "skeleton", "detectors"}, {}},
  };
  return kTable;
}

const Layer* layer_of(std::string_view path) {
  const Layer* best = nullptr;
  for (const Layer& layer : layer_table()) {
    if (is_in(path, layer.folder) &&
        (best == nullptr || layer.folder.size() > best->folder.size())) {
      best = &layer;
    }
  }
  return best;
}

std::vector<Finding> check_layers(const SourceTree& tree) {
  std::vector<Finding> findings;
  for (const SourceFile& file : tree) {
    if (!is_cpp(file.path)) {
      continue;
    }
    const Layer* layer = layer_of(file.path);
    if (layer == nullptr) {
      findings.push_back({file.path, 0, "belongs to no layer of tools/lint/layer_rules.cpp"});
      continue;
    }
    for (const Include& include : includes_of(file)) {
      if (include.ours && !allowed(*layer, include.path)) {
        findings.push_back({file.path,
                            include.line,
                            fmt::format("{} may not include {}", layer->folder, include.path)});
      }
    }
  }
  return findings;
}

std::vector<Finding> check_library_includes(const SourceTree& tree) {
  std::vector<Finding> findings;
  for (const SourceFile& file : tree) {
    if (!is_cpp(file.path)) {
      continue;
    }
    for (const Include& include : includes_of(file)) {
      if (include.ours || is_open_to_all(include.path)) {
        continue;
      }
      const auto& table = library_table();
      const auto rule = std::find_if(table.begin(), table.end(), [&](const LibraryRule& r) {
        return matches(r, include.path);
      });
      const bool standard = include.path.find_first_of("./") == std::string_view::npos;
      if (rule == table.end() ? !standard : !holds(rule->folders, file.path)) {
        findings.push_back({file.path,
                            include.line,
                            fmt::format("<{}> is not open to {}", include.path, file.path)});
      }
    }
  }
  return findings;
}

std::vector<Finding> check_dead_files(const SourceTree& tree) {
  std::set<std::string> included;
  for (const SourceFile& file : tree) {
    if (!is_cpp(file.path)) {
      continue;
    }
    for (const Include& include : includes_of(file)) {
      const std::string header(include.path);
      if (include.ours && file.path != own_source(header)) {
        included.insert(header);
      }
    }
  }
  const std::set<std::string> named = named_to_the_build(tree);
  std::vector<Finding> findings;
  for (const SourceFile& file : tree) {
    if (is_header(file.path) && included.count(file.path) == 0) {
      findings.push_back({file.path, 0, "is included by nothing but its own source"});
    } else if (is_cpp(file.path) && !is_header(file.path) && named.count(file.path) == 0 &&
               named.count(std::string(folder_of(file.path))) == 0) {
      findings.push_back({file.path, 0, "no CMakeLists.txt names it or its folder"});
    }
  }
  return findings;
}

}  // namespace bonescan::lint
