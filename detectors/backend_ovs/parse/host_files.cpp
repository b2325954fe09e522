#include "detectors/backend_ovs/parse/host_files.h"

#include "detectors/backend_ovs/parse/text_scan.h"

#include <charconv>
#include <limits>

namespace bonescan::backend_ovs {
namespace {

/// A file of one line ends with a line end, which is no blank to trimmed().
std::string_view one_line(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) {
    text.remove_suffix(1);
  }
  return trimmed(text);
}

/// "KEY: VALUE" -> VALUE.
std::optional<std::string_view> value_of(std::string_view line, std::string_view key) {
  if (!take_prefix(line, key)) {
    return std::nullopt;
  }
  line = trimmed(line);
  return take_prefix(line, ":") ? std::optional(trimmed(line)) : std::nullopt;
}

/// A decimal number, a fraction allowed, and what follows it.
std::optional<double> take_decimal(std::string_view& text) {
  double value = 0.0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || !(value >= 0.0 && value < 1e9)) {
    return std::nullopt;
  }
  text = trimmed(text.substr(static_cast<std::size_t>(rest - text.data())));
  return value;
}

struct Member {
  BondMember member;
  std::string aggregator;
};

}  // namespace

Expected<std::vector<BondMember>> parse_bonding(std::string_view text) {
  std::vector<Member> members;
  std::string active;
  const Expected<void> done = for_each_line(text, [&](const Line& line) -> Expected<void> {
    const std::string_view words = trimmed(line.text);
    if (const auto name = value_of(words, "Slave Interface")) {
      if (name->empty()) {
        return tl::unexpected(expected_in(line, {}, "the name of an interface"));
      }
      members.push_back({{std::string(*name), false}, {}});
    } else if (const auto status = value_of(words, "MII Status"); status && !members.empty()) {
      members.back().member.up = *status == "up";
    } else if (const auto aggregator = value_of(words, "Aggregator ID")) {
      (members.empty() ? active : members.back().aggregator) = std::string(*aggregator);
    }
    return {};
  });
  if (!done) {
    return tl::unexpected(done.error());
  }
  if (members.empty()) {
    return fail(ErrorCode::kInvalid, "1:1: expected the state of a bond with members");
  }
  std::vector<BondMember> bond;
  for (Member& one : members) {
    const bool elsewhere = !active.empty() && !one.aggregator.empty() && one.aggregator != active;
    one.member.up = one.member.up && !elsewhere;
    bond.push_back(std::move(one.member));
  }
  return bond;
}

std::optional<std::string> parse_port_state(std::string_view text) {
  std::string_view rest = one_line(text);
  const std::string_view number = take_word(rest);
  if (number.size() < 2 || number.back() != ':' ||
      !to_number(number.substr(0, number.size() - 1))) {
    return std::nullopt;
  }
  const std::string_view state = take_word(rest);
  return state.empty() || !rest.empty() ? std::nullopt : std::optional<std::string>(state);
}

std::optional<BitsPerSecond> parse_port_rate(std::string_view text) {
  std::string_view rest = one_line(text);
  const std::optional<double> value = take_decimal(rest);
  if (!value || take_word(rest) != "Gb/sec") {
    return std::nullopt;
  }
  return BitsPerSecond(static_cast<std::int64_t>(*value * 1e9));
}

std::optional<double> parse_pcie_speed(std::string_view text) {
  std::string_view rest = one_line(text);
  const std::optional<double> value = take_decimal(rest);
  return value && take_word(rest) == "GT/s" ? value : std::nullopt;
}

std::optional<std::uint64_t> parse_hugepage_folder(std::string_view name) {
  if (!take_prefix(name, "hugepages-") || name.size() < 3 || !name.ends_with("kB")) {
    return std::nullopt;
  }
  const auto kilobytes = to_number(name.substr(0, name.size() - 2));
  const bool fits =
      kilobytes && *kilobytes > 0 && *kilobytes <= std::numeric_limits<std::uint64_t>::max() / 1024;
  return fits ? std::optional(*kilobytes * 1024) : std::nullopt;
}

}  // namespace bonescan::backend_ovs
