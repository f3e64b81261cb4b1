#pragma once
// What is good, doubtful or bad about a store, and what to do about it: judged from what was found out. Pure; any
// thread.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/store_survey.h"

namespace ratel {

struct Finding {
  enum class Level : std::uint8_t {
    kOk,
    kWarn,  // decisions are made, but may be lost, wrong by some, or soon refused; or it could not be found out
    kFail,  // questions are refused, or answered without the store
  };

  Level level = Level::kOk;
  std::string_view check;  // a word: what was looked at
  std::string value;       // what was found
  std::string remedy;      // empty where all is well
};

/// What hundred real decisions on one server took.
struct DecisionTrial {
  std::string error;            // why there are none
  std::vector<Micros> took_us;  // of each, in any order; not empty without an error
};

/// Of the sentinels or the cluster as a whole; nothing of one server.
std::vector<Finding> judge_servers(const StoreServers& servers, const StoreUrl& url);
std::vector<Finding> judge_server(const ServerSurvey& survey, const StoreUrl& url, std::string_view prefix);
std::vector<Finding> judge_decisions(const DecisionTrial& trial, StoreUrl::Topology topology);

/// Of these, what the start of a server warns of: memory that has no bound, or is got by evicting counters.
std::vector<Finding> judge_memory(const StoreFacts& facts);

/// What to say to the server so that its user lacks nothing.
std::string grant(std::span<const std::string> lacked_rights, const std::string& user, std::string_view prefix);

}  // namespace ratel
