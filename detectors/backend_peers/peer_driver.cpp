#include "detectors/backend_peers/peer_driver.h"

#include "detectors/backend_peers/peer_loop.h"
#include "sim/base/check.h"

#include <utility>

namespace bonescan {

Expected<std::unique_ptr<PeerDriver>> PeerDriver::start(const PeerDriverOptions& options,
                                                        PeerSink& sink) {
  BONESCAN_CHECK(options.now != nullptr);
  auto loop = std::make_unique<PeerLoop>(options, sink);
  if (const auto opened = loop->open(); !opened) {
    return tl::unexpected(opened.error());
  }
  loop->run();
  return std::unique_ptr<PeerDriver>(new PeerDriver(std::move(loop)));
}

PeerDriver::PeerDriver(std::unique_ptr<PeerLoop> loop) : loop_(std::move(loop)) {}

PeerDriver::~PeerDriver() = default;

std::uint16_t PeerDriver::port() const {
  return loop_->port();
}

void PeerDriver::announce(std::vector<std::string> names) {
  loop_->announce(std::move(names));
}

void PeerDriver::stop() {
  loop_->stop();
}

}  // namespace bonescan
