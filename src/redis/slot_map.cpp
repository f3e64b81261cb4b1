#include "redis/slot_map.h"

#include <algorithm>

namespace ratel {
namespace {

constexpr std::array<std::uint16_t, 256> kCrc16 = [] {
  std::array<std::uint16_t, 256> table{};
  for (unsigned i = 0; i < 256; ++i) {
    unsigned crc = i << 8U;
    for (int bit = 0; bit < 8; ++bit) crc = (crc << 1U) ^ ((crc & 0x8000U) != 0 ? 0x1021U : 0U);
    table[i] = static_cast<std::uint16_t>(crc);
  }
  return table;
}();

std::uint16_t crc16(std::string_view bytes) {
  std::uint16_t crc = 0;
  for (const char byte : bytes) {
    const auto index = static_cast<unsigned char>((crc >> 8U) ^ static_cast<unsigned char>(byte));
    crc = static_cast<std::uint16_t>((crc << 8U) ^ kCrc16[index]);
  }
  return crc;
}

bool is_number_up_to(RespReply reply, std::int64_t max) {
  return reply.kind() == RespReply::Kind::kInteger && reply.integer() >= 0 && reply.integer() <= max;
}

}  // namespace

std::uint16_t slot_of(std::string_view key) {
  const std::size_t open = key.find('{');
  if (open != std::string_view::npos) {
    const std::size_t close = key.find('}', open);
    if (close != std::string_view::npos && close > open + 1) key = key.substr(open + 1, close - open - 1);
  }
  return static_cast<std::uint16_t>(crc16(key) % kClusterSlots);
}

bool read_slot_ranges(RespReply reply, const Address& answered, std::vector<SlotRange>& ranges) {
  constexpr std::int64_t kLastSlot = kClusterSlots - 1;
  ranges.clear();
  if (reply.kind() != RespReply::Kind::kList) return false;
  for (const RespReply item : reply) {
    if (item.kind() != RespReply::Kind::kList || item.size() < 3) return false;
    const RespReply first = item[0];
    const RespReply last = item[1];
    const RespReply node = item[2];  // the primary; replicas follow
    if (!is_number_up_to(first, kLastSlot) || !is_number_up_to(last, kLastSlot)) return false;
    if (first.integer() > last.integer()) return false;
    if (node.kind() != RespReply::Kind::kList || node.size() < 2 || !is_number_up_to(node[1], 65'535)) return false;
    const bool is_named = node[0].kind() == RespReply::Kind::kText && !node[0].text().empty() && node[0].text() != "?";
    ranges.push_back({.first = static_cast<std::uint16_t>(first.integer()),
                      .last = static_cast<std::uint16_t>(last.integer()),
                      .primary = {.host = is_named ? std::string(node[0].text()) : answered.host,
                                  .port = static_cast<std::uint16_t>(node[1].integer()),
                                  .path = {}}});
    if (ranges.back().primary.port == 0) return false;
  }
  return true;
}

std::size_t SlotMap::covered() const {
  return kClusterSlots - static_cast<std::size_t>(std::count(owners_.begin(), owners_.end(), kNobody));
}

}  // namespace ratel
