#include "tools/gates/gate_file.h"

#include "scenarios/schema/config_file.h"
#include "scenarios/schema/key_table.h"
#include "scenarios/schema/yaml_edit.h"
#include "scenarios/schema/yaml_tree.h"

#include <fmt/format.h>

#include <memory>
#include <set>
#include <utility>

namespace bonescan {
namespace {

constexpr Range<std::size_t> kName = {1, 120};
constexpr Range<std::size_t> kLimit = {1, 40};

/// A gate as it stands in the file.
struct GateEntry {
  Gate gate{};
  std::optional<std::string> at_least;
  std::optional<std::string> at_most;
  std::optional<std::string> margin;
  std::optional<std::string> significance;
  std::optional<double> unknown_at_most;
};

struct GateEntries {
  GateFile file{};
  std::string scheme = "bonescan";
  double unknown_at_most = 0.01;
  std::vector<GateEntry> gates;
};

void add_limits(KeyTable<GateEntry>& table) {
  table
      .text("at_least",
            kLimit,
            field(&GateEntry::at_least),
            "Ratios: the lower bound must reach this.")
      .otherwise("none");
  table
      .text("at_most",
            kLimit,
            field(&GateEntry::at_most),
            "Times (`8s`) and false alarms (a number): the upper bound must stay within this.")
      .otherwise("none");
  table
      .text("margin",
            kLimit,
            field(&GateEntry::margin),
            "Against the baseline: the bound of the difference may be so much worse, a ratio or a "
            "duration.")
      .otherwise("none");
  table
      .text("significance",
            kLimit,
            field(&GateEntry::significance),
            "Against the baseline: red if the exact McNemar test proves a loss at this level. "
            "Weak: few pairs prove nothing.")
      .otherwise("none");
}

KeyTable<GateEntry> entry_table() {
  KeyTable<GateEntry> table;
  table
      .text("name",
            kName,
            field(&GateEntry::gate, &Gate::name),
            "What the test case is called, unique.")
      .required();
  Choices<GateMeasure> measures;
  for (const MeasureInfo& info : gate_measures()) {
    measures.emplace_back(info.name, info.measure);
  }
  table
      .choice<GateMeasure>(
          "measure", measures, field(&GateEntry::gate, &Gate::measure), "The figure.")
      .required();
  table.text("scheme", kName, field(&GateEntry::gate, &Gate::scheme), "Whose rows of the campaign.")
      .otherwise("the file's");
  table
      .text("baseline_scheme",
            kName,
            field(&GateEntry::gate, &Gate::baseline_scheme),
            "Whose rows of the baseline, where it is compared with one.")
      .otherwise("the same");
  table.text("on",
             kName,
             field(&GateEntry::gate, &Gate::on),
             "Which faults: `all`, `kind NAME`, `symptom NAME`, `class NAME`, or `each kind`, "
             "`each symptom`, `each class`, where the worst decides.");
  add_limits(table);
  table.choice<DecidedBy>("decided_by",
                          {{"bound", DecidedBy::kBound}, {"point", DecidedBy::kPoint}},
                          field(&GateEntry::gate, &Gate::decided_by),
                          "The one-sided bound, or the figure itself, which proves nothing and is "
                          "said to.");
  table
      .ratio("unknown_at_most",
             {0.0, 1.0},
             field(&GateEntry::unknown_at_most),
             "Share of failed runs, of undecided faults, and of pairs without a partner, that is "
             "accepted.")
      .otherwise("the file's");
  return table;
}

KeyTable<GateEntries> file_table() {
  KeyTable<GateEntries> table;
  table.text("scheme", kName, field(&GateEntries::scheme), "Whose rows the gates look at.");
  table.choice<SeedChoice>(
      "seeds",
      {{"all", SeedChoice::kAll}, {"odd", SeedChoice::kOdd}, {"even", SeedChoice::kEven}},
      field(&GateEntries::file, &GateFile::seeds),
      "Seeds that count. What is tuned on even seeds is claimed on odd ones.");
  table.ratio("confidence",
              {0.5, 0.9999},
              field(&GateEntries::file, &GateFile::options, &StrataOptions::confidence),
              "Of every one-sided bound.");
  table.number("faults_per_fleet_day",
               {0.001, 1e6},
               field(&GateEntries::file, &GateFile::options, &StrataOptions::faults_per_day),
               "Prevalence for `precision_restated`, per 32,768 RNIC-days.");
  table.ratio("unknown_at_most",
              {0.0, 1.0},
              field(&GateEntries::unknown_at_most),
              "As in a gate, for all that do not say it.");
  table.count("bootstrap.resamples",
              {100, 100'000},
              field(&GateEntries::file, &GateFile::options, &StrataOptions::resamples),
              "Draws of seeds, for the bounds of times.");
  table.count("bootstrap.seed",
              {0, std::numeric_limits<std::int64_t>::max()},
              field(&GateEntries::file, &GateFile::options, &StrataOptions::bootstrap_seed),
              "Decides these draws.");
  table.list("gates", {1, 1000}, entry_table(), field(&GateEntries::gates), "The gates.")
      .required();
  return table;
}

std::optional<GateScope> parse_scope(std::string_view text) {
  if (text == "all") {
    return GateScope{};
  }
  constexpr std::string_view kEach = "each ";
  const bool each = text.starts_with(kEach);
  if (each) {
    text.remove_prefix(kEach.size());
  }
  using Word = std::pair<std::string_view, StratifyBy>;
  for (const auto& [word, by] : {Word{"kind", StratifyBy::kKind},
                                 Word{"symptom", StratifyBy::kSymptom},
                                 Word{"class", StratifyBy::kClass}}) {
    if (!text.starts_with(word)) {
      continue;
    }
    const std::string_view rest = text.substr(word.size());
    if (each && rest.empty()) {
      return GateScope{.by = by};
    }
    if (!each && rest.size() > 1 && rest[0] == ' ') {
      return GateScope{.by = by, .name = std::string(rest.substr(1))};
    }
  }
  return std::nullopt;
}

/// Makes one gate of one entry, and complains at the key that is wrong.
class GateReader final {
 public:
  GateReader(const YamlNode& root, std::size_t index)
      : root_(root), base_(fmt::format("gates[{}]", index)) {}

  Gate read(const GateEntry& entry) {
    Gate gate = entry.gate;
    const MeasureInfo& info = info_of(gate.measure);
    read_scope(gate, info);
    const std::string key = rule_key(entry);
    read_rule(key, gate, info);
    if (!gate.is_paired() && !gate.baseline_scheme.empty()) {
      complain("baseline_scheme",
               {"a gate that is compared with a baseline",
                in_quotes(key),
                "give margin or significance, or delete it"});
    }
    if (gate.rule == GateRule::kTest && gate.decided_by == DecidedBy::kPoint) {
      complain("decided_by",
               {"bound, since a test has no point", "'point'", "delete it, or give a margin"});
    }
    return gate;
  }

 private:
  [[noreturn]] void complain(std::string_view key, const Complaint& complaint) const {
    const std::string path = join_path(base_, key);
    raise(locate(root_, path), path, complaint);
  }

  void read_scope(Gate& gate, const MeasureInfo& info) const {
    const auto scope = parse_scope(gate.on);
    if (!scope) {
      complain("on",
               {"all, each kind, each symptom, each class, or kind, symptom or class with a name",
                in_quotes(gate.on),
                "write it as 'kind crc-error'"});
    }
    if (scope->by && !info.has_strata) {
      complain("on",
               {"all, since a false alarm belongs to no kind of fault",
                in_quotes(gate.on),
                fmt::format("delete it, or choose another measure than {}", info.name)});
    }
    if (scope->by == StratifyBy::kSymptom && scope->name && !symptom_from_string(*scope->name)) {
      complain("on",
               {"unreachable, loss or latency as the symptom",
                in_quotes(*scope->name),
                "write it as 'symptom loss'"});
    }
    gate.scope = *scope;
  }

  /// The one rule that is given.
  std::string rule_key(const GateEntry& entry) const {
    std::vector<std::string> given;
    for (const auto& [key, text] : {std::pair("at_least", &entry.at_least),
                                    std::pair("at_most", &entry.at_most),
                                    std::pair("margin", &entry.margin),
                                    std::pair("significance", &entry.significance)}) {
      if (*text) {
        given.emplace_back(key);
      }
    }
    if (given.size() != 1) {
      const std::string at = given.empty() ? std::string("name") : given[1];
      complain(at,
               {"one of at_least, at_most, margin and significance",
                given.empty() ? "none of them" : fmt::format("{} and {}", given[0], given[1]),
                "make a gate of each"});
    }
    return given.front();
  }

  void read_rule(const std::string& key, Gate& gate, const MeasureInfo& info) const {
    const bool ratio = is_ratio(info.unit);
    const bool fits = key == "at_least"  ? ratio
                      : key == "at_most" ? !ratio
                      : key == "margin"  ? info.has_margin
                                         : info.has_test;
    if (!fits) {
      std::string expected = ratio ? "at_least" : "at_most";
      expected += info.has_margin ? ", margin" : "";
      expected += info.has_test ? ", significance" : "";
      complain(key,
               {fmt::format("one of {} for {}", expected, info.name),
                key,
                "see the table of measures in tools/gates/README.md"});
    }
    const std::string path = join_path(base_, key);
    const YamlNode& value = *find_path(root_, path);
    if (key == "significance") {
      gate.rule = GateRule::kTest;
      gate.limit = read_ratio(value, path, {0.0001, 0.5});
      return;
    }
    gate.rule = key == "at_least"  ? GateRule::kAtLeast
                : key == "at_most" ? GateRule::kAtMost
                                   : GateRule::kMargin;
    gate.limit = read_limit(value, path, info.unit);
  }

  static double read_limit(const YamlNode& value, const std::string& path, GateUnit unit) {
    switch (unit) {
      case GateUnit::kRatio:
        return read_ratio(value, path, {0.0, 1.0});
      case GateUnit::kPerFleetDay:
        return read_number(value, path, {0.0, 1e9});
      case GateUnit::kSeconds:
        return seconds(read_duration(value, path, {Duration(0), std::chrono::hours(24) * 365}));
    }
    return 0.0;
  }

  const YamlNode& root_;
  std::string base_;
};

}  // namespace

GateFile parse_gate_file(std::string_view text, const std::string& file) {
  const YamlNode root = parse_yaml_tree(text, std::make_shared<const std::string>(file));
  GateEntries entries;
  file_table().read(root, "", entries);
  GateFile gates = std::move(entries.file);
  gates.file = file;
  std::set<std::string> names;
  for (std::size_t i = 0; i < entries.gates.size(); ++i) {
    const GateEntry& entry = entries.gates[i];
    Gate gate = GateReader(root, i).read(entry);
    gate.path = fmt::format("gates[{}]", i);
    gate.at = locate(root, gate.path + ".name");
    if (!names.insert(gate.name).second) {
      raise(gate.at,
            gate.path + ".name",
            {"a name that no other gate has", in_quotes(gate.name), "say what differs"});
    }
    if (gate.scheme.empty()) {
      gate.scheme = entries.scheme;
    }
    if (gate.is_paired() && gate.baseline_scheme.empty()) {
      gate.baseline_scheme = gate.scheme;
    }
    gate.unknown_at_most = entry.unknown_at_most.value_or(entries.unknown_at_most);
    gates.gates.push_back(std::move(gate));
  }
  return gates;
}

GateFile load_gate_file(const std::string& file) {
  return parse_gate_file(read_config_file(file), file);
}

std::vector<SchemaKey> gate_schema_keys() {
  return file_table().keys("");
}

std::string measure_table_markdown() {
  std::string table =
      "| Measure | Limit | Against a baseline | By kind, symptom, class |\n|---|---|---|---|\n";
  for (const MeasureInfo& info : gate_measures()) {
    std::string paired = info.has_margin ? "`margin`" : "";
    if (info.has_test) {
      paired += paired.empty() ? "`significance`" : ", `significance`";
    }
    table += fmt::format("| `{}` | {} | {} | {} |\n",
                         info.name,
                         is_ratio(info.unit)               ? "`at_least` ratio"
                         : info.unit == GateUnit::kSeconds ? "`at_most` duration"
                                                           : "`at_most` number",
                         paired.empty() ? "no" : paired,
                         info.has_strata ? "yes" : "no");
  }
  return table;
}

}  // namespace bonescan
