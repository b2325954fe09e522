#include "scenarios/schema/topology_file.h"

#include "scenarios/schema/schema_key.h"
#include "scenarios/schema/topology_keys.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace bonescan {
namespace {

EndpointDirectory two_endpoints() {
  EndpointDirectory directory;
  for (const char* name : {"host-1/rnic-0", "host-2/rnic-0"}) {
    Endpoint endpoint;
    endpoint.name = name;
    directory.push_back(endpoint);
  }
  return directory;
}

std::string complaint(const std::string& text) {
  try {
    parse_topology(text, "t.yaml", two_endpoints());
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no complaint";
}

TEST(TopologyFile, TheDocumentedExampleLoads) {
  std::ifstream stream(std::string(BONESCAN_SOURCE_DIR) + "/scenarios/TOPOLOGY.md");
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  const std::size_t begin = text.find("```yaml\n") + 8;
  const TopologyDraft draft = parse_topology(
      text.substr(begin, text.find("```", begin) - begin), "example", two_endpoints());
  EXPECT_FALSE(draft.symmetric_hashing);
  ASSERT_EQ(draft.switches.size(), 4U);
  EXPECT_EQ(draft.switches[0].addresses, (std::vector<std::string>{"10.0.1.1", "fd00:1::1"}));
  EXPECT_TRUE(draft.switches[3].addresses.empty());
  ASSERT_EQ(draft.cables.size(), 6U);
  EXPECT_EQ(draft.cables[0].from, "host-1/rnic-0");
  EXPECT_EQ(draft.cables[5].name, "link(tor-2, agg-2)");
  for (const SchemaKey& key : topology_keys()) {
    EXPECT_NE(text.find("`" + key.path + "`"), std::string::npos) << key.path;
  }
}

TEST(TopologyFile, ReadsEveryKey) {
  const TopologyDraft draft = parse_topology(
      "symmetric_hashing: yes\n"
      "switches: [{name: s, kind: bridge}]\n"
      "links: [{from: host-1/rnic-0, to: s, name: up}]\n",
      "t.yaml",
      two_endpoints());
  EXPECT_TRUE(draft.symmetric_hashing);
  EXPECT_FALSE(draft.switches[0].routes);
  EXPECT_EQ(draft.cables[0].name, "up");
}

TEST(TopologyFile, SaysWhereAndWhatIsWrong) {
  struct Case {
    const char* text;
    const char* complaint;
  };

  const std::vector<Case> cases = {
      {"links:\n  - {from: host-1/rnic-0, to: s}\n  - {from: s, to: s}\n",
       "t.yaml:3:5: links[1]: expected two ends; found 's' twice; hint: a cable joins two "
       "different "
       "things"},
      {"switches: [{name: s}]\nlinks:\n  - {from: host-3/rnic-0, to: s}\n",
       "t.yaml:3:5: links[0]: expected an endpoint or a switch of the list; found 'host-3/rnic-0'; "
       "hint: add it to switches, or correct the name"},
      {"links:\n  - {from: host-1/rnic-0, to: s}\n  - {from: host-1/rnic-0, to: s}\n",
       "t.yaml:3:5: links[1]: expected every link once; found 'link(host-1/rnic-0, s)' again; "
       "hint: "
       "give parallel cables names of their own"},
      {"switches:\n  - {name: host-1/rnic-0}\nlinks: [{from: a, to: b}]\n",
       "t.yaml:2:5: switches[0]: expected a switch; found 'host-1/rnic-0', an endpoint; hint: list "
       "only switches here"},
      {"switches:\n  - {name: s}\n  - {name: s}\nlinks: [{from: a, to: b}]\n",
       "t.yaml:3:5: switches[1]: expected one entry per switch; found 's' again; hint: delete one "
       "of "
       "them"},
      {"switches:\n  - {name: s, addresses: 10.0.0}\nlinks: [{from: a, to: b}]\n",
       "t.yaml:2:5: switches[0]: expected IP addresses; found '10.0.0'; hint: write it as 10.0.0.1 "
       "or fd00::1"},
      {"switches:\n  - {name: s, addresses: 'fd00::1'}\n  - {name: t, addresses: 'fd00:0::1'}\n"
       "links: [{from: a, to: b}]\n",
       "t.yaml:3:5: switches[1]: expected every address once; found 'fd00:0::1' again; hint: an "
       "answer from there could be either switch's"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(complaint(c.text), c.complaint);
  }
  EXPECT_NE(complaint("links: []\n"), "no complaint");
  EXPECT_NE(complaint("cables: []\n"), "no complaint");
  EXPECT_NE(complaint("links: [{from: a}]\n"), "no complaint");
}

TEST(TopologyFile, AMissingFileIsAComplaint) {
  EXPECT_THROW(load_topology("/nowhere/topology.yaml", two_endpoints()), ConfigError);
}

}  // namespace
}  // namespace bonescan
