// Tested by tests/test_doctor.py

#include "app/store_survey.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "redis/greeting.h"
#include "redis/key_name.h"
#include "redis/rights.h"

namespace ratel {
namespace {

using Command = StoreTalk::Command;
using Kind = RespReply::Kind;

constexpr std::size_t kSearchedAtOnce = 1'000;  // a millisecond of the server's time
constexpr int kClockReadings = 5;               // the best of them counts
constexpr Micros kSentinel_us = kSecond_us / 2;

std::string in_place(const Address& address, std::string_view error) {
  return format_address(address) + ": " + std::string(error);
}

/// What ended a connection ends the survey; an error of the server is only a fact.
std::string error_in(RespReply reply) {
  return reply.kind() == Kind::kError ? std::string(reply.text()) : std::string();
}

SentinelAnswer ask_sentinel(StoreAccess& access, const Settings& settings, const Address& sentinel) {
  const std::string& service = settings.store->service;
  SentinelAnswer answer{.sentinel = sentinel, .primary = {}, .error = {}};
  const auto talk = StoreTalk::open(access, sentinel,
                                    {.to = LinkOptions::To::kSentinel,
                                     .user = settings.store_sentinel_user,
                                     .password = settings.store_sentinel_password,
                                     .dial_us = kSentinel_us,
                                     .greeting_us = kSentinel_us});
  if (!talk.ok()) {
    answer.error = talk.error().message;
    return answer;
  }
  const Status asked = (*talk)->ask({"SENTINEL", "get-master-addr-by-name", service}, [&](RespReply reply) {
    answer.error = error_in(reply);
    if (!answer.error.empty()) return;
    Address primary;
    if (reply.size() != 2) {
      answer.error = "it knows no primary `" + service + "`";
      return;
    }
    const std::string_view port = reply[1].text();
    std::from_chars(port.data(), port.data() + port.size(), primary.port);
    primary.host = reply[0].text();
    answer.primary = primary;
  });
  if (!asked.ok()) answer.error = asked.error().message;
  return answer;
}

void find_by_sentinels(StoreAccess& access, const Settings& settings, StoreServers& servers) {
  for (const Address& sentinel : settings.store->hosts) {
    servers.sentinels.push_back(ask_sentinel(access, settings, sentinel));
    const SentinelAnswer& answer = servers.sentinels.back();
    // The first that names one counts, as it does for questions.
    if (answer.primary && servers.primaries.empty()) servers.primaries.push_back(*answer.primary);
    if (!answer.primary) servers.error = "sentinel " + in_place(sentinel, answer.error);
  }
  if (!servers.primaries.empty()) servers.error.clear();
}

void find_in_cluster(StoreAccess& access, const Settings& settings, StoreServers& servers) {
  for (const Address& seed : settings.store->hosts) {
    const auto talk = talk_to(access, settings, seed);
    if (!talk.ok()) {
      servers.error = in_place(seed, talk.error().message);
      continue;
    }
    const Status asked = (*talk)->ask({"CLUSTER", "SLOTS"}, [&](RespReply reply) {
      servers.error = error_in(reply);
      if (servers.error.empty() && !read_slot_ranges(reply, seed, servers.slots)) servers.error = "no map of slots";
      if (servers.error.empty() && servers.slots.empty()) servers.error = "it knows of no slots";
    });
    if (!asked.ok()) servers.error = asked.error().message;
    if (servers.error.empty()) break;
    servers.error = in_place(seed, servers.error);
  }
  std::sort(servers.slots.begin(), servers.slots.end(),
            [](const SlotRange& a, const SlotRange& b) { return a.first < b.first; });
  for (const SlotRange& range : servers.slots) {
    const auto known = std::find(servers.primaries.begin(), servers.primaries.end(), range.primary);
    if (known == servers.primaries.end()) servers.primaries.push_back(range.primary);
  }
}

class Surveyor {
 public:
  Surveyor(const Clock& clock, StoreTalk& talk, std::string_view prefix, ServerSurvey& survey)
      : clock_(clock), talk_(talk), prefix_(prefix), survey_(survey) {}

  Status info() {
    return talk_.ask({"INFO"}, [this](RespReply reply) {
      survey_.info_error = error_in(reply);
      read_info(reply.text(), survey_.facts);
    });
  }

  Status config() {
    const Command commands[] = {{"CONFIG", "GET", "save"}, {"CONFIG", "GET", "min-replicas-to-write"}};
    return talk_.ask(commands, [this](std::size_t, RespReply reply) {
      if (const std::string error = error_in(reply); !error.empty()) survey_.config_error = error;
      read_config(reply, survey_.facts);
    });
  }

  Status rights() {
    const std::vector<RightTrial> trials = right_trials(prefix_);
    std::vector<Command> commands;
    for (const RightTrial& trial : trials) commands.push_back(trial.command);
    return talk_.ask(commands, [&](std::size_t index, RespReply reply) {
      const std::string_view right = lacked_right(trials[index], reply);
      std::vector<std::string>& lacked = survey_.lacked_rights;
      if (!right.empty() && std::find(lacked.begin(), lacked.end(), right) == lacked.end()) lacked.emplace_back(right);
    });
  }

  Status clock() {
    for (int i = 0; i < kClockReadings; ++i) {
      const Micros before_us = clock_.now().wall_us;
      const Status asked = talk_.ask({"TIME"}, [&](RespReply reply) {
        const Micros after_us = clock_.now().wall_us;
        const Micros store_us = time_in(reply);
        const Micros error_us = (after_us - before_us + 1) / 2;
        if (store_us < 0 || (survey_.clock && survey_.clock->error_us <= error_us)) return;
        survey_.clock = {.ahead_us = store_us - (before_us + after_us) / 2, .error_us = error_us};
      });
      if (!asked.ok()) return asked;
    }
    return Done{};
  }

  Status keys() {
    KeySearch& keys = survey_.keys.emplace();
    std::string cursor = "0";
    std::vector<std::string> names;
    for (std::size_t searched = 0;; searched += kSearchedAtOnce) {
      keys.all = cursor == "0" && searched > 0;
      if (keys.all || searched >= kKeysSearchedMax) return Done{};
      names.clear();
      const Status asked = talk_.ask(
          {"SCAN", cursor, "MATCH", prefix_ + ":*", "COUNT", std::to_string(kSearchedAtOnce)}, [&](RespReply reply) {
            keys.error = error_in(reply);
            if (keys.error.empty() && reply.size() != 2) keys.error = "no answer that SCAN gives";
            if (!keys.error.empty()) return;
            cursor = reply[0].text();
            for (const RespReply name : reply[1]) names.emplace_back(name.text());
          });
      if (!asked.ok() || !keys.error.empty()) return asked;
      if (const Status told = look_at(names, keys); !told.ok() || !keys.error.empty()) return told;
    }
  }

 private:
  Status look_at(const std::vector<std::string>& names, KeySearch& keys) {
    std::vector<Command> commands;
    for (std::size_t begin = 0; begin < names.size(); begin += commands.size()) {
      commands.clear();
      for (std::size_t i = begin; i < names.size() && commands.size() < StoreTalk::kCommandsMax; ++i) {
        commands.push_back({"PTTL", names[i]});
      }
      const Status asked = talk_.ask(commands, [&](std::size_t index, RespReply reply) {
        if (const std::string error = error_in(reply); !error.empty()) keys.error = error;
        ++keys.ours;
        if (reply.kind() != Kind::kInteger || reply.integer() != -1) return;
        if (keys.immortal++ == 0) keys.example = names[begin + index];
      });
      if (!asked.ok() || !keys.error.empty()) return asked;
    }
    return Done{};
  }

  const Clock& clock_;
  StoreTalk& talk_;
  const std::string prefix_;
  ServerSurvey& survey_;
};

}  // namespace

Result<std::unique_ptr<StoreTalk>> talk_to(StoreAccess& access, const Settings& settings, const Address& address) {
  const StoreUrl& url = *settings.store;
  return StoreTalk::open(
      access, address,
      {.to = LinkOptions::To::kAnyNode, .user = url.user, .password = url.password, .database = url.database});
}

StoreServers find_servers(StoreAccess& access, const Settings& settings) {
  StoreServers servers;
  switch (settings.store->topology) {
    case StoreUrl::Topology::kStandalone:
      servers.primaries = settings.store->hosts;
      break;
    case StoreUrl::Topology::kSentinel:
      find_by_sentinels(access, settings, servers);
      break;
    case StoreUrl::Topology::kCluster:
      find_in_cluster(access, settings, servers);
      break;
  }
  return servers;
}

ServerSurvey survey_server(StoreAccess& access, const Settings& settings, const Address& address, SurveyDepth depth) {
  ServerSurvey survey{.address = address};
  const auto talk = talk_to(access, settings, address);
  if (!talk.ok()) {
    survey.error = talk.error().message;
    return survey;
  }
  Surveyor surveyor(access.clock(), **talk, settings.key_prefix, survey);
  Status asked = surveyor.info();
  if (asked.ok()) asked = surveyor.rights();
  if (depth == SurveyDepth::kDoctor) {
    if (asked.ok()) asked = surveyor.config();
    if (asked.ok()) asked = surveyor.clock();
    if (asked.ok()) asked = surveyor.keys();
  }
  if (!asked.ok()) survey.error = asked.error().message;
  return survey;
}

}  // namespace ratel
