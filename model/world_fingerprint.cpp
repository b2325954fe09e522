#include "model/world_fingerprint.h"

#include "sim/base/fingerprint.h"

namespace bonescan {
namespace {

std::uint64_t routing_print(const World& world) {
  Fingerprint print;
  for (std::uint32_t s = 0; s < world.fabric().switch_count(); ++s) {
    const SwitchHash& hash = world.router().hash(SwitchId(s));
    print.add(hash.salt);
    print.add(static_cast<std::uint64_t>(hash.algorithm));
  }
  for (std::uint32_t r = 0; r < world.fabric().rnic_count(); ++r) {
    const RnicId cables = world.router().cabled_as(RnicId(r));
    if (cables != RnicId(r)) {
      print.add(std::uint64_t{r} << 32 | cables.index());
    }
  }
  return print.value();
}

std::uint64_t container_print(const World& world) {
  Fingerprint print;
  for (const Container& container : world.containers()) {
    print.add(std::uint64_t{container.host.index()});
    print.add(static_cast<std::uint64_t>(container.state));
  }
  for (std::uint32_t r = 0; r < world.fabric().rnic_count(); ++r) {
    print.add(std::uint64_t{world.leases().number(RnicId(r))} << 1 |
              std::uint64_t{world.container_ready(RnicId(r))});
  }
  return print.value();
}

std::uint64_t process_print(const World& world) {
  Fingerprint print;
  for (std::uint32_t h = 0; h < world.fabric().host_count(); ++h) {
    print.add(std::uint64_t{world.agent_running(HostId(h))} << 1 |
              std::uint64_t{world.vswitchd_running(HostId(h))});
    print.add(std::uint64_t{world.revalidator(HostId(h)).pinned_limit});
  }
  for (std::uint32_t r = 0; r < world.fabric().rnic_count(); ++r) {
    print.add(std::uint64_t{world.clocks(RnicId(r)).refreshes.stopped()});
  }
  return print.value();
}

std::uint64_t device_print(const World& world) {
  Fingerprint print;
  print.add(world.devices().fingerprint());
  print.add(world.troubles().fingerprint());
  for (std::uint32_t r = 0; r < world.fabric().rnic_count(); ++r) {
    const GidTrouble& trouble = world.gid_trouble(RnicId(r));
    for (const std::uint16_t count :
         {trouble.registered_again, trouble.sparse, trouble.no_v2, trouble.no_ipv4}) {
      print.add(std::uint64_t{count});
    }
    print.add(std::uint64_t{world.leases().gid_index(RnicId(r))} << 1 |
              std::uint64_t{world.leases().addressed(RnicId(r))});
  }
  return print.value();
}

/// The quads are settled in copies: looking changes nothing.
std::uint64_t flow_print(const World& world, Time now) {
  Fingerprint print;
  for (std::uint32_t q = 0; q < world.flows().size(); ++q) {
    FlowQuad quad = world.flows()[QuadId(q)];
    world.settle_quad(quad, now);
    for (std::size_t end = 0; end < 2; ++end) {
      print.add(static_cast<std::uint64_t>(quad.encap[end].place) << 8 |
                static_cast<std::uint64_t>(quad.decap[end].place));
    }
  }
  return print.value();
}

}  // namespace

std::uint64_t WorldFingerprint::value() const {
  Fingerprint print;
  for (const std::uint64_t part :
       {links, routing, rules, tunnels, eswitches, queues, containers, processes, devices, flows}) {
    print.add(part);
  }
  return print.value();
}

WorldFingerprint world_fingerprint(const World& world, Time now) {
  return {.links = world.links().fingerprint(),
          .routing = routing_print(world),
          .rules = world.open_flow().fingerprint(),
          .tunnels = world.tunnels().fingerprint(),
          .eswitches = world.eswitch().fingerprint(),
          .queues = world.queue_control().fingerprint(),
          .containers = container_print(world),
          .processes = process_print(world),
          .devices = device_print(world),
          .flows = flow_print(world, now)};
}

}  // namespace bonescan
