#include "detectors/backend_replay/visit_columns.h"
#include "detectors/backend_replay/visit_csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bonescan {
namespace {

using backend_replay::kVisitColumns;
using backend_replay::visit_column;

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

/// The tables that give ids their names.
struct Names {
  EndpointDirectory endpoints;
  PairTable pairs;

  explicit Names(const RunLogReader& log) : endpoints(log.endpoints()), pairs(log.pairs()) {}

  Expected<Pair> ends_of(const Visit& visit) const {
    if (!pairs.contains(visit.pair)) {
      return fail(ErrorCode::kInvalid, "the run log has a visit of an unknown pair");
    }
    return pairs[visit.pair];
  }
};

class CsvLine {
 public:
  explicit CsvLine(const Names& names, std::int64_t epoch_unix_ns)
      : names_(names), epoch_unix_ns_(epoch_unix_ns) {
    cells_[visit_column("agent_type")] = "overlay";
    cells_[visit_column("task_type")] = "RDMA_PING";
    cells_[visit_column("dst_port")] = kRocePort;
  }

  std::string of(const Visit& visit, const Pair& ends, std::span<const std::uint32_t> rtts_ns) {
    const Endpoint& source = names_.endpoints[ends.source];
    const Endpoint& target = names_.endpoints[ends.target];
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
    fill_outcome(sums_of(rtts_ns));
    std::string line;
    line.reserve(256);
    for (const std::string& cell : cells_) {
      append_quoted(cell, line);
      line += ',';
    }
    line.back() = '\n';
    return line;
  }

 private:
  /// Probes that never left the RNIC say nothing, so a visit of such probes leaves all three empty.
  void fill_outcome(const VisitSums& sums) {
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

  const Names& names_;
  std::int64_t epoch_unix_ns_;
  std::array<std::string, kVisitColumns.size()> cells_;
};

/// Writes the lines that `lines_of(round, names, add)` makes of each round.
template <class LinesOf>
Expected<void> export_lines(const RunLogReader& log, std::ostream& out, LinesOf lines_of) {
  const Names names(log);
  std::optional<Error> failure;
  const Expected<void> read = log.for_each_round([&](const ObservedRound& round) {
    for (std::size_t i = 0; !failure && i < round.batch.visits.size(); ++i) {
      if (const Expected<Pair> ends = names.ends_of(round.batch.visits[i]); !ends) {
        failure = ends.error();
      }
    }
    if (!failure) {
      lines_of(round, names);
    }
    if (!failure && !out) {
      failure = Error{ErrorCode::kIo, "the export could not be written"};
    }
  });
  if (!read) {
    return read;
  }
  out.flush();
  if (!failure && !out) {
    failure = Error{ErrorCode::kIo, "the export could not be written"};
  }
  return failure ? Expected<void>(tl::unexpected(*failure)) : Expected<void>();
}

std::string json_text(std::string_view text) {
  std::string json = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      json += '\\';
      json += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      json += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      json += c;
    }
  }
  return json + '"';
}

std::string json_rtts(std::span<const std::uint32_t> rtts_ns) {
  std::string json;
  for (const std::uint32_t rtt_ns : rtts_ns) {
    json += json.empty() ? "" : ",";
    json += answered(rtt_ns)     ? std::to_string(rtt_ns)
            : rtt_ns == kLostRtt ? std::string("null")
                                 : std::string("\"local_error\"");
  }
  return json;
}

}  // namespace

Expected<void> export_visits_csv(const RunLogReader& log, std::ostream& out) {
  out << fmt::format("{}\n", fmt::join(kVisitColumns, ","));
  std::optional<CsvLine> line;
  std::vector<std::pair<Time, std::string>> lines;
  return export_lines(log, out, [&](const ObservedRound& round, const Names& names) {
    if (!line) {
      line.emplace(names, log.info().epoch_unix_ns);
    }
    lines.clear();
    for (const Visit& visit : round.batch.visits) {
      lines.emplace_back(visit.start,
                         line->of(visit, names.pairs[visit.pair], round.batch.rtts(visit)));
    }
    // Pair ids do not survive an import, so rows of one moment are ordered by what they say.
    std::sort(lines.begin(), lines.end());
    for (const auto& [start, text] : lines) {
      out << text;
    }
  });
}

Expected<void> export_visits_jsonl(const RunLogReader& log, std::ostream& out) {
  return export_lines(log, out, [&](const ObservedRound& round, const Names& names) {
    for (const Visit& visit : round.batch.visits) {
      const Pair& ends = names.pairs[visit.pair];
      out << fmt::format(
          "{{\"start_ns\":{},\"pair\":{},\"source\":{},\"target\":{},\"source_port\":{},"
          "\"payload_bytes\":{},\"dscp\":{},\"sent_after_ns\":[{}],\"rtt_ns\":[{}]}}\n",
          nanoseconds(visit.start),
          visit.pair.index(),
          json_text(names.endpoints[ends.source].name),
          json_text(names.endpoints[ends.target].name),
          visit.source_port,
          visit.payload_bytes,
          visit.dscp,
          fmt::join(round.batch.sent_after(visit), ","),
          json_rtts(round.batch.rtts(visit)));
    }
  });
}

}  // namespace bonescan
