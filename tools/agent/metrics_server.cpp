#include "tools/agent/metrics_server.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <fmt/format.h>

#include <chrono>
#include <thread>
#include <utility>

namespace bonescan {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;

constexpr auto kRequestDeadline = std::chrono::seconds(5);
constexpr std::size_t kMaxRequestBytes = std::size_t{8} * 1024;

using Page = std::function<std::string()>;
using Response = http::response<http::string_body>;

Response respond_to(const http::request<http::empty_body>& request, const Page& page) {
  Response response{http::status::ok, request.version()};
  response.keep_alive(false);
  response.set(http::field::content_type, "text/plain; charset=utf-8");
  if (request.method() != http::verb::get && request.method() != http::verb::head) {
    response.result(http::status::method_not_allowed);
    response.set(http::field::allow, "GET, HEAD");
    response.body() = "only GET and HEAD\n";
  } else if (request.target() == "/metrics") {
    response.set(http::field::content_type, "text/plain; version=0.0.4; charset=utf-8");
    response.body() = page();
  } else if (request.target() == "/") {
    response.body() = "bonescan agent; see /metrics\n";
  } else {
    response.result(http::status::not_found);
    response.body() = "there is only /metrics\n";
  }
  response.prepare_payload();
  if (request.method() == http::verb::head) {
    response.body().clear();
  }
  return response;
}

/// One connection: it lives in the handlers that wait for it.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(tcp::socket socket, const Page& page, std::size_t& open)
      : stream_(std::move(socket)), page_(page), open_(open) {
    ++open_;
  }

  ~Connection() { --open_; }

  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void begin() {
    parser_.header_limit(kMaxRequestBytes);
    parser_.body_limit(0);
    stream_.expires_after(kRequestDeadline);
    http::async_read_header(
        stream_, buffer_, parser_, [self = shared_from_this()](error_code error, std::size_t) {
          if (!error) {
            self->answer();
          }
        });
  }

 private:
  void answer() {
    response_ = respond_to(parser_.get(), page_);
    http::async_write(stream_, response_, [self = shared_from_this()](error_code, std::size_t) {
      error_code ignored;
      self->stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
    });
  }

  beast::tcp_stream stream_;
  beast::flat_buffer buffer_{kMaxRequestBytes};
  http::request_parser<http::empty_body> parser_;
  Response response_;
  const Page& page_;
  std::size_t& open_;
};

}  // namespace

class MetricsServer::Impl {
 public:
  explicit Impl(Page page) : page_(std::move(page)) {}

  ~Impl() {
    context_.stop();
    if (thread_.joinable()) {
      thread_.join();
    }
  }

  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  error_code listen(const SocketAddress& where) {
    error_code error;
    const auto address = asio::ip::make_address(where.address, error);
    const tcp::endpoint endpoint(address, where.port);
    if (!error) {
      acceptor_.open(endpoint.protocol(), error);
    }
    if (!error) {
      acceptor_.set_option(asio::socket_base::reuse_address(true), error);
    }
    if (!error) {
      acceptor_.bind(endpoint, error);
    }
    if (!error) {
      acceptor_.listen(kMaxConnections, error);
    }
    return error;
  }

  void run() {
    accept();
    thread_ = std::thread([this] { context_.run(); });
  }

  std::uint16_t port() const {
    error_code ignored;
    return acceptor_.local_endpoint(ignored).port();
  }

 private:
  void accept() {
    acceptor_.async_accept([this](error_code error, tcp::socket socket) {
      if (error == asio::error::operation_aborted) {
        return;
      }
      if (error) {
        // No descriptors left, for example: not a reason to spin.
        pause_.expires_after(std::chrono::seconds(1));
        pause_.async_wait([this](error_code aborted) {
          if (!aborted) {
            accept();
          }
        });
        return;
      }
      // Somebody who is one too many is closed at once.
      if (open_ < kMaxConnections) {
        std::make_shared<Connection>(std::move(socket), page_, open_)->begin();
      }
      accept();
    });
  }

  Page page_;
  std::size_t open_ = 0;  ///< the thread's own
  asio::io_context context_{1};
  tcp::acceptor acceptor_{context_};
  asio::steady_timer pause_{context_};
  std::thread thread_;
};

MetricsServer::MetricsServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

MetricsServer::~MetricsServer() = default;

Expected<std::unique_ptr<MetricsServer>> MetricsServer::start(const SocketAddress& address,
                                                              std::function<std::string()> page) {
  auto impl = std::make_unique<Impl>(std::move(page));
  if (const error_code error = impl->listen(address)) {
    return fail(ErrorCode::kIo,
                fmt::format("cannot serve metrics on {}: {}", to_string(address), error.message()));
  }
  impl->run();
  return std::unique_ptr<MetricsServer>(new MetricsServer(std::move(impl)));
}

std::uint16_t MetricsServer::port() const {
  return impl_->port();
}

}  // namespace bonescan
