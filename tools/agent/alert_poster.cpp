#include "tools/agent/alert_poster.h"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <thread>
#include <utility>

namespace bonescan {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;

constexpr auto kDeadline = std::chrono::seconds(5);
constexpr auto kFirstPause = std::chrono::seconds(1);
constexpr auto kLongestPause = std::chrono::seconds(60);
constexpr std::uint64_t kMaxAnswerBytes = std::uint64_t{64} * 1024;
constexpr std::string_view kScheme = "http://";
constexpr std::string_view kResource = "/api/v2/alerts";
constexpr unsigned kHttp11 = 11;

}  // namespace

std::optional<HttpTarget> parse_alertmanager_url(std::string_view url) {
  if (!url.starts_with(kScheme)) {
    return std::nullopt;
  }
  url.remove_prefix(kScheme.size());
  const std::size_t slash = std::min(url.find('/'), url.size());
  auto address = parse_socket_address(url.substr(0, slash));
  std::string prefix(url.substr(slash));
  while (prefix.ends_with('/')) {
    prefix.pop_back();
  }
  const bool clean = std::all_of(prefix.begin(), prefix.end(), [](char c) {
    return c > ' ' && c < '\x7f' && c != '?' && c != '#';
  });
  if (!address || address->port == 0 || !clean) {
    return std::nullopt;
  }
  return HttpTarget{std::move(*address), prefix + std::string(kResource)};
}

/// All but counts() runs on the thread, one attempt at a time.
class AlertPoster::Impl {
 public:
  explicit Impl(HttpTarget target) : target_(std::move(target)) {
    thread_ = std::thread([this] { context_.run(); });
  }

  ~Impl() {
    context_.stop();
    thread_.join();
  }

  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  void post(std::string body) {
    asio::post(context_, [this, body = std::move(body)]() mutable {
      waiting_ = std::move(body);
      begin();
    });
  }

  Counts counts() const {
    const std::scoped_lock lock(mutex_);
    return counts_;
  }

 private:
  void begin() {
    if (busy_ || !waiting_) {
      return;
    }
    busy_ = true;
    sent_ = std::move(*waiting_);
    waiting_.reset();
    error_code error;
    const auto address = asio::ip::make_address(target_.address.address, error);
    if (error) {
      finish(error.message());
      return;
    }
    stream_.emplace(context_);
    stream_->expires_after(kDeadline);
    stream_->async_connect(tcp::endpoint(address, target_.address.port), [this](error_code failed) {
      failed ? finish(failed.message()) : send();
    });
  }

  void send() {
    request_ = {http::verb::post, target_.path, kHttp11};
    request_.set(http::field::host, to_string(target_.address));
    request_.set(http::field::content_type, "application/json");
    request_.keep_alive(false);
    request_.body() = sent_;
    request_.prepare_payload();
    http::async_write(*stream_, request_, [this](error_code failed, std::size_t) {
      failed ? finish(failed.message()) : receive();
    });
  }

  void receive() {
    buffer_.clear();
    parser_.emplace();
    parser_->body_limit(kMaxAnswerBytes);
    http::async_read(*stream_, buffer_, *parser_, [this](error_code failed, std::size_t) {
      if (failed) {
        finish(failed.message());
        return;
      }
      const unsigned status = parser_->get().result_int();
      finish(status / 100 == 2 ? "" : fmt::format("it answers with status {}", status));
    });
  }

  void finish(const std::string& error) {
    stream_.reset();
    busy_ = false;
    {
      const std::scoped_lock lock(mutex_);
      ++(error.empty() ? counts_.delivered : counts_.failed);
      counts_.last_error = error;
    }
    if (error.empty()) {
      pause_ = kFirstPause;
      begin();
      return;
    }
    if (!waiting_) {
      waiting_ = std::move(sent_);
    }
    busy_ = true;  // Until the pause is over.
    timer_.expires_after(pause_);
    pause_ = std::min<std::chrono::seconds>(2 * pause_, kLongestPause);
    timer_.async_wait([this](error_code aborted) {
      busy_ = false;
      if (!aborted) {
        begin();
      }
    });
  }

  HttpTarget target_;
  asio::io_context context_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_ =
      asio::make_work_guard(context_);
  asio::steady_timer timer_{context_};
  std::optional<beast::tcp_stream> stream_;
  beast::flat_buffer buffer_;
  http::request<http::string_body> request_;
  std::optional<http::response_parser<http::string_body>> parser_;
  std::optional<std::string> waiting_;
  std::string sent_;
  std::chrono::seconds pause_ = kFirstPause;
  bool busy_ = false;
  mutable std::mutex mutex_;
  Counts counts_;
  std::thread thread_;
};

AlertPoster::AlertPoster(HttpTarget target) : impl_(std::make_unique<Impl>(std::move(target))) {}

AlertPoster::~AlertPoster() = default;

void AlertPoster::post(std::string body) {
  impl_->post(std::move(body));
}

AlertPoster::Counts AlertPoster::counts() const {
  return impl_->counts();
}

}  // namespace bonescan
