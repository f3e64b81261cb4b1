#pragma once
// Which servers a store has, and what each tells of itself: asked, not judged. Blocks; for main's thread, before or
// without a running server.

#include <optional>
#include <string>
#include <vector>

#include "app/settings.h"
#include "net/store_talk.h"
#include "redis/slot_map.h"
#include "redis/store_facts.h"

namespace ratel {

/// Entries of the key space that a search for keys without TTL looks at: some 100 answers of a millisecond each.
inline constexpr std::size_t kKeysSearchedMax = 100'000;

struct SentinelAnswer {
  Address sentinel;
  std::optional<Address> primary;
  std::string error;  // where it names none
};

struct StoreServers {
  std::vector<Address> primaries;  // those that decide; none where `error` says why
  std::string error;
  std::vector<SentinelAnswer> sentinels;  // of the URL
  std::vector<SlotRange> slots;           // of a cluster
};

/// Of one server: nothing is asked, it is the one in the URL. REQUIRES, here and below: settings.store
StoreServers find_servers(StoreAccess& access, const Settings& settings);

struct ClockReading {
  Micros ahead_us = 0;  // of ours
  Micros error_us = 0;  // either way: half the way there and back
};

struct KeySearch {
  std::uint64_t ours = 0;
  std::uint64_t immortal = 0;  // of these, those without a TTL
  std::string example;
  bool all = true;    // the whole key space was searched
  std::string error;  // why it was not, in the server's words
};

struct ServerSurvey {
  Address address;
  std::string error;  // why it cannot be asked anything; all below is unknown then
  StoreFacts facts;
  std::string info_error;  // why there is none, in the server's words
  std::string config_error;
  std::vector<std::string> lacked_rights;
  std::optional<ClockReading> clock;
  std::optional<KeySearch> keys;
};

enum class SurveyDepth : std::uint8_t { kStart, kDoctor };

/// At the start only what the start can say something about: facts of INFO, and rights.
ServerSurvey survey_server(StoreAccess& access, const Settings& settings, const Address& address, SurveyDepth depth);

/// A conversation with one server, whatever it is.
Result<std::unique_ptr<StoreTalk>> talk_to(StoreAccess& access, const Settings& settings, const Address& address);

}  // namespace ratel
