#include "tools/lint/text_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace bonescan::lint {
namespace {

constexpr std::size_t kMaxColumns = 100;
constexpr std::size_t kMaxLines = 500;

bool is_one_of(const std::vector<std::string_view>& places, std::string_view path) {
  return std::any_of(
      places.begin(), places.end(), [path](std::string_view place) { return is_in(path, place); });
}

bool is_path_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
         std::string_view("_-.}/~*").find(c) != std::string_view::npos;
}

/// Columns as an editor counts them: one for each UTF-8 character.
std::size_t columns(std::string_view line) {
  return static_cast<std::size_t>(std::count_if(line.begin(), line.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

/// A suppression must name its check in parentheses and give a reason after a colon.  The mark is
/// built from halves, or this line would be one.
bool is_bare_suppression(std::string_view line) {
  const std::string mark = std::string("NO").append("LINT");
  const std::size_t at = line.find("// " + mark);
  if (at == std::string_view::npos || line.find(mark + "END", at) != std::string_view::npos) {
    return false;
  }
  const std::size_t open = line.find('(', at);
  const std::size_t close = line.find("): ", at);
  return open == std::string_view::npos || close == std::string_view::npos || close < open;
}

/// Built from halves, too.
bool has_reminder(std::string_view line) {
  const std::string later = std::string("TO").append("DO");
  const std::string broken = std::string("FIX").append("ME");
  return find_word(line, later) != std::string_view::npos ||
         find_word(line, broken) != std::string_view::npos;
}

void check_line_form(const std::string& path,
                     std::size_t number,
                     std::string_view line,
                     std::vector<Finding>& findings) {
  if (line.find('\t') != std::string_view::npos) {
    findings.push_back({path, number, "tab"});
  }
  if (columns(line) > kMaxColumns) {
    findings.push_back({path, number, fmt::format("{} columns", columns(line))});
  }
  if (has_reminder(line)) {
    findings.push_back({path, number, "a reminder belongs into an issue"});
  }
  if (is_bare_suppression(line)) {
    findings.push_back({path, number, "a suppression names its check and reason: (check): why"});
  }
}

bool has_machine_path(std::string_view line) {
  constexpr std::array<std::string_view, 5> kRoots = {"work", "home", "root", "Users", "tmp"};
  for (std::size_t at = line.find('/'); at != std::string_view::npos; at = line.find('/', at + 1)) {
    if (at > 0 && is_path_character(line[at - 1])) {
      continue;
    }
    for (const std::string_view root : kRoots) {
      if (line.compare(at + 1, root.size(), root) == 0 && line.size() > at + 1 + root.size() &&
          line[at + 1 + root.size()] == '/') {
        return true;
      }
    }
  }
  return false;
}

}  // namespace

const std::vector<BannedWord>& banned_words() {
  static const std::vector<std::string_view> kAbove = {"tools", "tests"};
  static const std::vector<std::string_view> kFacingTheWorld = {"tools",
                                                                "tests",
                                                                "detectors/backend_verbs",
                                                                "detectors/backend_ovs",
                                                                "detectors/backend_trace"};
  static const std::vector<std::string_view> kMayThrow = {"scenarios", "tools", "tests"};
  static const std::vector<std::string_view> kCallbacks = {"tools",
                                                           "tests",
                                                           "scenarios",
                                                           "detectors/backend_peers",
                                                           "detectors/backend_trace",
                                                           "detectors/backend_verbs",
                                                           "detectors/pipeline/run_loop.h",
                                                           "detectors/pipeline/run_loop.cpp",
                                                           "detectors/run_log"};
  static const std::vector<std::string_view> kPrints = {
      "examples", "tools", "tests", "sim/base/check.cpp"};
  static const std::vector<BannedWord> kWords = {
      {"rand", "RngStream", kAbove},
      {"srand", "RngStream", kAbove},
      {"random_device", "RngStream", kAbove},
      {"mt19937", "RngStream", kAbove},
      {"mt19937_64", "RngStream", kAbove},
      {"default_random_engine", "RngStream", kAbove},
      {"#include <random>", "RngStream and sim/base/distributions.h", kAbove},
      {"system_clock", "time is handed in", kFacingTheWorld},
      {"steady_clock", "time is handed in", kFacingTheWorld},
      {"high_resolution_clock", "time is handed in", kFacingTheWorld},
      {"clock_gettime", "time is handed in", kFacingTheWorld},
      {"gettimeofday", "time is handed in", kFacingTheWorld},
      {"std::time(", "time is handed in", kFacingTheWorld},
      {"time(nullptr)", "time is handed in", kFacingTheWorld},
      {"std::this_thread", "results do not depend on threads", kFacingTheWorld},
      {"getenv", "options are handed in", kAbove},
      {"setlocale", "output does not depend on the locale", kAbove},
      {"#include <unordered_map>", "a sorted container or IdVector", kAbove},
      {"#include <unordered_set>", "a sorted container or IdVector", kAbove},
      {"throw", "Expected<T>", kMayThrow},
      {"std::function", "a template parameter or an interface", kCallbacks},
      {"std::cout", "output belongs to tools", kPrints},
      {"std::cerr", "output belongs to tools", kPrints},
      {"printf", "output belongs to tools", kPrints},
      {"fprintf", "output belongs to tools", kPrints},
      {"puts", "output belongs to tools", kPrints},
      {"fmt::print", "output belongs to tools", kPrints},
      {"using namespace", "name what is used", {}},
  };
  return kWords;
}

std::vector<Finding> check_banned_words(const SourceTree& tree) {
  std::vector<Finding> findings;
  for (const SourceFile& file : tree) {
    if (!is_cpp(file.path)) {
      continue;
    }
    const std::string code = code_only(file.text);
    std::size_t number = 0;
    for (const std::string_view line : split_lines(code)) {
      ++number;
      for (const BannedWord& banned : banned_words()) {
        if (find_word(line, banned.word) != std::string_view::npos &&
            !is_one_of(banned.where_ok, file.path)) {
          findings.push_back(
              {file.path, number, fmt::format("{} is banned: {}", banned.word, banned.instead)});
        }
      }
      const std::size_t distribution = line.find("_distribution");
      if (distribution != std::string_view::npos && line.find("std::") < distribution &&
          !is_in(file.path, "tools") && !is_in(file.path, "tests")) {
        findings.push_back({file.path, number, "std distributions differ between libraries"});
      }
    }
  }
  return findings;
}

std::vector<Finding> check_header_prose(const SourceTree& tree) {
  std::vector<Finding> findings;
  for (const SourceFile& file : tree) {
    if (!is_header(file.path)) {
      continue;
    }
    std::size_t words = 0;
    bool once = false;
    for (const std::string_view line : split_lines(file.text)) {
      if (line == "#pragma once") {
        once = true;
        break;
      }
      if (line.substr(0, 2) != "//") {
        break;
      }
      words += static_cast<std::size_t>(std::count(line.begin(), line.end(), ' '));
    }
    if (!once) {
      findings.push_back(
          {file.path, 1, "opens with prose, then #pragma once, and nothing between"});
    } else if (words < 3) {
      findings.push_back({file.path, 1, "does not say what it is"});
    }
  }
  return findings;
}

std::vector<Finding> check_form(const SourceTree& tree) {
  std::vector<Finding> findings;
  for (const SourceFile& file : tree) {
    if (!is_cpp(file.path)) {
      continue;
    }
    const std::vector<std::string_view> lines = split_lines(file.text);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      check_line_form(file.path, i + 1, lines[i], findings);
    }
    if (file.text.empty() || file.text.back() != '\n') {
      findings.push_back({file.path, lines.size(), "no newline at the end"});
    }
    if (lines.size() > kMaxLines) {
      findings.push_back({file.path, lines.size(), fmt::format("{} lines", lines.size())});
    }
  }
  return findings;
}

std::vector<Finding> check_machine_paths(const SourceTree& tree) {
  std::vector<Finding> findings;
  for (const SourceFile& file : tree) {
    std::size_t number = 0;
    for (const std::string_view line : split_lines(file.text)) {
      ++number;
      if (has_machine_path(line)) {
        findings.push_back({file.path, number, "a path of one machine"});
      }
    }
  }
  return findings;
}

}  // namespace bonescan::lint
