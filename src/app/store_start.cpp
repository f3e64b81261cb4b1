// Tested by tests/test_store_start.py

#include "app/store_start.h"

#include <fmt/format.h>

#include "app/store_findings.h"

namespace ratel {
namespace {

/// After this no further server is asked: the start is not to wait for a large cluster.
constexpr Micros kExamine_us = kSecond_us;

void warn(const ServerSurvey& survey, Log& log) {
  const std::string server = format_address(survey.address);
  if (!survey.info_error.empty()) {
    return log.info("the store does not tell how it uses its memory",
                    {{"server", server}, {"error", survey.info_error}});
  }
  for (const Finding& finding : judge_memory(survey.facts)) {
    if (finding.level == Finding::Level::kOk) continue;
    log.warning("the store may lose counts",
                {{"server", server}, {"found", finding.value}, {"remedy", finding.remedy}});
  }
}

}  // namespace

Status examine_store(const Settings& settings, Status decides, const Clock& clock, Log& log) {
  const StoreUrl& url = *settings.store;
  const auto access = StoreAccess::make(clock, url.tls ? &settings.store_tls : nullptr);
  if (!access.ok()) return access.error();
  const Micros until_us = clock.now().monotonic_us + kExamine_us;
  for (const Address& address : find_servers(**access, settings).primaries) {
    if (clock.now().monotonic_us >= until_us) break;
    const ServerSurvey survey = survey_server(**access, settings, address, SurveyDepth::kStart);
    if (!survey.error.empty()) continue;
    if (!survey.lacked_rights.empty()) {
      return Error{ErrorCode::kConfiguration,
                   fmt::format("the store {} does not let its user do what decisions need: say `{}` to {}",
                               format_store_url(url), grant(survey.lacked_rights, url.user, settings.key_prefix),
                               format_address(address))};
    }
    if (decides.ok()) warn(survey, log);
  }
  return decides;
}

}  // namespace ratel
