#include "detectors/backend_replay/visit_rows.h"

#include "detectors/backend_replay/csv_reader.h"
#include "detectors/backend_replay/visit_columns.h"
#include "detectors/telemetry/probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

namespace bonescan::backend_replay {
namespace {

/// Resolution of the loss ratios that the schema keeps. @ours the default probes of a visit
constexpr std::uint8_t kProbesOfLossyVisit = 10;

constexpr std::size_t kAbsent = std::numeric_limits<std::size_t>::max();

struct EndColumns {
  std::size_t ip;
  std::size_t real_ip;
  std::size_t node_sn;
  std::size_t node_id;
  std::size_t asw;
};

constexpr EndColumns kSource = {visit_column("src_ip"),
                                visit_column("src_real_ip"),
                                visit_column("src_node_sn"),
                                visit_column("src_node_id"),
                                visit_column("src_asw")};
constexpr EndColumns kTarget = {visit_column("dst_ip"),
                                visit_column("dst_real_ip"),
                                visit_column("dst_node_sn"),
                                visit_column("dst_node_id"),
                                visit_column("dst_asw")};

class RowReader {
 public:
  explicit RowReader(CsvReader& csv) : csv_(csv) {}

  Expected<void> read_header();
  Expected<void> read_rows();

  ImportedRows take() { return std::move(rows_); }

 private:
  /// The field of a column, or an empty one if the file does not have the column.
  const CsvField& field(std::size_t column) const;
  tl::unexpected<Error> expected_at(const CsvField& found, const std::string& what) const;

  template <class T>
  Expected<T> number(std::size_t column, const char* what, std::optional<T> absent) const;

  Expected<void> read_row();
  Expected<EndpointId> endpoint(const EndColumns& columns);
  Expected<void> read_outcome(ImportedVisit& visit) const;

  CsvReader& csv_;
  std::array<std::size_t, kVisitColumns.size()> position_{};  ///< of a column in the file
  std::vector<CsvField> fields_;
  CsvField none_;
  std::size_t width_ = 0;
  std::map<std::pair<std::string, std::string>, EndpointId> by_node_and_ip_;
  ImportedRows rows_;
};

Expected<void> RowReader::read_header() {
  const Expected<bool> found = csv_.next(fields_);
  if (!found) {
    return tl::unexpected(found.error());
  }
  position_.fill(kAbsent);
  width_ = fields_.size();
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    const auto known = std::find(kVisitColumns.begin(), kVisitColumns.end(), fields_[i].text);
    if (known == kVisitColumns.end()) {
      continue;
    }
    std::size_t& position = position_[static_cast<std::size_t>(known - kVisitColumns.begin())];
    if (position != kAbsent) {
      return tl::unexpected(csv_.error_at(
          fields_[i].place, fmt::format("column \"{}\" is there twice", fields_[i].text)));
    }
    position = i;
  }
  const auto missing = [&](std::string_view name) {
    return tl::unexpected(csv_.error_at({}, fmt::format("column \"{}\" is missing", name)));
  };
  for (const std::size_t column :
       {visit_column("ping_time"), visit_column("latency"), kSource.real_ip, kTarget.real_ip}) {
    if (position_[column] == kAbsent) {
      return missing(kVisitColumns[column]);
    }
  }
  for (const EndColumns& end : {kSource, kTarget}) {
    if (position_[end.node_sn] == kAbsent && position_[end.node_id] == kAbsent) {
      return missing(kVisitColumns[end.node_sn]);
    }
  }
  return {};
}

Expected<void> RowReader::read_rows() {
  for (;;) {
    const Expected<bool> more = csv_.next(fields_);
    if (!more) {
      return tl::unexpected(more.error());
    }
    if (!*more) {
      break;
    }
    if (fields_.size() != width_) {
      return tl::unexpected(csv_.error_at(
          fields_.front().place,
          fmt::format(
              "expected {} fields as in the first line, found {}", width_, fields_.size())));
    }
    const std::string& task = field(visit_column("task_type")).text;
    if (!task.empty() && task != "RDMA_PING") {
      continue;
    }
    if (const Expected<void> done = read_row(); !done) {
      return done;
    }
  }
  std::stable_sort(
      rows_.visits.begin(), rows_.visits.end(), [](const ImportedVisit& a, const ImportedVisit& b) {
        return a.start_unix_ns < b.start_unix_ns;
      });
  return {};
}

const CsvField& RowReader::field(std::size_t column) const {
  const std::size_t position = position_[column];
  return position == kAbsent ? none_ : fields_[position];
}

tl::unexpected<Error> RowReader::expected_at(const CsvField& found, const std::string& what) const {
  const CsvPlace place = &found == &none_ ? fields_.front().place : found.place;
  return tl::unexpected(
      csv_.error_at(place, fmt::format("expected {}, found \"{:.40}\"", what, found.text)));
}

template <class T>
Expected<T> RowReader::number(std::size_t column, const char* what, std::optional<T> absent) const {
  const CsvField& found = field(column);
  if (found.text.empty() && absent) {
    return *absent;
  }
  T value{};
  const char* end = found.text.data() + found.text.size();
  const auto [rest, error] = std::from_chars(found.text.data(), end, value);
  if (error != std::errc() || rest != end) {
    return expected_at(found, fmt::format("{} ({})", kVisitColumns[column], what));
  }
  return value;
}

Expected<void> RowReader::read_row() {
  ImportedVisit visit;
  const auto start = number<std::int64_t>(visit_column("ping_time"), "nanoseconds", std::nullopt);
  if (!start) {
    return tl::unexpected(start.error());
  }
  // Years after 2200 would not leave room for sums of times.
  constexpr std::int64_t kLatestNs = 8'000'000'000'000'000'000;
  if (*start < 0 || *start > kLatestNs) {
    return expected_at(field(visit_column("ping_time")), "ping_time (nanoseconds since 1970)");
  }
  const auto port = number<std::uint16_t>(visit_column("src_port"), "0 to 65535", 0);
  if (!port) {
    return tl::unexpected(port.error());
  }
  const auto dscp = number<std::uint8_t>(visit_column("dscp"), "0 to 63", 0);
  if (!dscp) {
    return tl::unexpected(dscp.error());
  }
  const Expected<EndpointId> source = endpoint(kSource);
  if (!source) {
    return tl::unexpected(source.error());
  }
  const Expected<EndpointId> target = endpoint(kTarget);
  if (!target) {
    return tl::unexpected(target.error());
  }
  visit.start_unix_ns = *start;
  visit.source = *source;
  visit.target = *target;
  visit.source_port = *port;
  visit.dscp = *dscp;
  const Expected<void> outcome = read_outcome(visit);
  if (outcome) {
    rows_.visits.push_back(visit);
  }
  return outcome;
}

/// Overlay addresses repeat across tenants, so the key is the node and the RNIC's tunnel address.
Expected<EndpointId> RowReader::endpoint(const EndColumns& columns) {
  const CsvField& sn = field(columns.node_sn);
  const CsvField& node = sn.text.empty() ? field(columns.node_id) : sn;
  const CsvField& real_ip = field(columns.real_ip);
  if (node.text.empty()) {
    return expected_at(
        &sn == &none_ ? node : sn,
        fmt::format("{} or {}", kVisitColumns[columns.node_sn], kVisitColumns[columns.node_id]));
  }
  if (real_ip.text.empty()) {
    return expected_at(real_ip, std::string(kVisitColumns[columns.real_ip]));
  }
  const auto [entry, added] = by_node_and_ip_.try_emplace({node.text, real_ip.text});
  if (added) {
    Endpoint endpoint;
    endpoint.name = node.text + "/" + real_ip.text;
    endpoint.host = node.text;
    endpoint.underlay_ip = real_ip.text;
    entry->second = rows_.endpoints.push_back(std::move(endpoint));
  }
  Endpoint& endpoint = rows_.endpoints[entry->second];
  if (endpoint.overlay_ip.empty()) {
    endpoint.overlay_ip = field(columns.ip).text;
  }
  if (endpoint.tor.empty()) {
    endpoint.tor = field(columns.asw).text;
  }
  return entry->second;
}

Expected<void> RowReader::read_outcome(ImportedVisit& visit) const {
  const CsvField& dial = field(visit_column("dial"));
  const CsvField& latency = field(visit_column("latency"));
  const bool failed = dial.text == "fail";
  if (!failed && !dial.text.empty() && dial.text != "success") {
    return expected_at(dial, "dial (success or fail)");
  }
  const auto loss = number<double>(visit_column("loss_rate"), "a ratio from 0 to 1", 0.0);
  if (!loss) {
    return tl::unexpected(loss.error());
  }
  if (!(*loss >= 0.0 && *loss <= 1.0)) {
    return expected_at(field(visit_column("loss_rate")), "loss_rate (a ratio from 0 to 1)");
  }
  visit.count = *loss > 0.0 ? kProbesOfLossyVisit : 1;
  if (failed) {
    visit.lost = visit.count;
  } else if (*loss > 0.0) {
    const int most = *loss < 1.0 ? kProbesOfLossyVisit - 1 : kProbesOfLossyVisit;
    const int lost = static_cast<int>(std::lround(*loss * kProbesOfLossyVisit));
    visit.lost = static_cast<std::uint8_t>(std::clamp(lost, 1, most));
  }
  if (visit.lost == visit.count) {
    return {};
  }
  if (latency.text.empty() && dial.text.empty() && *loss == 0.0) {
    visit.local_error = true;
    return {};
  }
  const auto latency_us = number<double>(visit_column("latency"), "microseconds", std::nullopt);
  if (!latency_us) {
    return tl::unexpected(latency_us.error());
  }
  constexpr double kLongestUs = 4e6;
  if (!(*latency_us >= 0.0 && *latency_us <= kLongestUs)) {
    return expected_at(latency, "latency (0 to 4000000 microseconds)");
  }
  visit.rtt_ns = static_cast<std::uint32_t>(std::lround(*latency_us * 1000.0));
  return {};
}

}  // namespace

Expected<ImportedRows> read_visit_rows(const std::string& csv) {
  std::ifstream in(csv, std::ios::binary);
  if (!in) {
    return fail(ErrorCode::kIo, fmt::format("cannot open {}", csv));
  }
  CsvReader reader(in, csv);
  RowReader rows(reader);
  const Expected<void> read = rows.read_header().and_then([&] { return rows.read_rows(); });
  if (!read) {
    return tl::unexpected(read.error());
  }
  if (in.bad()) {
    return fail(ErrorCode::kIo, fmt::format("cannot read {}", csv));
  }
  ImportedRows imported = rows.take();
  if (imported.visits.empty()) {
    return tl::unexpected(reader.error_at({}, "there is no RDMA_PING row"));
  }
  return imported;
}

}  // namespace bonescan::backend_replay
