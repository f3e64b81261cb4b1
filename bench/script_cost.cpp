// What a decision costs the thread of a redis-server, by its own commandstats: microseconds a call, by algorithm and by
// how much a counter holds.
//
//   script_cost [redis-server] [calls]

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>

#include "redis/script_testing.h"

namespace ratel {
namespace {

constexpr int kPipelined = 64;
constexpr int kRounds = 5;

BoundLimit limit(Algorithm algorithm, std::int64_t count, Micros period_us,
                 CalendarUnit calendar = CalendarUnit::kNone) {
  return {*make_limit({.algorithm = algorithm, .count = count, .period_us = period_us, .calendar = calendar}),
          "R5:login1:14:gcra0:",
          {}};
}

class Bench {
 public:
  Bench(RedisClient& client, int calls) : client_(client), calls_(calls) {
    client_.run({"SCRIPT", "LOAD", decision_script().text});
  }

  using Ask = std::function<void(int i, std::string& out)>;

  /// The least of some rounds, since noise only adds.
  void measure(const char* what, const Ask& ask) {
    double best_us = 1e9;
    TestReply last;
    for (int round = 0; round < kRounds; ++round) {
      client_.run({"CONFIG", "RESETSTAT"});
      std::string out;
      for (int i = 0; i < calls_; i += kPipelined) {
        out.clear();
        for (int j = 0; j < kPipelined; ++j) ask(round * calls_ + i + j, out);
        last = client_.send(out, kPipelined);
      }
      const std::string stats = client_.run({"INFO", "commandstats"}).text;
      const std::size_t at = stats.find("usec_per_call=", stats.find("cmdstat_evalsha:"));
      best_us = std::min(best_us, std::atof(stats.c_str() + at + 14));
    }
    std::printf("%-58s %7.2f us   verdict %s\n", what, best_us,
                last.kind == '*' ? std::to_string(last.items[2].integer).c_str() : last.text.c_str());
  }

  void fill(const BoundLimit& bound, int entries, std::int64_t cost) {
    client_.run({"FLUSHALL"});
    std::string out;
    for (int i = 0; i < entries; i += kPipelined) {
      out.clear();
      for (int j = 0; j < kPipelined; ++j) {
        const std::string id = "lease" + std::to_string(i + j);
        Charge charge{.limit = &bound, .key = "hot"};
        const bool leases = bound.limit.algorithm == Algorithm::kConcurrency;
        append_script_call({.verb = leases ? Verb::kAcquire : Verb::kAllow,
                            .charges = {&charge, 1},
                            .cost = cost,
                            .lease_id = id,
                            .lease_us = kDay_us},
                           {.prefix = "ratel", .calendar_us = 0}, out);
      }
      client_.send(out, kPipelined);
    }
  }

  void flush() { client_.run({"FLUSHALL"}); }

 private:
  RedisClient& client_;
  int calls_;
};

/// `keys` 0: always the same one.
Bench::Ask asking(const BoundLimit& bound, std::int64_t cost, int keys, Verb verb = Verb::kAllow,
                  Micros calendar_us = 0) {
  return [=, &bound](int i, std::string& out) {
    const std::string key = keys == 0 ? "hot" : "user:" + std::to_string(i % keys);
    const std::string id = "id" + std::to_string(i);
    Charge charge{.limit = &bound, .key = key};
    append_script_call(
        {.verb = verb, .charges = {&charge, 1}, .cost = cost, .lease_id = id, .lease_us = kSecond_us / 10},
        {.prefix = "ratel", .deadline_us = Micros{1} << 52, .calendar_us = calendar_us}, out);
  };
}

int run(const std::string& binary, int calls) {
  RedisServer server(binary);
  RedisClient client(server.socket());
  Bench bench(client, calls);
  std::printf("script of %zu bytes\n", decision_script().text.size());
  const TestReply time = client.run({"TIME"});
  const Micros now_us = std::atoll(time.items[0].text.c_str()) * kSecond_us;

  struct Case {
    const char* what;
    BoundLimit limit;
  };
  const Case cases[] = {
      {"gcra, a pair with remainder", limit(Algorithm::kGcra, 7'000'003, kHour_us)},
      {"gcra, without remainder", limit(Algorithm::kGcra, 1'000'000, kSecond_us)},
      {"fixed window", limit(Algorithm::kFixedWindow, 4'000'000'000, kHour_us)},
      {"calendar window", limit(Algorithm::kFixedWindow, 4'000'000'000, kDay_us, CalendarUnit::kDay)},
      {"sliding window", limit(Algorithm::kSlidingWindow, 4'000'000'000, kHour_us)},
      {"sliding log", limit(Algorithm::kSlidingLog, 4'000'000'000, kSecond_us)},
      {"concurrency", limit(Algorithm::kConcurrency, 4'000'000'000, 0)},
  };
  for (const Case& c : cases) {
    const Verb verb = c.limit.limit.algorithm == Algorithm::kConcurrency ? Verb::kAcquire : Verb::kAllow;
    bench.flush();
    bench.measure((std::string(c.what) + ", allowed, 20,000 keys").c_str(), asking(c.limit, 1, 20'000, verb, now_us));
    BoundLimit full = c.limit;
    full.limit = *make_limit({.algorithm = c.limit.limit.algorithm,
                              .count = 7,
                              .period_us = c.limit.limit.period_us == 0 ? 0 : kDay_us,
                              .calendar = c.limit.limit.calendar});
    bench.fill(full, 64, 1);
    bench.measure((std::string(c.what) + ", denied, one key").c_str(), asking(full, 1, 0, verb, now_us));
  }
  for (const int entries : {1'024, 102'400, 1'024'000}) {
    const BoundLimit log = limit(Algorithm::kSlidingLog, kCountMax, kDay_us);
    const BoundLimit full = limit(Algorithm::kSlidingLog, entries, kDay_us);
    bench.fill(log, entries, 1);
    std::printf("a log of %d entries\n", entries);
    bench.measure("  denied, the oldest suffices", asking(full, 1, 0));
    bench.measure("  denied, half of them have to go", asking(full, entries / 2, 0));
    bench.measure("  allowed", asking(log, 1, 0));
    const BoundLimit leases = limit(Algorithm::kConcurrency, kCountMax, 0);
    const BoundLimit taken = limit(Algorithm::kConcurrency, entries, 0);
    bench.fill(leases, entries, 1);
    std::printf("%d leases\n", entries);
    bench.measure("  denied, the soonest suffices", asking(taken, 1, 0, Verb::kAcquire));
    bench.measure("  denied, half of them have to go", asking(taken, entries / 2, 0, Verb::kAcquire));
  }
  return 0;
}

}  // namespace
}  // namespace ratel

int main(int count, char** values) {
  return ratel::run(count > 1 ? values[1] : "redis-server", count > 2 ? std::atoi(values[2]) : 20'000 / 64 * 64);
}
