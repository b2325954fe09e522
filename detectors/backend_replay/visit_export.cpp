#include "detectors/backend_replay/visit_csv.h"
#include "detectors/backend_replay/visit_csv_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bonescan {
namespace {

using backend_replay::visit_csv_header;
using backend_replay::VisitCsvLine;

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
  out << visit_csv_header();
  std::optional<VisitCsvLine> line;
  std::vector<std::pair<Time, std::string>> lines;
  return export_lines(log, out, [&](const ObservedRound& round, const Names& names) {
    if (!line) {
      line.emplace(names.endpoints, log.info().epoch_unix_ns);
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
