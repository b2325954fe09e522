#include "faults/kinds/kind_catalog.h"

#include "faults/kinds/fault_kind.h"

#include <fmt/format.h>

#include <string_view>

namespace bonescan {
namespace {

constexpr std::string_view kHeading = "## Named kinds\n";
constexpr std::string_view kNextHeading = "\n## ";

constexpr std::string_view kText = R"(
The first kinds are the 19 rows of the paper's Table 1, in its order; a dash marks others. "Class"
is who is called: *link* for automated repair of a link or switch, *host* to isolate a host,
*software* to restart. "Seen by" is what an idle fabric's probes see at the job's size and class:
*probes*, *probes under load*, *host checks* alone, or *nobody*. "Needs" is what a world must have
for the kind to strike in it. This section is written from `faults/kinds` by
`tools/regen_golden.sh`.

)";

std::string_view words_of(RefKind kind) {
  switch (kind) {
    case RefKind::kHost:
      return "a host";
    case RefKind::kRnic:
      return "an RNIC";
    case RefKind::kSwitch:
      return "a switch";
    case RefKind::kCable:
      return "a cable";
    case RefKind::kPort:
      return "a port";
    case RefKind::kOvs:
      return "an Open vSwitch";
    case RefKind::kAgent:
      return "an agent";
  }
  return "";
}

std::string row_of(const FaultKind& kind) {
  return fmt::format("| `{}` | {} | {} | {}{} | {} | {} | {} | {} | {} | {} | {} | {} |\n",
                     kind.name,
                     kind.table_row > 0 ? fmt::format("{}", kind.table_row) : "-",
                     to_string(kind.failure_class),
                     words_of(kind.on),
                     kind.or_port ? " or a port of an RNIC" : "",
                     kind.made_of,
                     kind.mechanism,
                     to_string(kind.seen_by),
                     kind.probes_see,
                     kind.probes_miss,
                     kind.stage,
                     kind.repair,
                     kind.needs.empty() ? "-" : kind.needs);
}

}  // namespace

std::string kind_catalog() {
  std::string text(kHeading);
  text += kText;
  text +=
      "| Kind | Table 1 | Class | Put on | Made of | Mechanism | Seen by | What probes see | What "
      "they cannot see | Stage | Repair | Needs |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|---|\n";
  for (const FaultKind& kind : fault_kinds()) {
    text += row_of(kind);
  }
  return text;
}

std::string with_kind_catalog(const std::string& document) {
  const std::size_t from = document.find(kHeading);
  if (from == std::string::npos) {
    return document;
  }
  const std::size_t to = document.find(kNextHeading, from);
  return document.substr(0, from) + kind_catalog() +
         (to == std::string::npos ? "" : document.substr(to));
}

}  // namespace bonescan
