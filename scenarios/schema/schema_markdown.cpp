#include "scenarios/schema/schema_markdown.h"

#include "faults/kinds/fault_kind.h"
#include "scenarios/schema/effect_info.h"
#include "scenarios/schema/key_markdown.h"
#include "scenarios/schema/load_scenario.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

namespace bonescan {
namespace {

struct Section {
  std::string_view prefix;  ///< first word of the paths; empty: keys without a section
  std::string_view title;
  std::string_view text;
};

constexpr std::array kSections = {
    Section{"", "Top level", "What the run is called, how long it lasts, and its seed."},
    Section{"fabric",
            "fabric",
            "The network: hosts with one RNIC per rail, and switches. RNIC r of every host goes to "
            "the ToR of rail r in its segment.\n\n"
            "- `rail-optimized`: every ToR is cabled to every aggregation switch.\n"
            "- `rail-only`: every rail has aggregation switches of its own. Nothing connects two "
            "rails:\n  pairs across rails are unreachable by design and never probed.\n"
            "- `hpn`: two ports per RNIC, one to each ToR of the rail's pair, and a plane of "
            "aggregation\n  switches for each. Only ToRs and bonds hash: once a flow takes an "
            "uplink its way is fixed.\n"
            "- `three-tier`: pods of segments with aggregation switches of their own, and core "
            "switches\n  between them; the a-th aggregation switches of all pods share a group of "
            "core switches.\n"
            "- `graph`: any cables, given by `fabric.links` or `fabric.file`. Shortest ways with "
            "ECMP, at most\n  six links long. Names are those of the cables."},
    Section{
        "overlay", "overlay", "Open vSwitch, its offload into the RNICs, and the VXLAN tunnels."},
    Section{"latency", "latency", "What a round trip is made of."},
    Section{"jobs", "jobs", "What runs on the hosts. A job has whole hosts to itself."},
    Section{"cloud",
            "cloud",
            "Containers of many tenants that come and go, on the hosts that no job has. There is a "
            "cloud if anybody arrives in it."},
    Section{
        "load",
        "load",
        "What loads the network besides probes. Thresholds of marking and of pauses are those of "
        "the packet\nmode by default; no source gives those of a real network."},
    Section{"probing", "probing", "Who is probed, how often, and with what."},
    Section{"detection", "detection", "How probes become verdicts, and verdicts incidents."},
    Section{"maintenance",
            "maintenance",
            "When who works on what, so that planned work is not taken for a failure; "
            "`detectors/incident/METHODS.md` has the rules."},
    Section{"confounders",
            "confounders",
            "Things that look like failures and are not. All are off unless asked for."},
    Section{
        "clocks",
        "clocks",
        "The hosts' clocks and the timestamps of probes. Clocks are exact unless asked otherwise. "
        "An offset shifts the times in records; round trips are measured on clocks that are never "
        "set. All numbers are ours."},
    Section{"failures",
            "failures",
            "What breaks although nobody listed it: drawn by seed from what the jobs use, named "
            "`drawn-0`, `drawn-1` ... in order, and beside what `faults` lists. There are none "
            "unless asked for; `faults/processes/METHODS.md` has the laws."},
    Section{"faults",
            "faults",
            "What is broken. A fault has either a `kind`, with the keys that this kind takes, or a "
            "list of `effects`, with the keys that each effect takes; other keys are errors."},
};

constexpr std::string_view kIntroduction =
    R"(# Scenario files

Every key that a scenario may have. This file is generated from the tables that the loader reads
with, and a test compares them; `scenarios/quickstart.yaml` is an example with comments.

Rules:
- A quantity carries its unit, without a blank: `16us`, `30min`, `400Gbps`, `4KiB`. A bare number
  where a unit belongs is an error.
- An unknown key, a key given twice, and a value out of range are errors that say where they stand.
- Keys with a dot are written as maps: `fabric.link.rate` is `fabric: {link: {rate: 400Gbps}}`.
  `jobs[]` and `faults[]` stand for the entries of a list.
- `--set path.to.key=value` changes a key from the command line, as in `--set faults[0].at=5min`.
- At most 1 MiB of UTF-8 and 64 levels of nesting; one document; no anchors, aliases or tags.

| Type | Written as |
|---|---|
| count | `512` |
| number | `0.5`, `1e-5` |
| ratio | `2%` or `0.02` |
| duration | a number and one of `ns`, `us`, `ms`, `s`, `min`, `h` |
| rate | a number and one of `bps`, `Kbps`, `Mbps`, `Gbps`, `Tbps` |
| size | a number and one of `B`, `KiB`, `MiB` |
| text | `any words`; in quotes if it has `:`, `#` or brackets, or stands within `{ }` )"
    R"(and has commas |
| component | `host-S.H`, `host-S.H/rnic-R`, `host-S.H/ovs`, `host-S.H/agent`, `tor-S.R`, )"
    R"(`agg-A`, `link(host-S.H/rnic-R, tor-S.R)`, `link(tor-S.R, agg-A)`; S segment, H host, )"
    R"(R rail, A aggregation switch, all from 0; a `link(...)` stands in quotes within `{ }`. )"
    R"(With two planes `tor-S.R.P`; with groups of aggregation switches (all presets but the )"
    R"(first) )"
    R"(`agg-G.A`, G rail, plane or pod; with several ports `host-S.H/rnic-R/port-P`; with core )"
    R"(switches `core-C` and `link(agg-G.A, core-C)` |
)";

std::string_view section_of(std::string_view path) {
  const std::size_t end = path.find_first_of(".[");
  if (end != std::string_view::npos) {
    return path.substr(0, end);
  }
  const bool is_list = path == "jobs" || path == "faults";
  return is_list ? path : std::string_view();
}

std::vector<SchemaKey> keys_in(const Section& section, const std::vector<SchemaKey>& keys) {
  std::vector<SchemaKey> found;
  for (const SchemaKey& key : keys) {
    if (section_of(key.path) == section.prefix) {
      found.push_back(key);
    }
  }
  return found;
}

/// "`a`, `b`", or a dash.
std::string code_list(std::string_view words) {
  std::string result;
  for (const std::string_view word : split_words(words)) {
    result += fmt::format("{}`{}`", result.empty() ? "" : ", ", word);
  }
  return result.empty() ? "-" : result;
}

std::string kind_table() {
  std::string rows =
      "\n### Kinds\n\n| Kind | `on` | Optional keys | Meaning |\n|---|---|---|---|\n";
  for (const FaultKind& info : fault_kinds()) {
    rows += fmt::format("| `{}` | {} | {} | {} |\n",
                        info.name,
                        example_of(info.on),
                        code_list(info.keys),
                        markdown_cell(info.meaning));
  }
  return rows +
         "\nFor the overlay kinds `on` is the RNIC whose virtual function the rule serves.\n";
}

std::string effect_rows() {
  std::string rows =
      "\n### Effects\n\n| Effect | `on` | Required keys | Optional keys | Meaning |\n"
      "|---|---|---|---|---|\n";
  for (const EffectInfo& info : effect_infos()) {
    std::string on;
    for (const RefKind kind : info.on) {
      on += fmt::format("{}{}", on.empty() ? "" : "; ", example_of(kind));
    }
    rows += fmt::format("| `{}` | {} | {} | {} | {} |\n",
                        info.name,
                        on,
                        code_list(info.required),
                        code_list(info.optional),
                        markdown_cell(info.meaning));
  }
  return rows;
}

}  // namespace

std::string schema_markdown() {
  const std::vector<SchemaKey> keys = schema_keys();
  std::string document(kIntroduction);
  for (const Section& section : kSections) {
    document += fmt::format("\n## {}\n\n{}\n\n", section.title, section.text);
    document += markdown_key_table(keys_in(section, keys));
  }
  return document + kind_table() + effect_rows();
}

}  // namespace bonescan
