#pragma once
// Redis servers, sentinels and the network to them, in process and from one seed: as much of them as a store meets.

#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <string>
#include <vector>

#include "base/prng.h"
#include "redis/link.h"
#include "redis/script.h"
#include "redis/slot_map.h"
#include "wire/resp_command.h"
#include "wire/resp_parser.h"
#include "wire/resp_writer.h"

namespace ratel {

/// A cluster as all its nodes know it.
struct FakeCluster {
  struct Range {
    std::uint16_t first, last;
    Address primary;
  };
  std::vector<Range> ranges;
  std::map<std::uint16_t, Address> importing;  // slots that are moving, and where to: new keys are there

  const Range* range_of(std::uint16_t slot) const {
    for (const Range& range : ranges) {
      if (range.first <= slot && slot <= range.last) return &range;
    }
    return nullptr;
  }
};

/// One server. Runs the decision script for one fixed window without an end, which is enough to tell one question from
/// another: the reply tells what was granted, and the store decides again.
class FakeRedis {
 public:
  static constexpr Micros kAhead_us = 1'700'000'000'000'000;  // its clock, of the network's

  explicit FakeRedis(Address at) : address(std::move(at)) {}

  Address address;
  std::string password;
  bool replica = false;
  bool loading = false;
  bool has_script = false;
  std::string refusal;      // of every HELLO
  std::string next_error;   // for the next EVALSHA
  std::string every_error;  // for each
  FakeCluster* cluster = nullptr;
  const Address* primary = nullptr;  // a sentinel, which knows this; may point to an empty host: it knows none
  Micros clock_step_us = 0;
  bool always_late = false;  // says that every deadline has passed

  std::map<std::string, std::int64_t> counts;
  std::map<std::string, int> executed;  // letter of the verb and cost → times
  int evals = 0;
  int slots_asked = 0;
  std::uint64_t evicted_keys = 0;
  std::string info_error;

  struct Session {
    bool in = false;  // authenticated
    bool resp3 = false;
    bool asking = false;
    std::string input;
  };

  std::string receive(Session& session, std::string_view bytes, Micros now_us) {
    session.input += bytes;
    std::string out;
    RespParser parser;
    for (RespParser::Parsed parsed; (parsed = parser.parse(session.input)).outcome == RespParser::Outcome::kCommand;) {
      const std::vector<std::string> words(parser.arguments().begin(), parser.arguments().end());
      session.input.erase(0, parsed.consumed);
      run(session, words, now_us + kAhead_us + clock_step_us, out);
    }
    return out;
  }

 private:
  void run(Session& session, const std::vector<std::string>& words, Micros now_us, std::string& out) {
    RespWriter writer(out, session.resp3 ? RespVersion::k3 : RespVersion::k2);
    const std::string& name = words[0];
    const bool asking = std::exchange(session.asking, false);
    if (name == "HELLO") return hello(session, words, writer, out);
    if (!password.empty() && !session.in) return writer.error("NOAUTH Authentication required.");
    if (name == "TIME") {
      writer.array(2);
      writer.bulk(std::to_string(now_us / kSecond_us));
      return writer.bulk(std::to_string(now_us % kSecond_us));
    }
    if (name == "ROLE") {
      writer.array(3);
      writer.bulk(replica ? "slave" : "master");
      writer.integer(0);
      return writer.array(0);
    }
    if (name == "ASKING") {
      session.asking = true;
      return writer.simple("OK");
    }
    if (name == "CLUSTER") return slots(writer);
    if (name == "SENTINEL") return name_primary(writer);
    if (name == "SUBSCRIBE") {
      out += ">3\r\n+subscribe\r\n+" + words[1] + "\r\n:1\r\n";
      return;
    }
    if (loading) return writer.error("LOADING Redis is loading the dataset in memory");
    if (name == "PING") return writer.simple("PONG");
    if (name == "SCRIPT") {
      has_script = true;
      return writer.bulk(decision_script().sha1);
    }
    if (name == "INFO" && !info_error.empty()) return writer.error(info_error);
    if (name == "INFO") return writer.bulk("# Stats\r\nevicted_keys:" + std::to_string(evicted_keys) + "\r\n");
    if (name == "EVALSHA") return eval(words, asking, now_us, writer);
    writer.simple("OK");
  }

  void hello(Session& session, const std::vector<std::string>& words, RespWriter& writer, std::string& out) {
    if (!refusal.empty()) return writer.error(refusal);
    const bool right = words.size() >= 5 && words[4] == password;
    if (!password.empty() && words.size() < 5) return writer.error("NOAUTH HELLO must be called with");
    if (!password.empty() && !right) return writer.error("WRONGPASS invalid username-password pair");
    session.in = session.resp3 = true;
    out += "%1\r\n+role\r\n" + std::string(replica ? "+slave" : "+master") + "\r\n";
  }

  void slots(RespWriter& writer) {
    ++slots_asked;
    if (cluster == nullptr) return writer.error("ERR This instance has cluster support disabled");
    writer.array(cluster->ranges.size());
    for (const FakeCluster::Range& range : cluster->ranges) {
      writer.array(3);
      writer.integer(range.first);
      writer.integer(range.last);
      writer.array(3);
      writer.bulk(range.primary.host);
      writer.integer(range.primary.port);
      writer.bulk("id");
    }
  }

  void name_primary(RespWriter& writer) {
    if (primary == nullptr || primary->host.empty()) return writer.null();
    writer.array(2);
    writer.bulk(primary->host);
    writer.bulk(std::to_string(primary->port));
  }

  bool redirects(const std::string& key, bool asking, RespWriter& writer) {
    const std::uint16_t slot = slot_of(key);
    const FakeCluster::Range* range = cluster->range_of(slot);
    const auto moving = cluster->importing.find(slot);
    const auto say = [&](const char* word, const Address& to) {
      writer.error(std::string(word) + " " + std::to_string(slot) + " " + to.host + ":" + std::to_string(to.port));
      return true;
    };
    if (range == nullptr) {
      writer.error("CLUSTERDOWN Hash slot not served");
      return true;
    }
    if (moving != cluster->importing.end()) {
      if (moving->second == address && asking) return false;
      if (range->primary == address && !counts.contains(key)) return say("ASK", moving->second);
    }
    return range->primary == address ? false : say("MOVED", range->primary);
  }

  /// EVALSHA sha 1 key deadline verb cost f capacity period
  void eval(const std::vector<std::string>& words, bool asking, Micros now_us, RespWriter& writer) {
    ++evals;
    if (!next_error.empty()) return writer.error(std::exchange(next_error, {}));
    if (!every_error.empty()) return writer.error(every_error);
    if (cluster != nullptr && redirects(words[3], asking, writer)) return;
    if (!has_script) return writer.error("NOSCRIPT No matching script. Please use EVAL.");
    if (replica) return writer.error("READONLY You can't write against a read only replica.");
    if (const Micros deadline_us = std::stoll(words[4]); always_late || (deadline_us > 0 && now_us > deadline_us)) {
      return writer.integers({1, now_us});
    }
    ++executed[words[5] + words[6]];
    const bool refund = words[5] == "f";
    const std::int64_t cost = std::stoll(words[6]);
    std::int64_t& count = counts[words[3]];
    const std::int64_t before = count;
    count = refund ? std::max<std::int64_t>(0, count - cost) : count + cost;
    writer.integers({0, now_us, refund ? 0 : cost, 0, before == 0 ? -1 : now_us + kSecond_us, before});
  }
};

/// Carries bytes between links and servers, late, in pieces, or not at all.
class FakeNetwork final : public Link::Shell {
 public:
  explicit FakeNetwork(std::uint64_t seed) : prng(seed) {}

  Prng prng;
  Micros now_us = 1'000'000;
  Micros delay_us = 200;  // one way, and up to as much again
  bool splits = false;    // what is written and read, at random
  int dials = 0;

  FakeRedis& add(std::string_view address) {
    const Address at = *parse_address(address);
    return servers_.emplace(format_address(at), Server{.redis = FakeRedis(at)}).first->second.redis;
  }
  FakeRedis& at(std::string_view address) { return servers_.at(std::string(address)).redis; }

  /// As kill -9 and the start of another; as SIGSTOP and SIGCONT.
  void set_up(std::string_view address, bool up) {
    Server& server = servers_.at(std::string(address));
    server.up = up;
    if (!up) cut(address);
  }
  void set_paused(std::string_view address, bool paused) {
    Server& server = servers_.at(std::string(address));
    server.paused = paused;
    if (paused) return;
    for (auto& event : std::exchange(server.held, {})) later(0, std::move(event));
  }
  /// Ends all connections to a server, with what is under way on them.
  void cut(std::string_view address) {
    std::map<std::uint64_t, Link*> links;  // in an order that follows from the seed
    for (const auto& [link, connection] : connections_) {
      if (format_address(link->address()) == address) links[connection.id] = link;
    }
    for (const auto& [id, link] : links) {
      if (connections_.erase(link) > 0) link->lost("reset", now());
    }
  }
  /// Ends the connection that owes the most.
  void cut_one(std::string_view address) {
    Link* link = busiest(address);
    if (link == nullptr) return;
    connections_.erase(link);
    link->lost("reset", now());
  }
  /// On that connection: what its server never said.
  void push(std::string_view address, const std::string& bytes) {
    if (Link* link = busiest(address)) to_link(*link, connections_.at(link).id, bytes);
  }

  Instant now() const { return {.monotonic_us = now_us, .wall_us = FakeRedis::kAhead_us + now_us}; }

  void later(Micros in_us, std::function<void()> what) {
    events_.push({now_us + in_us, next_event_++, std::move(what)});
  }

  /// Lets time pass. `store` is anything with tick() and next_us().
  template <typename Store>
  void run(Store& store, Micros for_us) {
    const Micros end_us = now_us + for_us;
    for (;;) {
      flush();
      const Micros next_us = std::min(store.next_us(), events_.empty() ? INT64_MAX : events_.top().at_us);
      if (next_us > end_us) break;
      now_us = std::max(now_us, next_us);
      if (!events_.empty() && events_.top().at_us <= now_us) {
        const std::function<void()> what = events_.top().what;
        events_.pop();
        what();
      } else {
        store.tick(now());
      }
    }
    now_us = end_us;
  }

 private:
  struct Server {
    FakeRedis redis;
    bool up = true;
    bool paused = false;
    std::vector<std::function<void()>> held;  // what arrives while it is paused
  };
  struct Connection {
    std::uint64_t id = 0;
    Server* server = nullptr;
    FakeRedis::Session session;
    Micros to_server_us = 0, to_link_us = 0;  // bytes stay in order
  };
  struct Event {
    Micros at_us;
    std::uint64_t number;
    std::function<void()> what;
    bool operator<(const Event& other) const {
      return at_us != other.at_us ? at_us > other.at_us : number > other.number;
    }
  };

  Link* busiest(std::string_view address) {
    Link* most = nullptr;
    for (const auto& [link, connection] : connections_) {
      if (format_address(link->address()) != address) continue;
      const bool first = most != nullptr && link->owed() == most->owed() && connection.id < connections_.at(most).id;
      if (most == nullptr || link->owed() > most->owed() || first) most = link;
    }
    return most;
  }

  void dial(Link& link) override {
    ++dials;
    const std::uint64_t id = ++next_connection_;
    dialing_[&link] = id;
    later(delay(), [this, &link, id] {
      const auto dialing = dialing_.find(&link);
      if (dialing == dialing_.end() || dialing->second != id) return;
      dialing_.erase(dialing);
      const auto server = servers_.find(format_address(link.address()));
      if (server == servers_.end() || !server->second.up) return link.lost("refused", now());
      connections_[&link] = {.id = id, .server = &server->second, .session = {}};
      link.connected(now());
    });
  }
  void hang_up(Link& link) override {
    connections_.erase(&link);
    dialing_.erase(&link);
  }
  void wake(Link& link) override {
    if (std::find(woken_.begin(), woken_.end(), &link) == woken_.end()) woken_.push_back(&link);
  }

  Micros delay() { return delay_us + static_cast<Micros>(prng.next() % static_cast<std::uint64_t>(delay_us + 1)); }
  std::size_t some(std::size_t all) { return splits && all > 1 ? 1 + prng.next() % all : all; }

  void flush() {
    for (Link* link : std::exchange(woken_, {})) {
      const auto at = connections_.find(link);
      if (at == connections_.end()) continue;
      Connection& connection = at->second;
      const std::string_view output = link->output();
      if (output.empty()) continue;
      const std::string bytes(output.substr(0, some(output.size())));
      link->wrote(bytes.size());
      if (bytes.size() < output.size()) wake(*link);
      connection.to_server_us = std::max(connection.to_server_us, now_us + delay());
      later(connection.to_server_us - now_us, [this, link, id = connection.id, bytes] { to_server(*link, id, bytes); });
    }
  }

  void to_server(Link& link, std::uint64_t id, const std::string& bytes) {
    const auto at = connections_.find(&link);
    if (at == connections_.end() || at->second.id != id) return;
    Server& server = *at->second.server;
    if (server.paused) {
      server.held.push_back([this, &link, id, bytes] { to_server(link, id, bytes); });
      return;
    }
    const std::string replies = server.redis.receive(at->second.session, bytes, now_us);
    to_link(link, id, replies);
  }

  void to_link(Link& link, std::uint64_t id, std::string_view bytes) {
    Connection& connection = connections_.at(&link);
    while (!bytes.empty()) {
      const std::string piece(bytes.substr(0, some(bytes.size())));
      bytes.remove_prefix(piece.size());
      connection.to_link_us = std::max(connection.to_link_us, now_us + delay());
      later(connection.to_link_us - now_us, [this, &link, id, piece] {
        const auto at = connections_.find(&link);
        if (at != connections_.end() && at->second.id == id) link.receive(piece, now());
      });
    }
  }

  std::map<std::string, Server> servers_;
  std::map<Link*, Connection> connections_;
  std::map<Link*, std::uint64_t> dialing_;
  std::vector<Link*> woken_;  // in order, so that a run follows from its seed
  std::priority_queue<Event> events_;
  std::uint64_t next_event_ = 0;
  std::uint64_t next_connection_ = 0;
};

}  // namespace ratel
