#include "scenarios/schema/yaml_tree.h"

#include "scenarios/schema/yaml_prescan.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <map>
#include <optional>
#include <sstream>
#include <utility>

namespace bonescan {
namespace {

using Source = std::shared_ptr<const std::string>;

/// yaml-cpp counts from 0, and says -1 where it does not know.
Position position_of(const YAML::Mark& mark, const Source& source) {
  return {source, std::max(mark.line, 0) + 1, std::max(mark.column, 0) + 1};
}

[[noreturn]] void reject_reuse(const Position& at, std::string_view path) {
  raise(at,
        path,
        {"a plain value",
         "a YAML anchor, alias or tag",
         "write the value out where it is needed; put text that begins with & * or ! in quotes"});
}

/// Whether the quoted scalar that begins at `text[start]` ends before the text does.
bool is_terminated(std::string_view text, std::size_t start) {
  const char quote = text[start];
  for (std::size_t i = start + 1; i < text.size(); ++i) {
    if (quote == '"' && text[i] == '\\') {
      ++i;
    } else if (text[i] == quote) {
      const bool doubled = quote == '\'' && i + 1 < text.size() && text[i + 1] == quote;
      if (!doubled) {
        return true;
      }
      ++i;
    }
  }
  return false;
}

/// Turns the parser's events into nodes, innermost open node last.
class TreeBuilder final : public YAML::EventHandler {
 public:
  TreeBuilder(std::string_view text, Source source) : text_(text), source_(std::move(source)) {}

  YamlNode take_root() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (started_) {
      raise(position_of(mark, source_),
            kWholeFile,
            {"one YAML document",
             "a second one",
             "keep it in a file of its own, and look here for a stray '---', comma or quote"});
    }
    started_ = true;
  }

  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    reject_anchor(mark, anchor);
    // An absent value has no place of its own: the parser reports the token after it.
    const bool is_value = !open_.empty() && open_.back().key;
    add(make_node(YamlNode::Kind::kNull,
                  is_value ? open_.back().key->at : position_of(mark, source_)));
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    reject_reuse(position_of(mark, source_), path());
  }

  void OnScalar(const YAML::Mark& mark,
                const std::string& tag,
                YAML::anchor_t anchor,
                const std::string& value) override {
    reject_tag(mark, tag);
    reject_anchor(mark, anchor);
    if (tag == "!") {
      reject_open_quote(mark);
    }
    add(make_node(YamlNode::Kind::kScalar, position_of(mark, source_), value));
  }

  void OnSequenceStart(const YAML::Mark& mark,
                       const std::string& tag,
                       YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(YamlNode::Kind::kList, mark, tag, anchor);
  }

  void OnSequenceEnd() override { close(); }

  void OnMapStart(const YAML::Mark& mark,
                  const std::string& tag,
                  YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(YamlNode::Kind::kMap, mark, tag, anchor);
  }

  void OnMapEnd() override { close(); }

 private:
  struct OpenNode {
    YamlNode node;
    std::optional<YamlEntry> key;           ///< of a map: read, and waiting for its value
    std::map<std::string, Position> known;  ///< keys of a map so far
  };

  /// Where the next value will stand.
  std::string path() const {
    std::string result;
    for (const OpenNode& level : open_) {
      if (level.node.kind == YamlNode::Kind::kList) {
        result += fmt::format("[{}]", level.node.items.size());
      } else if (level.key) {
        result += (result.empty() ? "" : ".") + level.key->key;
      }
    }
    return result;
  }

  void reject_tag(const YAML::Mark& mark, const std::string& tag) const {
    // "?" marks a plain value and "!" a quoted one; neither stands in the file.
    if (!tag.empty() && tag != "?" && tag != "!") {
      reject_reuse(position_of(mark, source_), path());
    }
  }

  /// yaml-cpp takes the end of the file for a closing quote, and with it all keys in between.
  void reject_open_quote(const YAML::Mark& mark) const {
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    const std::size_t skipped = text_.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
    const std::size_t start = static_cast<std::size_t>(std::max(mark.pos, 0)) + skipped;
    const bool is_quote = start < text_.size() && (text_[start] == '"' || text_[start] == '\'');
    if (is_quote && !is_terminated(text_, start)) {
      raise(position_of(mark, source_),
            path(),
            {"a closing quote",
             "the end of the file",
             fmt::format("end this text with {}", text_[start])});
    }
  }

  void reject_anchor(const YAML::Mark& mark, YAML::anchor_t anchor) const {
    if (anchor != 0) {
      reject_reuse(position_of(mark, source_), path());
    }
  }

  /// CORRECTNESS: throwing here also bounds the recursion of yaml-cpp, which tells us of a node
  /// before it enters it.
  void open(YamlNode::Kind kind,
            const YAML::Mark& mark,
            const std::string& tag,
            YAML::anchor_t anchor) {
    const Position at = position_of(mark, source_);
    reject_tag(mark, tag);
    reject_anchor(mark, anchor);
    if (open_.size() >= kMaxYamlDepth) {
      raise(at,
            path(),
            {fmt::format("at most {} levels of nesting", kMaxYamlDepth),
             "one more",
             "a scenario needs no more than six; look for stray brackets or blanks"});
    }
    if (expects_key()) {
      reject_complex_key(at);
    }
    open_.push_back({.node = make_node(kind, at), .key = std::nullopt, .known = {}});
  }

  void close() {
    YamlNode node = std::move(open_.back().node);
    open_.pop_back();
    add(std::move(node));
  }

  bool expects_key() const {
    return !open_.empty() && open_.back().node.kind == YamlNode::Kind::kMap && !open_.back().key;
  }

  [[noreturn]] void reject_complex_key(const Position& at) const {
    raise(at,
          path(),
          {"a key (one word)",
           "something else",
           "write 'key: value'; close every [ and {, and put commas between entries"});
  }

  void add(YamlNode node) {
    if (++count_ > kMaxYamlValues) {
      raise(node.at,
            path(),
            {fmt::format("at most {} keys and values", kMaxYamlValues),
             "more",
             "split the scenario"});
    }
    if (open_.empty()) {
      root_ = std::move(node);
      return;
    }
    if (expects_key()) {
      add_key(std::move(node));
      return;
    }
    OpenNode& parent = open_.back();
    if (parent.node.kind == YamlNode::Kind::kList) {
      parent.node.items.push_back(std::move(node));
      return;
    }
    parent.key->value = std::move(node);
    parent.node.entries.push_back(std::move(*parent.key));
    parent.key.reset();
  }

  void add_key(YamlNode node) {
    if (node.kind != YamlNode::Kind::kScalar || node.text.empty()) {
      reject_complex_key(node.at);
    }
    OpenNode& map = open_.back();
    const auto [known, is_new] = map.known.emplace(node.text, node.at);
    map.key = YamlEntry{.key = std::move(node.text), .at = node.at, .value = {}};
    if (!is_new) {
      raise(node.at,
            path(),
            {"each key once",
             fmt::format("{} again", in_quotes(map.key->key)),
             fmt::format("it is already given in line {}; delete one of the two",
                         known->second.line)});
    }
  }

  std::string_view text_;
  Source source_;
  std::size_t count_ = 0;  ///< keys and values so far
  bool started_ = false;
  YamlNode root_;
  std::vector<OpenNode> open_;
};

/// Line `number` of the text, counted from 1.
std::string_view line_of(std::string_view text, int number) {
  for (int line = 1; line < number && !text.empty(); ++line) {
    text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  }
  return text.substr(0, text.find('\n'));
}

[[noreturn]] void raise_syntax_error(const YAML::Exception& error,
                                     std::string_view text,
                                     const Source& source) {
  const Position at = position_of(error.mark, source);
  const std::string_view line = line_of(text, at.line);
  if (error.msg.starts_with(YAML::ErrorMsg::UNKNOWN_ANCHOR)) {
    reject_reuse(at, kWholeFile);
  }
  const std::size_t indentation = std::min(line.find_first_not_of(" \t"), line.size());
  const bool is_tab = line.substr(0, indentation).find('\t') != std::string_view::npos;
  raise(at,
        kWholeFile,
        {"valid YAML",
         error.msg,
         is_tab ? "indent with blanks, not with tabs"
                : "check the indentation, brackets, quotes and colons at and above this place"});
}

/// A null node for a file without any value.
YamlNode parse(std::string_view text, const Source& source) {
  check_yaml_bytes(text, source);
  TreeBuilder builder(text, source);
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::Exception& error) {
    raise_syntax_error(error, text, source);
  }
  return builder.take_root();
}

}  // namespace

const YamlEntry* YamlNode::find(std::string_view key) const {
  const auto entry = std::ranges::find(entries, key, &YamlEntry::key);
  return entry == entries.end() ? nullptr : &*entry;
}

YamlEntry* YamlNode::find(std::string_view key) {
  return const_cast<YamlEntry*>(std::as_const(*this).find(key));
}

YamlNode make_node(YamlNode::Kind kind, Position at, std::string text) {
  YamlNode node;
  node.kind = kind;
  node.at = std::move(at);
  node.text = std::move(text);
  return node;
}

std::string describe(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::kScalar:
      return in_quotes(node.text);
    case YamlNode::Kind::kList:
      return "a list";
    case YamlNode::Kind::kMap:
      return "a map";
    case YamlNode::Kind::kNull:
      break;
  }
  return "nothing";
}

YamlNode parse_yaml_tree(std::string_view text, const Source& source) {
  YamlNode root = parse(text, source);
  const Position start{source, 1, 1};
  if (root.kind == YamlNode::Kind::kNull) {
    raise(start,
          kWholeFile,
          {"keys and values", "an empty file", "copy scenarios/quickstart.yaml and change it"});
  }
  if (root.kind != YamlNode::Kind::kMap) {
    raise(root.at,
          kWholeFile,
          {"a map of keys, as in 'duration: 30min'",
           describe(root),
           "copy scenarios/quickstart.yaml and change it"});
  }
  return root;
}

YamlNode parse_yaml_value(std::string_view text, const Source& source) {
  return parse(text, source);
}

}  // namespace bonescan
