// The model of megaflows against real Open vSwitch, userspace datapath: both are taken through
// datapath.steps, and their states after each step are compared.
#include "tests/system/ovs_lab/flow_model.h"
#include "tests/system/ovs_lab/two_host_lab.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <string>
#include <unistd.h>

namespace bonescan::lab {
namespace {

constexpr Duration kMaxIdle = std::chrono::seconds(2);

TEST(OvsFlowSteps, ModelIsInTheStatesOfOpenVswitch) {
  const bool possible =
      geteuid() == 0 && TwoHostLab::run({"ovs-vswitchd", "--version"}).find("failed") != 0;
  const char* ci = std::getenv("CI");
  if (!possible && (ci == nullptr || std::string(ci) != "true")) {
    GTEST_SKIP() << "needs root and the package openvswitch-switch";
  }
  const TwoHostLab lab;
  ASSERT_TRUE(lab.stands()) << "the lab could not be built; see its messages above";
  ASSERT_EQ(TwoHostLab::run({"ovs-vsctl",
                             "--db=unix:" + lab.run_directory('A') + "/db.sock",
                             "set",
                             "Open_vSwitch",
                             ".",
                             "other_config:max-idle=2000"}),
            "");
  const Companion echo(lab.echo_command('B'));
  ASSERT_TRUE(echo.ready(10'000));
  const nlohmann::json settings = {{"control", lab.run_directory('A') + "/vswitchd.ctl"},
                                   {"openflow", lab.run_directory('A') + "/br-int.mgmt"},
                                   {"port", lab.tag() + "pA"},
                                   {"actions", "set_field:100->tun_id,output:10"},
                                   {"max_idle_s", 2},
                                   {"send", lab.send_command()}};
  const std::string folder = std::string(BONESCAN_SOURCE_DIR) + "/tests/system/ovs_lab";
  const std::string said = TwoHostLab::run(
      {"python3", folder + "/flow_steps.py", folder + "/datapath.steps", settings.dump()},
      std::chrono::seconds(90));
  const nlohmann::json real = nlohmann::json::parse(said, nullptr, false);
  ASSERT_TRUE(real.is_array()) << said;
  compare_with_model(real, kMaxIdle, "ovs_datapath");
}

}  // namespace
}  // namespace bonescan::lab
