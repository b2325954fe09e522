#include "detectors/backend_peers/peer_driver.h"

#include "sim/base/check.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fcntl.h>
#include <optional>
#include <thread>
#include <utility>

namespace bonescan {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using Tcp = asio::ip::tcp;

constexpr std::size_t kReadBytes = 16 * 1024;
constexpr bool kBothFamilies = false;

constexpr std::size_t max_inbound(std::size_t peers) {
  return 2 * peers + 8;
}

CloseReason reason_of(const error_code& error) {
  namespace codes = asio::error;
  if (error == codes::connection_refused) {
    return CloseReason::kRefused;
  }
  if (error == codes::connection_reset || error == codes::broken_pipe ||
      error == codes::connection_aborted || error == codes::not_connected) {
    return CloseReason::kReset;
  }
  if (error == codes::eof) {
    return CloseReason::kEnd;
  }
  if (error == codes::timed_out) {
    return CloseReason::kTimeout;
  }
  if (error == codes::host_unreachable || error == codes::network_unreachable ||
      error == codes::network_down) {
    return CloseReason::kNoRoute;
  }
  return CloseReason::kLocalError;
}

template <class Socket>
void keep_from_children(Socket& socket) {
  ::fcntl(socket.native_handle(), F_SETFD, FD_CLOEXEC);
}

struct Connection {
  Connection(asio::io_context& io, PeerSession::Role side) : socket(io), role(side) {}

  Tcp::socket socket;
  PeerSession::Role role;
  std::optional<PeerSession> session;  ///< once connected
  std::size_t dial = 0;                ///< kDialer: index of the peer
  Time begun;
  std::string in_flight;  ///< what async_write is sending
  bool greeted = false;
  bool over = false;
};

using ConnectionPtr = std::shared_ptr<Connection>;

/// One peer that this agent connects to.
struct Dial {
  PeerHost peer;
  Tcp::endpoint address;
  ConnectionPtr connection;  ///< null between attempts
  Time next_attempt;
  Duration back_off{};
};

Expected<Tcp::endpoint> endpoint_of(const std::string& address, std::uint16_t port) {
  error_code error;
  const auto parsed = asio::ip::make_address(address, error);
  if (error) {
    return fail(ErrorCode::kInvalid, fmt::format("'{}' is no IP address", address));
  }
  return Tcp::endpoint(parsed, port);
}

}  // namespace

class PeerDriver::Loop final {
 public:
  Loop(const PeerDriverOptions& options, PeerSink& sink)
      : options_(options), sink_(sink), acceptor_(io_), timer_(io_) {}

  ~Loop() {
    io_.stop();
    join();
  }

  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  Expected<void> open();
  void run();
  void stop();

  std::uint16_t port() const { return port_; }

  void announce(std::vector<std::string> names) {
    asio::post(io_, [this, names = std::move(names)] { tell(names); });
  }

 private:
  Expected<void> listen(const Tcp::endpoint& at);
  void accept();
  void accepted(const error_code& error, Tcp::socket socket);
  void connect(Dial& dial);
  void connected(const ConnectionPtr& connection, const error_code& error);
  void begin(const ConnectionPtr& connection);
  void read(const ConnectionPtr& connection);
  void readable(const ConnectionPtr& connection, const error_code& error);
  void write(const ConnectionPtr& connection);
  void written(const ConnectionPtr& connection);
  void progress(const ConnectionPtr& connection);
  void greet(const ConnectionPtr& connection);
  void end(const ConnectionPtr& connection, CloseReason reason);
  void last_words(Connection& connection);
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
  asio::io_context io_{1};
  Tcp::acceptor acceptor_;
  asio::steady_timer timer_;
  std::vector<Dial> dials_;
  std::vector<ConnectionPtr> inbound_;
  std::array<char, kReadBytes> buffer_{};
  std::uint16_t port_ = 0;
  bool accepting_ = false;
  bool stopping_ = false;
  std::optional<Time> last_call_;  ///< when stop() stops waiting
  std::thread thread_;
};

Expected<void> PeerDriver::Loop::open() {
  for (const PeerHost& peer : options_.peers) {
    if (peer.host == options_.own.host) {
      continue;  // one list may serve all hosts
    }
    const auto address = endpoint_of(peer.address, peer.port);
    if (!address) {
      return fail(ErrorCode::kInvalid, fmt::format("{}: {}", peer.host, address.error().detail));
    }
    dials_.push_back({peer, *address, nullptr, options_.now(), options_.back_off_min});
  }
  const auto at = endpoint_of(options_.listen_address, options_.listen_port);
  return at ? listen(*at) : tl::unexpected(at.error());
}

Expected<void> PeerDriver::Loop::listen(const Tcp::endpoint& at) {
  error_code error;
  acceptor_.open(at.protocol(), error);
  if (!error) {
    keep_from_children(acceptor_);
    acceptor_.set_option(Tcp::acceptor::reuse_address(true), error);
  }
  if (!error && at.address().is_v6() && at.address().is_unspecified()) {
    acceptor_.set_option(asio::ip::v6_only(kBothFamilies), error);
  }
  if (!error) {
    acceptor_.bind(at, error);
  }
  if (!error) {
    acceptor_.listen(Tcp::acceptor::max_listen_connections, error);
  }
  if (error) {
    return fail(ErrorCode::kIo,
                fmt::format("cannot listen on {} port {}: {}",
                            options_.listen_address,
                            options_.listen_port,
                            error.message()));
  }
  port_ = acceptor_.local_endpoint().port();
  return {};
}

void PeerDriver::Loop::run() {
  accept();
  asio::post(io_, [this] { tick(); });
  thread_ = std::thread([this] { io_.run(); });
}

void PeerDriver::Loop::stop() {
  asio::post(io_, [this] { say_goodbye(); });
  join();
}

void PeerDriver::Loop::accept() {
  accepting_ = true;
  acceptor_.async_accept([this](const error_code& error, Tcp::socket socket) {
    accepting_ = false;
    accepted(error, std::move(socket));
  });
}

void PeerDriver::Loop::accepted(const error_code& error, Tcp::socket socket) {
  if (stopping_ || error) {
    return;  // too many open files, most likely: the next tick tries again
  }
  if (inbound_.size() < max_inbound(dials_.size())) {
    auto connection = std::make_shared<Connection>(io_, PeerSession::Role::kListener);
    connection->socket = std::move(socket);
    inbound_.push_back(connection);
    begin(connection);
  } else {
    error_code ignored;
    const std::string line = encode_peer_message(GoodbyeMessage{GoodbyeReason::kRefused});
    socket.write_some(asio::buffer(line), ignored);
    sink_.inbound_ended(CloseReason::kBacklog);
  }
  accept();
}

void PeerDriver::Loop::connect(Dial& dial) {
  auto connection = std::make_shared<Connection>(io_, PeerSession::Role::kDialer);
  connection->dial = static_cast<std::size_t>(&dial - dials_.data());
  connection->begun = options_.now();
  dial.connection = connection;
  error_code error;
  connection->socket.open(dial.address.protocol(), error);
  if (error) {
    return end(connection, CloseReason::kLocalError);
  }
  keep_from_children(connection->socket);
  connection->socket.async_connect(dial.address, [this, connection](const error_code& result) {
    connected(connection, result);
  });
}

void PeerDriver::Loop::connected(const ConnectionPtr& connection, const error_code& error) {
  if (connection->over) {
    return;
  }
  if (error) {
    return end(connection, reason_of(error));
  }
  begin(connection);
}

void PeerDriver::Loop::begin(const ConnectionPtr& connection) {
  error_code error;
  keep_from_children(connection->socket);
  connection->socket.non_blocking(true, error);
  connection->socket.set_option(Tcp::no_delay(true), error);
  connection->begun = options_.now();
  connection->session.emplace(connection->role, options_.session, options_.own, connection->begun);
  write(connection);
  read(connection);
}

void PeerDriver::Loop::read(const ConnectionPtr& connection) {
  // Waiting needs no buffer, so that an idle connection costs next to no memory.
  connection->socket.async_wait(
      Tcp::socket::wait_read,
      [this, connection](const error_code& error) { readable(connection, error); });
}

void PeerDriver::Loop::readable(const ConnectionPtr& connection, const error_code& error) {
  if (connection->over) {
    return;
  }
  error_code failure = error;
  std::size_t count = 0;
  if (!failure) {
    count = connection->socket.read_some(asio::buffer(buffer_), failure);
  }
  if (failure && failure != asio::error::would_block) {
    connection->session->transport_ended(reason_of(failure));
    return end(connection, *connection->session->closed());
  }
  connection->session->receive({buffer_.data(), count}, options_.now());
  progress(connection);
  if (!connection->over) {
    read(connection);
  }
}

/// Looks at what the session has to say after anything happened to it.
void PeerDriver::Loop::progress(const ConnectionPtr& connection) {
  PeerSession& session = *connection->session;
  if (!connection->greeted && session.peer()) {
    connection->greeted = true;
    greet(connection);
  }
  if (connection->role == PeerSession::Role::kDialer && connection->greeted) {
    const std::string& host = dials_[connection->dial].peer.host;
    const std::vector<EndpointNotice> notices = session.take_notices();
    if (!notices.empty()) {
      sink_.noticed(host, notices, options_.now());
    }
    sink_.heard(host, session.heard_at());
  }
  if (session.closed() && !stopping_) {
    return end(connection, *session.closed());
  }
  write(connection);
}

void PeerDriver::Loop::greet(const ConnectionPtr& connection) {
  PeerSession& session = *connection->session;
  const HelloMessage& hello = *session.peer();
  if (connection->role == PeerSession::Role::kListener) {
    if (knows(hello.host)) {
      session.announce(sink_.own_notices());
    } else {
      session.close(CloseReason::kWrongHost);
    }
    return;
  }
  const std::string& host = dials_[connection->dial].peer.host;
  if (hello.host == host) {
    sink_.greeted(host, hello, options_.now());
  } else {
    connection->greeted = false;
    session.close(CloseReason::kWrongHost);
  }
}

void PeerDriver::Loop::write(const ConnectionPtr& connection) {
  std::string& output = connection->session->output();
  if (connection->over || !connection->in_flight.empty() || output.empty()) {
    return;
  }
  connection->in_flight.swap(output);
  asio::async_write(connection->socket,
                    asio::buffer(connection->in_flight),
                    [this, connection](const error_code& error, std::size_t) {
                      connection->in_flight.clear();
                      // A failure is seen by the reader too, after what there is to be read.
                      if (!error) {
                        written(connection);
                      }
                    });
}

void PeerDriver::Loop::written(const ConnectionPtr& connection) {
  write(connection);
  if (stopping_ && connection->in_flight.empty()) {
    error_code ignored;
    connection->socket.shutdown(Tcp::socket::shutdown_send, ignored);
  }
}

void PeerDriver::Loop::last_words(Connection& connection) {
  if (connection.session && connection.in_flight.empty()) {
    error_code ignored;
    connection.socket.write_some(asio::buffer(connection.session->output()), ignored);
    connection.session->output().clear();
  }
}

void PeerDriver::Loop::end(const ConnectionPtr& connection, CloseReason reason) {
  if (connection->over) {
    return;
  }
  connection->over = true;
  last_words(*connection);
  error_code ignored;
  connection->socket.close(ignored);
  if (connection->role == PeerSession::Role::kListener) {
    std::erase(inbound_, connection);
    sink_.inbound_ended(reason);
  } else {
    Dial& dial = dials_[connection->dial];
    const Time now = options_.now();
    if (connection->greeted && now - connection->begun >= options_.session.deadline) {
      dial.back_off = options_.back_off_min;
    }
    dial.next_attempt = now + dial.back_off;
    dial.back_off = std::min(2 * dial.back_off, options_.back_off_max);
    dial.connection.reset();
    sink_.ended(dial.peer.host, reason);
  }
  finish_if_alone();
}

void PeerDriver::Loop::tick() {
  const Time now = options_.now();
  if (last_call_ && now >= *last_call_) {
    io_.stop();
    return;
  }
  std::vector<ConnectionPtr> open = inbound_;
  for (Dial& dial : dials_) {
    if (dial.connection == nullptr && !stopping_ && now >= dial.next_attempt) {
      connect(dial);
    }
    if (dial.connection != nullptr) {
      open.push_back(dial.connection);
    }
  }
  for (const ConnectionPtr& connection : open) {
    if (connection->session) {
      connection->session->tick(now);
      progress(connection);
    } else if (now - connection->begun > options_.connect_timeout) {
      end(connection, CloseReason::kTimeout);
    }
  }
  if (!accepting_ && !stopping_) {
    accept();
  }
  timer_.expires_after(options_.tick);
  timer_.async_wait([this](const error_code& error) {
    if (!error) {
      tick();
    }
  });
}

void PeerDriver::Loop::tell(const std::vector<std::string>& names) {
  // What is said is what is so now: an announcement may have been overtaken by a newer one.
  std::vector<EndpointNotice> notices = sink_.own_notices();
  std::erase_if(notices, [&](const EndpointNotice& notice) {
    return std::find(names.begin(), names.end(), notice.name) == names.end();
  });
  const std::vector<ConnectionPtr> listeners = inbound_;
  for (const ConnectionPtr& connection : listeners) {
    if (connection->greeted) {
      connection->session->announce(notices);
      progress(connection);
    }
  }
}

void PeerDriver::Loop::say_goodbye() {
  stopping_ = true;
  last_call_ = options_.now() + options_.farewell;
  error_code ignored;
  acceptor_.close(ignored);
  std::vector<ConnectionPtr> open = inbound_;
  for (const Dial& dial : dials_) {
    if (dial.connection != nullptr) {
      open.push_back(dial.connection);
    }
  }
  for (const ConnectionPtr& connection : open) {
    if (connection->session) {
      // The other end closes when it has read this; closing first could take the words back.
      connection->session->stop();
      write(connection);
    } else {
      end(connection, CloseReason::kStopped);
    }
  }
  finish_if_alone();
}

void PeerDriver::Loop::finish_if_alone() {
  const bool dialing = std::any_of(
      dials_.begin(), dials_.end(), [](const Dial& dial) { return dial.connection != nullptr; });
  if (stopping_ && !dialing && inbound_.empty()) {
    io_.stop();
  }
}

bool PeerDriver::Loop::knows(std::string_view host) const {
  return std::any_of(
      dials_.begin(), dials_.end(), [host](const Dial& dial) { return dial.peer.host == host; });
}

Expected<std::unique_ptr<PeerDriver>> PeerDriver::start(const PeerDriverOptions& options,
                                                        PeerSink& sink) {
  BONESCAN_CHECK(options.now != nullptr);
  auto loop = std::make_unique<Loop>(options, sink);
  if (const auto opened = loop->open(); !opened) {
    return tl::unexpected(opened.error());
  }
  loop->run();
  return std::unique_ptr<PeerDriver>(new PeerDriver(std::move(loop)));
}

PeerDriver::PeerDriver(std::unique_ptr<Loop> loop) : loop_(std::move(loop)) {}

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
