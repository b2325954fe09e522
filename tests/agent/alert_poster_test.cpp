// Posts to a small HTTP server of the test's own; tests/agent/lab posts to a real Alertmanager.
#include "tools/agent/alert_poster.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>
#include <vector>

namespace bonescan {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;

/// Answers one request with a status; what it read is returned.
class OneAnswer {
 public:
  std::uint16_t port() const { return acceptor_.local_endpoint().port(); }

  http::request<http::string_body> serve(http::status status) {
    tcp::socket socket = acceptor_.accept();
    boost::beast::flat_buffer buffer;
    http::request<http::string_body> request;
    http::read(socket, buffer, request);
    http::response<http::empty_body> response{status, request.version()};
    response.prepare_payload();
    http::write(socket, response);
    return request;
  }

 private:
  asio::io_context context_;
  tcp::acceptor acceptor_{context_, tcp::endpoint(asio::ip::make_address("127.0.0.1"), 0)};
};

template <class Condition>
bool comes_true(Condition condition) {
  for (int i = 0; i < 1000 && !condition(); ++i) {
    std::this_thread::sleep_for(milliseconds(10));
  }
  return condition();
}

TEST(AlertmanagerUrl, IsPlainHttpToAnAddress) {
  struct Case {
    const char* url;
    const char* address;
    const char* path;
  };
  for (const Case& c :
       {Case{"http://127.0.0.1:9093", "127.0.0.1:9093", "/api/v2/alerts"},
        Case{"http://127.0.0.1:9093/", "127.0.0.1:9093", "/api/v2/alerts"},
        Case{"http://[::1]:9093/alertmanager/", "[::1]:9093", "/alertmanager/api/v2/alerts"}}) {
    SCOPED_TRACE(c.url);
    const auto target = parse_alertmanager_url(c.url);
    ASSERT_TRUE(target);
    EXPECT_EQ(to_string(target->address), c.address);
    EXPECT_EQ(target->path, c.path);
  }
  for (const char* url : {"",
                          "127.0.0.1:9093",
                          "https://127.0.0.1:9093",
                          "http://localhost:9093",
                          "http://127.0.0.1",
                          "http://127.0.0.1:0",
                          "http://127.0.0.1:9093/a b",
                          "http://127.0.0.1:9093/a\r\nHost: b",
                          "http://127.0.0.1:9093/?a=b"}) {
    EXPECT_FALSE(parse_alertmanager_url(url)) << url;
  }
}

TEST(AlertPoster, DeliversABody) {
  OneAnswer server;
  AlertPoster poster({{"127.0.0.1", server.port()}, "/api/v2/alerts"});
  poster.post("[1]");
  const auto request = server.serve(http::status::ok);
  EXPECT_EQ(request.method(), http::verb::post);
  EXPECT_EQ(request.target(), "/api/v2/alerts");
  EXPECT_EQ(request[http::field::content_type], "application/json");
  EXPECT_EQ(request.body(), "[1]");
  EXPECT_TRUE(comes_true([&] { return poster.counts().delivered == 1; }));
  EXPECT_EQ(poster.counts().last_error, "");
}

TEST(AlertPoster, TriesAgainWithTheNewestBody) {
  OneAnswer server;
  AlertPoster poster({{"127.0.0.1", server.port()}, "/api/v2/alerts"});
  poster.post("[1]");
  EXPECT_EQ(server.serve(http::status::service_unavailable).body(), "[1]");
  ASSERT_TRUE(comes_true([&] { return poster.counts().failed == 1; }));
  EXPECT_THAT(poster.counts().last_error, HasSubstr("status 503"));
  poster.post("[2]");
  poster.post("[3]");
  EXPECT_EQ(server.serve(http::status::ok).body(), "[3]");
  EXPECT_TRUE(comes_true([&] { return poster.counts().delivered == 1; }));
}

TEST(AlertPoster, NeverMakesTheCallerWait) {
  const auto start = std::chrono::steady_clock::now();
  {
    // A listener that never answers, and a port where nobody listens.
    OneAnswer silent;
    AlertPoster to_silent({{"127.0.0.1", silent.port()}, "/"});
    AlertPoster to_nobody({{"127.0.0.1", 1}, "/"});
    for (int i = 0; i < 1000; ++i) {
      to_silent.post("[]");
      to_nobody.post("[]");
    }
    EXPECT_TRUE(comes_true([&] { return to_nobody.counts().failed > 0; }));
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, seconds(3));
}

}  // namespace
}  // namespace bonescan
