// Tested by src/lib/connect_test.cpp

#include "lib/remote_backend.h"

#include <algorithm>
#include <system_error>
#include <utility>

namespace ratel {
namespace {

/// Connecting what a cluster has more of than the probe needed.
constexpr Micros kWarmUp_us = kSecond_us;
/// How long the end waits for what was admitted without the store to be charged: what a server gives it.
constexpr Micros kSettle_us = 2 * kSecond_us;

}  // namespace

/// A question on its way, and back with its answer.
class RemoteBackend::Ask final : public LoopThread::Errand {
 public:
  Ask(RemoteBackend& backend, Question& question)
      : running_(*backend.running_),
        question_(question),
        until_us_(backend.clock_.now().monotonic_us + question.deadline_us) {}

  const Decision& decision() const { return answer_.decision; }

 private:
  void begin() override {
    const Instant now = running_.thread.loop().now();
    // The caller has waited for the loop already.
    question_.deadline_us = std::max<Micros>(until_us_ - now.monotonic_us, 0);
    Store& store = running_.loop.store();
    store.prepare(question_);
    store.ask(question_, now, {.call = &Ask::answered, .context = this, .ticket = 0});
  }

  static void answered(void* context, std::uint64_t, const Answer& answer) {
    Ask& ask = *static_cast<Ask*>(context);
    ask.answer_ = answer;
    ask.finish();
  }

  Running& running_;
  Question& question_;
  const Micros until_us_;
  Answer answer_;
};

class RemoteBackend::Start final : public LoopThread::Errand {
 public:
  Start(Running& running, bool degraded) : running_(running), degraded_(degraded) {}

  const Status& status() const { return status_; }

 private:
  void begin() override {
    status_ = running_.loop.probe();
    if (status_.ok()) running_.loop.warm_up(kWarmUp_us);
    running_.loop.keep_heartbeat();
    if (degraded_) status_ = Done{};
    finish();
  }

  Running& running_;
  const bool degraded_;
  Status status_ = Done{};
};

class RemoteBackend::Why final : public LoopThread::Errand {
 public:
  explicit Why(Running& running) : running_(running) {}

  std::string& text() { return text_; }

 private:
  void begin() override {
    text_ = running_.loop.why_not_ready();
    finish();
  }

  Running& running_;
  std::string text_;
};

/// Done when all is charged that was admitted without the store, or there is no more time for it.
class RemoteBackend::Settle final : public LoopThread::Errand {
 public:
  explicit Settle(Running& running) : running_(running) {}

  /// Units of which it is not known that they were charged.
  std::uint64_t unsettled() const { return unsettled_; }

  /// Whether it is done, and gone.
  bool turn_ended() {
    EventLoop& loop = running_.thread.loop();
    const SafeStore& safe = running_.loop.safe();
    if (safe.owes() && loop.now().monotonic_us < until_us_) {
      loop.wake_by(until_us_);
      return false;
    }
    unsettled_ = running_.shared->local().owed(loop.now()) + safe.unsettled() + safe.stats().lost - lost_;
    finish();
    return true;
  }

 private:
  void begin() override {
    until_us_ = running_.thread.loop().now().monotonic_us + kSettle_us;
    lost_ = running_.loop.safe().stats().lost;
    running_.settling.push_back(this);
    running_.loop.hurry();
  }

  Running& running_;
  Micros until_us_ = 0;
  std::uint64_t lost_ = 0;  // before it
  std::uint64_t unsettled_ = 0;
};

RemoteBackend::Running::Running(const Clock& clock, std::unique_ptr<SharedStore> store)
    : thread(clock, [this] { turn_ended(); }), shared(std::move(store)), loop(*shared, thread.loop()) {}

void RemoteBackend::Running::turn_ended() {
  loop.turn_ended();
  std::erase_if(settling, [](Settle* settle) { return settle->turn_ended(); });
}

Result<std::unique_ptr<RemoteBackend>> RemoteBackend::make(SharedStore::Options options, bool start_degraded) {
  std::unique_ptr<RemoteBackend> backend(new RemoteBackend);
  try {  // the standard library throws where the system has no thread to give
    Result<std::unique_ptr<SharedStore>> shared = SharedStore::make(std::move(options), backend->clock_);
    if (!shared.ok()) return shared.error();
    backend->running_ = std::make_unique<Running>(backend->clock_, *std::move(shared));
    Start start(*backend->running_, start_degraded);
    backend->running_->thread.start(start);
    if (!start.status().ok()) return start.status().error();
  } catch (const std::system_error& error) {
    backend->running_.reset();  // there is no thread to end
    return Error{ErrorCode::kUnavailable, std::string("no thread for the store: ") + error.what()};
  }
  return backend;
}

RemoteBackend::~RemoteBackend() {
  if (running_ == nullptr) return;
  // In a child that was forked, the thread and its locks are the parent's, and so are the sockets: not to be touched.
  if (!running_->thread.is_here()) {
    static_cast<void>(running_.release());
    return;
  }
  Settle settle(*running_);
  running_->thread.run(settle);
  running_->thread.stop();
}

Result<Decision> RemoteBackend::ask(Question& question) {
  if (!running_->thread.is_here()) {
    return Error{ErrorCode::kUnavailable, "this process was forked after connect(): connect in the child"};
  }
  Ask ask(*this, question);
  running_->thread.run(ask);
  return ask.decision();
}

std::uint64_t RemoteBackend::settle() {
  if (!running_->thread.is_here()) return 0;  // what is owed is the parent's
  Settle settle(*running_);
  running_->thread.run(settle);
  return settle.unsettled();
}

std::string RemoteBackend::why_not_exact() {
  if (!running_->thread.is_here()) return "this process was forked after connect()";
  Why why(*running_);
  running_->thread.run(why);
  return std::move(why.text());
}

}  // namespace ratel
