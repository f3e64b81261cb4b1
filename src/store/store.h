#pragma once
// Where counts live.
//
// A Store decides questions, each atomically: all charges of a question are spent, or none is. It is told what time it
// is and reads no clock. Which threads may call what is each store's to say.

#include "limit/question.h"

namespace ratel {

/// Receives one answer. Called exactly once for each ask(), on the thread that asked, perhaps before ask() returns.
/// A plain function and two words, so that asking allocates nothing.
struct Completion {
  void (*call)(void* context, std::uint64_t ticket, const Answer& answer) = nullptr;
  void* context = nullptr;
  std::uint64_t ticket = 0;

  void operator()(const Answer& answer) const { call(context, ticket, answer); }
};

class Store {
 public:
  virtual ~Store() = default;

  /// Optional work ahead of ask(), for many questions in a row: hashes keys and prefetches memory.
  /// REQUIRES: called once for each question before ask().
  virtual void prepare(Question& question) = 0;

  /// Which of the parts that can fail apart from each other would answer this question: below kPartsMax, and always 0
  /// where there are none. May change as the store learns where its parts are. REQUIRES: prepared.
  static constexpr std::size_t kPartsMax = 16;
  virtual std::size_t part_of(const Question&) const { return 0; }

  /// Counts up when something that was gone may answer again: a good moment to try.
  virtual std::uint64_t recoveries() const { return 0; }

  /// Whether both may be of one question. Where counters lie apart, those of one key lie together.
  virtual bool decides_together(const Charge&, const Charge&) const { return true; }

  /// REQUIRES: the question is valid (gate/ checks) and prepared, and all its charges can be decided together.
  virtual void ask(const Question& question, Instant now, Completion done) = 0;
};

}  // namespace ratel
