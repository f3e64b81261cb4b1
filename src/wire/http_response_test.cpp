#include "wire/http_response.h"

#include <gtest/gtest.h>

namespace ratel {
namespace {

TEST(HttpDate, IsAsTheStandardHasIt) {
  struct Case {
    std::int64_t second;
    std::string_view text;
  };
  const Case cases[] = {
      {0, "Thu, 01 Jan 1970 00:00:00 GMT"},          {784111777, "Sun, 06 Nov 1994 08:49:37 GMT"},
      {1709251199, "Thu, 29 Feb 2024 23:59:59 GMT"}, {1709251200, "Fri, 01 Mar 2024 00:00:00 GMT"},
      {8835955200, "Tue, 01 Jan 2250 00:00:00 GMT"},
  };
  HttpDate date;
  for (const Case& c : cases) {
    EXPECT_EQ(date.at(c.second * kSecond_us), c.text);
    EXPECT_EQ(date.at(c.second * kSecond_us + 999'999), c.text);
  }
}

TEST(HttpResponse, WritesHeads) {
  struct Case {
    HttpResponseHead head;
    std::string_view text;
  };
  using Connection = HttpResponseHead::Connection;
  const Case cases[] = {
      {{.status = 200, .content_type = "a/b", .content_length = 12, .date = "D"},
       "HTTP/1.1 200 OK\r\nDate: D\r\nContent-Type: a/b\r\nContent-Length: 12\r\n\r\n"},
      {{.status = 429, .headers = "Retry-After: 1\r\n", .date = "D", .connection = Connection::kClose},
       "HTTP/1.1 429 Too Many Requests\r\nDate: D\r\nContent-Length: 0\r\nConnection: close\r\nRetry-After: 1\r\n\r\n"},
      {{.status = 204, .headers = "Allow: GET\r\n", .date = "D", .connection = Connection::kKeepAlive},
       "HTTP/1.1 204 No Content\r\nDate: D\r\nConnection: keep-alive\r\nAllow: GET\r\n\r\n"},
  };
  for (const Case& c : cases) {
    std::string out = "before";
    append_http_head(out, c.head);
    EXPECT_EQ(out, "before" + std::string(c.text));
  }
}

TEST(HttpResponse, HasNoWordsForAStatusItDoesNotKnow) {
  EXPECT_DEATH(http_reason(299), "CHECK failed");
}

}  // namespace
}  // namespace ratel
