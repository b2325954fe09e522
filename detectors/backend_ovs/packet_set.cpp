#include "detectors/backend_ovs/packet_set.h"

#include "detectors/backend_ovs/parse/text_scan.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cstring>
#include <optional>
#include <span>
#include <string>

namespace bonescan::backend_ovs {
namespace {

enum class Form : std::uint8_t {
  kNumber,
  kMac,
  kAddress,
  kEthTypeName,  ///< "ipv4" or a number
  kProtoName,    ///< "udp" or a number
};

struct Word {
  std::string_view key;
  PacketField field;
  Form form;
};

constexpr std::array kDatapathWords = {
    Word{"recirc_id", PacketField::kRecirculation, Form::kNumber},
    Word{"eth.src", PacketField::kEthSource, Form::kMac},
    Word{"eth.dst", PacketField::kEthTarget, Form::kMac},
    Word{"eth_type", PacketField::kEthType, Form::kNumber},
    Word{"ipv4.src", PacketField::kIpSource, Form::kAddress},
    Word{"ipv4.dst", PacketField::kIpTarget, Form::kAddress},
    Word{"ipv4.proto", PacketField::kIpProto, Form::kNumber},
    Word{"ipv4.tos", PacketField::kIpTos, Form::kNumber},
    Word{"ipv6.src", PacketField::kIpSource, Form::kAddress},
    Word{"ipv6.dst", PacketField::kIpTarget, Form::kAddress},
    Word{"ipv6.proto", PacketField::kIpProto, Form::kNumber},
    Word{"ipv6.tclass", PacketField::kIpTos, Form::kNumber},
    Word{"udp.src", PacketField::kSourcePort, Form::kNumber},
    Word{"udp.dst", PacketField::kTargetPort, Form::kNumber},
    Word{"tcp.src", PacketField::kSourcePort, Form::kNumber},
    Word{"tcp.dst", PacketField::kTargetPort, Form::kNumber},
    Word{"icmp.type", PacketField::kSourcePort, Form::kNumber},
    Word{"icmp.code", PacketField::kTargetPort, Form::kNumber},
    Word{"icmpv6.type", PacketField::kSourcePort, Form::kNumber},
    Word{"icmpv6.code", PacketField::kTargetPort, Form::kNumber},
    Word{"tunnel.tun_id", PacketField::kTunnelId, Form::kNumber},
    Word{"tunnel.src", PacketField::kTunnelSource, Form::kAddress},
    Word{"tunnel.dst", PacketField::kTunnelTarget, Form::kAddress},
};

constexpr std::array kOpenflowWords = {
    Word{"recirc_id", PacketField::kRecirculation, Form::kNumber},
    Word{"dl_src", PacketField::kEthSource, Form::kMac},
    Word{"dl_dst", PacketField::kEthTarget, Form::kMac},
    Word{"dl_type", PacketField::kEthType, Form::kNumber},
    Word{"nw_src", PacketField::kIpSource, Form::kAddress},
    Word{"nw_dst", PacketField::kIpTarget, Form::kAddress},
    Word{"ipv6_src", PacketField::kIpSource, Form::kAddress},
    Word{"ipv6_dst", PacketField::kIpTarget, Form::kAddress},
    Word{"nw_proto", PacketField::kIpProto, Form::kNumber},
    Word{"tp_src", PacketField::kSourcePort, Form::kNumber},
    Word{"tp_dst", PacketField::kTargetPort, Form::kNumber},
    Word{"udp_src", PacketField::kSourcePort, Form::kNumber},
    Word{"udp_dst", PacketField::kTargetPort, Form::kNumber},
    Word{"tcp_src", PacketField::kSourcePort, Form::kNumber},
    Word{"tcp_dst", PacketField::kTargetPort, Form::kNumber},
    Word{"icmp_type", PacketField::kSourcePort, Form::kNumber},
    Word{"icmp_code", PacketField::kTargetPort, Form::kNumber},
    Word{"tun_id", PacketField::kTunnelId, Form::kNumber},
    Word{"tun_src", PacketField::kTunnelSource, Form::kAddress},
    Word{"tun_dst", PacketField::kTunnelTarget, Form::kAddress},
};

constexpr std::array kTcWords = {
    Word{"src_mac", PacketField::kEthSource, Form::kMac},
    Word{"dst_mac", PacketField::kEthTarget, Form::kMac},
    Word{"eth_type", PacketField::kEthType, Form::kEthTypeName},
    Word{"src_ip", PacketField::kIpSource, Form::kAddress},
    Word{"dst_ip", PacketField::kIpTarget, Form::kAddress},
    Word{"ip_proto", PacketField::kIpProto, Form::kProtoName},
    Word{"ip_tos", PacketField::kIpTos, Form::kNumber},
    Word{"src_port", PacketField::kSourcePort, Form::kNumber},
    Word{"dst_port", PacketField::kTargetPort, Form::kNumber},
    Word{"enc_key_id", PacketField::kTunnelId, Form::kNumber},
    Word{"enc_src_ip", PacketField::kTunnelSource, Form::kAddress},
    Word{"enc_dst_ip", PacketField::kTunnelTarget, Form::kAddress},
};

/// What tc prints about a filter, or matches, without any bearing on which packets of ours it
/// takes.
constexpr std::array<std::string_view, 7> kTcSideWords = {
    "ip_flags", "ip_ttl", "enc_dst_port", "enc_tos", "enc_ttl", "enc_src_port", "indev"};

/// Eight bytes at once, in the order of the machine.
std::uint64_t eight_bytes(const std::array<std::uint8_t, 16>& bytes, std::size_t from) {
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data() + from, sizeof(value));
  return value;
}

MaskedBytes& at(PacketSet& set, PacketField field) {
  return set.fields[static_cast<std::size_t>(field)];
}

void put_number(std::uint64_t number, std::array<std::uint8_t, 16>& bytes) {
  for (std::size_t i = 0; i < 8; ++i) {
    bytes[i] = static_cast<std::uint8_t>(number >> (56 - 8 * i));
  }
}

bool read_number(const MatchField& from, MaskedBytes& to) {
  const auto value = to_number(from.value);
  const auto mask =
      from.mask.empty() ? std::optional<std::uint64_t>(UINT64_MAX) : to_number(from.mask);
  if (!value || !mask) {
    return false;
  }
  put_number(*value, to.value);
  put_number(*mask, to.mask);
  return true;
}

bool put_mac(std::string_view text, std::array<std::uint8_t, 16>& bytes) {
  if (text.size() != 17) {
    return false;
  }
  for (std::size_t i = 0; i < 6; ++i) {
    const auto byte = to_number("0x" + std::string(text.substr(3 * i, 2)));
    if (!byte) {
      return false;
    }
    bytes[i] = static_cast<std::uint8_t>(*byte);
  }
  return true;
}

/// The number of bytes of the address; 0 if it is none.
std::size_t put_address(const std::string& text, std::array<std::uint8_t, 16>& bytes) {
  if (inet_pton(AF_INET, text.c_str(), bytes.data()) > 0) {
    return 4;
  }
  return inet_pton(AF_INET6, text.c_str(), bytes.data()) > 0 ? 16 : 0;
}

void fill(std::array<std::uint8_t, 16>& mask, std::size_t bits) {
  for (std::size_t i = 0; i < bits; ++i) {
    mask[i / 8] = static_cast<std::uint8_t>(mask[i / 8] | (0x80U >> (i % 8)));
  }
}

bool read_address(const MatchField& from, MaskedBytes& to) {
  const std::size_t size = put_address(from.value, to.value);
  if (size == 0) {
    return false;
  }
  const auto bits =
      from.mask.empty() ? std::optional<std::uint64_t>(8 * size) : to_number(from.mask);
  if (bits) {
    fill(to.mask, std::min<std::size_t>(*bits, 8 * size));
    return true;
  }
  return put_address(from.mask, to.mask) == size;
}

struct Name {
  std::string_view name;
  std::uint64_t number;
};

constexpr std::array kEthTypes = {
    Name{"ip", 0x0800}, Name{"ipv4", 0x0800}, Name{"ipv6", 0x86DD}, Name{"arp", 0x0806}};
constexpr std::array kProtos = {
    Name{"icmp", 1}, Name{"tcp", 6}, Name{"udp", 17}, Name{"icmpv6", 58}, Name{"sctp", 132}};

bool read_name(std::span<const Name> names, const MatchField& from, MaskedBytes& to) {
  const auto found = std::find_if(
      names.begin(), names.end(), [&from](const Name& name) { return name.name == from.value; });
  if (found == names.end()) {
    return read_number(from, to);
  }
  put_number(found->number, to.value);
  put_number(UINT64_MAX, to.mask);
  return true;
}

bool read(Form form, const MatchField& from, MaskedBytes& to) {
  switch (form) {
    case Form::kNumber:
      return read_number(from, to);
    case Form::kMac:
      put_number(UINT64_MAX, to.mask);
      return put_mac(from.value, to.value) && (from.mask.empty() || put_mac(from.mask, to.mask));
    case Form::kAddress:
      return read_address(from, to);
    case Form::kEthTypeName:
      return read_name(kEthTypes, from, to);
    case Form::kProtoName:
      return read_name(kProtos, from, to);
  }
  return false;
}

/// False if no word has this key, or the value is not of its form.
bool take(std::span<const Word> words, const MatchField& field, PacketSet& set) {
  const auto word = std::find_if(
      words.begin(), words.end(), [&field](const Word& w) { return w.key == field.key; });
  if (word == words.end()) {
    return false;
  }
  MaskedBytes bytes;
  if (!read(word->form, field, bytes)) {
    return false;
  }
  at(set, word->field) = bytes;
  return true;
}

void put_exact(PacketSet& set, PacketField field, std::uint64_t number) {
  MaskedBytes& bytes = at(set, field);
  put_number(number, bytes.value);
  put_number(UINT64_MAX, bytes.mask);
}

/// "udp", "tcp6", "arp": the abbreviations of ovs-fields(7).
void take_bare_word(std::string_view word, PacketSet& set) {
  struct Abbreviation {
    std::string_view word;
    std::uint64_t eth_type;
    std::uint64_t proto;
  };

  constexpr std::array<Abbreviation, 9> kAbbreviations = {{{"ip", 0x0800, 0},
                                                           {"ipv6", 0x86DD, 0},
                                                           {"icmp", 0x0800, 1},
                                                           {"icmp6", 0x86DD, 58},
                                                           {"tcp", 0x0800, 6},
                                                           {"tcp6", 0x86DD, 6},
                                                           {"udp", 0x0800, 17},
                                                           {"udp6", 0x86DD, 17},
                                                           {"arp", 0x0806, 0}}};
  for (const Abbreviation& abbreviation : kAbbreviations) {
    if (abbreviation.word == word) {
      put_exact(set, PacketField::kEthType, abbreviation.eth_type);
      if (abbreviation.proto != 0) {
        put_exact(set, PacketField::kIpProto, abbreviation.proto);
      }
    }
  }
}

/// OpenFlow has the type of service in two fields: DSCP in place, and ECN.
void take_tos(const MatchField& field, PacketSet& set) {
  const auto value = to_number(field.value);
  if (!value) {
    return;
  }
  const std::uint64_t mask = field.key == "nw_tos" ? 0xFC : 0x03;
  MaskedBytes& tos = at(set, PacketField::kIpTos);
  tos.value[7] = static_cast<std::uint8_t>(tos.value[7] | (*value & mask));
  tos.mask[7] = static_cast<std::uint8_t>(tos.mask[7] | mask);
}

}  // namespace

bool overlap(const PacketSet& a, const PacketSet& b) {
  for (std::size_t field = 0; field < kPacketFieldCount; ++field) {
    const MaskedBytes& left = a.fields[field];
    const MaskedBytes& right = b.fields[field];
    for (const std::size_t half : {std::size_t{0}, std::size_t{8}}) {
      const std::uint64_t differs = eight_bytes(left.value, half) ^ eight_bytes(right.value, half);
      if ((differs & eight_bytes(left.mask, half) & eight_bytes(right.mask, half)) != 0) {
        return false;
      }
    }
  }
  return true;
}

PacketSet packets_of_openflow(std::string_view flow) {
  PacketSet set;
  put_exact(set, PacketField::kRecirculation, 0);
  const auto parts = split_at_commas(flow);
  if (!parts) {
    set.is_wider = true;
    return set;
  }
  for (const std::string_view part : *parts) {
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos) {
      take_bare_word(part, set);
      continue;
    }
    const std::string_view value = part.substr(equals + 1);
    const std::size_t slash = std::min(value.find('/'), value.size());
    const MatchField field = {std::string(part.substr(0, equals)),
                              std::string(value.substr(0, slash)),
                              std::string(value.substr(std::min(slash + 1, value.size())))};
    if (field.key == "nw_tos" || field.key == "nw_ecn") {
      take_tos(field, set);
    } else {
      take(kOpenflowWords, field, set);
    }
  }
  return set;
}

PacketSet packets_of(const DatapathFlow& flow) {
  PacketSet set;
  for (const MatchField& field : flow.match) {
    take(kDatapathWords, field, set);
  }
  return set;
}

PacketSet packets_of(const TcFilter& filter) {
  PacketSet set;
  if (filter.protocol != "all") {
    set.is_wider = !take(kTcWords, {"eth_type", filter.protocol, ""}, set);
  }
  for (const MatchField& field : filter.keys) {
    const bool side =
        std::find(kTcSideWords.begin(), kTcSideWords.end(), field.key) != kTcSideWords.end();
    if (!side && !take(kTcWords, field, set)) {
      set.is_wider = true;
    }
  }
  if (filter.kind != "flower" && filter.kind != "matchall") {
    set.is_wider = true;
  }
  return set;
}

}  // namespace bonescan::backend_ovs
