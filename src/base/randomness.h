#pragma once
// Where random bits come from, as a thing that is handed in. Belongs to one thread.

#include <cstdint>

namespace ratel {

class Randomness {
 public:
  /// 64 uniform bits.
  virtual std::uint64_t next() = 0;

 protected:
  ~Randomness() = default;
};

}  // namespace ratel
