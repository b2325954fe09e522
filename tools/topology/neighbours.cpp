#include "tools/topology/neighbours.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace bonescan {
namespace {

/// The lines of a text, counted from 1.
class Lines final {
 public:
  explicit Lines(std::string_view text) : rest_(text) {}

  bool next(std::string_view& line) {
    if (rest_.empty()) {
      return false;
    }
    const std::size_t end = std::min(rest_.find('\n'), rest_.size());
    line = rest_.substr(0, end);
    if (line.ends_with('\r')) {
      line.remove_suffix(1);
    }
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    ++number_;
    return true;
  }

  std::size_t number() const { return number_; }

 private:
  std::string_view rest_;
  std::size_t number_ = 0;
};

tl::unexpected<Error> not_understood(const std::string& file,
                                     std::size_t line,
                                     std::string_view expected,
                                     std::string_view found) {
  constexpr std::size_t kLongest = 60;
  std::string shown;
  for (const char c : found.substr(0, kLongest)) {
    shown += c < ' ' || c > '~' ? ' ' : c;
  }
  return fail(ErrorCode::kInvalid,
              fmt::format("{}:{}: expected {}; found '{}'", file, line, expected, shown));
}

/// What stands between the next two quotes of `rest`, which goes on behind them.
std::optional<std::string_view> take_quoted(std::string_view& rest) {
  const std::size_t open = rest.find('"');
  const std::size_t close = open == rest.npos ? open : rest.find('"', open + 1);
  if (close == rest.npos) {
    return std::nullopt;
  }
  const std::string_view inside = rest.substr(open + 1, close - open - 1);
  rest.remove_prefix(close + 1);
  return inside;
}

/// "7" of "[7]" at the front of `rest`.
std::optional<std::string_view> take_bracketed(std::string_view& rest) {
  const std::size_t close = rest.find(']');
  if (!rest.starts_with('[') || close == rest.npos || close == 1) {
    return std::nullopt;
  }
  const std::string_view inside = rest.substr(1, close - 1);
  rest.remove_prefix(close + 1);
  return inside;
}

/// "tor-0.3" of "MF0;tor-0.3:MSB7800/U1", which is how managed switches describe themselves.
std::string switch_of(std::string_view description) {
  const std::size_t semicolon = description.find(';');
  if (semicolon == description.npos) {
    return std::string(description);
  }
  description.remove_prefix(semicolon + 1);
  return std::string(description.substr(0, description.find(':')));
}

/// "host-0.03" and "mlx5_3" of "host-0.03 mlx5_3".
WiringEnd adapter_of(std::string_view description) {
  const std::size_t blank = description.rfind(' ');
  if (blank == description.npos) {
    return {std::string(description), {}};
  }
  return {std::string(description.substr(0, blank)), std::string(description.substr(blank + 1))};
}

/// Rate of a link of four lanes by the name of its speed; 0 if it is not known.
BitsPerSecond rate_of(std::string_view line) {
  constexpr std::pair<std::string_view, std::int64_t> kSpeeds[] = {
      {"4xEDR", 100}, {"4xHDR", 200}, {"4xNDR", 400}, {"4xXDR", 800}};
  for (const auto& [name, gigabits] : kSpeeds) {
    if (line.ends_with(name)) {
      return BitsPerSecond(gigabits * 1'000'000'000);
    }
  }
  return BitsPerSecond(0);
}

std::string_view without_trailing_blanks(std::string_view line) {
  while (!line.empty() && (line.back() == ' ' || line.back() == '\t')) {
    line.remove_suffix(1);
  }
  return line;
}

/// A port line, whose peer is known by its id until all blocks are read.
struct PortLine {
  std::string id;
  std::string port;
  std::string peer_id;
  std::string peer_port;
  BitsPerSecond rate{0};
};

class IbnetReader final {
 public:
  IbnetReader(std::string_view text, const std::string& file) : lines_(text), file_(file) {}

  Expected<Wiring> read() {
    std::string_view line;
    while (lines_.next(line)) {
      line = without_trailing_blanks(line);
      // Facts about a node, which come before it, and comments.
      if (line.empty() || line.starts_with('#') || line.find('=') < line.find('"')) {
        continue;
      }
      const bool understood = line.starts_with('[') ? read_port(line) : read_node(line);
      if (!understood) {
        return not_understood(file_,
                              lines_.number(),
                              R"(Switch N "id" # "name", Ca N "id" # "name" or [port] "id"[port])",
                              line);
      }
    }
    return wiring();
  }

 private:
  bool read_node(std::string_view line) {
    const bool is_switch = line.starts_with("Switch");
    if (!is_switch && !line.starts_with("Ca")) {
      return false;
    }
    const auto id = take_quoted(line);
    const auto name = take_quoted(line);
    if (!id || !name) {
      return false;
    }
    at_ = *id;
    nodes_[at_] = is_switch ? WiringEnd{switch_of(*name), {}} : adapter_of(*name);
    is_switch_[at_] = is_switch;
    return true;
  }

  bool read_port(std::string_view line) {
    const BitsPerSecond rate = rate_of(line);
    const auto port = take_bracketed(line);
    const auto peer = take_quoted(line);
    if (!port || !peer || at_.empty()) {
      return false;
    }
    const auto peer_port = take_bracketed(line);
    if (!peer_port) {
      return false;
    }
    ports_.push_back({at_, std::string(*port), std::string(*peer), std::string(*peer_port), rate});
    return true;
  }

  WiringEnd end(const std::string& id, const std::string& port) const {
    const auto found = nodes_.find(id);
    if (found == nodes_.end()) {
      return {id, port};
    }
    return is_switch_.at(id) ? WiringEnd{found->second.node, port} : found->second;
  }

  Wiring wiring() const {
    Wiring result;
    for (const PortLine& line : ports_) {
      result.cables.push_back(
          {end(line.id, line.port), end(line.peer_id, line.peer_port), line.rate});
    }
    merge_mentions(result);
    return result;
  }

  Lines lines_;
  const std::string& file_;
  std::string at_;
  std::map<std::string, WiringEnd> nodes_;
  std::map<std::string, bool> is_switch_;
  std::vector<PortLine> ports_;
};

/// What a port says about its neighbour.
struct Neighbour {
  std::string node;
  std::map<std::string, std::string, std::less<>> names;  ///< by key

  std::string port() const {
    for (const std::string_view key : {"port.descr", "port.ifname", "port.local"}) {
      const auto found = names.find(key);
      if (found != names.end()) {
        return found->second;
      }
    }
    return {};
  }
};

}  // namespace

void merge_mentions(Wiring& wiring) {
  std::map<std::pair<WiringEnd, WiringEnd>, std::vector<std::size_t>> seen;
  std::vector<WiringCable> kept;
  for (const WiringCable& cable : wiring.cables) {
    auto& mirrored = seen[{cable.upper, cable.lower}];
    // Cables without ports can be parallel: each mention of one end takes one of the other's.
    if (!mirrored.empty()) {
      mirrored.pop_back();
      continue;
    }
    seen[{cable.lower, cable.upper}].push_back(kept.size());
    kept.push_back(cable);
  }
  wiring.cables = std::move(kept);
}

Expected<Wiring> parse_ibnetdiscover(std::string_view text, const std::string& file) {
  return IbnetReader(text, file).read();
}

Expected<Wiring> parse_lldp(std::string_view text,
                            const std::string& file,
                            const std::string& node) {
  constexpr std::string_view kNode = "# node: ";
  constexpr std::string_view kKeys[] = {"chassis.name", "port.descr", "port.ifname", "port.local"};
  std::map<std::pair<std::string, std::string>, Neighbour> neighbours;
  std::string at = node;
  Lines lines(text);
  for (std::string_view line; lines.next(line);) {
    if (line.starts_with(kNode)) {
      at = without_trailing_blanks(line.substr(kNode.size()));
      continue;
    }
    if (line.empty() || line.starts_with('#')) {
      continue;
    }
    const std::size_t equals = line.find('=');
    if (!line.starts_with("lldp.") || equals == line.npos) {
      return not_understood(file, lines.number(), "lldp.PORT.key=value", line);
    }
    const std::string_view path = line.substr(5, equals - 5);
    for (const std::string_view key : kKeys) {
      // The name of a port may have dots too.
      if (path.size() > key.size() + 1 && path.ends_with(key) &&
          path[path.size() - key.size() - 1] == '.') {
        const std::string port(path.substr(0, path.size() - key.size() - 1));
        Neighbour& neighbour = neighbours[{at, port}];
        const std::string value(line.substr(equals + 1));
        (key == "chassis.name" ? neighbour.node : neighbour.names[std::string(key)]) = value;
      }
    }
  }
  Wiring wiring;
  for (const auto& [own, neighbour] : neighbours) {
    if (!neighbour.node.empty()) {
      wiring.cables.push_back(
          {{own.first, own.second}, {neighbour.node, neighbour.port()}, BitsPerSecond(0)});
    }
  }
  return wiring;
}

}  // namespace bonescan
