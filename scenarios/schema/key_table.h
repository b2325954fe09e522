// Keys of the schema, each declared once: name, type, default, range, meaning, and where it goes.
//
// Reading a file and describing the schema both walk the same table, so that no key can be accepted
// but undocumented, or documented but ignored.  A default is not written down here: it is what the
// field holds in a default-made T.
// A key's name may have dots ("ovs.max_idle"): the sections between them are maps in the file.
//
//   KeyTable<JobOptions> table;
//   table.count("gpus", {1, 1'000'000}, field(&JobOptions::gpus), "GPUs of the job.").required();
#pragma once

#include "scenarios/schema/quantity.h"
#include "scenarios/schema/schema_key.h"
#include "scenarios/schema/yaml_tree.h"
#include "sim/base/units.h"

#include <cstddef>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace bonescan {

/// Both ends included.
template <class V>
struct Range {
  V low;
  V high;
};

/// An enumerator and its name in YAML.
template <class E>
using Choices = std::vector<std::pair<std::string_view, E>>;

/// From an object to one of its (nested) members: field(&Scenario::fabric, &FabricOptions::rails).
template <class... Members>
constexpr auto field(Members... members) {
  return [members...](auto& object) -> auto& {
    return (object.*....*members);
  };
}

// Readers of one value.  @throws ConfigError at the value, if it has another type or range
std::int64_t read_count(const YamlNode& node, std::string_view path, Range<std::int64_t> range);
double read_number(const YamlNode& node, std::string_view path, Range<double> range);
double read_ratio(const YamlNode& node, std::string_view path, Range<double> range);
Duration read_duration(const YamlNode& node, std::string_view path, Range<Duration> range);
BitsPerSecond read_rate(const YamlNode& node, std::string_view path, Range<BitsPerSecond> range);
Bytes read_size(const YamlNode& node, std::string_view path, Range<Bytes> range);
/// `range` counts bytes.
std::string read_text(const YamlNode& node, std::string_view path, Range<std::size_t> range);
/// Index into `names`.
std::size_t read_choice(const YamlNode& node,
                        std::string_view path,
                        const std::vector<std::string_view>& names);
/// The items of a list.
const std::vector<YamlNode>& read_list(const YamlNode& node,
                                       std::string_view path,
                                       Range<std::size_t> range);

/// "a | b | c"
std::string join_names(const std::vector<std::string_view>& names);

/// The name that was probably meant, if one is close enough.
std::optional<std::string> nearest_name(std::string_view text,
                                        const std::vector<std::string_view>& names);

/// "base.key", or "key" at the root.
std::string join_path(std::string_view base, std::string_view key);

/// A key that stands in the file: its row in the table, and its value.
struct KeyMatch {
  std::size_t index;
  std::string path;
  const YamlNode* value;
};

/// Finds the rows that belong to the entries of a map, in the order of the file.
/// @throws ConfigError for an unknown key, a section that is no map, a required key that is missing
std::vector<KeyMatch> match_keys(const YamlNode& map,
                                 std::string_view base,
                                 const std::vector<SchemaKey>& keys);

constexpr std::string_view kRequired = "required";

template <class T>
class KeyTable final {
 public:
  /// What a declaration returns, to say more about the key.
  class Declaration final {
   public:
    explicit Declaration(SchemaKey& key) : key_(key) {}

    void required() { key_.fallback = kRequired; }

    /// The default in words, where the value does not say it.
    void otherwise(std::string_view words) { key_.fallback = words; }

   private:
    SchemaKey& key_;
  };

  template <class F>
  Declaration count(std::string name, Range<std::int64_t> range, F field, std::string meaning) {
    return add({std::move(name),
                "count",
                fallback(field, [](auto value) { return std::to_string(value); }),
                range_text(range, [](std::int64_t value) { return std::to_string(value); }),
                std::move(meaning)},
               [range, field](const YamlNode& node, std::string_view path, T& object) {
                 assign(field(object), read_count(node, path, range));
               });
  }

  template <class F>
  Declaration number(std::string name, Range<double> range, F field, std::string meaning) {
    return add({std::move(name),
                "number",
                fallback(field, format_number),
                range_text(range, format_number),
                std::move(meaning)},
               [range, field](const YamlNode& node, std::string_view path, T& object) {
                 field(object) = read_number(node, path, range);
               });
  }

  template <class F>
  Declaration ratio(std::string name, Range<double> range, F field, std::string meaning) {
    return add({std::move(name),
                "ratio",
                fallback(field, format_number),
                range_text(range, format_number),
                std::move(meaning)},
               [range, field](const YamlNode& node, std::string_view path, T& object) {
                 field(object) = read_ratio(node, path, range);
               });
  }

  template <class F>
  Declaration duration(std::string name, Range<Duration> range, F field, std::string meaning) {
    return add({std::move(name),
                "duration",
                fallback(field, format_duration),
                range_text(range, format_duration),
                std::move(meaning)},
               [range, field](const YamlNode& node, std::string_view path, T& object) {
                 field(object) = read_duration(node, path, range);
               });
  }

  template <class F>
  Declaration rate(std::string name, Range<BitsPerSecond> range, F field, std::string meaning) {
    return add({std::move(name),
                "rate",
                fallback(field, format_rate),
                range_text(range, format_rate),
                std::move(meaning)},
               [range, field](const YamlNode& node, std::string_view path, T& object) {
                 field(object) = read_rate(node, path, range);
               });
  }

  /// The field is a plain count of bytes.
  template <class F>
  Declaration size(std::string name, Range<Bytes> range, F field, std::string meaning) {
    return add(
        {std::move(name),
         "size",
         fallback(field,
                  [](auto count) { return format_size(Bytes(static_cast<std::int64_t>(count))); }),
         range_text(range, format_size),
         std::move(meaning)},
        [range, field](const YamlNode& node, std::string_view path, T& object) {
          assign(field(object), read_size(node, path, range).count());
        });
  }

  template <class F>
  Declaration text(std::string name, Range<std::size_t> range, F field, std::string meaning) {
    const auto with_unit = [](std::size_t bytes) { return std::to_string(bytes); };
    return add({std::move(name),
                "text",
                fallback(field, [](auto value) { return value; }),
                range_text(range, with_unit) + " bytes",
                std::move(meaning)},
               [range, field](const YamlNode& node, std::string_view path, T& object) {
                 field(object) = read_text(node, path, range);
               });
  }

  /// Kept as text here: what it names is known only when the fabric is.
  template <class F>
  Declaration component(std::string name, F field, std::string meaning) {
    return add({std::move(name), "component", "", "", std::move(meaning)},
               [field](const YamlNode& node, std::string_view path, T& object) {
                 field(object) = read_text(node, path, {1, 200});
               });
  }

  template <class E, class F>
  Declaration choice(std::string name, Choices<E> choices, F field, std::string meaning) {
    std::vector<std::string_view> names;
    for (const auto& [text, value] : choices) {
      names.push_back(text);
    }
    const auto name_of = [&choices](E wanted) {
      for (const auto& [text, value] : choices) {
        if (value == wanted) {
          return std::string(text);
        }
      }
      return std::string();
    };
    return add({std::move(name),
                "one of " + join_names(names),
                fallback(field, name_of),
                "",
                std::move(meaning)},
               [names, choices, field](const YamlNode& node, std::string_view path, T& object) {
                 field(object) = choices[read_choice(node, path, names)].second;
               });
  }

  template <class Item, class F>
  Declaration list(std::string name,
                   Range<std::size_t> range,
                   KeyTable<Item> items,
                   F field,
                   std::string meaning) {
    const std::string item_base = name + "[]";
    const auto entries = [](std::size_t count) { return std::to_string(count); };
    const Declaration declaration =
        add({std::move(name),
             "list of maps",
             "empty",
             range_text(range, entries) + " entries",
             std::move(meaning)},
            [range, items, field](const YamlNode& node, std::string_view path, T& object) {
              for (const YamlNode& item : read_list(node, path, range)) {
                const std::string index = std::to_string(field(object).size());
                Item value{};
                items.read(item, std::string(path) + "[" + index + "]", value);
                field(object).push_back(std::move(value));
              }
            });
    children_.back() = items.keys(item_base);
    return declaration;
  }

  /// A list of plain values, each read by read(node, path).  Replaces what the field holds.
  template <class Read, class F>
  Declaration values(std::string name,
                     Range<std::size_t> range,
                     std::string_view what,
                     Read read,
                     F field,
                     std::string meaning) {
    const auto entries = [](std::size_t count) { return std::to_string(count); };
    return add(
        {std::move(name),
         "list of " + std::string(what),
         "empty",
         range_text(range, entries) + " entries",
         std::move(meaning)},
        [range, read, field](const YamlNode& node, std::string_view path, T& object) {
          auto& list = field(object);
          list.clear();
          for (const YamlNode& item : read_list(node, path, range)) {
            list.push_back(read(item, std::string(path) + "[" + std::to_string(list.size()) + "]"));
          }
        });
  }

  /// Takes in the keys of a part of T, which `field` finds in it.
  template <class Part, class F>
  void include(const KeyTable<Part>& part, F field) {
    keys_.insert(keys_.end(), part.keys_.begin(), part.keys_.end());
    children_.insert(children_.end(), part.children_.begin(), part.children_.end());
    for (const auto& reader : part.readers_) {
      readers_.push_back([reader, field](const YamlNode& node, std::string_view path, T& object) {
        reader(node, path, field(object));
      });
    }
  }

  /// Reads a map into `object`; fields whose key is absent keep their value.
  /// @throws ConfigError
  void read(const YamlNode& map, std::string_view base, T& object) const {
    for (const KeyMatch& match : match_keys(map, base, keys_)) {
      readers_[match.index](*match.value, match.path, object);
    }
  }

  /// Every key, those of lists included.
  std::vector<SchemaKey> keys(std::string_view base) const {
    std::vector<SchemaKey> result;
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      std::vector<SchemaKey> row = {keys_[i]};
      row.insert(row.end(), children_[i].begin(), children_[i].end());
      for (SchemaKey& key : row) {
        key.path = join_path(base, key.path);
        result.push_back(std::move(key));
      }
    }
    return result;
  }

 private:
  template <class Whole>
  friend class KeyTable;

  using Reader = std::function<void(const YamlNode&, std::string_view path, T&)>;

  Declaration add(SchemaKey key, Reader reader) {
    keys_.push_back(std::move(key));
    readers_.push_back(std::move(reader));
    children_.emplace_back();
    return Declaration(keys_.back());
  }

  template <class Member, class V>
  static void assign(Member& member, V value) {
    member = static_cast<Member>(value);
  }

  template <class Member, class V>
  static void assign(std::optional<Member>& member, V value) {
    member = static_cast<Member>(value);
  }

  template <class Member, class Format>
  static std::string format_default(const Member& member, Format format) {
    return format(member);
  }

  template <class Member, class Format>
  static std::string format_default(const std::optional<Member>&, Format) {
    return "";
  }

  template <class F, class Format>
  static std::string fallback(F field, Format format) {
    T defaults{};
    return format_default(field(defaults), format);
  }

  template <class V, class Format>
  static std::string range_text(const Range<V>& range, Format format) {
    return format(range.low) + " .. " + format(range.high);
  }

  std::vector<SchemaKey> keys_;
  std::vector<Reader> readers_;
  std::vector<std::vector<SchemaKey>> children_;  ///< keys of the items of a list
};

}  // namespace bonescan
