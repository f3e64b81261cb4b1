#include "gate/heartbeat.h"

#include <algorithm>

namespace ratel {

Heartbeat::Heartbeat(Store& remote, LocalShare& local, std::string id)
    : remote_(remote), local_(local), id_(std::move(id)), limit_(heartbeat_limit()) {
  charges_[0] = {.limit = &limit_, .key = "processes"};
  question_ = {
      .verb = Verb::kAcquire, .charges = charges_, .lease_id = id_, .lease_us = kLease_us, .deadline_us = kDeadline_us};
  remote_.prepare(question_);
}

void Heartbeat::tick(Instant now) {
  if (now.monotonic_us < due_us_) return;
  due_us_ = now.monotonic_us + kBeat_us;
  if (asked_) return;
  asked_ = true;
  asked_us_ = now.monotonic_us;
  remote_.ask(
      question_, now,
      {.call = [](void* self, std::uint64_t, const Answer& answer) { static_cast<Heartbeat*>(self)->answered(answer); },
       .context = this,
       .ticket = 0});
}

void Heartbeat::answered(const Answer& answer) {
  asked_ = false;
  if (answer.fault != StoreFault::kNone) return;
  const std::int64_t held = answer.decision.limit - answer.decision.remaining;
  heard(static_cast<int>(std::max<std::int64_t>(1, held)));
}

void Heartbeat::heard(int processes) {
  const Micros before_us = std::exchange(heard_us_, asked_us_);
  if (processes >= local_.processes()) {
    local_.set_processes(processes);
    low_since_us_ = 0;
    return;
  }
  if (low_since_us_ == 0 || asked_us_ - before_us > kLease_us) {
    low_since_us_ = asked_us_;
    highest_ = 0;
  }
  highest_ = std::max(highest_, processes);
  if (asked_us_ - low_since_us_ < kLease_us) return;
  local_.set_processes(highest_);
  low_since_us_ = 0;
}

}  // namespace ratel
