// Runs an exported validation case in ns-3 (3.37): the same leaf-spine, the same sends.
//
//   ns3_case DIRECTORY       reads topology.txt, flows.txt and sends.txt, writes ns3.txt
//
// Every flow has a static route of its own: its packets go to an address that only this flow uses,
// and every node on its way has a host route for that address.  Devices have DropTail queues of the
// exported size in bytes, and the queueing disciplines that ns-3 installs above them are removed.
// Hosts send UDP packets whose size on a point-to-point device (two bytes of PPP) equals the
// exported one; a probe is answered at once.  Not part of the normal build: see tools/validate.sh.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iostream>
#include <map>
#include <ns3/core-module.h>
#include <ns3/internet-module.h>
#include <ns3/network-module.h>
#include <ns3/point-to-point-module.h>
#include <ns3/traffic-control-module.h>
#include <string>
#include <vector>

namespace {

constexpr std::uint16_t kPort = 4791;
constexpr std::uint32_t kHeaderBytes = 2 + 20 + 8;  // PPP, IPv4, UDP
constexpr std::uint32_t kNoProbe = 0xFFFFFFFF;

struct Flow {
  std::uint32_t source = 0;
  std::uint32_t target = 0;
  int spine = -1;
  std::uint32_t bytes = 0;
  std::string kind;
  ns3::Ipv4Address address;  // of the target, for this flow alone
};

struct Send {
  std::int64_t at_ns = 0;
  std::uint32_t flow = 0;
};

/// What a packet carries: its flow, and which probe it is.
struct Label {
  std::uint32_t flow = 0;
  std::uint32_t probe = kNoProbe;
};

class Case {
 public:
  explicit Case(const std::string& directory) : directory_(directory) { read(); }

  int run() {
    build_nodes();
    build_routes();
    open_sockets();
    schedule_next();
    const std::int64_t end_ns = topology_["length_ns"] + 10'000'000;
    ns3::Simulator::Stop(ns3::NanoSeconds(end_ns));
    const std::clock_t start = std::clock();
    ns3::Simulator::Run();
    const double cpu_s = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    std::ofstream out(directory_ + "/ns3.txt");
    for (const std::int64_t rtt : rtts_) {
      out << rtt << '\n';
    }
    std::printf("{\"cpu_s\": %.3f, \"events\": %llu}\n",
                cpu_s,
                static_cast<unsigned long long>(ns3::Simulator::GetEventCount()));
    ns3::Simulator::Destroy();
    return out ? 0 : 1;
  }

 private:
  void read() {
    std::ifstream topology(directory_ + "/topology.txt");
    std::string name;
    std::int64_t value = 0;
    while (topology >> name >> value) {
      topology_[name] = value;
    }
    std::ifstream flows(directory_ + "/flows.txt");
    Flow flow;
    while (flows >> flow.source >> flow.target >> flow.spine >> flow.bytes >> flow.kind) {
      flows_.push_back(flow);
    }
    std::ifstream sends(directory_ + "/sends.txt");
    Send send;
    while (sends >> send.at_ns >> send.flow) {
      sends_.push_back(send);
    }
    rtts_.assign(static_cast<std::size_t>(topology_["probes"]), -1);
  }

  /// A link; remembers the addresses and interfaces of both ends.
  void connect(ns3::Ptr<ns3::Node> a, ns3::Ptr<ns3::Node> b, std::int64_t delay_ns) {
    ns3::PointToPointHelper link;
    link.SetDeviceAttribute(
        "DataRate",
        ns3::DataRateValue(ns3::DataRate(static_cast<std::uint64_t>(topology_["rate_bps"]))));
    link.SetDeviceAttribute("Mtu", ns3::UintegerValue(9'000));
    link.SetChannelAttribute("Delay", ns3::TimeValue(ns3::NanoSeconds(delay_ns)));
    link.SetQueue("ns3::DropTailQueue<Packet>",
                  "MaxSize",
                  ns3::StringValue(std::to_string(topology_["queue_bytes"]) + "B"));
    const ns3::NetDeviceContainer devices = link.Install(a, b);
    const ns3::Ipv4InterfaceContainer ends = addresses_.Assign(devices);
    addresses_.NewNetwork();
    ns3::TrafficControlHelper().Uninstall(devices);
    ends_[{a->GetId(), b->GetId()}] = {ends.Get(0).second, ends.GetAddress(1)};
    ends_[{b->GetId(), a->GetId()}] = {ends.Get(1).second, ends.GetAddress(0)};
  }

  void build_nodes() {
    const auto host_count = static_cast<std::uint32_t>(topology_["hosts"]);
    const auto per_leaf = static_cast<std::uint32_t>(topology_["hosts_per_leaf"]);
    hosts_.Create(host_count);
    leaves_.Create(host_count / per_leaf);
    spines_.Create(static_cast<std::uint32_t>(topology_["spines"]));
    ns3::InternetStackHelper stack;
    const ns3::Ipv4StaticRoutingHelper routing;
    stack.SetRoutingHelper(routing);
    stack.InstallAll();
    addresses_.SetBase("10.0.0.0", "255.255.255.252");
    for (std::uint32_t h = 0; h < host_count; ++h) {
      connect(hosts_.Get(h), leaves_.Get(h / per_leaf), topology_["access_ns"]);
    }
    for (std::uint32_t l = 0; l < leaves_.GetN(); ++l) {
      for (std::uint32_t s = 0; s < spines_.GetN(); ++s) {
        connect(leaves_.Get(l), spines_.Get(s), topology_["fabric_ns"]);
      }
    }
  }

  void add_route(ns3::Ptr<ns3::Node> from, ns3::Ptr<ns3::Node> to, ns3::Ipv4Address address) {
    const auto& [interface, next] = ends_.at({from->GetId(), to->GetId()});
    ns3::Ipv4StaticRoutingHelper()
        .GetStaticRouting(from->GetObject<ns3::Ipv4>())
        ->AddHostRouteTo(address, next, interface);
  }

  void build_routes() {
    const auto per_leaf = static_cast<std::uint32_t>(topology_["hosts_per_leaf"]);
    for (std::uint32_t f = 0; f < flows_.size(); ++f) {
      Flow& flow = flows_[f];
      flow.address = ns3::Ipv4Address(0x0B000000u + 1u + f);
      std::vector<ns3::Ptr<ns3::Node>> way = {hosts_.Get(flow.source),
                                              leaves_.Get(flow.source / per_leaf)};
      if (flow.spine >= 0) {
        way.push_back(spines_.Get(static_cast<std::uint32_t>(flow.spine)));
        way.push_back(leaves_.Get(flow.target / per_leaf));
      }
      way.push_back(hosts_.Get(flow.target));
      for (std::size_t i = 0; i + 1 < way.size(); ++i) {
        add_route(way[i], way[i + 1], flow.address);
      }
      way.back()->GetObject<ns3::Ipv4>()->AddAddress(
          1, ns3::Ipv4InterfaceAddress(flow.address, ns3::Ipv4Mask("255.255.255.255")));
    }
  }

  void open_sockets() {
    for (std::uint32_t h = 0; h < hosts_.GetN(); ++h) {
      const ns3::Ptr<ns3::Socket> socket =
          ns3::Socket::CreateSocket(hosts_.Get(h), ns3::UdpSocketFactory::GetTypeId());
      socket->Bind(ns3::InetSocketAddress(ns3::Ipv4Address::GetAny(), kPort));
      socket->SetRecvCallback(ns3::MakeCallback(&Case::received, this));
      sockets_.push_back(socket);
    }
  }

  void send(std::uint32_t number, std::uint32_t probe) {
    const Flow& flow = flows_[number];
    std::vector<std::uint8_t> payload(flow.bytes - kHeaderBytes, 0);
    const Label label{number, probe};
    std::memcpy(payload.data(), &label, sizeof(label));
    const ns3::Ptr<ns3::Packet> packet =
        ns3::Create<ns3::Packet>(payload.data(), static_cast<std::uint32_t>(payload.size()));
    sockets_[flow.source]->SendTo(packet, 0, ns3::InetSocketAddress(flow.address, kPort));
  }

  void received(ns3::Ptr<ns3::Socket> socket) {
    ns3::Address from;
    while (const ns3::Ptr<ns3::Packet> packet = socket->RecvFrom(from)) {
      Label label;
      packet->CopyData(reinterpret_cast<std::uint8_t*>(&label), sizeof(label));
      const Flow& flow = flows_[label.flow];
      if (flow.kind == "probe") {
        send(label.flow + 1, label.probe);
      } else if (flow.kind == "answer") {
        rtts_[label.probe] = ns3::Simulator::Now().GetNanoSeconds() - sent_at_[label.probe];
      }
    }
  }

  void schedule_next() {
    if (next_ < sends_.size()) {
      const std::int64_t wait = sends_[next_].at_ns - ns3::Simulator::Now().GetNanoSeconds();
      ns3::Simulator::Schedule(ns3::NanoSeconds(wait), &Case::send_next, this);
    }
  }

  void send_next() {
    const std::uint32_t flow = sends_[next_++].flow;
    std::uint32_t probe = kNoProbe;
    if (flows_[flow].kind == "probe") {
      probe = static_cast<std::uint32_t>(sent_at_.size());
      sent_at_.push_back(ns3::Simulator::Now().GetNanoSeconds());
    }
    send(flow, probe);
    schedule_next();
  }

  struct End {
    std::uint32_t interface = 0;
    ns3::Ipv4Address next;
  };

  std::string directory_;
  std::map<std::string, std::int64_t> topology_;
  std::vector<Flow> flows_;
  std::vector<Send> sends_;
  std::vector<std::int64_t> sent_at_;
  std::vector<std::int64_t> rtts_;
  std::size_t next_ = 0;
  ns3::NodeContainer hosts_;
  ns3::NodeContainer leaves_;
  ns3::NodeContainer spines_;
  ns3::Ipv4AddressHelper addresses_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, End> ends_;
  std::vector<ns3::Ptr<ns3::Socket>> sockets_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: ns3_case DIRECTORY\n";
    return 2;
  }
  return Case(argv[1]).run();
}
