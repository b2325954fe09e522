#include "detectors/backend_ovs/parse/tunnel_tables.h"

#include "detectors/backend_ovs/parse/match_scan.h"
#include "detectors/backend_ovs/parse/text_scan.h"

#include <utility>

namespace bonescan::backend_ovs {
namespace {

enum class Table : std::uint8_t {
  kNone,
  kNeighbours,
  kRoutes,
  kPorts,
};

/// What a header announces; kNone for any other line.
Table table_of_header(std::string_view line) {
  if (line == "Route Table:") {
    return Table::kRoutes;
  }
  if (line == "Listening ports:") {
    return Table::kPorts;
  }
  const bool titles = line.substr(0, 3) == "IP " && line.find(" MAC ") != std::string_view::npos;
  const bool ruled_off = line.find_first_not_of('=') == std::string_view::npos;
  return titles || ruled_off ? Table::kNeighbours : Table::kNone;
}

Expected<TunnelNeighbour> read_neighbour(const Line& line) {
  std::string_view rest = line.text;
  TunnelNeighbour neighbour;
  neighbour.ip = take_word(rest);
  neighbour.mac = take_word(rest);
  neighbour.bridge = take_word(rest);
  if (neighbour.bridge.empty() || neighbour.mac.size() != 17) {
    return tl::unexpected(expected_in(line, {}, "\"IP MAC BRIDGE\""));
  }
  return neighbour;
}

Expected<TunnelRoute> read_route(const Line& line) {
  std::string_view rest = line.text;
  TunnelRoute route;
  route.origin = take_word(rest);
  if (route.origin.back() != ':') {
    return tl::unexpected(expected_in(line, {}, "\"Cached: PREFIX dev DEVICE ...\""));
  }
  route.origin.pop_back();
  route.prefix = take_word(rest);
  for (std::string_view word = take_word(rest); !word.empty(); word = take_word(rest)) {
    if (word == "local") {
      route.local = true;
    } else if (word == "dev") {
      route.device = take_word(rest);
    } else if (word == "GW") {
      route.gateway = take_word(rest);
    } else if (word == "SRC") {
      route.source = take_word(rest);
    } else if (word == "MARK") {
      route.mark = take_word(rest);
    }
  }
  if (route.prefix.empty() || route.device.empty()) {
    return tl::unexpected(expected_in(line, {}, "\"PREFIX dev DEVICE\" after the origin"));
  }
  return route;
}

Expected<TunnelPort> read_port(const Line& line) {
  std::string_view rest = line.text;
  TunnelPort port;
  port.name = take_word(rest);
  std::string_view number = take_word(rest);
  if (number.size() > 2 && number.front() == '(' && number.back() == ')') {
    number = number.substr(1, number.size() - 2);
  }
  const auto value = to_number32(number);
  if (!value) {
    return tl::unexpected(expected_in(line, {}, "\"NAME (NUMBER)\""));
  }
  port.number = *value;
  rest = trimmed(rest);
  if (take_prefix(rest, ":")) {
    if (Expected<void> scanned = scan_match(line, trimmed(rest), port.match); !scanned) {
      return tl::unexpected(scanned.error());
    }
  }
  return port;
}

template <class Row>
Expected<void> append(Expected<Row> row, std::vector<Row>& rows) {
  if (!row) {
    return tl::unexpected(std::move(row.error()));
  }
  rows.push_back(std::move(*row));
  return {};
}

Expected<TunnelTables> parse_from(std::string_view text, Table table) {
  TunnelTables tables;
  const Expected<void> read = for_each_line(text, [&](const Line& line) -> Expected<void> {
    if (const Table header = table_of_header(line.text); header != Table::kNone) {
      table = header;
      return {};
    }
    switch (table) {
      case Table::kNeighbours:
        return append(read_neighbour(line), tables.neighbours);
      case Table::kRoutes:
        return append(read_route(line), tables.routes);
      case Table::kPorts:
        return append(read_port(line), tables.ports);
      case Table::kNone:
        break;
    }
    return tl::unexpected(expected_in(line, {}, "the header of a tunnel table"));
  });
  if (!read) {
    return tl::unexpected(read.error());
  }
  return tables;
}

}  // namespace

Expected<std::vector<TunnelNeighbour>> parse_tunnel_neighbours(std::string_view text) {
  return parse_from(text, Table::kNeighbours).map([](TunnelTables tables) {
    return std::move(tables.neighbours);
  });
}

Expected<std::vector<TunnelRoute>> parse_tunnel_routes(std::string_view text) {
  return parse_from(text, Table::kRoutes).map([](TunnelTables tables) {
    return std::move(tables.routes);
  });
}

Expected<std::vector<TunnelPort>> parse_tunnel_ports(std::string_view text) {
  return parse_from(text, Table::kPorts).map([](TunnelTables tables) {
    return std::move(tables.ports);
  });
}

Expected<TunnelTables> parse_tunnel_tables(std::string_view text) {
  return parse_from(text, Table::kNone);
}

}  // namespace bonescan::backend_ovs
