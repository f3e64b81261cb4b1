#include "gate/breaker.h"

#include <algorithm>

#include "base/check.h"

namespace ratel {

void Breaker::succeeded(Micros now_us) {
  failures_in_a_row_ = 0;
  ++outcomes_.now(now_us).succeeded;
}

void Breaker::failed(Micros now_us) {
  if (open_) return;  // asked before it opened
  ++failures_in_a_row_;
  Outcomes& now = outcomes_.now(now_us);
  const Outcomes& before = outcomes_.before(now_us);
  ++now.failed;
  const std::uint32_t failed = now.failed + before.failed;
  const std::uint32_t outcomes = failed + now.succeeded + before.succeeded;
  if (failures_in_a_row_ >= kFailuresInARow || (outcomes >= kOutcomesMin && failed >= outcomes - failed)) trip(now_us);
}

void Breaker::trip(Micros now_us) {
  if (open_) return;
  open_ = true;
  probing_ = false;
  if (now_us - closed_us_ < kWindow_us) return pause_longer(now_us);
  pause_us_ = kFirstProbe_us;
  probe_us_ = now_us + pause_us_;
}

bool Breaker::begin_probe(Micros now_us) {
  CHECK(open_);
  if (probing_ || now_us < probe_us_) return false;
  probing_ = true;
  return true;
}

void Breaker::probe_soon(Micros now_us) {
  CHECK(open_);
  probe_us_ = std::min(probe_us_, now_us);
}

void Breaker::probe_succeeded(Micros now_us) {
  CHECK(probing_);
  closed_us_ = now_us;
  open_ = probing_ = false;
  failures_in_a_row_ = 0;
  outcomes_.forget();  // what was is over: one failure more must not open it again
}

void Breaker::probe_failed(Micros now_us) {
  CHECK(probing_);
  probing_ = false;
  pause_longer(now_us);
}

void Breaker::pause_longer(Micros now_us) {
  pause_us_ = std::min(2 * pause_us_, kLastProbe_us);
  // Between half of the pause and all of it, so that a fleet that lost its store together does not return together.
  const auto half = static_cast<std::uint64_t>(pause_us_ / 2);
  probe_us_ = now_us + pause_us_ - static_cast<Micros>(randomness_.next() % (half + 1));
}

}  // namespace ratel
