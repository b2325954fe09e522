#include "tools/agent/agent_markdown.h"

#include "scenarios/schema/key_markdown.h"
#include "tools/agent/agent_config.h"

#include <fmt/format.h>

#include <array>
#include <string_view>
#include <vector>

namespace bonescan {
namespace {

struct Section {
  std::string_view name;
  std::string_view text;
};

constexpr std::array kSections = {
    Section{"agent", "Who this agent is and where its results go."},
    Section{"limits",
            "What the agent may use. It watches itself every ten seconds: over a limit it halves "
            "its rate, up to three times; if that is not enough it stops with exit code 4. All of "
            "them can change while it runs."},
    Section{"inventory",
            "Who can be probed. All agents of a job may share one file but for `agent.host`."},
    Section{"hosts", "How the agents find each other."},
    Section{"topology", "The cables, for the paths of probes."},
    Section{"ovs", "Open vSwitch, for the overlay walk and the check of flow tables."},
    Section{"probing", "Who is probed, how often, and with what; as in scenarios."},
    Section{"detection", "How probes become verdicts, and verdicts incidents; as in scenarios."},
    Section{"maintenance",
            "When who works on what, so that planned work is not taken for a failure; as in "
            "scenarios, and by the calendar."},
};

constexpr std::string_view kIntroduction =
    R"(# Agent configuration

Every key that `bonescan agent --config FILE` takes. This file is generated from the table that the
loader reads with, and a test compares them; `two-hosts.yaml` in this folder is an example with
comments. How values are written is said in `scenarios/SCHEMA.md`; `--set` does not exist here.

On SIGHUP the agent reads its file again. Keys marked as such change at once; if any other key
differs, or the file is broken, the agent says so in one line and nothing changes. Detection cannot
change while a run is recorded: `bonescan replay` analyses a run with one set of options.
)";

std::vector<SchemaKey> keys_of(std::string_view section) {
  std::vector<SchemaKey> found;
  for (const SchemaKey& key : agent_schema_keys()) {
    if (key.path.substr(0, key.path.find_first_of(".[")) == section) {
      found.push_back(key);
    }
  }
  return found;
}

}  // namespace

std::string agent_markdown() {
  std::string document(kIntroduction);
  for (const Section& section : kSections) {
    document += fmt::format("\n## {}\n\n{}\n\n", section.name, section.text);
    document += markdown_key_table(keys_of(section.name));
  }
  return document;
}

}  // namespace bonescan
