#include "wire/resp_reply.h"

#include <charconv>

namespace ratel {
namespace {

using Outcome = RespReplyOutcome;

constexpr std::string_view kLineEnd = "\r\n";

bool to_integer(std::string_view text, std::int64_t& value) {
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  return error == std::errc{} && rest == end;
}

Outcome take_bulk(std::string_view& input, std::int64_t length, RespReply& reply) {
  if (length == -1) return Outcome::kReply;
  if (length < 0 || length > static_cast<std::int64_t>(kReplyBytesMax)) return Outcome::kMalformed;
  const auto bytes = static_cast<std::size_t>(length);
  if (input.size() < bytes + kLineEnd.size()) return Outcome::kPartial;
  if (input.substr(bytes, kLineEnd.size()) != kLineEnd) return Outcome::kMalformed;
  reply.kind = RespReply::Kind::kText;
  reply.text = input.substr(0, bytes);
  input.remove_prefix(bytes + kLineEnd.size());
  return Outcome::kReply;
}

Outcome take(std::string_view& input, RespReply& reply, std::size_t depth);

Outcome take_list(std::string_view& input, std::int64_t size, RespReply& reply, std::size_t depth) {
  if (size == -1) return Outcome::kReply;
  if (size < 0 || size > static_cast<std::int64_t>(kReplyItemsMax) || depth == kReplyDepthMax)
    return Outcome::kMalformed;
  reply.kind = RespReply::Kind::kList;
  for (std::int64_t i = 0; i < size; ++i) {
    const Outcome outcome = take(input, reply.items.emplace_back(), depth + 1);
    if (outcome != Outcome::kReply) return outcome;
  }
  return Outcome::kReply;
}

Outcome take(std::string_view& input, RespReply& reply, std::size_t depth) {
  const std::size_t end = input.substr(0, kReplyBytesMax).find(kLineEnd);
  if (end == std::string_view::npos) return input.size() < kReplyBytesMax ? Outcome::kPartial : Outcome::kMalformed;
  if (end == 0) return Outcome::kMalformed;
  const char marker = input.front();
  const std::string_view line = input.substr(1, end - 1);
  input.remove_prefix(end + kLineEnd.size());
  switch (marker) {
    case '+':
    case '-':
      reply.kind = marker == '+' ? RespReply::Kind::kText : RespReply::Kind::kError;
      reply.text = line;
      return Outcome::kReply;
    case ':':
      reply.kind = RespReply::Kind::kInteger;
      return to_integer(line, reply.integer) ? Outcome::kReply : Outcome::kMalformed;
    case '$':
    case '*': {
      std::int64_t size = 0;
      if (!to_integer(line, size)) return Outcome::kMalformed;
      return marker == '$' ? take_bulk(input, size, reply) : take_list(input, size, reply, depth);
    }
    default:
      return Outcome::kMalformed;
  }
}

}  // namespace

RespReplyOutcome take_reply(std::string_view& input, RespReply& reply) {
  std::string_view rest = input;
  reply = {};
  const Outcome outcome = take(rest, reply, 0);
  if (outcome == Outcome::kReply) input = rest;
  return outcome;
}

}  // namespace ratel
