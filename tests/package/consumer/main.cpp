// A stranger's program: it uses the vocabulary, the seam and the pipeline as installed.
#include "detectors/telemetry/component.h"
#include "detectors/telemetry/endpoint.h"
#include "sim/base/check.h"
#include "sim/base/units.h"

#include <cstdio>
#include <string>

#ifdef CONSUMER_WITH_PIPELINE
std::size_t incidents_of_a_dead_pair();
std::size_t incidents_of_the_log(const std::string& run_sqlite);
#endif

int main(int argc, char** argv) {
#ifdef CONSUMER_WITH_PIPELINE
  if (argc == 2) {
    const std::size_t same = incidents_of_the_log(argv[1]);
    std::printf("%zu incident(s) as recorded\n", same);
    return same > 0 ? 0 : 1;
  }
#endif
  BONESCAN_CHECK(argc == 1 && argv != nullptr);
  bonescan::ComponentTable components;
  const bonescan::ComponentId link =
      components.intern(bonescan::ComponentType::kLink, "tor-0.0--agg-1");
  BONESCAN_CHECK(components[link].name == "tor-0.0--agg-1");

  bonescan::EndpointDirectory endpoints;
  BONESCAN_CHECK(!bonescan::find_endpoint(endpoints, "host-9.99/rnic-0"));
  BONESCAN_CHECK(bonescan::seconds(std::chrono::milliseconds(1500)) == 1.5);

#ifdef CONSUMER_WITH_PIPELINE
  const std::size_t incidents = incidents_of_a_dead_pair();
  std::printf("%zu incident(s)\n", incidents);
  BONESCAN_CHECK(incidents > 0);
#endif
  std::printf("consumer ran\n");
}
