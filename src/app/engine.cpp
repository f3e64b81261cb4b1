// Tested by tests/test_serving.py

#include "app/engine.h"

#include <algorithm>
#include <cstring>

#include "app/version.h"

namespace ratel {
namespace {

// By each loop, once a second: some 300 keys each, which is a pause of a fraction of a millisecond. One loop comes
// round a table of ten million keys in eight minutes, several in their share of that.
constexpr std::uint32_t kBucketsTidiedPerTick = 64;

// What connections hold is not to outgrow what they ask about, and sixteen of the longest messages always have room.
constexpr std::uint64_t kHeldShare = 4;  // one byte in four of max_memory
constexpr std::uint64_t kHeldBytesMin = 16 * kHttpBodyBytesMax;

Sample sample(Sample::Kind kind, const char* name, const char* help, double value) {
  return {.name = name, .help = help, .kind = kind, .labels = {}, .value = value};
}

/// The names that HTTP answers to besides addresses: those allowed, and the one it was told to listen on.
std::vector<std::string> host_names(const Settings& settings) {
  std::vector<std::string> names = settings.allowed_hosts;
  if (settings.http && !settings.http->is_unix()) names.push_back(settings.http->host);
  return names;
}

}  // namespace

Engine::Loop::Loop(Engine& engine, EventLoop& loop)
    : shared(engine.shared_ == nullptr ? nullptr : std::make_unique<SharedStore::Loop>(*engine.shared_, loop)),
      report(engine.report_),
      secrets(engine.settings_),
      gate(shared == nullptr ? engine.store_ : shared->store()),
      resolver(engine.settings_.on_store_failure),
      metrics(engine.metrics_.add_loop()),
      accept_failures(engine.log_, LogLevel::kError, "cannot accept connections"),
      resp({.gate = gate,
            .resolver = resolver,
            .metrics = metrics,
            .randomness = randomness,
            .password = engine.settings_.password,
            .version = std::string(version()),
            .facts = [&engine] { return engine.facts(); }}),
      http({.gate = gate,
            .resolver = resolver,
            .metrics = metrics,
            .randomness = randomness,
            .token = engine.settings_.token,
            .allowed_hosts = host_names(engine.settings_),
            .auth = {.trusted_hops = engine.settings_.trusted_hops},
            .why_not_ready = [this] { return shared == nullptr ? std::string() : shared->why_not_ready(); },
            .metrics_text = [&engine] { return engine.metrics_.text(); }}) {}

Engine::Engine(const Settings& settings, const Options& options, const Clock& clock, Log& log, SharedStore* shared)
    : settings_(settings),
      clock_(clock),
      log_(log),
      start_(clock.now()),
      held_bytes_max_(std::max(options.max_memory_bytes / kHeldShare, kHeldBytesMin)),
      shared_(shared),
      store_({.seed = options.seed, .max_memory_bytes = options.max_memory_bytes, .start = start_}),
      metrics_(shared != nullptr),
      server_(clock, options.loops, [this](int loop) { return worker_options(loop); }) {
  for (int i = 0; i < options.loops; ++i) loops_.push_back(std::make_unique<Loop>(*this, server_.loop(i)));
  if (shared != nullptr) loops_.front()->shared->keep_heartbeat();
  metrics_.collect([this](std::vector<Sample>& samples) { collect(samples); });
}

Engine::~Engine() {
  server_.stop();
}

void Engine::warm_up(Micros patience_us) {
  if (shared_ == nullptr) return;
  const Micros until_us = clock_.now().monotonic_us + patience_us;
  for (int i = 0; i < server_.workers(); ++i) {
    EventLoop& loop = server_.loop(i);
    const RedisStore& store = loops_[static_cast<std::size_t>(i)]->shared->remote();
    while (!store.is_whole() && clock_.now().monotonic_us < until_us) {
      loop.wake_by(until_us);
      loop.turn();
    }
  }
}

Worker::Options Engine::worker_options(int loop) {
  const auto own = [this, loop]() -> Loop& { return *loops_[static_cast<std::size_t>(loop)]; };
  Worker::Options options;
  options.limits.connections_max = static_cast<std::size_t>(settings_.max_connections);
  options.limits.idle_us = settings_.idle_timeout_us;
  options.limits.held_bytes_max = held_bytes_max_;
  options.tick = [this, own](Instant now) {
    if (shared_ == nullptr) return store_.tidy(now, kBucketsTidiedPerTick);
    own().report.tick(*own().shared, now, log_);
    own().secrets.tick(own().shared->remote(), log_);
  };
  if (shared_ != nullptr) {
    options.settle = [own] { own().shared->turn_ended(); };
    options.drain_began = [own](Instant) { own().shared->hurry(); };
    options.is_settled = [own] { return !own().shared->safe().owes(); };
  }
  options.turn_ended = [own](Micros now_us) { own().metrics.sent(now_us); };
  options.accept_failed = [this, own](int error) {
    own().accept_failures.note(clock_.now(), {{"error", std::strerror(error)}});
  };
  return options;
}

template <typename Factory>
Status Engine::listen(const std::optional<Address>& address, bool has_secret, Factory Loop::*factory,
                      Listener& listener) {
  if (!address) return Done{};
  std::vector<SessionFactory*> factories;
  for (const auto& loop : loops_) factories.push_back(&(loop.get()->*factory));
  auto names = server_.listen(*address, has_secret || settings_.insecure_listen, factories, listener.counts);
  if (!names.ok()) return names.error();
  listener.address.clear();
  for (const std::string& name : *names) listener.address += (listener.address.empty() ? "" : ",") + name;
  return Done{};
}

Status Engine::listen() {
  if (Status status = listen(settings_.resp, !settings_.password.empty(), &Loop::resp, resp_); !status.ok()) {
    return status;
  }
  return listen(settings_.http, !settings_.token.empty(), &Loop::http, http_);
}

void Engine::use(const RuleBookPtr& book) {
  const auto give = [this, book](int loop) {
    Loop& own = *loops_[static_cast<std::size_t>(loop)];
    own.resolver.use(book);
    own.resp.rules_changed();
    own.http.rules_changed();
  };
  if (running_) return server_.post(give);
  for (int i = 0; i < server_.workers(); ++i) give(i);
}

void Engine::start() {
  running_ = true;
  server_.start();
}

void Engine::join() {
  server_.join();
  if (shared_ == nullptr) return;
  report_.end();
  for (const auto& loop : loops_) loop->report.tick(*loop->shared, clock_.now(), log_);
}

std::uint64_t Engine::uncharged() const {
  if (shared_ == nullptr) return 0;
  std::uint64_t units = shared_->local().owed(clock_.now());
  for (const auto& loop : loops_) units += loop->shared->safe().unsettled();
  return units;
}

ServerFacts Engine::facts() const {
  return {.uptime_s = (clock_.now().monotonic_us - start_.monotonic_us) / kSecond_us,
          .connections = resp_.counts.open + http_.counts.open};
}

void Engine::collect(std::vector<Sample>& samples) const {
  using Kind = Sample::Kind;
  const auto per_listener = [&](Kind kind, const char* name, const char* help, auto member) {
    for (const auto& [label, listener] : {std::pair{"resp", &resp_}, std::pair{"http", &http_}}) {
      samples.push_back({.name = name,
                         .help = help,
                         .kind = kind,
                         .labels = {{"listener", label}},
                         .value = static_cast<double>((listener->counts.*member).load())});
    }
  };
  per_listener(Kind::kGauge, "ratel_connections", "Open connections.", &ListenerCounts::open);
  per_listener(Kind::kCounter, "ratel_connections_accepted_total", "Connections that came.", &ListenerCounts::accepted);
  per_listener(Kind::kCounter, "ratel_connections_refused_total", "Connections above max_connections.",
               &ListenerCounts::refused);
  per_listener(Kind::kCounter, "ratel_connections_timed_out_total",
               "Connections closed for being idle, sending too slowly or not reading.", &ListenerCounts::timed_out);
  per_listener(Kind::kCounter, "ratel_connections_shed_total",
               "Connections closed for holding more when all together held too much.", &ListenerCounts::shed);
  per_listener(Kind::kCounter, "ratel_accept_failures_total", "Times that no connection could be accepted.",
               &ListenerCounts::accept_failures);

  samples.push_back(sample(Kind::kGauge, "ratel_held_bytes", "Input and output that connections hold.",
                           static_cast<double>(server_.held_bytes())));
  samples.push_back(sample(Kind::kGauge, "ratel_held_max_bytes", "Input and output that connections may hold.",
                           static_cast<double>(held_bytes_max_)));
  if (shared_ == nullptr) {
    collect_table(samples);
  } else {
    collect_store(samples);
  }
  const Instant now = clock_.now();
  samples.push_back(sample(Kind::kGauge, "ratel_uptime_seconds", "Since the start.",
                           static_cast<double>(now.monotonic_us - start_.monotonic_us) / 1e6));
  Sample build = sample(Kind::kGauge, "ratel_build_info", "Which ratel this is; always 1.", 1);
  build.labels = {{"version", std::string(version())}, {"revision", std::string(revision())}};
  samples.push_back(std::move(build));
}

void Engine::collect_table(std::vector<Sample>& samples) const {
  using Kind = Sample::Kind;
  const TableStats table = store_.stats();
  samples.push_back(sample(Kind::kGauge, "ratel_table_entries", "Counters in memory, those that are over included.",
                           static_cast<double>(table.entries)));
  samples.push_back(
      sample(Kind::kGauge, "ratel_table_bytes", "Memory that counters take.", static_cast<double>(table.bytes)));
  samples.push_back(sample(Kind::kGauge, "ratel_table_max_bytes", "Memory that counters may take.",
                           static_cast<double>(table.max_bytes)));
  samples.push_back(sample(Kind::kCounter, "ratel_table_live_evictions_total",
                           "Counters that were forgotten before their time for want of memory.",
                           static_cast<double>(table.live_evictions)));
  samples.push_back(sample(Kind::kCounter, "ratel_table_refusals_total",
                           "Questions that were denied because a log or leases had no room to grow.",
                           static_cast<double>(table.refusals)));
}

void Engine::collect_store(std::vector<Sample>& samples) const {
  using Kind = Sample::Kind;
  using Published = StoreReport::Loop::Published;
  const auto sum = [&](const char* name, const char* help, Counter Published::*counter) {
    std::uint64_t total = 0;
    for (const auto& loop : loops_) total += (loop->report.published().*counter).value();
    samples.push_back(sample(Kind::kCounter, name, help, static_cast<double>(total)));
  };
  int up = 0;
  for (const auto& loop : loops_) up += loop->report.published().is_up ? 1 : 0;
  samples.push_back(sample(Kind::kGauge, "ratel_store_loops_up", "Event loops whose questions go to the store.", up));
  samples.push_back(sample(Kind::kGauge, "ratel_store_loops", "Event loops.", static_cast<double>(loops_.size())));
  samples.push_back(sample(Kind::kGauge, "ratel_store_processes",
                           "Processes that share the store; while it is away, as many as were last seen.",
                           shared_->local().processes()));
  Sample durations = sample(Kind::kHistogram, "ratel_store_duration_seconds",
                            "From asking the store to its answer, or to giving it up; questions that it was not asked "
                            "for want of a connection are not in it.",
                            0);
  for (const auto& loop : loops_) loop->report.published().durations.add_to(durations.durations);
  samples.push_back(std::move(durations));
  samples.push_back(sample(Kind::kCounter, "ratel_store_connects_total",
                           "Connections to servers of the store that were begun.",
                           static_cast<double>(shared_->handshakes().taken())));
  sum("ratel_store_breaker_opened_total", "Times that an event loop stopped asking the store.", &Published::opened);
  sum("ratel_store_charged_total", "Units admitted without the store and charged to it since.", &Published::charged);
  sum("ratel_store_charges_lost_total", "Units admitted without the store that it was perhaps not told of.",
      &Published::lost);
  sum("ratel_store_retries_total", "Questions asked again because it was not known whether they were decided.",
      &Published::retried);
  sum("ratel_store_redirects_total", "Questions that a server sent on to another.", &Published::redirected);
  sum("ratel_store_script_missing_total", "Questions that found the script gone.", &Published::script_missing);
  sum("ratel_store_late_total", "Questions that the store came to after their deadline, and charged nobody for.",
      &Published::late);
  sum("ratel_store_clamped_total", "Counters whose time lay further ahead than any that is written.",
      &Published::clamped);
  sum("ratel_store_healed_total", "Keys that had no TTL and were given one.", &Published::healed);
  sum("ratel_store_evicted_keys_total", "Keys that the store was seen to evict; each may have been a counter.",
      &Published::evicted);
  // The first loop's, which asks once a second whatever happens.
  samples.push_back(sample(Kind::kGauge, "ratel_store_clock_ahead_seconds",
                           "How far the store's clock was ahead of ours at an answer, less its way back.",
                           static_cast<double>(loops_.front()->report.published().ahead_us.load()) / 1e6));
  const LocalShare::Stats local = shared_->local().stats();
  samples.push_back(sample(Kind::kGauge, "ratel_local_counters", "Counters that this process decides about alone.",
                           static_cast<double>(local.counters)));
  samples.push_back(sample(Kind::kGauge, "ratel_local_uncharged_counters",
                           "Counters with something admitted alone that the store has not been told of yet.",
                           static_cast<double>(local.owing + local.away)));
  samples.push_back(
      sample(Kind::kGauge, "ratel_local_bytes", "Memory that these counters take.", static_cast<double>(local.bytes)));
  samples.push_back(sample(Kind::kGauge, "ratel_local_max_bytes", "Memory that these counters may take.",
                           static_cast<double>(local.bytes_max)));
  samples.push_back(sample(Kind::kCounter, "ratel_local_forgotten_total",
                           "Counters with something admitted alone that were forgotten for want of room.",
                           static_cast<double>(local.forgotten)));
}

}  // namespace ratel
