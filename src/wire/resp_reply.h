#pragma once
// Replies of RESP2 as a client reads them. Pure; any thread. A reader of RESP3 types it is not.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ratel {

inline constexpr std::size_t kReplyDepthMax = 8;
inline constexpr std::size_t kReplyItemsMax = 1024;       // of one list; each limit of a question takes one
inline constexpr std::size_t kReplyBytesMax = 64 * 1024;  // of one text, and of a line

struct RespReply {
  enum class Kind : std::uint8_t { kNothing, kText, kError, kInteger, kList };

  Kind kind = Kind::kNothing;
  std::string text;  // of kText and kError
  std::int64_t integer = 0;
  std::vector<RespReply> items;
};

enum class RespReplyOutcome : std::uint8_t { kReply, kPartial, kMalformed };

/// Takes the first reply from the front of `input` once it is whole; until then `input` stays as it is.
RespReplyOutcome take_reply(std::string_view& input, RespReply& reply);

}  // namespace ratel
