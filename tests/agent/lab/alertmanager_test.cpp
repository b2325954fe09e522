// A real Alertmanager on loopback is told of an incident and tells it back.
#include "tests/support/child_process.h"
#include "tests/support/fake_telemetry.h"
#include "tests/support/temporary_directory.h"
#include "tools/agent/alert_board.h"
#include "tools/agent/alert_poster.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <fmt/format.h>

#include <chrono>
#include <fstream>
#include <memory>
#include <optional>
#include <thread>
#include <unistd.h>

namespace bonescan::fakes {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;
using Json = nlohmann::json;

constexpr const char* kProgram = "/usr/bin/prometheus-alertmanager";

std::uint16_t free_port() {
  asio::io_context context;
  tcp::acceptor acceptor(context, tcp::endpoint(asio::ip::make_address("127.0.0.1"), 0));
  return acceptor.local_endpoint().port();
}

class AlertmanagerLab : public testing::Test {
 protected:
  void SetUp() override {
    if (access(kProgram, X_OK) != 0) {
      GTEST_SKIP() << "prometheus-alertmanager is not installed";
    }
    std::ofstream(scratch_.file("alertmanager.yml"))
        << "route: {receiver: nobody}\nreceivers: [{name: nobody}]\n";
    server_ = std::make_unique<ChildProcess>(
        std::vector<std::string>{kProgram,
                                 "--config.file=" + scratch_.file("alertmanager.yml"),
                                 "--storage.path=" + scratch_.file("data"),
                                 fmt::format("--web.listen-address=127.0.0.1:{}", port_),
                                 "--cluster.listen-address="});
    for (int i = 0; i < 200 && !get("/-/ready"); ++i) {
      ASSERT_TRUE(server_->running()) << server_->wait().err;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    ASSERT_TRUE(get("/-/ready"));
  }

  std::optional<std::string> get(const std::string& path) const {
    asio::io_context context;
    tcp::socket socket(context);
    boost::system::error_code error;
    socket.connect(tcp::endpoint(asio::ip::make_address("127.0.0.1"), port_), error);
    if (error) {
      return std::nullopt;
    }
    http::request<http::empty_body> request{http::verb::get, path, 11};
    request.set(http::field::host, "127.0.0.1");
    http::write(socket, request, error);
    boost::beast::flat_buffer buffer;
    http::response<http::string_body> response;
    http::read(socket, buffer, response, error);
    return !error && response.result() == http::status::ok ? std::optional(response.body())
                                                           : std::nullopt;
  }

  /// Active alerts, once there are so many and the first has this severity.
  Json alerts(std::size_t count, const std::string& severity) const {
    Json all;
    for (int i = 0; i < 200; ++i) {
      all = Json::parse(get("/api/v2/alerts?active=true").value_or("[]"));
      if (all.size() == count && (count == 0 || all[0]["labels"]["severity"] == severity)) {
        break;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return all;
  }

  TemporaryDirectory scratch_;
  std::uint16_t port_ = free_port();
  std::unique_ptr<ChildProcess> server_;
};

TEST_F(AlertmanagerLab, TakesAnIncidentFollowsItAndForgetsIt) {
  FakeTelemetry world(fake_endpoints(2, 1));
  PairTable pairs;
  pairs.push_back({EndpointId(0), EndpointId(1)});
  Incident incident;
  incident.id = 0xabc;
  incident.opened = at_s(10);
  incident.kind = "link-loss";
  incident.layer = Layer::kUnderlay;
  incident.severity = Severity::kP1;
  incident.candidates = {{world.access_link(EndpointId(0)), 9.0}};
  incident.pairs = {PairId(0)};
  incident.action = "Clean \"it\" \xC3\xA9.";
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto epoch =
      std::chrono::duration_cast<std::chrono::nanoseconds>(now).count() - nanoseconds(at_s(20));

  AlertBoard board("http://127.0.0.1:9475/metrics");
  AlertPoster poster(*parse_alertmanager_url(fmt::format("http://127.0.0.1:{}", port_)));
  const auto tell = [&](std::int64_t second) {
    board.update(at_s(second), {world.endpoints(), world.components, pairs, epoch}, 0, incident);
    poster.post(board.body(at_s(second), epoch));
  };
  tell(20);
  const Json first = alerts(1, "P1");
  ASSERT_EQ(first.size(), 1u) << poster.counts().last_error;
  EXPECT_EQ(first[0]["labels"]["alertname"], "BonescanIncident");
  EXPECT_EQ(first[0]["labels"]["component"], "link(host-1.01/rnic-0, tor-1.0)");
  EXPECT_EQ(first[0]["labels"]["tasks"], "job-1");
  EXPECT_EQ(first[0]["annotations"]["action"], incident.action);
  EXPECT_EQ(first[0]["status"]["state"], "active");

  incident.severity = Severity::kP0;
  tell(20);
  EXPECT_EQ(alerts(1, "P0").size(), 1u) << "the alert under the old labels has to end";

  incident.closed = at_s(20);
  tell(20);
  EXPECT_EQ(alerts(0, "").size(), 0u);
  EXPECT_EQ(poster.counts().failed, 0u);
}

}  // namespace
}  // namespace bonescan::fakes
