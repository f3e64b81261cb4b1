#pragma once
// Which slot a key is in, and which node a slot. Pure.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/address.h"
#include "wire/resp_reply.h"

namespace ratel {

inline constexpr std::size_t kClusterSlots = 16'384;

/// The slot of a key: of what stands in its first braces, if that is not nothing, else of the whole.
std::uint16_t slot_of(std::string_view key);

/// What CLUSTER SLOTS says of the primaries.
struct SlotRange {
  std::uint16_t first = 0;
  std::uint16_t last = 0;
  Address primary;
};

/// False if the reply is none, or contradicts itself. A node without a host is the one that `answered`, at the port it
/// says.
bool read_slot_ranges(RespReply reply, const Address& answered, std::vector<SlotRange>& ranges);

/// The owner of each slot, as an index that its user gives nodes.
class SlotMap {
 public:
  static constexpr std::uint16_t kNobody = UINT16_MAX;

  SlotMap() { owners_.fill(kNobody); }

  std::uint16_t owner(std::uint16_t slot) const { return owners_[slot]; }
  void set(std::uint16_t slot, std::uint16_t owner) { owners_[slot] = owner; }
  /// How many slots have an owner.
  std::size_t covered() const;

 private:
  std::array<std::uint16_t, kClusterSlots> owners_{};
};

}  // namespace ratel
