// paper_study --types FILE [--schemes FILE] [--worlds FILE] [--null FILE]
//             [--episode RUN.sqlite] [--cloud RUN.sqlite] --out DIRECTORY COMMAND COMMIT
//
// --schemes: the same cells watched by other schemes, in fewer worlds perhaps.
// From the databases of campaigns and two runs to results/paper: tables in README.md, charts as
// SVG.
//
// Exit status: 0 written, 1 a file cannot be read or written, 2 wrong usage.
#include "tools/campaign/campaign_store.h"
#include "tools/study/output/study_command.h"
#include "tools/study/paper/paper_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace {

struct Arguments {
  std::map<std::string, std::string> files;
  std::string out;
  bonescan::StudyOrigin origin;
};

std::optional<Arguments> parse(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  Arguments arguments;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--out" && i + 3 < words.size()) {
      arguments.out = words[i + 1];
      arguments.origin = {words[i + 2], words[i + 3]};
      i += 3;
    } else if (words[i].starts_with("--") && i + 1 < words.size()) {
      arguments.files[words[i].substr(2)] = words[i + 1];
      ++i;
    } else {
      return std::nullopt;
    }
  }
  if (arguments.out.empty() || !arguments.files.contains("types")) {
    return std::nullopt;
  }
  return arguments;
}

/// Absent, with a line on standard error, if it cannot be read; empty if it was not asked for.
std::optional<bonescan::CampaignData> campaign(const Arguments& arguments, const char* name) {
  const auto file = arguments.files.find(name);
  if (file == arguments.files.end()) {
    return bonescan::CampaignData{};
  }
  auto data = bonescan::load_campaign(file->second);
  if (!data) {
    fmt::print(stderr, "paper_study: {}\n", data.error().detail);
    return std::nullopt;
  }
  return std::move(*data);
}

/// Adds the rows of other schemes on the same cells; false if they are other cells.
bool join(bonescan::CampaignData& types, bonescan::CampaignData more) {
  const auto same = [](const bonescan::CampaignCell& a, const bonescan::CampaignCell& b) {
    return a.cell == b.cell && a.values == b.values;
  };
  if (!more.runs.empty() &&
      !std::equal(
          types.cells.begin(), types.cells.end(), more.cells.begin(), more.cells.end(), same)) {
    std::fputs("paper_study: --schemes: expected the cells of --types; found others\n", stderr);
    return false;
  }
  const auto append = [](auto& to, auto& from) { to.insert(to.end(), from.begin(), from.end()); };
  append(types.runs, more.runs);
  append(types.faults, more.faults);
  append(types.incidents, more.incidents);
  return true;
}

std::string exposure(const bonescan::CampaignData& data) {
  double days = 0.0;
  std::size_t odd = 0;
  for (const bonescan::CampaignRun& run : data.runs) {
    days += run.rnic_days;
    odd += run.seed % 2;
  }
  return fmt::format("{} runs of all schemes, {} of them with odd seeds, {:.1f} RNIC-days",
                     data.runs.size(),
                     odd,
                     days);
}

std::string readme(const Arguments& arguments,
                   const bonescan::CampaignData& types,
                   const bonescan::CampaignData& worlds,
                   const bonescan::CampaignData& null) {
  std::string text = fmt::format(
      "# The paper's evaluation, simulated\n\nMade by `{}` at commit {}; do not edit. Everything "
      "is "
      "*simulated* (scenarios/paper, odd seeds) but for what is marked *quoted*, which is from the "
      "paper. One failure a run, 128 RNICs, all of `scenarios/paper/confounders.yaml`; "
      "definitions: "
      "`tools/evaluate/METHODS.md`. Bounds in brackets are one-sided, 95 %. {}.\n\n",
      arguments.origin.command,
      arguments.origin.commit,
      exposure(types));
  text += "## Detection and localization\n\nKinds of failure in equal shares.\n\n";
  text += bonescan::headline_table(types);
  text += "\n![Times to detect](delays.svg)\n\n## What is required of `bonescan`\n\n";
  text += bonescan::required_table(types, null);
  text += "\n## By kind\n\n" + bonescan::kinds_table(types);
  text += "\n## By symptom\n\n" + bonescan::symptoms_table(types);
  text +=
      "\n## As in production\n\nShares of kinds as in `faults/processes/METHODS.md`, "
      "in the world of `scenarios/paper/accuracy.yaml`; no source publishes them.\n\n" +
      bonescan::mix_table(types, bonescan::production_weights("scenarios/paper/accuracy.yaml"));
  if (!worlds.runs.empty()) {
    text += "\n## Worlds that break an assumption\n\n" + bonescan::worlds_table(worlds);
  }
  return text;
}

bool add_runs(const Arguments& arguments,
              std::string& text,
              std::vector<bonescan::StudyFile>& files) {
  if (const auto file = arguments.files.find("episode"); file != arguments.files.end()) {
    const auto episode = bonescan::read_episode(file->second);
    if (!episode) {
      fmt::print(stderr, "paper_study: {}\n", episode.error().detail);
      return false;
    }
    text += fmt::format(
        "\n## Figure 18\n\n`scenarios/paper/figure18.yaml`, seed 1. Quoted: about 16 us become "
        "about 120 us, less than 0.1 % loss; walk and vote are clear, the table dump shows a "
        "mismatch. Here: lost {:.4f} %; {}.\n\n![Figure 18](figure18.svg)\n",
        100.0 * episode->lost_share,
        episode->summary);
    files.push_back({"figure18.svg", bonescan::episode_svg(*episode)});
  }
  if (const auto file = arguments.files.find("cloud"); file != arguments.files.end()) {
    const auto cloud = bonescan::load_run(file->second);
    if (!cloud) {
      fmt::print(stderr, "paper_study: {}\n", cloud.error().detail);
      return false;
    }
    text += "\n## The environment\n\n`scenarios/paper/environment.yaml`, seed 1.\n\n" +
            bonescan::environment_table(*cloud);
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const auto arguments = parse(argc, argv);
  if (!arguments) {
    std::fputs(
        "usage: paper_study --types FILE [--schemes FILE] [--worlds FILE] [--null FILE]\n"
        "                   [--episode RUN.sqlite] [--cloud RUN.sqlite] --out DIRECTORY COMMAND "
        "COMMIT\n",
        stderr);
    return 2;
  }
  auto types = campaign(*arguments, "types");
  auto schemes = campaign(*arguments, "schemes");
  const auto worlds = campaign(*arguments, "worlds");
  const auto null = campaign(*arguments, "null");
  if (!types || !schemes || !worlds || !null || types->runs.empty() ||
      !join(*types, std::move(*schemes))) {
    return 1;
  }
  std::vector<bonescan::StudyFile> files = {{"delays.svg", bonescan::delays_svg(*types)}};
  std::string text = readme(*arguments, *types, *worlds, *null);
  if (!add_runs(*arguments, text, files)) {
    return 1;
  }
  text +=
      "\n## Probe counts\n\nLists and sweep times at 64 to 2,048 RNICs beside the paper's: "
      "`results/skeleton/README.md`.\n";
  files.push_back({"README.md", text});
  std::fputs(bonescan::required_table(*types, *null).c_str(), stdout);
  return bonescan::write_study_files(arguments->out, files) ? 0 : 1;
}
