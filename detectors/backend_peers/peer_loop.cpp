#include "detectors/backend_peers/peer_loop.h"

#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/write.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <fcntl.h>
#include <utility>

namespace bonescan {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using Tcp = asio::ip::tcp;

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

Expected<Tcp::endpoint> endpoint_of(const std::string& address, std::uint16_t port) {
  error_code error;
  const auto parsed = asio::ip::make_address(address, error);
  if (error) {
    return fail(ErrorCode::kInvalid, fmt::format("'{}' is no IP address", address));
  }
  return Tcp::endpoint(parsed, port);
}

}  // namespace

Expected<void> PeerLoop::open() {
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

Expected<void> PeerLoop::listen(const Tcp::endpoint& at) {
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

void PeerLoop::run() {
  accept();
  asio::post(io_, [this] { tick(); });
  thread_ = std::thread([this] { io_.run(); });
}

void PeerLoop::stop() {
  asio::post(io_, [this] { say_goodbye(); });
  join();
}

void PeerLoop::accept() {
  accepting_ = true;
  acceptor_.async_accept([this](const error_code& error, Tcp::socket socket) {
    accepting_ = false;
    accepted(error, std::move(socket));
  });
}

void PeerLoop::accepted(const error_code& error, Tcp::socket socket) {
  if (stopping_ || error) {
    return;  // too many open files, most likely: the next tick tries again
  }
  if (inbound_.size() < max_inbound(dials_.size())) {
    auto connection = std::make_shared<PeerConnection>(io_, PeerSession::Role::kListener);
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

void PeerLoop::connect(PeerDial& dial) {
  auto connection = std::make_shared<PeerConnection>(io_, PeerSession::Role::kDialer);
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

void PeerLoop::connected(const PeerConnectionPtr& connection, const error_code& error) {
  if (connection->over) {
    return;
  }
  if (error) {
    return end(connection, reason_of(error));
  }
  begin(connection);
}

void PeerLoop::begin(const PeerConnectionPtr& connection) {
  error_code error;
  keep_from_children(connection->socket);
  connection->socket.non_blocking(true, error);
  connection->socket.set_option(Tcp::no_delay(true), error);
  connection->begun = options_.now();
  connection->session.emplace(connection->role, options_.session, options_.own, connection->begun);
  write(connection);
  read(connection);
}

void PeerLoop::read(const PeerConnectionPtr& connection) {
  // Waiting needs no buffer, so that an idle connection costs next to no memory.
  connection->socket.async_wait(
      Tcp::socket::wait_read,
      [this, connection](const error_code& error) { readable(connection, error); });
}

void PeerLoop::readable(const PeerConnectionPtr& connection, const error_code& error) {
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
void PeerLoop::progress(const PeerConnectionPtr& connection) {
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

void PeerLoop::greet(const PeerConnectionPtr& connection) {
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

void PeerLoop::write(const PeerConnectionPtr& connection) {
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

void PeerLoop::written(const PeerConnectionPtr& connection) {
  write(connection);
  if (stopping_ && connection->in_flight.empty()) {
    error_code ignored;
    connection->socket.shutdown(Tcp::socket::shutdown_send, ignored);
  }
}

void PeerLoop::last_words(PeerConnection& connection) {
  if (connection.session && connection.in_flight.empty()) {
    error_code ignored;
    connection.socket.write_some(asio::buffer(connection.session->output()), ignored);
    connection.session->output().clear();
  }
}

void PeerLoop::end(const PeerConnectionPtr& connection, CloseReason reason) {
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
    PeerDial& dial = dials_[connection->dial];
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

void PeerLoop::tick() {
  const Time now = options_.now();
  if (last_call_ && now >= *last_call_) {
    io_.stop();
    return;
  }
  std::vector<PeerConnectionPtr> open = inbound_;
  for (PeerDial& dial : dials_) {
    if (dial.connection == nullptr && !stopping_ && now >= dial.next_attempt) {
      connect(dial);
    }
    if (dial.connection != nullptr) {
      open.push_back(dial.connection);
    }
  }
  for (const PeerConnectionPtr& connection : open) {
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

void PeerLoop::tell(const std::vector<std::string>& names) {
  // What is said is what is so now: an announcement may have been overtaken by a newer one.
  std::vector<EndpointNotice> notices = sink_.own_notices();
  std::erase_if(notices, [&](const EndpointNotice& notice) {
    return std::find(names.begin(), names.end(), notice.name) == names.end();
  });
  const std::vector<PeerConnectionPtr> listeners = inbound_;
  for (const PeerConnectionPtr& connection : listeners) {
    if (connection->greeted) {
      connection->session->announce(notices);
      progress(connection);
    }
  }
}

void PeerLoop::say_goodbye() {
  stopping_ = true;
  last_call_ = options_.now() + options_.farewell;
  error_code ignored;
  acceptor_.close(ignored);
  std::vector<PeerConnectionPtr> open = inbound_;
  for (const PeerDial& dial : dials_) {
    if (dial.connection != nullptr) {
      open.push_back(dial.connection);
    }
  }
  for (const PeerConnectionPtr& connection : open) {
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

void PeerLoop::finish_if_alone() {
  const bool dialing = std::any_of(dials_.begin(), dials_.end(), [](const PeerDial& dial) {
    return dial.connection != nullptr;
  });
  if (stopping_ && !dialing && inbound_.empty()) {
    io_.stop();
  }
}

bool PeerLoop::knows(std::string_view host) const {
  return std::any_of(dials_.begin(), dials_.end(), [host](const PeerDial& dial) {
    return dial.peer.host == host;
  });
}

}  // namespace bonescan
