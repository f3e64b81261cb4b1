#pragma once
// A value or the error that stands in its place. ratel throws nothing across its interfaces.

#include <cstdint>
#include <cstdlib>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

namespace ratel {

enum class ErrorCode : std::uint8_t {
  kBadArgument,    // a value that is out of range or of the wrong form; the text names the field and the value
  kUnknownRule,    // no rule of this name
  kWrongVerb,      // this verb does not exist for this algorithm; the text names the one that does
  kConfiguration,  // a file, flag or environment variable that cannot be used
  kUnavailable,    // the store cannot answer and the rule says that nothing else may
};

/// What went wrong, in words for the person who sent it. Text is allocated only here, on the path of a bad request.
struct Error {
  ErrorCode code = ErrorCode::kBadArgument;
  std::string message;

  friend bool operator==(const Error&, const Error&) = default;
};

struct Decision;

/// REQUIRES: value() and operator* only after ok(); error() only after !ok(). A breach aborts.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT: conversions are the point
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT

  [[nodiscard]] bool ok() const { return state_.index() == 0; }
  /// Not for a Decision: `if (limit.allow(key))` would read as if it asked whether the key was admitted.
  explicit operator bool() const requires(!std::is_same_v<T, Decision>) { return ok(); }

  T& value() & { return get(); }
  const T& value() const& { return const_cast<Result*>(this)->get(); }
  T&& value() && { return std::move(get()); }
  T& operator*() & { return get(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(get()); }
  T* operator->() { return &get(); }
  const T* operator->() const { return &value(); }

  [[nodiscard]] const Error& error() const {
    const Error* error = std::get_if<1>(&state_);
    if (error == nullptr) std::abort();
    return *error;
  }

 private:
  T& get() {
    T* value = std::get_if<0>(&state_);
    if (value == nullptr) std::abort();
    return *value;
  }

  std::variant<T, Error> state_;
};

/// Success without a value.
struct Done {
  friend bool operator==(Done, Done) = default;
};
using Status = Result<Done>;

}  // namespace ratel
