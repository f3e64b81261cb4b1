#pragma once
// Counts in Redis or Valkey: a question becomes one call of the decision script on the server that owns its subject.
// Belongs to one event loop, whose shell holds the sockets; no sockets here.
//
// Each question is answered once, by its deadline and one tick() at the latest: with the script's decision, or with why
// there is none. What surely was not executed is sent again while there is time; what perhaps was, once, and only where
// the worst that can come of it is a charge too much: never a refund, a release, a reset, or as much as there is. Where
// there is no connection a question waits only while one that was good is being replaced, and the attempt has not
// failed.

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "redis/deadline_wheel.h"
#include "redis/endpoint.h"
#include "redis/eviction_watch.h"
#include "redis/script_call.h"
#include "redis/store_url.h"
#include "redis/topology.h"
#include "store/known_debts.h"
#include "store/store.h"

namespace ratel {

/// Questions under way. A loop with that many has 16,000 callers who all wait less than a deadline.
inline constexpr std::size_t kStoreCallsMax = 16'384;
/// How often one question follows MOVED and ASK: a slot that has moved and is moving on takes two.
inline constexpr int kStoreHopsMax = 2;
/// How often one question is sent again after what surely was not executed, for reasons other than these.
inline constexpr int kStoreResendsMax = 8;

class RedisStore final : public Store, private LinkReceiver {
 public:
  struct Options {
    StoreUrl url;
    std::string key_prefix = "ratel";
    std::string sentinel_user;
    std::string sentinel_password;
    KnownDebts* debts = nullptr;            // told of what each decision leaves spent; a loan, perhaps nullptr
    std::uint64_t hash_seed = 0;            // of Charge::hash: random for each process
    HandshakeBudget* handshakes = nullptr;  // of the process; a loan. nullptr: one of its own
  };

  /// Since the start.
  struct Counters {
    std::uint64_t decided = 0;
    std::uint64_t unreachable = 0;
    std::uint64_t refused = 0;
    std::uint64_t timed_out = 0;
    std::uint64_t lost = 0;
    std::uint64_t bad_state = 0;
    std::uint64_t crowded = 0;  // not asked, for want of room or time
    std::uint64_t retried = 0;  // after an outcome that is unknown
    std::uint64_t redirected = 0;
    std::uint64_t no_script = 0;
    std::uint64_t late = 0;     // the script ran, but after the deadline
    std::uint64_t clamped = 0;  // counters whose time lay too far ahead
    std::uint64_t healed = 0;   // keys that had no TTL
    Micros ahead_us = 0;        // the store's clock, of ours, with the way of the answer: at the last decision
  };

  /// REQUIRES: is_key_prefix(options.key_prefix). The shell and the randomness outlive the store. What is under way
  /// when the store is destroyed is not answered.
  RedisStore(Options options, Link::Shell& shell, Randomness& randomness);
  ~RedisStore() override;

  /// Once, before anything else.
  void start(Instant now) { topology_->start(now); }

  void prepare(Question& question) override;
  /// Of a cluster, by ranges of slots: servers own ranges, so what one of them fails stays to a few parts.
  std::size_t part_of(const Question& question) const override;
  /// A cluster does where both count the same key, since that is the hash tag.
  bool decides_together(const Charge& a, const Charge& b) const override;
  void ask(const Question& question, Instant now, Completion done) override;
  std::uint64_t recoveries() const override { return news_.ready; }

  /// How often a server, or a sentinel, did not take our password: somebody may have changed it.
  std::uint64_t password_refusals() const { return news_.wrong_password; }
  /// For connections from now on.
  void use_passwords(std::string password, std::string sentinel_password);

  /// REQUIRES: called at next_us() or soon after; may be called at any time.
  void tick(Instant now);
  Micros next_us() const {
    if (has_hopes_to_settle()) return 0;
    return std::min({deadlines_.next_us(), topology_->next_us(), evictions_->next_us()});
  }

  /// From now on, watch for evictions. For one of the stores of a process.
  void watch_evictions(Instant now) { evictions_->start(now); }

  /// Whether there is a link for every question.
  bool is_whole() const { return topology_->is_whole(); }
  /// What went wrong last, in words; empty if nothing has.
  std::string last_error() const;
  const Counters& counters() const { return counters_; }
  /// Where they are watched.
  std::uint64_t evictions_seen() const { return evictions_->seen(); }
  std::size_t under_way() const { return calls_.size() - idle_.size(); }

 private:
  /// A question under way: on a link, or waiting for its next try.
  struct Call : DeadlineWheel::Entry {
    Question question;
    Completion done;
    std::uint32_t index = 0;
    std::uint32_t generation = 0;
    Micros due_us = 0;
    Micros calendar_us = 0;                           // the store's time, where it has told it; otherwise 0
    Link* link = nullptr;                             // nullptr: it waits for its next try
    bool hopes = false;                               // it waits for a link
    StoreFault otherwise = StoreFault::kUnreachable;  // what it comes to if there is no next try
    RequestQueue::Place place = 0;
    std::uint16_t slot = 0;
    int hops = 0;
    int resends = 0;
    bool loaded = false;   // it has been sent again for want of the script
    bool perhaps = false;  // an earlier try may have been executed

    std::uint64_t token() const { return std::uint64_t{generation} << 32U | index; }
  };

  bool replied(std::uint64_t token, Link& link, RespReply reply, Instant now) override;
  void failed(std::uint64_t token, bool perhaps, Instant now) override;

  Call& call_of(std::uint64_t token);
  void route(Call& call, Instant now);
  void send(Call& call, Link* link, bool asking, Instant now);
  bool has_hopes_to_settle() const { return hoping_ > 0 && news_.ready + news_.given_up != settled_; }
  void settle_hopes(Instant now);
  void remember(const Question& question, const ScriptOutcome& outcome, Instant now);
  bool decided(Call& call, Link& link, RespReply reply, Instant now);
  void errored(Call& call, Link& link, std::string_view text, Instant now);
  void resend(Call& call, Link& link, Instant now);
  void due(Call& call, Instant now);
  void give_up(Call& call, StoreFault fault);
  void finish(Call& call, const Answer& answer);

  const Options options_;
  Randomness& randomness_;
  HandshakeBudget budget_;
  LinkNews news_;
  LinkOptions link_options_;
  LinkOptions sentinel_options_;
  std::unique_ptr<Topology> topology_;
  std::unique_ptr<EvictionWatch> evictions_;
  std::deque<Call> calls_;  // never moved: the wheel points to them
  std::vector<std::uint32_t> idle_;
  std::size_t hoping_ = 0;     // calls that wait for a link
  std::uint64_t settled_ = 0;  // news up to which they have been looked at
  DeadlineWheel deadlines_;
  std::string scratch_;
  std::string refusal_;  // what a server said last that was no decision
  Counters counters_;
};

}  // namespace ratel
