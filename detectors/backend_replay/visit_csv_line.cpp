#include "detectors/backend_replay/visit_csv_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>

namespace bonescan::backend_replay {
namespace {

/// RoCEv2's UDP port, which every responder listens on.
constexpr std::string_view kRocePort = "4791";

struct VisitSums {
  std::uint64_t answered = 0;
  std::uint64_t lost = 0;
  std::uint64_t rtt_sum_ns = 0;
};

VisitSums sums_of(std::span<const std::uint32_t> rtts_ns) {
  VisitSums sums;
  for (const std::uint32_t rtt_ns : rtts_ns) {
    if (answered(rtt_ns)) {
      ++sums.answered;
      sums.rtt_sum_ns += rtt_ns;
    } else if (rtt_ns == kLostRtt) {
      ++sums.lost;
    }
  }
  return sums;
}

void append_quoted(std::string_view cell, std::string& line) {
  if (cell.find_first_of("\",\r\n") == std::string_view::npos) {
    line += cell;
    return;
  }
  line += '"';
  for (const char c : cell) {
    line += c;
    if (c == '"') {
      line += c;
    }
  }
  line += '"';
}

}  // namespace

std::string visit_csv_header() {
  return fmt::format("{}\n", fmt::join(kVisitColumns, ","));
}

VisitCsvLine::VisitCsvLine(const EndpointDirectory& endpoints, std::int64_t epoch_unix_ns)
    : endpoints_(endpoints), epoch_unix_ns_(epoch_unix_ns) {
  cells_[visit_column("agent_type")] = "overlay";
  cells_[visit_column("task_type")] = "RDMA_PING";
  cells_[visit_column("dst_port")] = kRocePort;
}

std::string VisitCsvLine::of(const Visit& visit,
                             const Pair& ends,
                             std::span<const std::uint32_t> rtts_ns) {
  const Endpoint& source = endpoints_[ends.source];
  const Endpoint& target = endpoints_[ends.target];
  cells_[visit_column("src_asw")] = source.tor;
  cells_[visit_column("src_ip")] = source.overlay_ip;
  cells_[visit_column("src_node_id")] = source.host;
  cells_[visit_column("src_node_sn")] = source.host;
  cells_[visit_column("src_real_ip")] = source.underlay_ip;
  cells_[visit_column("dst_asw")] = target.tor;
  cells_[visit_column("dst_ip")] = target.overlay_ip;
  cells_[visit_column("dst_node_id")] = target.host;
  cells_[visit_column("dst_node_sn")] = target.host;
  cells_[visit_column("dst_real_ip")] = target.underlay_ip;
  cells_[visit_column("src_port")] = std::to_string(visit.source_port);
  cells_[visit_column("dscp")] = std::to_string(visit.dscp);
  cells_[visit_column("ping_time")] = std::to_string(epoch_unix_ns_ + nanoseconds(visit.start));
  fill_outcome(rtts_ns);
  std::string line;
  line.reserve(256);
  for (const std::string& cell : cells_) {
    append_quoted(cell, line);
    line += ',';
  }
  line.back() = '\n';
  return line;
}

void VisitCsvLine::fill_outcome(std::span<const std::uint32_t> rtts_ns) {
  const VisitSums sums = sums_of(rtts_ns);
  std::string& dial = cells_[visit_column("dial")];
  std::string& latency = cells_[visit_column("latency")];
  std::string& loss_rate = cells_[visit_column("loss_rate")];
  dial.clear();
  latency.clear();
  loss_rate.clear();
  if (sums.answered > 0) {
    dial = "success";
    const std::uint64_t mean_ns = (sums.rtt_sum_ns + sums.answered / 2) / sums.answered;
    latency = fmt::format("{}.{:03}", mean_ns / 1000, mean_ns % 1000);
  } else if (sums.lost > 0) {
    dial = "fail";
  }
  if (const std::uint64_t counted = sums.answered + sums.lost; counted > 0) {
    loss_rate = fmt::format("{}", static_cast<double>(sums.lost) / static_cast<double>(counted));
  }
}

}  // namespace bonescan::backend_replay
