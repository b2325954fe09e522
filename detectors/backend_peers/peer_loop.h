// The thread of a PeerDriver: its sockets and what happens on them.
//
// Everything but the constructor, open(), run(), stop(), port() and announce() happens on that
// thread. Included by the driver only, since it brings all of Boost.Asio.
#pragma once

#include "detectors/backend_peers/peer_driver.h"
#include "detectors/backend_peers/peer_session.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace bonescan {

constexpr std::size_t kPeerReadBytes = std::size_t{16} * 1024;

/// A socket and what is said over it.
struct PeerConnection {
  PeerConnection(boost::asio::io_context& io, PeerSession::Role side) : socket(io), role(side) {}

  boost::asio::ip::tcp::socket socket;
  PeerSession::Role role;
  std::optional<PeerSession> session;  ///< once connected
  std::size_t dial = 0;                ///< kDialer: index of the peer
  Time begun;
  std::string in_flight;  ///< what async_write is sending
  bool greeted = false;
  bool over = false;
};

using PeerConnectionPtr = std::shared_ptr<PeerConnection>;

/// One peer that this agent connects to.
struct PeerDial {
  PeerHost peer;
  boost::asio::ip::tcp::endpoint address;
  PeerConnectionPtr connection;  ///< null between attempts
  Time next_attempt;
  Duration back_off{};
};

class PeerLoop final {
 public:
  PeerLoop(const PeerDriverOptions& options, PeerSink& sink)
      : options_(options), sink_(sink), acceptor_(io_), timer_(io_) {}

  ~PeerLoop() {
    io_.stop();
    join();
  }

  PeerLoop(const PeerLoop&) = delete;
  PeerLoop& operator=(const PeerLoop&) = delete;

  Expected<void> open();
  void run();
  void stop();

  std::uint16_t port() const { return port_; }

  void announce(std::vector<std::string> names) {
    boost::asio::post(io_, [this, names = std::move(names)] { tell(names); });
  }

 private:
  Expected<void> listen(const boost::asio::ip::tcp::endpoint& at);
  void accept();
  void accepted(const boost::system::error_code& error, boost::asio::ip::tcp::socket socket);
  void connect(PeerDial& dial);
  void connected(const PeerConnectionPtr& connection, const boost::system::error_code& error);
  void begin(const PeerConnectionPtr& connection);
  void read(const PeerConnectionPtr& connection);
  void readable(const PeerConnectionPtr& connection, const boost::system::error_code& error);
  void write(const PeerConnectionPtr& connection);
  void written(const PeerConnectionPtr& connection);
  void progress(const PeerConnectionPtr& connection);
  void greet(const PeerConnectionPtr& connection);
  void end(const PeerConnectionPtr& connection, CloseReason reason);
  void last_words(PeerConnection& connection);
  void tick();
  void tell(const std::vector<std::string>& names);
  void say_goodbye();
  void finish_if_alone();
  bool knows(std::string_view host) const;

  void join() {
    if (thread_.joinable()) {
      thread_.join();
    }
  }

  PeerDriverOptions options_;
  PeerSink& sink_;
  boost::asio::io_context io_{1};
  boost::asio::ip::tcp::acceptor acceptor_;
  boost::asio::steady_timer timer_;
  std::vector<PeerDial> dials_;
  std::vector<PeerConnectionPtr> inbound_;
  std::array<char, kPeerReadBytes> buffer_{};
  std::uint16_t port_ = 0;
  bool accepting_ = false;
  bool stopping_ = false;
  std::optional<Time> last_call_;  ///< when stop() stops waiting
  std::thread thread_;
};

}  // namespace bonescan
