// What a Prometheus server would scrape, read by a strict parser of the exposition format.
#include "tools/agent/agent_metrics.h"

#include "tests/support/exposition.h"
#include "tools/agent/metrics_server.h"

#include <boost/asio/buffer.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <fmt/format.h>

#include <string>

namespace bonescan::fakes {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

ProbeBatch batch_of(std::vector<std::uint32_t> rtts_ns) {
  ProbeBatch batch;
  Visit visit;
  visit.count = static_cast<std::uint8_t>(rtts_ns.size());
  batch.visits.push_back(visit);
  batch.sent_after_ns.resize(rtts_ns.size());
  batch.rtt_ns = std::move(rtts_ns);
  return batch;
}

TEST(AgentMetrics, AreWellFormedFromTheStart) {
  AgentMetrics metrics("1.2.3", "abc\"def\\");
  const Exposition parsed = parse_exposition(metrics.text());
  EXPECT_EQ(parsed.value("bonescan_probes_total{outcome=\"throttled\"}"), 0);
  EXPECT_EQ(parsed.value("bonescan_probes_total{outcome=\"no_peer_address\"}"), 0);
  EXPECT_EQ(parsed.value("bonescan_incidents_open{layer=\"underlay\"}"), 0);
  EXPECT_EQ(parsed.value("bonescan_probe_duration_seconds_count"), 0);
  for (const auto& [family, type] : parsed.types) {
    EXPECT_EQ(type == "counter", family.ends_with("_total")) << family;
  }
}

TEST(AgentMetrics, CountEveryOutcomeOnce) {
  AgentMetrics metrics("1", "2");
  metrics.observed(batch_of({16'000,
                             kLostRtt,
                             local_error_rtt(LocalError::kPortDown),
                             local_error_rtt(LocalError::kThrottled),
                             local_error_rtt(LocalError::kOther)}));
  const Exposition parsed = parse_exposition(metrics.text());
  EXPECT_EQ(parsed.value("bonescan_probes_total{outcome=\"answered\"}"), 1);
  EXPECT_EQ(parsed.value("bonescan_probes_total{outcome=\"lost\"}"), 1);
  EXPECT_EQ(parsed.value("bonescan_probes_total{outcome=\"port_down\"}"), 1);
  EXPECT_EQ(parsed.value("bonescan_probes_total{outcome=\"throttled\"}"), 1);
  EXPECT_EQ(parsed.value("bonescan_visits_total"), 1);
  double all = 0;
  for (const auto& [name, value] : parsed.samples) {
    all += name.starts_with("bonescan_probes_total") ? value : 0;
  }
  EXPECT_EQ(all, 5);
}

TEST(AgentMetrics, TellReportsByWhatBecameOfThem) {
  AgentMetrics metrics("1", "2");
  metrics.reports(
      {.expected = 9, .received = 5, .missing = 4, .late = 3, .duplicates = 2, .unplanned = 1});
  const Exposition parsed = parse_exposition(metrics.text());
  EXPECT_EQ(parsed.value("bonescan_reports_total{outcome=\"received\"}"), 5);
  EXPECT_EQ(parsed.value("bonescan_reports_total{outcome=\"missing\"}"), 4);
  EXPECT_EQ(parsed.value("bonescan_reports_total{outcome=\"late\"}"), 3);
  EXPECT_EQ(parsed.value("bonescan_reports_total{outcome=\"duplicate\"}"), 2);
  EXPECT_EQ(parsed.value("bonescan_reports_total{outcome=\"unplanned\"}"), 1);
}

TEST(AgentMetrics, PutRoundTripsIntoTheirBuckets) {
  AgentMetrics metrics("1", "2");
  // At an upper end, just above it, and beyond the last.
  metrics.observed(batch_of({2'000, 2'001, 16'000, 40'000, 900'000'000}));
  const Exposition parsed = parse_exposition(metrics.text());
  const auto bucket = [&](const std::string& le) {
    return parsed.value("bonescan_probe_duration_seconds_bucket{le=\"" + le + "\"}");
  };
  EXPECT_EQ(bucket("2e-06"), 1);
  EXPECT_EQ(bucket("4e-06"), 2);
  EXPECT_EQ(bucket("1.4e-05"), 2);
  EXPECT_EQ(bucket("1.6e-05"), 3);
  EXPECT_EQ(bucket("3.5e-05"), 3);
  EXPECT_EQ(bucket("4e-05"), 4);
  EXPECT_EQ(bucket("0.5"), 4);
  EXPECT_EQ(bucket("+Inf"), 5);
  EXPECT_EQ(parsed.value("bonescan_probe_duration_seconds_count"), 5);
  EXPECT_NEAR(parsed.value("bonescan_probe_duration_seconds_sum"), 0.900060001, 1e-12);
}

TEST(AgentMetrics, HaveDenseBucketsWhereNetworksLive) {
  for (std::size_t i = 1; i < kProbeBucketsNs.size() && kProbeBucketsNs[i] <= 500'000; ++i) {
    EXPECT_GT(kProbeBucketsNs[i], kProbeBucketsNs[i - 1]);
    EXPECT_LE(kProbeBucketsNs[i], 2 * kProbeBucketsNs[i - 1]);
  }
  EXPECT_LE(kProbeBucketsNs.front(), 2'000u);
}

TEST(AgentMetrics, FollowIncidentsAndMembership) {
  AgentMetrics metrics("1", "2");
  Incident open;
  open.layer = Layer::kUnderlay;
  Incident closed = open;
  closed.closed = kStartOfRun;
  const std::vector<Incident> incidents = {open, closed};
  metrics.incidents(incidents);
  const std::vector<MembershipEvent> events = {
      {kStartOfRun, EndpointId(0), MembershipKind::kReady, {}},
      {kStartOfRun, EndpointId(1), MembershipKind::kReady, {}},
      {kStartOfRun, EndpointId(1), MembershipKind::kStopping, {}},
      {kStartOfRun, EndpointId(0), MembershipKind::kAddressChanged, {}}};
  metrics.membership(events);
  metrics.reloaded(false);
  const Exposition parsed = parse_exposition(metrics.text());
  EXPECT_EQ(parsed.value("bonescan_incidents_total{layer=\"underlay\"}"), 2);
  EXPECT_EQ(parsed.value("bonescan_incidents_open{layer=\"underlay\"}"), 1);
  EXPECT_EQ(parsed.value("bonescan_endpoints_ready"), 1);
  EXPECT_EQ(parsed.value("bonescan_reloads_total{result=\"refused\"}"), 1);
}

TEST(AgentMetrics, HaveAsManySeriesHoweverManyPairsThereAre) {
  AgentMetrics few("1", "2");
  AgentMetrics many("1", "2");
  few.observed(batch_of({16'000}));
  for (std::uint32_t i = 0; i < 1000; ++i) {
    ProbeBatch batch = batch_of({1000 * i});
    batch.visits[0].pair = PairId(i);
    many.observed(batch);
  }
  EXPECT_EQ(parse_exposition(few.text()).samples.size(),
            parse_exposition(many.text()).samples.size());
}

/// One request, the whole answer.
std::string ask(std::uint16_t port, const std::string& request) {
  namespace asio = boost::asio;
  asio::io_context context;
  asio::ip::tcp::socket socket(context);
  socket.connect({asio::ip::make_address("127.0.0.1"), port});
  boost::system::error_code end;
  asio::write(socket, asio::buffer(request), end);
  std::string answer;
  asio::read(socket, asio::dynamic_buffer(answer), end);
  return answer;
}

class Server : public testing::Test {
 protected:
  void SetUp() override {
    auto started = MetricsServer::start({"127.0.0.1", 0}, [] { return std::string("a_page 1\n"); });
    ASSERT_TRUE(started) << started.error().detail;
    server_ = std::move(*started);
  }

  std::string get(const std::string& target, const std::string& method = "GET") const {
    return ask(server_->port(), method + " " + target + " HTTP/1.1\r\nHost: x\r\n\r\n");
  }

  std::unique_ptr<MetricsServer> server_;
};

TEST_F(Server, ServesThePage) {
  const std::string answer = get("/metrics");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(answer, HasSubstr("Content-Type: text/plain; version=0.0.4"));
  EXPECT_THAT(answer, HasSubstr("Content-Length: 9\r\n"));
  EXPECT_TRUE(answer.ends_with("\r\n\r\na_page 1\n"));
}

TEST_F(Server, RefusesEverythingElse) {
  EXPECT_THAT(get("/"), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(get("/etc/passwd"), StartsWith("HTTP/1.1 404"));
  EXPECT_THAT(get("/metrics", "DELETE"), StartsWith("HTTP/1.1 405"));
  EXPECT_TRUE(get("/metrics", "HEAD").ends_with("\r\n\r\n"));
  EXPECT_EQ(ask(server_->port(), "nonsense\r\n\r\n"), "");
  EXPECT_EQ(ask(server_->port(), "GET /" + std::string(20'000, 'x') + " HTTP/1.1\r\n\r\n"), "");
  EXPECT_THAT(get("/metrics"), StartsWith("HTTP/1.1 200"));
}

TEST_F(Server, OutlivesClientsThatSayNothing) {
  namespace asio = boost::asio;
  asio::io_context context;
  std::vector<asio::ip::tcp::socket> silent;
  for (std::size_t i = 0; i + 1 < MetricsServer::kMaxConnections; ++i) {
    silent.emplace_back(context).connect({asio::ip::make_address("127.0.0.1"), server_->port()});
  }
  EXPECT_THAT(get("/metrics"), StartsWith("HTTP/1.1 200"));
}

TEST(MetricsServer, SaysThatThePortIsInUse) {
  const auto first = MetricsServer::start({"127.0.0.1", 0}, [] { return std::string(); });
  ASSERT_TRUE(first);
  const std::uint16_t port = (*first)->port();
  const auto second = MetricsServer::start({"127.0.0.1", port}, [] { return std::string(); });
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::kIo);
  EXPECT_EQ(second.error().detail,
            fmt::format("cannot serve metrics on 127.0.0.1:{}: Address already in use", port));
}

}  // namespace
}  // namespace bonescan::fakes
