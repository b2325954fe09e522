#include "detectors/backend_ovs/parse/match_field.h"

#include "detectors/backend_ovs/parse/match_scan.h"

#include <algorithm>
#include <cctype>
#include <vector>

namespace bonescan::backend_ovs {
namespace {

/// Deeper or longer than any key of Open vSwitch; bounds what one field can cost.
constexpr std::size_t kDeepestGroup = 8;
constexpr std::size_t kLongestName = 32;

/// A group that is open: how long the path was before it, and where its first part begins.
struct Group {
  std::size_t path_size = 0;
  std::size_t fields_before = 0;
};

class MatchScanner final {
 public:
  MatchScanner(const Line& line, std::vector<MatchField>& fields) : line_(line), fields_(fields) {}

  Expected<void> scan(std::string_view text) {
    std::size_t start = 0;
    for (std::size_t i = 0; i <= text.size(); ++i) {
      const char c = i == text.size() ? ',' : text[i];
      if (c == '{') {
        const std::size_t close = text.find('}', i);
        if (close == std::string_view::npos) {
          return tl::unexpected(expected_in(line_, text.substr(i), "a closing brace"));
        }
        i = close;
        continue;
      }
      if (c != '(' && c != ')' && c != ',') {
        continue;
      }
      const std::string_view part = trimmed(text.substr(start, i - start));
      start = i + 1;
      if (c == '(') {
        if (!open(part)) {
          return tl::unexpected(
              expected_in(line_, text.substr(start - 1 - part.size()), "a short key and '('"));
        }
        continue;
      }
      add(part);
      if (c == ')' && !close()) {
        return tl::unexpected(expected_in(line_, text.substr(i), "no ')' without '('"));
      }
    }
    if (!groups_.empty()) {
      return tl::unexpected(expected_in(line_, text, "as many ')' as '('"));
    }
    return {};
  }

 private:
  bool open(std::string_view name) {
    if (name.empty() || name.size() > kLongestName || groups_.size() == kDeepestGroup) {
      return false;
    }
    groups_.push_back({path_.size(), fields_.size()});
    path_ += name;
    path_ += '.';
    return true;
  }

  bool close() {
    if (groups_.empty()) {
      return false;
    }
    const Group group = groups_.back();
    groups_.pop_back();
    if (fields_.size() == group.fields_before) {
      fields_.push_back({path_.substr(0, path_.size() - 1), "", ""});
    }
    path_.resize(group.path_size);
    return true;
  }

  void add(std::string_view part) {
    if (part.empty()) {
      return;
    }
    if (part.front() == '{') {
      fields_.push_back({owner(), std::string(part), ""});
      return;
    }
    std::string key = owner();
    const std::size_t equals = part.find('=');
    if (equals != std::string_view::npos) {
      key = path_ + std::string(part.substr(0, std::min(equals, kLongestName)));
      part.remove_prefix(equals + 1);
    } else if (key.empty()) {
      fields_.push_back({std::string(part.substr(0, kLongestName)), "", ""});
      return;
    }
    const std::size_t slash = std::min(part.find('/'), part.size());
    fields_.push_back({std::move(key),
                       std::string(part.substr(0, slash)),
                       std::string(part.substr(std::min(slash + 1, part.size())))});
  }

  /// The group that a part without a key belongs to.
  std::string owner() const { return path_.empty() ? path_ : path_.substr(0, path_.size() - 1); }

  const Line& line_;
  std::vector<MatchField>& fields_;
  std::vector<Group> groups_;
  std::string path_;
};

}  // namespace

Expected<void> scan_match(const Line& line,
                          std::string_view text,
                          std::vector<MatchField>& fields) {
  return MatchScanner(line, fields).scan(text);
}

bool is_wildcard(const MatchField& field) {
  std::string_view mask = field.mask;
  take_prefix(mask, "0x");
  return !mask.empty() && mask.find_first_not_of("0.:") == std::string_view::npos;
}

const MatchField* find_field(std::span<const MatchField> fields, std::string_view key) {
  const auto found = std::find_if(
      fields.begin(), fields.end(), [key](const MatchField& field) { return field.key == key; });
  return found == fields.end() ? nullptr : &*found;
}

std::string to_string(const MatchField& field) {
  std::string text = field.key;
  if (!field.value.empty()) {
    text += "=" + field.value;
  }
  if (!field.mask.empty()) {
    text += "/" + field.mask;
  }
  return text;
}

}  // namespace bonescan::backend_ovs
