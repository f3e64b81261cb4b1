#include "wire/resp_reply.h"

#include <charconv>

#include "base/check.h"

namespace ratel {
namespace {

using Kind = RespReply::Kind;
using Outcome = RespReplyReader::Outcome;

constexpr std::string_view kLineEnd = "\r\n";
constexpr std::string_view kVerbatimFormat = "txt:";  // or another three letters

bool to_integer(std::string_view text, std::int64_t& value) {
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  return error == std::errc{} && rest == end;
}

bool to_double(std::string_view text, double& value) {
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);  // knows inf and nan
  return error == std::errc{} && rest == end;
}

bool is_big_number(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

RespReply RespReply::operator[](std::size_t i) const {
  CHECK(i < size());
  std::size_t at = index_ + 1;
  if (node().nodes == size() + 1) return {*nodes_, *text_, at + i};
  for (; i > 0; --i) at += (*nodes_)[at].nodes;
  return {*nodes_, *text_, at};
}

std::optional<RespReply> RespReply::find(std::string_view name) const {
  for (Iterator item = begin(), last = end(); item != last; ++item) {
    const bool found = (*item).kind() == Kind::kText && (*item).text() == name;
    if (++item == last) return std::nullopt;
    if (found) return *item;
  }
  return std::nullopt;
}

void RespReplyReader::reset() {
  nodes_.clear();
  texts_.clear();
  line_.clear();
  if (nodes_.capacity() > kReplyItemsKept) nodes_.shrink_to_fit();
  if (texts_.capacity() > kReplyBytesKept) texts_.shrink_to_fit();
  if (line_.capacity() > kReplyBytesKept) line_.shrink_to_fit();
  depth_ = 0;
  step_ = Step::kLine;
  done_ = false;
}

Outcome RespReplyReader::read(std::string_view& input) {
  if (done_) reset();
  for (;;) {
    const Outcome outcome = step_ == Step::kLine ? read_line(input) : read_bulk(input);
    done_ = outcome == Outcome::kReply;
    if (outcome != Outcome::kPartial || input.empty()) return outcome;
  }
}

Outcome RespReplyReader::read_line(std::string_view& input) {
  const std::size_t end = input.find('\n');
  const std::size_t length = line_.size() + (end == std::string_view::npos ? input.size() : end);
  if (length > kReplyLineBytesMax) return Outcome::kMalformed;
  if (end == std::string_view::npos) {
    line_ += input;
    input = {};
    return Outcome::kPartial;
  }
  std::string_view line = input.substr(0, end);
  input.remove_prefix(end + 1);
  if (!line_.empty()) line = line_ += line;
  if (line.size() < 2 || line.back() != '\r') return Outcome::kMalformed;
  line.remove_suffix(1);
  const Outcome outcome = take_line(line.front(), line.substr(1));
  line_.clear();
  return outcome;
}

Outcome RespReplyReader::read_bulk(std::string_view& input) {
  if (step_ == Step::kBulk) {
    const std::string_view piece = input.substr(0, bulk_left_);
    texts_ += piece;
    input.remove_prefix(piece.size());
    bulk_left_ -= piece.size();
    if (bulk_left_ > 0) return Outcome::kPartial;
    step_ = Step::kBulkEnd;
    bulk_left_ = kLineEnd.size();
  }
  for (; bulk_left_ > 0; --bulk_left_) {
    if (input.empty()) return Outcome::kPartial;
    if (input.front() != kLineEnd[kLineEnd.size() - bulk_left_]) return Outcome::kMalformed;
    input.remove_prefix(1);
  }
  step_ = Step::kLine;
  RespReply::Node& node = nodes_.back();
  if (verbatim_) {
    if (node.length < kVerbatimFormat.size() || texts_[node.text_at + 3] != ':') return Outcome::kMalformed;
    node.text_at += static_cast<std::uint32_t>(kVerbatimFormat.size());
    node.length -= static_cast<std::uint32_t>(kVerbatimFormat.size());
  }
  return complete();
}

Outcome RespReplyReader::take_line(char marker, std::string_view line) {
  std::int64_t integer = 0;
  double number = 0;
  switch (marker) {
    case '+':
      return add_text(Kind::kText, line) ? complete() : Outcome::kMalformed;
    case '-':
      return add_text(Kind::kError, line) ? complete() : Outcome::kMalformed;
    case '(':
      return is_big_number(line) && add_text(Kind::kBigNumber, line) ? complete() : Outcome::kMalformed;
    case ':':
      return to_integer(line, integer) && add(Kind::kInteger, integer) ? complete() : Outcome::kMalformed;
    case ',':
      return to_double(line, number) && add(Kind::kDouble, std::bit_cast<std::int64_t>(number)) ? complete()
                                                                                                : Outcome::kMalformed;
    case '#':
      if (line != "t" && line != "f") return Outcome::kMalformed;
      return add(Kind::kBoolean, line == "t" ? 1 : 0) ? complete() : Outcome::kMalformed;
    case '_':
      return line.empty() && add(Kind::kNothing) ? complete() : Outcome::kMalformed;
    case '$':
    case '=':
    case '!':
      return begin_bulk(marker, line);
    case '*':
    case '~':
    case '%':
    case '>':
    case '|':
      return begin_items(marker, line);
    default:
      return Outcome::kMalformed;
  }
}

Outcome RespReplyReader::begin_bulk(char marker, std::string_view line) {
  std::int64_t length = 0;
  if (!to_integer(line, length)) return Outcome::kMalformed;
  if (length == -1 && marker == '$') return add(Kind::kNothing) ? complete() : Outcome::kMalformed;
  if (length < 0 || static_cast<std::uint64_t>(length) > kReplyBytesMax - texts_.size()) return Outcome::kMalformed;
  if (!add_text(marker == '!' ? Kind::kError : Kind::kText, {})) return Outcome::kMalformed;
  nodes_.back().length = static_cast<std::uint32_t>(length);
  verbatim_ = marker == '=';
  bulk_left_ = static_cast<std::size_t>(length);
  step_ = Step::kBulk;
  return Outcome::kPartial;
}

Outcome RespReplyReader::begin_items(char marker, std::string_view line) {
  std::int64_t size = 0;
  if (!to_integer(line, size)) return Outcome::kMalformed;
  if (size == -1 && marker == '*') return add(Kind::kNothing) ? complete() : Outcome::kMalformed;
  const bool pairs = marker == '%' || marker == '|';
  if (size < 0 || size > static_cast<std::int64_t>(kReplyItemsMax / (pairs ? 2 : 1))) return Outcome::kMalformed;
  if (marker == '>' && depth_ > 0) return Outcome::kMalformed;
  if (depth_ == kReplyDepthMax) return Outcome::kMalformed;
  const Kind kind = marker == '*' ? Kind::kList : marker == '~' ? Kind::kSet : marker == '>' ? Kind::kPush : Kind::kMap;
  const auto items = static_cast<std::uint32_t>(pairs ? 2 * size : size);
  const auto node = static_cast<std::uint32_t>(nodes_.size());
  if (!add(kind)) return Outcome::kMalformed;
  nodes_.back().length = items;
  // One more for itself: complete() then knows only of values that end.
  frames_[depth_++] = {.node = node, .left = items + 1, .attribute = marker == '|'};
  return complete();
}

bool RespReplyReader::add(Kind kind, std::int64_t integer) {
  if (nodes_.size() == kReplyItemsMax) return false;
  nodes_.push_back({.kind = kind, .text_at = static_cast<std::uint32_t>(texts_.size()), .integer = integer});
  return true;
}

bool RespReplyReader::add_text(Kind kind, std::string_view text) {
  if (text.size() > kReplyBytesMax - texts_.size() || !add(kind)) return false;
  nodes_.back().length = static_cast<std::uint32_t>(text.size());
  texts_ += text;
  return true;
}

/// A value has ended, and with it perhaps those it is the last item of.
Outcome RespReplyReader::complete() {
  while (depth_ > 0) {
    Frame& frame = frames_[depth_ - 1];
    if (--frame.left > 0) return Outcome::kPartial;
    --depth_;
    if (frame.attribute) {  // as if it had not been there: the value that it is about comes next
      texts_.resize(nodes_[frame.node].text_at);
      nodes_.resize(frame.node);
      return Outcome::kPartial;
    }
    nodes_[frame.node].nodes = static_cast<std::uint32_t>(nodes_.size() - frame.node);
  }
  return Outcome::kReply;
}

}  // namespace ratel
