// Tested by tests/test_show.py

#include <fmt/format.h>

#include <csignal>
#include <iostream>
#include <memory>

#include "app/commands.h"
#include "app/rule_files.h"
#include "app/setting_flags.h"
#include "app/store_asker.h"
#include "app/store_survey.h"
#include "gate/check_question.h"
#include "net/system_clock.h"
#include "redis/key_name.h"
#include "redis/store_advice.h"
#include "rules/errors.h"
#include "rules/explain.h"
#include "serve/resolver.h"

namespace ratel {
namespace {

constexpr const char* kFooter = R"(
Says where a shared store has the counters of a rule for a key, what stands there, and what that means:
how much is used, how much remains, when more passes and when all has come back. Spends nothing.

Exit code 0: shown, also where nothing has been counted yet; 1: the store does not answer; 2: no such rule,
or a key, settings or files that cannot be used.

Examples:
  ratel show login user:42 --config /etc/ratel/ratel.yaml
  ratel show login user:42 --rules rules.yaml --store redis://127.0.0.1:6379
)";

constexpr std::size_t kEntriesShown = 3;  // of a log or of leases, from the newest
constexpr Micros kPeek_us = kSecond_us;

/// What stands in the store under one name.
struct Raw {
  std::string type;  // as TYPE tells: `none`, `string`, `zset`...
  std::string value;
  std::int64_t ttl_ms = -2;
  std::string error;
};

std::string entries_text(std::int64_t size, RespReply newest) {
  std::string text = fmt::format("{} entries", size);
  for (std::size_t i = 0; i + 1 < newest.size(); i += 2) {
    text += fmt::format("{} {} at {}", i == 0 ? ", the newest:" : ",", quote(newest[i].text()), newest[i + 1].text());
  }
  return text;
}

Raw read_raw(StoreTalk& talk, const std::string& name) {
  Raw raw;
  const auto keep_error = [&](RespReply reply) {
    if (reply.kind() == RespReply::Kind::kError && raw.error.empty()) raw.error = reply.text();
    return reply.kind() == RespReply::Kind::kError;
  };
  Status asked = talk.ask({"PTTL", name}, [&](RespReply reply) {
    if (!keep_error(reply)) raw.ttl_ms = reply.integer();
  });
  // Without a right to ask for the type it shows in which of these has no answer.
  std::int64_t size = 0;
  const StoreTalk::Command values[] = {
      {"TYPE", name},
      {"GET", name},
      {"ZCARD", name},
      {"ZRANGE", name, fmt::format("-{}", kEntriesShown), "-1", "WITHSCORES"},
  };
  if (asked.ok()) {
    asked = talk.ask(values, [&](std::size_t index, RespReply reply) {
      if (index == 0 && !keep_error(reply)) raw.type = reply.text();
      if (index == 1 && reply.kind() == RespReply::Kind::kText) raw.value = quote(reply.text());
      if (index == 2 && reply.kind() == RespReply::Kind::kInteger) size = reply.integer();
      if (index == 3 && size > 0) raw.value = entries_text(size, reply);
    });
  }
  if (!asked.ok()) raw.error = asked.error().message;
  return raw;
}

class Shower {
 public:
  Shower(const Settings& settings, StoreAccess& access)
      : settings_(settings), access_(access), servers_(find_servers(access, settings)), asker_(access, settings) {}

  /// False where the store did not answer; what it had to say is printed.
  bool show(const Charge& charge) {
    const BoundLimit& limit = *charge.limit;
    std::cout << limit.label << ": " << limit_text(limit.limit) << (charge.shadow ? ", shadow" : "") << '\n';
    if (limit.limit.unlimited) {
      line("value", "none: nothing is counted");
      return true;
    }
    std::string name;
    append_key_name(settings_.key_prefix, limit.identity, charge.key, name);
    line("key", name);
    const Address* owner = owner_of(slot_of(name));
    if (owner == nullptr) return missing(servers_.error.empty() ? "no server has its slot" : servers_.error);
    line("server", settings_.store->topology == StoreUrl::Topology::kCluster
                       ? fmt::format("{}, slot {}", format_address(*owner), slot_of(name))
                       : format_address(*owner));
    const auto talk = talk_to(access_, settings_, *owner);
    if (!talk.ok()) return missing(talk.error().message);
    return show_state(charge, read_raw(**talk, name));
  }

 private:
  static void line(std::string_view what, const std::string& value) {
    std::cout << fmt::format("  {:<10} {}\n", what, value);
  }

  bool missing(const std::string& error) {
    line("state", "not known: " + with_store_advice(error, settings_.store->topology));
    return false;
  }

  /// Where there is one server, that; of a cluster, who has the slot.
  const Address* owner_of(std::uint16_t slot) const {
    if (servers_.primaries.empty()) return nullptr;
    if (settings_.store->topology != StoreUrl::Topology::kCluster) return &servers_.primaries.front();
    for (const SlotRange& range : servers_.slots) {
      if (range.first <= slot && slot <= range.last) return &range.primary;
    }
    return nullptr;
  }

  bool show_state(Charge charge, const Raw& raw) {
    const bool absent = raw.ttl_ms == -2 && raw.error.empty();
    if (absent) {
      line("value", "none: never counted, or all has come back");
    } else if (!raw.error.empty()) {
      line("value", "not known: " + raw.error);
    } else {
      line("value", raw.value.empty() ? "of type " + raw.type : raw.value);
      line("TTL", raw.ttl_ms < 0 ? "none; it is given one when it is next asked about" : wait_text(raw.ttl_ms * 1'000));
    }
    charge.shadow = false;  // what it would do
    const Question peek{.verb = Verb::kPeek, .charges = {&charge, 1}, .deadline_us = kPeek_us};
    const Answer answer = asker_.ask_at_last(peek);
    if (answer.fault == StoreFault::kBadState) {
      line("state",
           "what stands there is no counter: questions about this key fail until it is gone, a minute after "
           "the next one; RATEL.RESET mends it at once");
      return true;
    }
    if (answer.fault != StoreFault::kNone) return missing(asker_.last_error(answer));
    const Decision& decision = answer.decision;
    line("used", fmt::format("{} of {}, {} remaining", decision.limit - decision.remaining, decision.limit,
                             decision.remaining));
    line("one more", decision.allowed                 ? "passes now"
                     : decision.retry_after == kNever ? "never passes"
                                                      : "passes in " + wait_text(decision.retry_after.count()));
    line("as new", decision.reset_after.count() == 0 ? "now" : "in " + wait_text(decision.reset_after.count()));
    return true;
  }

  const Settings& settings_;
  StoreAccess& access_;
  const StoreServers servers_;
  StoreAsker asker_;
};

Result<RuleBookPtr> read_rules(const Settings& settings) {
  if (settings.rules.empty()) {
    return Error{ErrorCode::kConfiguration, "there are no rules: give --rules, or --config with a file that has them"};
  }
  const auto files = read_rule_files(settings);
  if (!files.ok()) return files.error();
  auto rules = load_rules(*files);
  if (!rules.ok()) return rules.error();
  return std::make_shared<const RuleBook>(*std::move(rules));
}

int show(const Settings& settings, const std::string& rule, const std::string& key) {
  if (!settings.store) {
    return fail(
        "there is no store to look into: give --store with a URL, or --config with a file that has one; of counts in a "
        "server's memory `ratel ask --peek` tells",
        kExitUsage);
  }
  const Result<RuleBookPtr> book = read_rules(settings);
  if (!book.ok()) return fail(book.error().message, kExitUsage);
  Resolver resolver;
  resolver.use(*book);
  Target target;
  if (const Status added = resolver.add_rule(rule, key, target); !added.ok()) {
    return fail(added.error().message, kExitUsage);
  }
  const Question peek{.verb = Verb::kPeek, .charges = target.charges};
  if (const Status good = check_question(peek); !good.ok()) return fail(good.error().message, kExitUsage);
  const SystemClock clock;
  ::signal(SIGPIPE, SIG_IGN);  // as TLS needs it
  const auto access = StoreAccess::make(clock, settings.store->tls ? &settings.store_tls : nullptr);
  if (!access.ok()) return fail(access.error().message, kExitUsage);
  Shower shower(settings, **access);
  bool answered = true;
  for (const Charge& charge : target.charges) answered = shower.show(charge) && answered;
  return answered ? kExitGood : kExitFailed;
}

}  // namespace

void add_show_command(CLI::App& app, Run& run) {
  CLI::App* command = app.add_subcommand("show", "Say where the counters of a rule and a key are, and how they stand");
  command->footer(kFooter);
  struct Words {
    std::string rule;
    std::string key;
  };
  const auto words = std::make_shared<Words>();
  command->add_option("rule", words->rule, "which rule")->type_name("RULE")->required();
  command->add_option("key", words->key, "whose counters")->type_name("KEY")->required();
  const SettingFlags flags = add_setting_flags(
      *command, [](const Setting& setting) { return is_of_store(setting) || setting.name == "rules"; });
  command->callback([words, flags, &run] {
    run = [words, flags] {
      const Result<Settings> settings = load_settings(flags);
      if (!settings.ok()) return fail(settings.error().message, kExitUsage);
      return show(*settings, words->rule, words->key);
    };
  });
}

}  // namespace ratel
