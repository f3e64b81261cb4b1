#pragma once
// Replies of a Redis server as a client reads them, RESP2 and RESP3. Bytes in, values out, no sockets; belongs to one
// connection.
//
// Each byte is looked at once, however they are split into calls. A reply is a flat tree in memory that the reader uses
// again, so reading allocates nothing after warm-up. Attributes are read and dropped. Streamed strings and lists, which
// no server sends, are refused.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ratel {

inline constexpr std::size_t kReplyDepthMax = 8;  // the deepest of ours, CLUSTER SLOTS, has four
/// Values in one reply. A cluster whose every slot is a range of its own, with three nodes each, needs 300,000.
inline constexpr std::size_t kReplyItemsMax = std::size_t{1} << 19;
inline constexpr std::size_t kReplyBytesMax = 1024 * 1024;    // all texts of one reply; INFO has some 10 KiB
inline constexpr std::size_t kReplyLineBytesMax = 64 * 1024;  // errors may quote an argument
inline constexpr std::size_t kReplyItemsKept = 1024;          // for reuse, after a long reply; 16 charges take fewer
inline constexpr std::size_t kReplyBytesKept = 16 * 1024;

/// A value within the last reply of a reader: a loan until the reader reads on.
class RespReply {
 public:
  enum class Kind : std::uint8_t {
    kNothing,
    kText,  // a simple, bulk or verbatim string
    kError,
    kInteger,
    kBoolean,
    kDouble,
    kBigNumber,
    kList,
    kSet,
    kMap,   // names and values in turn
    kPush,  // not an answer to anything
  };

  Kind kind() const { return node().kind; }
  /// Of kText, kError and kBigNumber; otherwise empty.
  std::string_view text() const {
    return std::string_view(*text_).substr(node().text_at, has_items() ? 0 : node().length);
  }
  /// Of kInteger and kBoolean.
  std::int64_t integer() const { return node().integer; }
  /// Of kDouble.
  double number() const { return std::bit_cast<double>(node().integer); }

  /// Of kList, kSet, kMap (twice the pairs) and kPush; otherwise 0.
  std::size_t size() const { return has_items() ? node().length : 0; }
  /// REQUIRES: i < size(). At once where no item before it has items of its own.
  RespReply operator[](std::size_t i) const;
  /// What follows the text `name` in a map, or in a list of names and values in turn as RESP2 has them.
  std::optional<RespReply> find(std::string_view name) const;

  class Iterator;
  Iterator begin() const;
  Iterator end() const;

 private:
  friend class RespReplyReader;
  struct Node {
    Kind kind = Kind::kNothing;
    std::uint32_t nodes = 1;    // itself and all below
    std::uint32_t length = 0;   // bytes of its text, or items
    std::uint32_t text_at = 0;  // in the text of the whole reply
    std::int64_t integer = 0;   // or a double
  };

  RespReply(const std::vector<Node>& nodes, const std::string& text, std::size_t index)
      : nodes_(&nodes), text_(&text), index_(index) {}

  const Node& node() const { return (*nodes_)[index_]; }
  bool has_items() const { return node().kind >= Kind::kList; }

  const std::vector<Node>* nodes_;
  const std::string* text_;
  std::size_t index_;
};

class RespReply::Iterator {
 public:
  RespReply operator*() const { return at_; }
  Iterator& operator++() {
    at_.index_ += at_.node().nodes;
    return *this;
  }
  bool operator==(const Iterator& other) const { return at_.index_ == other.at_.index_; }

 private:
  friend class RespReply;
  explicit Iterator(const RespReply& at) : at_(at) {}
  RespReply at_;
};

inline RespReply::Iterator RespReply::begin() const {
  return Iterator({*nodes_, *text_, index_ + 1});
}
inline RespReply::Iterator RespReply::end() const {
  return Iterator({*nodes_, *text_, index_ + node().nodes});
}

class RespReplyReader {
 public:
  enum class Outcome : std::uint8_t {
    kReply,      // reply() is there
    kPartial,    // all input is taken, and more is needed
    kMalformed,  // there is no way to find the next reply
  };

  /// Takes bytes from the front of `input`, up to the end of one reply.
  Outcome read(std::string_view& input);

  /// REQUIRES: read() has just returned kReply.
  RespReply reply() const { return {nodes_, texts_, 0}; }

  /// For a new connection.
  void reset();

 private:
  enum class Step : std::uint8_t { kLine, kBulk, kBulkEnd };
  struct Frame {
    std::uint32_t node = 0;
    std::uint32_t left = 0;  // items still to come
    bool attribute = false;
  };

  Outcome read_line(std::string_view& input);
  Outcome read_bulk(std::string_view& input);
  Outcome take_line(char marker, std::string_view line);
  Outcome begin_bulk(char marker, std::string_view line);
  Outcome begin_items(char marker, std::string_view line);
  bool add(RespReply::Kind kind, std::int64_t integer = 0);
  bool add_text(RespReply::Kind kind, std::string_view text);
  Outcome complete();

  std::vector<RespReply::Node> nodes_;
  std::string texts_;
  std::array<Frame, kReplyDepthMax> frames_{};
  std::size_t depth_ = 0;
  std::string line_;  // begun and not ended
  std::size_t bulk_left_ = 0;
  bool verbatim_ = false;
  Step step_ = Step::kLine;
  bool done_ = false;  // the reply has been handed out
};

}  // namespace ratel
