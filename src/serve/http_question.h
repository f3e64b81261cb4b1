#pragma once
// One question over HTTP and its answer in JSON. Belongs to one event loop.

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/randomness.h"
#include "gate/gate.h"
#include "serve/http_problem.h"
#include "serve/resolver.h"
#include "wire/json_reader.h"
#include "wire/json_writer.h"

namespace ratel {

/// A question with all that it points to, so that an answer may come at any time; or the problem in its place. Reused,
/// so that after warm-up nothing is allocated.
struct HttpItem {
  Question question;
  Answer answer;
  Target target;
  std::string key;       // what charges point to, unless it is an address
  std::string lease_id;  // what question.lease_id points to
  std::string names;     // of a query: the rules, or the text of the limit
  std::optional<Problem> problem;

  /// Ready to be read into again.
  void clear();
};

/// Resolves and prepares the question of a JSON object's values, or sets `item.problem`.
void read_question(std::span<const JsonValue> values, Verb verb, Gate& gate, Resolver& resolver, Randomness& randomness,
                   HttpItem& item);

/// The object that answers an item.
void write_item(const HttpItem& item, JsonWriter& json);

/// The labels of the limits that denied.
void write_violated(const HttpItem& item, JsonWriter& json);

}  // namespace ratel
