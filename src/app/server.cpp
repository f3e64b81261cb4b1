// Tested by tests/test_serving.py

#include "app/server.h"

#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "app/engine.h"
#include "app/machine.h"
#include "app/rule_files.h"
#include "app/store_start.h"
#include "app/version.h"
#include "net/file_watch.h"
#include "net/random_seed.h"
#include "net/signals.h"
#include "net/system_clock.h"
#include "rules/reload.h"

namespace ratel {
namespace {

constexpr int kExitFailed = 1;
constexpr int kExitBadRules = 2;
constexpr std::uint64_t kMemoryShare = 4;          // the table may take one in four of the bytes there are, unless told
constexpr Micros kDrainPoll_us = kSecond_us / 50;  // how late the end of a drain is noticed
// Within it a second signal is taken for the first: service managers and terminals signal the whole process group, and
// its leader may hand on what it got.
constexpr Micros kSameSignal_us = kSecond_us;
constexpr Micros kWarmUp_us = kSecond_us;       // connecting a loop to a store that just answered
constexpr std::uint64_t kDescriptorsKept = 64;  // for listeners, loops and files

void complain(const Error& error) {
  std::fprintf(stderr, "%s\n", error.message.c_str());
}

/// One write a line, so that lines of several threads do not mix.
void write_line(std::string_view line) {
  std::fwrite(line.data(), 1, line.size(), stderr);
}

/// The rules in force, and their files.
class Rules {
 public:
  Rules(const Settings& settings, Engine& engine, Log& log)
      : settings_(settings),
        engine_(engine),
        log_(log),
        reloader_([&engine](std::string_view rule) { return engine.metrics().series(rule); }),
        watch_(settings.rules.empty() ? std::vector<std::string>{} : std::vector<std::string>{settings.rules}) {
    engine.metrics().collect([this](std::vector<Sample>& samples) {
      for (const auto& [result, count] : {std::pair{"ok", &reloads_}, std::pair{"failed", &failures_}}) {
        samples.push_back({.name = "ratel_config_reloads_total",
                           .help = "Rule files read again, by result.",
                           .kind = Sample::Kind::kCounter,
                           .labels = {{"result", result}},
                           .value = static_cast<double>(count->value())});
      }
    });
  }

  Status load() {
    auto files = read_rule_files(settings_);
    if (!files.ok()) return files.error();
    auto book = reloader_.offer(*std::move(files));
    if (!book.ok()) return book.error();
    engine_.use(reloader_.book());
    return Done{};
  }

  bool changed() { return watch_.changed(); }

  /// A bad file changes nothing and says so.
  void reload() {
    auto files = read_rule_files(settings_);
    auto book = files.ok() ? reloader_.offer(*std::move(files)) : Result<RuleBookPtr>(files.error());
    if (!book.ok()) {
      failures_.add();
      log_.error("rules not reloaded, the old ones stay in force",
                 {{"rules", settings_.rules}, {"error", book.error().message}});
      return;
    }
    reloads_.add();
    if (*book == nullptr) return log_.info("rules have not changed", {{"rules", settings_.rules}});
    engine_.use(*book);
    log_.info("rules reloaded", {{"rules", settings_.rules}, {"count", count()}});
  }

  std::size_t count() const { return reloader_.book()->rules().size(); }

 private:
  const Settings& settings_;
  Engine& engine_;
  Log& log_;
  Reloader reloader_;
  FileWatch watch_;
  Counter reloads_;
  Counter failures_;
};

/// Until the first signal that ends the server.
void serve(const Signals& signals, Rules& rules, Log& log) {
  while (true) {
    const int signal = signals.wait(kSecond_us);
    if (signal == SIGHUP || (signal == 0 && rules.changed())) {
      rules.reload();
    } else if (signal != 0) {
      return log.info("draining", {{"signal", signal == SIGTERM ? "SIGTERM" : "SIGINT"}});
    }
  }
}

/// Until all is answered; a second signal does not wait for that.
void drain(const Signals& signals, const Clock& clock, Engine& engine, Log& log) {
  const Micros began_us = clock.now().monotonic_us;
  engine.drain();
  while (!engine.drained()) {
    const int signal = signals.wait(kDrainPoll_us);
    if (signal != SIGTERM && signal != SIGINT) continue;
    if (clock.now().monotonic_us - began_us < kSameSignal_us) continue;
    log.warning("stopped before all was answered");
    std::_Exit(kExitFailed);
  }
  engine.join();
  if (const std::uint64_t units = engine.uncharged(); units > 0) {
    log.warning("stopped before all that was admitted without the store was charged", {{"units", units}});
  }
  log.info("stopped");
}

}  // namespace

int run_server(const Settings& settings) {
  const Signals signals;
  const SystemClock clock;
  Log log(clock, settings.log, write_line);

  const int loops = settings.threads > 0 ? settings.threads : usable_cores();
  const std::uint64_t max_memory = settings.max_memory > 0 ? settings.max_memory : usable_memory() / kMemoryShare;
  std::unique_ptr<SharedStore> shared;
  if (settings.store) {
    auto made = SharedStore::make({.url = *settings.store,
                                   .tls = settings.store_tls,
                                   .sentinel_user = settings.store_sentinel_user,
                                   .sentinel_password = settings.store_sentinel_password,
                                   .key_prefix = settings.key_prefix,
                                   .max_memory_bytes = max_memory},
                                  clock);
    if (!made.ok()) return complain(made.error()), kExitFailed;
    shared = *std::move(made);
    const Status decides = examine_store(settings, shared->probe(), clock, log);
    if (!decides.ok()) {
      if (!settings.start_degraded) return complain(decides.error()), kExitFailed;
      log.error("started without the store", {{"error", decides.error().message}});
    }
  }
  Engine engine(settings, {.loops = loops, .max_memory_bytes = max_memory, .seed = random_seed()}, clock, log,
                shared.get());
  Rules rules(settings, engine, log);
  if (const Status loaded = rules.load(); !loaded.ok()) {
    complain(loaded.error());
    return kExitBadRules;
  }
  engine.warm_up(kWarmUp_us);
  if (const Status listening = engine.listen(); !listening.ok()) {
    complain(listening.error());
    return kExitFailed;
  }
  const std::uint64_t descriptors = raise_descriptor_limit();
  if (descriptors < static_cast<std::uint64_t>(settings.max_connections) + kDescriptorsKept) {
    log.warning("fewer connections than max_connections fit the limit of open files (ulimit -n)",
                {{"max_connections", settings.max_connections}, {"open_files", descriptors}});
  }
  engine.start();
  log.info("ratel serves", {{"version", version()},
                            {"revision", revision()},
                            {"resp", engine.resp_address()},
                            {"http", engine.http_address()},
                            {"rules", rules.count()},
                            {"store", shared ? shared->name() : "memory"},
                            {"max_memory", max_memory},
                            {"threads", loops}});
  serve(signals, rules, log);
  drain(signals, clock, engine, log);
  return 0;
}

}  // namespace ratel
