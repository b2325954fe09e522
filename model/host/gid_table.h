// The GID table of one virtual function: which address stands at which index.
//
// What makes GIDs a trap is that software remembers an index, and indexes mean nothing: a
// container's table begins at 4, 6 or 12 (the entries before belong to others), every address
// takes two indexes (RoCE v1, then v2), the order of link-local and IPv4-mapped addresses differs
// from host to host, and after the network service has registered the addresses again, first free
// index first, indexes that live queue pairs still hold push the others away.  So compare values
// and types, never indexes.  @source public reports of operators; the table here is ours
// Invariants: 1. an index holds at most one entry; 2. entries are sorted by index.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

namespace bonescan {

enum class GidType : std::uint8_t {
  kRoceV1,
  kRoceV2
};

/// Of one address: what a port's RoCE mode makes of it.
enum class GidTypes : std::uint8_t {
  kBoth,
  kRoceV1Alone,
};

struct Gid {
  std::array<std::uint8_t, 16> bytes{};

  auto operator<=>(const Gid&) const = default;
};

/// ::ffff:a.b.c.d
Gid ipv4_mapped_gid(std::array<std::uint8_t, 4> address);

/// fe80:: with an interface identifier made of `number`.
Gid link_local_gid(std::uint64_t number);

struct GidEntry {
  std::uint16_t index = 0;
  GidType type = GidType::kRoceV1;
  Gid value;
};

class GidTable final {
 public:
  GidTable() = default;

  explicit GidTable(std::uint16_t first_index) : first_index_(first_index) {}

  const std::vector<GidEntry>& entries() const { return entries_; }

  std::optional<std::uint16_t> find(const Gid& value, GidType type) const;

  /// What stands there; nullptr if nothing does.
  const GidEntry* at(std::uint16_t index) const;

  std::uint16_t first_index() const { return first_index_; }

  /// Registers an address: both types, each at the first free index.
  void add(const Gid& value);

  /// The network service restarts: every address is deleted and registered again, in `order`.
  /// The first `held_count` entries are held by live queue pairs: their indexes stay taken.
  void register_again(const std::vector<Gid>& order, std::size_t held_count);

  /// The same, with these indexes taken: by entries of live queue pairs, or of other containers,
  /// which are not seen here.
  void register_again(const std::vector<Gid>& order,
                      std::vector<std::uint16_t> held,
                      GidTypes types = GidTypes::kBoth);

  /// The addresses in the order in which they stand.
  std::vector<Gid> addresses() const;

  /// The last queue pair of the old entries is gone.
  void release_held() { held_.clear(); }

 private:
  void put(const Gid& value, GidType type);

  std::uint16_t first_index_ = 0;
  std::vector<GidEntry> entries_;
  std::vector<std::uint16_t> held_;  ///< sorted
};

/// What of a table is not as it was made.  Counts, since several faults may do the same.
struct GidTrouble {
  std::uint16_t registered_again = 0;  ///< link-local first, while live queue pairs hold an entry
  std::uint16_t sparse = 0;            ///< other containers' entries stand between its addresses
  std::uint16_t no_v2 = 0;             ///< RoCE v1 alone
  std::uint16_t no_ipv4 = 0;           ///< only link-local addresses

  bool operator==(const GidTrouble&) const = default;
};

/// `table` as that leaves it.
GidTable troubled(GidTable table, const Gid& ipv4, const GidTrouble& trouble);

/// The same values with the same types, wherever they stand.
bool same_addresses(const GidTable& a, const GidTable& b);

}  // namespace bonescan
