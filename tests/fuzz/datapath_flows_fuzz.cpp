#include "detectors/backend_ovs/counter_reading.h"
#include "detectors/backend_ovs/parse/datapath_flows.h"
#include "tests/fuzz/fuzz_target.h"

#include <vector>

using bonescan::fuzz::expect_answer;

BONESCAN_FUZZ_TARGET(datapath_flows) {
  const auto flows = bonescan::backend_ovs::parse_datapath_flows(input);
  expect_answer(flows);
  if (flows && flows->size() > input.size()) {
    bonescan::fuzz::broken();
  }
  if (flows && !flows->empty()) {
    using bonescan::backend_ovs::count_by_peer;
    using bonescan::backend_ovs::CountedPeer;
    static const std::vector<CountedPeer> kPeers = {
        {bonescan::EndpointId(0), {"b/0", "b", "192.168.50.2", "02:00:00:00:00:0b", "172.30.0.2"}},
        {bonescan::EndpointId(1), {"c/0", "c", "192.168.50.3", "", "172.30.0.2"}}};
    const auto counted = count_by_peer(*flows, flows->front().in_port, {}, kPeers);
    if (counted && counted->size() > kPeers.size()) {
      bonescan::fuzz::broken();
    }
  }
}
