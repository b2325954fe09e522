// Two hosts whose Open vSwitch is a FakeRunner; the texts are what Open vSwitch 3.1 prints.
//
// host-a and host-b have one endpoint each, behind br-int with a VXLAN tunnel between them.  Tests
// replace single answers before they ask.  Thread-compatible.
#pragma once

#include "detectors/backend_ovs/ovs_config.h"
#include "detectors/backend_ovs/ovs_workshop.h"
#include "detectors/telemetry/telemetry.h"
#include "tests/support/fake_runner.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

namespace bonescan::backend_ovs {

inline constexpr std::string_view kInner =
    "udp,nw_src=192.168.50.1,nw_dst=192.168.50.2,nw_ttl=64,udp_src=49193,udp_dst=4791";
inline const std::string kTraceA = fmt::format("ofproto/trace --names br-int in_port=1,{}", kInner);
inline const std::string kTraceB = fmt::format(
    "ofproto/trace --names br-int in_port=10,tun_id=100,tun_src=172.30.0.1,tun_dst=172.30.0.2,{}",
    kInner);

inline std::string command(const std::string& host, const std::string& rest) {
  return fmt::format("ip netns exec {} ovs-appctl -t {}.ctl {}", host, host, rest);
}

inline std::string trace_text(const std::string& steps, const std::string& actions) {
  return fmt::format(
      "Flow: udp,in_port=pA,vlan_tci=0x0000,nw_src=192.168.50.1,nw_dst=192.168.50.2,tp_dst=4791\n\n"
      "bridge(\"br-int\")\n----------------\n{}\n"
      "Final flow: unchanged\nMegaflow: recirc_id=0,eth,ip,nw_frag=no\nDatapath actions: {}\n",
      steps,
      actions);
}

inline std::string push_to(const std::string& vtep) {
  return fmt::format(
      "tnl_push(tnl_port(vxlan_sys_4789),header(size=50,type=4,eth(dst=aa:f4:ff:d8:13:43,"
      "src=a2:61:0f:5c:85:48,dl_type=0x0800),ipv4(src=172.30.0.1,dst={},proto=17,tos=0,ttl=64,"
      "frag=0x4000),udp(src=0,dst=4789,csum=0x0),vxlan(flags=0x8000000,vni=0x64)),"
      "out_port(br-ul)),ulA",
      vtep);
}

inline std::string tunnelled(const std::string& vtep) {
  return trace_text(
      fmt::format(" 0. in_port=pA, priority 100\n    set_field:0x64->tun_id\n    output:vx0\n"
                  "     -> output to native tunnel\n     -> tunneling to {} via br-ul\n",
                  vtep),
      push_to(vtep));
}

inline constexpr const char* kDelivers =
    " 0. tun_id=0x64,in_port=vx0, priority 100\n    output:pB\n";

class ScriptedHosts : public testing::Test {
 public:
  ScriptedHosts() {
    for (const char h : {'a', 'b'}) {
      OvsHost host;
      host.name = fmt::format("host-{}", h);
      host.control_socket = fmt::format("h{}.ctl", h);
      host.command_prefix = {"ip", "netns", "exec", fmt::format("h{}", h)};
      host.vtep_address = h == 'a' ? "172.30.0.1" : "172.30.0.2";
      OvsPort port;
      port.endpoint = host.name + "/rnic-0";
      port.interface = h == 'a' ? "pA" : "pB";
      host.ports.push_back(port);
      config_.hosts.push_back(host);
      Endpoint endpoint;
      endpoint.name = port.endpoint;
      endpoint.host = host.name;
      endpoint.overlay_ip = h == 'a' ? "192.168.50.1" : "192.168.50.2";
      endpoint.underlay_ip = host.vtep_address;
      endpoints_.push_back(endpoint);
    }
    config_.commands_per_second = 1000.0;
    for (const std::string h : {"ha", "hb"}) {
      const std::string name = h == "ha" ? "A" : "B";
      runner_.prints(command(h, "dpif/show"),
                     fmt::format("netdev@ovs-netdev: hit:79 missed:25\n"
                                 "  br-int:\n"
                                 "    br-int 65534/3: (tap)\n"
                                 "    p{0} 1/5: (system)\n"
                                 "    vx0 10/4: (vxlan: key=flow, remote_ip={1})\n"
                                 "  br-ul:\n"
                                 "    br-ul 65534/1: (tap)\n"
                                 "    ul{0} 1/2: (system)\n",
                                 name,
                                 h == "ha" ? "172.30.0.2" : "172.30.0.1"));
      runner_.prints(command(h, "dpctl/show netdev@ovs-netdev"),
                     "netdev@ovs-netdev:\n  lookups: hit:1 missed:1 lost:0\n  flows: 1\n"
                     "  port 4: vxlan_sys_4789 (vxlan: packet_type=ptap)\n");
    }
    runner_.prints(command("ha", kTraceA), tunnelled("172.30.0.2"));
    runner_.prints(command("hb", kTraceB), trace_text(kDelivers, "pB"));
  }

  /// Asks in turns until there is an answer.
  template <class Ask>
  auto settled(Ask&& ask) -> decltype(ask(Time())) {
    now_ += std::chrono::minutes(1);
    for (int i = 0; i < 5000; ++i) {
      const auto answer = ask(now_);
      if (answer || answer.error().code != ErrorCode::kPending) {
        return answer;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return fail(ErrorCode::kPending, "never answered");
  }

  fakes::FakeRunner runner_;
  OvsConfig config_;
  EndpointDirectory endpoints_;
  ComponentTable components_;
  FlowKey flow_{EndpointId(0), EndpointId(1), 49193};
  Time now_;
  std::unique_ptr<OvsWorkshop> workshop_;
};

}  // namespace bonescan::backend_ovs
