// Tested by tests/test_doctor.py

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <iostream>
#include <memory>

#include "app/commands.h"
#include "app/setting_flags.h"
#include "app/store_asker.h"
#include "app/store_findings.h"
#include "app/store_survey.h"
#include "net/system_clock.h"
#include "redis/key_name.h"

namespace ratel {
namespace {

constexpr const char* kFooter = R"(
Asks every server of a store that decides, as `ratel serve` with the same settings would, and says of each
thing that matters whether it is good (OK), doubtful (WARN) or bad (FAIL), what was found and what to do.
Changes nothing: it makes 100 real decisions about keys of its own, which leave nothing behind.

Exit code 0: no FAIL; 1: a FAIL; 2: settings that cannot be used. A WARN does not change it, since it may be
what you want: counts need no disk where all limits are short.

Examples:
  ratel doctor --store redis://127.0.0.1:6379
  ratel doctor --store rediss-cluster://ratel@10.0.0.1:6379 --store-password-file /run/secrets/store
  ratel doctor --config /etc/ratel/ratel.yaml
)";

constexpr int kDecisions = 100;
constexpr Micros kDecision_us = kSecond_us;  // how long one may take
constexpr std::size_t kColumns = 100;
constexpr std::size_t kIndent = 21;  // of what was found

class Report {
 public:
  Report() : colours_(::isatty(STDOUT_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr) {}

  void title(const std::string& text) { std::cout << (colours_ ? "\033[1m" + text + "\033[0m" : text) << '\n'; }

  void add(const std::vector<Finding>& findings) {
    for (const Finding& finding : findings) {
      const auto level = static_cast<std::size_t>(finding.level);
      ++counts_[level];
      constexpr const char* kWords[] = {"OK  ", "WARN", "FAIL"};
      constexpr const char* kColours[] = {"\033[32m", "\033[33m", "\033[1;31m"};
      const std::string word = colours_ ? kColours[level] + std::string(kWords[level]) + "\033[0m" : kWords[level];
      std::cout << fmt::format("  {}  {:<13}", word, finding.check);
      wrapped(finding.value);
      if (finding.remedy.empty()) continue;
      std::cout << std::string(kIndent, ' ');
      wrapped("=> " + finding.remedy);
    }
  }

  /// Returns the exit code.
  int end() const {
    std::cout << fmt::format("\n{} OK, {} WARN, {} FAIL\n", counts_[0], counts_[1], counts_[2]);
    return counts_[2] > 0 ? kExitFailed : kExitGood;
  }

 private:
  /// From kIndent on, in as many lines as it takes.
  static void wrapped(std::string_view text) {
    std::size_t column = kIndent;
    for (bool first = true; !text.empty(); first = false) {
      const std::string_view word = text.substr(0, text.find(' '));
      text.remove_prefix(std::min(word.size() + 1, text.size()));
      if (!first && column + 1 + word.size() > kColumns) {
        std::cout << '\n' << std::string(kIndent, ' ');
        column = kIndent;
      } else if (!first) {
        std::cout << ' ';
        ++column;
      }
      std::cout << word;
      column += word.size();
    }
    std::cout << '\n';
  }

  const bool colours_;
  std::size_t counts_[3] = {0, 0, 0};
};

/// A key whose counter the server at `address` has.
std::string key_on(const Address& address, const StoreServers& servers, const BoundLimit& limit,
                   const std::string& prefix) {
  for (std::size_t number = 0;; ++number) {
    std::string key = "doctor" + std::to_string(number);
    std::string name;
    append_key_name(prefix, limit.identity, key, name);
    const std::uint16_t slot = slot_of(name);
    const auto here = [&](const SlotRange& range) {
      return range.primary == address && range.first <= slot && slot <= range.last;
    };
    if (servers.slots.empty() || std::any_of(servers.slots.begin(), servers.slots.end(), here)) return key;
  }
}

DecisionTrial try_decisions(StoreAsker& asker, const std::string& key, const BoundLimit& limit) {
  DecisionTrial trial;
  Charge charge{.limit = &limit, .key = key};
  const Question question{.charges = {&charge, 1}, .deadline_us = kDecision_us};
  Answer answer = asker.ask_at_last(question);
  for (int i = 0; i < kDecisions && answer.fault == StoreFault::kNone; ++i) {
    const StoreAsker::Asked asked = asker.ask(question);
    answer = asked.answer;
    trial.took_us.push_back(asked.took_us);
  }
  if (answer.fault != StoreFault::kNone) trial.error = asker.last_error(answer);
  return trial;
}

int examine(const Settings& settings) {
  const StoreUrl& url = *settings.store;
  const SystemClock clock;
  ::signal(SIGPIPE, SIG_IGN);  // as TLS needs it
  const auto access = StoreAccess::make(clock, url.tls ? &settings.store_tls : nullptr);
  if (!access.ok()) return fail(access.error().message, kExitUsage);

  Report report;
  report.title(fmt::format("{}, keys {}:*", format_store_url(url), settings.key_prefix));
  const StoreServers servers = find_servers(**access, settings);
  report.add(judge_servers(servers, url));
  const BoundLimit limit = probe_limit();
  StoreAsker asker(**access, settings);
  for (const Address& address : servers.primaries) {
    std::cout << '\n';
    report.title(format_address(address));
    const ServerSurvey survey = survey_server(**access, settings, address, SurveyDepth::kDoctor);
    report.add(judge_server(survey, url, settings.key_prefix));
    if (!survey.error.empty()) continue;
    const std::string key = key_on(address, servers, limit, settings.key_prefix);
    report.add(judge_decisions(try_decisions(asker, key, limit), url.topology));
  }
  return report.end();
}

}  // namespace

void add_doctor_command(CLI::App& app, Run& run) {
  CLI::App* command = app.add_subcommand("doctor", "Examine a shared store, and say what to change");
  command->footer(kFooter);
  const SettingFlags flags = add_setting_flags(*command, is_of_store);
  command->callback([flags, &run] {
    run = [flags] {
      const Result<Settings> settings = load_settings(flags);
      if (!settings.ok()) return fail(settings.error().message, kExitUsage);
      if (!settings->store) {
        return fail("there is no store to examine: give --store with a URL, or --config with a file that has one",
                    kExitUsage);
      }
      return examine(*settings);
    };
  });
}

}  // namespace ratel
