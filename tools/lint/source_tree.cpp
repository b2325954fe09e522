#include "tools/lint/source_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace bonescan::lint {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 10> kFolders = {"detectors",
                                                       "examples",
                                                       "faults",
                                                       "model",
                                                       "results",
                                                       "scenarios",
                                                       "sim",
                                                       "skeleton",
                                                       "tests",
                                                       "tools"};
constexpr std::array<std::string_view, 12> kTextExtensions = {
    ".cmake", ".cpp", ".csv", ".h", ".in", ".json", ".md", ".py", ".sh", ".txt", ".yaml", ".yml"};

/// Golden files are somebody else's bytes, and may be broken on purpose.
constexpr std::string_view kGoldens = "tests/golden";

bool is_text(const fs::path& path) {
  const std::string extension = path.extension().string();
  return std::find(kTextExtensions.begin(), kTextExtensions.end(), extension) !=
         kTextExtensions.end();
}

void load_file(const fs::path& root, const fs::path& path, SourceTree& tree) {
  const std::string relative = path.lexically_relative(root).generic_string();
  if (!is_text(path) || is_in(relative, kGoldens)) {
    return;
  }
  std::ifstream in(path, std::ios::binary);
  tree.push_back({relative, std::string(std::istreambuf_iterator<char>(in), {})});
}

bool is_identifier(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

/// Blanks comments and literals in place, one construct at a time.
class Blanker {
 public:
  explicit Blanker(std::string_view text) : text_(text) {}

  std::string run() {
    while (at_ < text_.size()) {
      if (starts("//")) {
        blank_until("\n", 0);
      } else if (starts("/*")) {
        blank_until("*/", 2);
      } else if (starts("R\"")) {
        raw_string();
      } else if (text_[at_] == '"' || (text_[at_] == '\'' && !digit_separator())) {
        literal(text_[at_]);
      } else {
        ++at_;
      }
    }
    return std::move(text_);
  }

 private:
  bool starts(std::string_view token) const { return text_.compare(at_, token.size(), token) == 0; }

  bool digit_separator() const { return at_ > 0 && is_identifier(text_[at_ - 1]); }

  bool on_include_line() const {
    const std::size_t begin = text_.rfind('\n', at_) + 1;  // npos + 1 is 0
    return text_.compare(begin, 8, "#include") == 0;
  }

  void blank_to(std::size_t end) {
    for (; at_ < std::min(end, text_.size()); ++at_) {
      if (text_[at_] != '\n') {
        text_[at_] = ' ';
      }
    }
  }

  void blank_until(std::string_view token, std::size_t keep) {
    const std::size_t end = text_.find(token, at_ + keep);
    blank_to(end == std::string::npos ? text_.size() : end + keep);
  }

  void raw_string() {
    const std::size_t open = text_.find('(', at_);
    if (open == std::string::npos) {
      ++at_;
      return;
    }
    std::string close = ")";
    close.append(text_, at_ + 2, open - at_ - 2).append("\"");
    at_ = open;
    const std::size_t end = text_.find(close, at_);
    blank_to(end == std::string::npos ? text_.size() : end + close.size());
  }

  void literal(char quote) {
    const bool keep = on_include_line();
    std::size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != quote && text_[end] != '\n') {
      end += text_[end] == '\\' ? 2 : 1;
    }
    ++at_;
    if (keep) {
      at_ = end;
    } else {
      blank_to(end);
    }
    at_ = std::min(at_ + 1, text_.size());
  }

  std::string text_;
  std::size_t at_ = 0;
};

}  // namespace

std::string to_text(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& finding : findings) {
    text += fmt::format("{}:{}: {}\n", finding.path, finding.line, finding.what);
  }
  return text;
}

SourceTree load_tree(const std::string& root) {
  SourceTree tree;
  for (const std::string_view folder : kFolders) {
    const fs::path start = fs::path(root) / folder;
    if (!fs::is_directory(start)) {
      continue;
    }
    for (const auto& entry : fs::recursive_directory_iterator(start)) {
      if (entry.is_regular_file()) {
        load_file(root, entry.path(), tree);
      }
    }
  }
  if (tree.empty()) {
    throw std::runtime_error(root + " holds no source folder");
  }
  for (const auto& entry : fs::directory_iterator(root)) {
    if (entry.is_regular_file()) {
      load_file(root, entry.path(), tree);
    }
  }
  std::sort(tree.begin(), tree.end(), [](const SourceFile& a, const SourceFile& b) {
    return a.path < b.path;
  });
  return tree;
}

std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

std::string code_only(std::string_view text) {
  return Blanker(text).run();
}

std::size_t find_word(std::string_view line, std::string_view word, std::size_t from) {
  while ((from = line.find(word, from)) != std::string_view::npos) {
    const std::size_t end = from + word.size();
    const bool starts = from == 0 || !is_identifier(word.front()) || !is_identifier(line[from - 1]);
    const bool ends =
        end >= line.size() || !is_identifier(word.back()) || !is_identifier(line[end]);
    if (starts && ends) {
      return from;
    }
    ++from;
  }
  return std::string_view::npos;
}

bool is_header(std::string_view path) {
  return ends_with(path, ".h");
}

bool is_cpp(std::string_view path) {
  return is_header(path) || ends_with(path, ".cpp");
}

std::string_view folder_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

bool is_in(std::string_view path, std::string_view folder) {
  return path.substr(0, folder.size()) == folder &&
         (path.size() == folder.size() || path[folder.size()] == '/');
}

}  // namespace bonescan::lint
