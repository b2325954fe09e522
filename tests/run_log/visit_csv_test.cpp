#include "detectors/backend_replay/visit_csv.h"

#include "detectors/backend_replay/replay_backend.h"
#include "tests/run_log/sample_rows.h"
#include "tests/support/temporary_directory.h"

#include <nlohmann/json.hpp>

#include <fstream>
#include <sstream>

namespace bonescan {
namespace {

std::string golden(const std::string& name) {
  return std::string(BONESCAN_SOURCE_DIR) + "/tests/golden/visits/" + name;
}

std::string contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string((std::istreambuf_iterator<char>(in)), {});
}

std::string csv_of(const std::string& run_sqlite) {
  const auto log = RunLogReader::open(run_sqlite);
  EXPECT_TRUE(log);
  std::ostringstream out;
  EXPECT_TRUE(export_visits_csv(**log, out));
  return out.str();
}

/// A small run as the fake world gives it: losses, local errors, several rounds.
void write_fake_run(const std::string& path) {
  fakes::FakeTelemetry world(fakes::fake_endpoints(2, 2));
  world.effects.push_back({.hits = fakes::between(EndpointId(1), EndpointId(3)), .lose_one_in = 3});
  world.effects.push_back(
      {.from = fakes::at_s(2), .hits = fakes::to_endpoint(EndpointId(0)), .lose_one_in = 1});
  world.effects.push_back({.to = fakes::at_s(1),
                           .hits = fakes::between(EndpointId(3), EndpointId(1)),
                           .local_error = true});
  Telemetry telemetry = world.telemetry();
  PairTable pairs;
  for (const auto& [source, target] : {std::pair(3U, 1U), {2U, 0U}, {1U, 3U}, {0U, 2U}}) {
    pairs.push_back({EndpointId(source), EndpointId(target)});
  }
  const auto log = RunLogWriter::create(path, {}, world.endpoints());
  ASSERT_TRUE(log);
  for (int second = 0; second < 4; ++second) {
    std::vector<ProbeRequest> requests(pairs.size());
    for (std::uint32_t i = 0; i < pairs.size(); ++i) {
      ProbeRequest& request = requests[i];
      request.pair = PairId(i);
      request.ends = pairs[request.pair];
      request.start = fakes::at_ms(second * 1000 + (second % 2) * 7 * i);
      request.spacing = std::chrono::milliseconds(1);
      request.timeout = std::chrono::milliseconds(500);
      request.source_port = static_cast<std::uint16_t>(50'000 + second);
      request.dscp = 26;
      request.count = 10;
    }
    telemetry.probes.submit(requests);
    ProbeBatch batch;
    const Time now = fakes::at_ms(second * 1000 + 1500);
    telemetry.probes.collect(now, batch);
    (*log)->observed(now, batch);
  }
  (*log)->updates({}, {}, pairs);
  ASSERT_TRUE((*log)->finish({}, telemetry.components));
}

TEST(VisitCsv, HasTheFortyFiveColumnsInOrder) {
  const fakes::TemporaryDirectory directory;
  write_fake_run(directory.file("run.sqlite"));
  const std::string csv = csv_of(directory.file("run.sqlite"));
  EXPECT_EQ(csv.substr(0, csv.find('\n')),
            "agent_type,dial,dscp,dst_asw,dst_cluster_id,dst_cluster_name,dst_dsw,dst_idc,dst_ip,"
            "dst_logic_site,dst_node_id,dst_node_sn,dst_pod,dst_port,dst_real_ip,dst_region_id,"
            "dst_region_name,dst_tenant_id,dst_zone_id,extra_stats,host_ip,latency,loss_rate,"
            "ping_time,ptp_ts,route,src_asw,src_cluster_id,src_cluster_name,src_dsw,src_idc,src_ip,"
            "src_logic_site,src_node_id,src_node_sn,src_pod,src_port,src_real_ip,src_region_id,"
            "src_region_name,src_security_domain,src_tenant_id,src_zone_id,task_start_time,"
            "task_type");
}

TEST(VisitCsv, WritesOneRowPerVisit) {
  const fakes::TemporaryDirectory directory;
  const std::string path = directory.file("run.sqlite");
  EndpointDirectory endpoints = fakes::fake_endpoints(2, 1);
  endpoints[EndpointId(1)].host = "rack \"4\", left";
  const auto log = RunLogWriter::create(path, {}, endpoints);
  ASSERT_TRUE(log);
  PairTable pairs;
  pairs.push_back({EndpointId(0), EndpointId(1)});
  const struct {
    const char* name;
    std::vector<std::uint32_t> rtts_ns;
    const char* dial;
    const char* latency;
    const char* loss_rate;
  } cases[] = {
      {"mean of the answered, rounded",
       {16'000, 16'001, kLostRtt, 17'000},
       "success",
       "16.334",
       "0.25"},
      {"all lost", {kLostRtt, kLostRtt}, "fail", "", "1"},
      {"local errors are no loss", {kLocalErrorRtt, 16'000}, "success", "16.000", "0"},
      {"only local errors", {kLocalErrorRtt}, "", "", ""},
  };
  std::string expected;
  ProbeBatch batch;
  for (const auto& c : cases) {
    Visit visit;
    visit.pair = PairId(0);
    visit.start = fakes::at_ms(static_cast<std::int64_t>(batch.visits.size()));
    visit.first = static_cast<std::uint32_t>(batch.rtt_ns.size());
    visit.source_port = 50'569;
    visit.dscp = 26;
    visit.count = static_cast<std::uint8_t>(c.rtts_ns.size());
    expected += std::string("overlay,") + c.dial +
                ",26,tor-1.0,,,,,10.0.1.1,,\"rack \"\"4\"\", left\",\"rack \"\"4\"\", left\",,4791,"
                "192.168.1.1,,,,,,," +
                c.latency + "," + c.loss_rate + "," + std::to_string(nanoseconds(visit.start)) +
                ",,,tor-1.0,,,,,10.0.0.1,,host-1.01,host-1.01,,50569,192.168.0.1,,,,,,,RDMA_PING\n";
    batch.visits.push_back(visit);
    batch.rtt_ns.insert(batch.rtt_ns.end(), c.rtts_ns.begin(), c.rtts_ns.end());
  }
  batch.sent_after_ns.resize(batch.rtt_ns.size());
  (*log)->observed(fakes::at_s(1), batch);
  (*log)->updates({}, {}, pairs);
  ASSERT_TRUE((*log)->flush(fakes::at_s(1), {}));
  const std::string csv = csv_of(path);
  EXPECT_EQ(csv.substr(csv.find('\n') + 1), expected);
}

TEST(VisitCsv, ExportImportExportIsAFixedPoint) {
  const fakes::TemporaryDirectory directory;
  write_fake_run(directory.file("run.sqlite"));
  const std::string first = csv_of(directory.file("run.sqlite"));
  std::ofstream(directory.file("first.csv")) << first;
  const auto imported = import_visits_csv(directory.file("first.csv"), directory.file("2.sqlite"));
  ASSERT_TRUE(imported) << imported.error().detail;
  EXPECT_EQ(csv_of(directory.file("2.sqlite")), first);
  EXPECT_THAT(first, testing::HasSubstr("fail"));
  EXPECT_THAT(first, testing::HasSubstr(",0.4,"));
}

/// The file: byte-order mark, odd column order, CRLF, quoted commas and quotes, unsorted rows, one
/// overlay address at two nodes, an unknown column, a TCP row.
TEST(VisitCsv, ImportsTheGoldenFile) {
  const fakes::TemporaryDirectory directory;
  const auto imported = import_visits_csv(golden("odd.csv"), directory.file("run.sqlite"));
  ASSERT_TRUE(imported) << imported.error().detail;
  EXPECT_EQ(csv_of(directory.file("run.sqlite")), contents(golden("odd_exported.csv")));
  const auto log = RunLogReader::open(directory.file("run.sqlite"));
  ASSERT_TRUE(log);
  EXPECT_TRUE((*log)->verify());
  EXPECT_EQ((*log)->info().epoch_unix_ns, 1'733'990'400'000'000'000);
  EXPECT_EQ((*log)->endpoints().size(), 3U);
  EXPECT_EQ((*log)->membership().size(), 3U);
  std::vector<ObservedRound> rounds;
  ASSERT_TRUE((*log)->for_each_round([&](const ObservedRound& round) { rounds.push_back(round); }));
  ASSERT_EQ(rounds.size(), 2U);
  EXPECT_EQ(rounds[0].now, fakes::at_ms(1500));
  ASSERT_EQ(rounds[0].batch.visits.size(), 2U);
  EXPECT_EQ(rounds[0].batch.visits[0].start, Time(Duration(161'000)));
  EXPECT_EQ(rounds[0].batch.visits[0].source_port, 50'569);
  EXPECT_EQ(rounds[0].batch.rtt_ns[0], 16'183U);
  EXPECT_EQ(rounds[1].now, fakes::at_ms(4500));
  EXPECT_EQ(rounds[1].batch.visits.size(), 2U);
  const auto lossy = rounds[1].batch.rtts(rounds[1].batch.visits[0]);
  EXPECT_EQ(
      std::vector<std::uint32_t>(lossy.begin(), lossy.end()),
      (std::vector<std::uint32_t>{
          11'954, 11'954, 11'954, kLostRtt, 11'954, 11'954, kLostRtt, 11'954, 11'954, kLostRtt}));
}

TEST(VisitCsv, ImportedRowsCanBeReplayed) {
  const fakes::TemporaryDirectory directory;
  ASSERT_TRUE(import_visits_csv(golden("odd.csv"), directory.file("run.sqlite")));
  const auto replay = ReplayBackend::open(directory.file("run.sqlite"));
  ASSERT_TRUE(replay) << replay.error().detail;
  Telemetry telemetry = (*replay)->telemetry();
  std::vector<MembershipEvent> events;
  telemetry.membership.collect(kStartOfRun, events);
  EXPECT_EQ(events.size(), 3U);
  ProbeBatch batch;
  telemetry.probes.collect(fakes::at_ms(1499), batch);
  EXPECT_TRUE(batch.visits.empty());
  // A caller that numbers two of the pairs otherwise and does not know the third.
  PairTable pairs;
  pairs.push_back({EndpointId(0), EndpointId(0)});
  const PairTable recorded = (*replay)->log().pairs();
  pairs.push_back(recorded[PairId(1)]);
  pairs.push_back(recorded[PairId(0)]);
  (*replay)->use_pair_ids(pairs);
  telemetry.probes.collect(fakes::at_s(10), batch);
  std::vector<Pair> expected;
  ASSERT_TRUE((*replay)->log().for_each_round([&](const ObservedRound& round) {
    for (const Visit& visit : round.batch.visits) {
      if (visit.pair <= PairId(1)) {
        expected.push_back(recorded[visit.pair]);
      }
    }
  }));
  std::vector<Pair> found;
  for (const Visit& visit : batch.visits) {
    ASSERT_TRUE(pairs.contains(visit.pair));
    found.push_back(pairs[visit.pair]);
  }
  EXPECT_THAT(found, testing::UnorderedElementsAreArray(expected));
  EXPECT_EQ(found.size(), 3U);
  EXPECT_TRUE((*replay)->status());
}

TEST(VisitCsv, ApproximatesLossByTenProbes) {
  const struct {
    const char* name;
    const char* outcome;  ///< dial, latency, loss_rate
    std::size_t probes;
    std::size_t lost;
    std::size_t local_errors;
  } cases[] = {
      {"no loss", "success,16.1,0", 1, 0, 0},
      {"no loss_rate", "success,16.1,", 1, 0, 0},
      {"a third", "success,16.1,0.3333", 10, 3, 0},
      {"at least one", "success,16.1,0.001", 10, 1, 0},
      {"not all if some came back", "success,16.1,0.99", 10, 9, 0},
      {"all", "fail,,1", 10, 10, 0},
      {"all by dial alone", "fail,,", 1, 1, 0},
      {"nothing said", ",,", 1, 0, 1},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const fakes::TemporaryDirectory directory;
    std::ofstream(directory.file("in.csv"))
        << "ping_time,src_node_id,src_real_ip,dst_node_id,dst_real_ip,dial,latency,loss_rate\n"
        << "5,a,1.1.1.1,b,2.2.2.2," << c.outcome << "\n";
    const auto imported = import_visits_csv(directory.file("in.csv"), directory.file("run.sqlite"));
    ASSERT_TRUE(imported) << imported.error().detail;
    const RunResult result = (*RunLogReader::open(directory.file("run.sqlite")))->result();
    EXPECT_EQ(result.probes_sent, c.probes);
    EXPECT_EQ(result.probes_lost, c.lost);
    EXPECT_EQ(result.probes_local_errors, c.local_errors);
  }
}

TEST(VisitCsv, SaysWhereAnImportFails) {
  const std::string head =
      "ping_time,src_node_sn,src_real_ip,dst_node_sn,dst_real_ip,dial,latency,loss_rate,src_port\n";
  const struct {
    const char* name;
    std::string text;
    const char* detail;
  } cases[] = {
      {"empty", "", "in.csv:1:1: column \"ping_time\" is missing"},
      {"missing column",
       "ping_time,latency\n1,2\n",
       "in.csv:1:1: column \"src_real_ip\" is missing"},
      {"twice", "latency,latency\n", "in.csv:1:9: column \"latency\" is there twice"},
      {"no rows", head, "there is no RDMA_PING row"},
      {"time", head + "soon,a,1,b,2,success,16,0,1\n", "in.csv:2:1: expected ping_time"},
      {"negative time", head + "-5,a,1,b,2,success,16,0,1\n", "in.csv:2:1: expected ping_time"},
      {"latency", head + "1,a,1,b,2,success,fast,0,1\n", "in.csv:2:19: expected latency"},
      {"no latency", head + "1,a,1,b,2,success,,0,1\n", "in.csv:2:19: expected latency"},
      {"negative latency", head + "1,a,1,b,2,success,-1,0,1\n", "in.csv:2:19: expected latency"},
      {"nan", head + "1,a,1,b,2,success,nan,0,1\n", "in.csv:2:19: expected latency"},
      {"loss", head + "1,a,1,b,2,success,16,1.5,1\n", "in.csv:2:22: expected loss_rate"},
      {"loss nan", head + "1,a,1,b,2,success,16,nan,1\n", "in.csv:2:22: expected loss_rate"},
      {"dial", head + "1,a,1,b,2,maybe,16,0,1\n", "in.csv:2:11: expected dial"},
      {"port", head + "1,a,1,b,2,success,16,0,70000\n", "in.csv:2:24: expected src_port"},
      {"node", head + "1,,1,b,2,success,16,0,1\n", "in.csv:2:3: expected src_node_sn"},
      {"real_ip", head + "1,a,,b,2,success,16,0,1\n", "in.csv:2:5: expected src_real_ip"},
      {"width", head + "1,a,1\n", "in.csv:2:1: expected 9 fields as in the first line, found 3"},
      {"third line", head + "1,a,1,b,2,success,16,0,1\n2,a,1,b,2,success,x,0,1\n", "in.csv:3:19:"},
      {"open quote",
       head + "1,\"a,1,b,2,success,16,0,1\n",
       "in.csv:2:3: a quoted field does not end"},
      {"after quote", head + "1,\"a\"x,1,b,2,success,16,0,1\n", "in.csv:2:6: expected a comma"},
      {"quote inside", head + "1,a\"x,1,b,2,success,16,0,1\n", "in.csv:2:4: a quote inside"},
      {"zero byte", head + std::string("1,a\0b", 5), "in.csv:2:3: this is not a text file"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const fakes::TemporaryDirectory directory;
    std::ofstream(directory.file("in.csv"), std::ios::binary) << c.text;
    const auto imported = import_visits_csv(directory.file("in.csv"), directory.file("run.sqlite"));
    ASSERT_FALSE(imported);
    EXPECT_EQ(imported.error().code, ErrorCode::kInvalid);
    EXPECT_THAT(imported.error().detail, testing::HasSubstr(c.detail));
    EXPECT_FALSE(std::filesystem::exists(directory.file("run.sqlite")));
  }
  const auto missing = import_visits_csv("nowhere.csv", "nowhere.sqlite");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kIo);
}

TEST(VisitJsonl, WritesEveryRtt) {
  const fakes::TemporaryDirectory directory;
  write_fake_run(directory.file("run.sqlite"));
  const auto log = RunLogReader::open(directory.file("run.sqlite"));
  ASSERT_TRUE(log);
  std::ostringstream out;
  ASSERT_TRUE(export_visits_jsonl(**log, out));
  std::istringstream lines(out.str());
  std::size_t visits = 0;
  const EndpointDirectory endpoints = (*log)->endpoints();
  const PairTable pairs = (*log)->pairs();
  ASSERT_TRUE((*log)->for_each_round([&](const ObservedRound& round) {
    for (const Visit& visit : round.batch.visits) {
      std::string line;
      ASSERT_TRUE(std::getline(lines, line));
      const nlohmann::json json = nlohmann::json::parse(line);
      EXPECT_EQ(json.at("start_ns"), nanoseconds(visit.start));
      EXPECT_EQ(json.at("source"), endpoints[pairs[visit.pair].source].name);
      EXPECT_EQ(json.at("target"), endpoints[pairs[visit.pair].target].name);
      EXPECT_EQ(json.at("source_port"), visit.source_port);
      ASSERT_EQ(json.at("rtt_ns").size(), visit.count);
      ASSERT_EQ(json.at("sent_after_ns").size(), visit.count);
      for (std::size_t i = 0; i < visit.count; ++i) {
        const std::uint32_t rtt = round.batch.rtts(visit)[i];
        const nlohmann::json& found = json.at("rtt_ns")[i];
        EXPECT_EQ(found,
                  answered(rtt)     ? nlohmann::json(rtt)
                  : rtt == kLostRtt ? nlohmann::json(nullptr)
                                    : nlohmann::json("local_error"));
      }
      ++visits;
    }
  }));
  EXPECT_EQ(visits, 16U);
}

TEST(VisitExport, ReportsAStreamThatFails) {
  const fakes::TemporaryDirectory directory;
  write_fake_run(directory.file("run.sqlite"));
  const auto log = RunLogReader::open(directory.file("run.sqlite"));
  ASSERT_TRUE(log);
  std::ofstream full("/dev/full");
  const Expected<void> done = export_visits_csv(**log, full);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::kIo);
}

}  // namespace
}  // namespace bonescan
