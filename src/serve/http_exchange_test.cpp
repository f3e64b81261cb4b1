#include "serve/http_exchange.h"

#include <gtest/gtest.h>

#include <vector>

namespace ratel {
namespace {

std::vector<HttpExchange*> take(HttpExchangePool& pool, std::size_t count) {
  std::vector<HttpExchange*> taken;
  for (std::size_t i = 0; i < count; ++i) taken.push_back(pool.take());
  return taken;
}

TEST(HttpExchangePool, KeepsABoundedNumberForReuse) {
  HttpExchangePool pool;
  std::vector<HttpExchange*> first = take(pool, kHttpExchangesKept + 5);
  EXPECT_EQ(pool.size(), kHttpExchangesKept + 5);
  for (HttpExchange* exchange : first) pool.give_back(exchange);
  EXPECT_EQ(pool.size(), kHttpExchangesKept);
  // They are the ones that are taken next.
  take(pool, kHttpExchangesKept);
  EXPECT_EQ(pool.size(), kHttpExchangesKept);
  take(pool, 1);
  EXPECT_EQ(pool.size(), kHttpExchangesKept + 1);
}

TEST(HttpExchangePool, KeepsTheItemsOfOneLongArray) {
  HttpExchangePool pool;
  std::vector<HttpExchange*> two = take(pool, 2);
  for (HttpExchange* exchange : two) {
    for (std::size_t i = 0; i < 2 * kHttpItemsKept; ++i) exchange->add_item();
  }
  pool.give_back(two[0]);
  pool.give_back(two[1]);
  EXPECT_EQ(two[0]->items.size(), 2 * kHttpItemsKept);
  EXPECT_EQ(two[1]->items.size(), kHttpItemsKept);
}

TEST(HttpExchangePool, KeepsNoLongText) {
  HttpExchangePool pool;
  HttpExchange* exchange = pool.take();
  exchange->say(200, "text/plain", std::string(kHttpTextKeptBytesMax + 1, 'm'));
  pool.give_back(exchange);
  EXPECT_LE(exchange->text.capacity(), kHttpTextKeptBytesMax);
}

TEST(HttpExchangePool, GivesThemOutAsNew) {
  HttpExchangePool pool;
  HttpExchange* exchange = pool.take();
  exchange->array = true;
  exchange->add_item().problem = bad_argument("x");
  exchange->say(503, "text/plain", "no");
  exchange->headers = "X: y\r\n";
  pool.give_back(exchange);
  ASSERT_EQ(pool.take(), exchange);
  EXPECT_FALSE(exchange->array);
  EXPECT_EQ(exchange->count, 0u);
  EXPECT_EQ(exchange->headers, "");
  EXPECT_FALSE(exchange->add_item().problem);
}

}  // namespace
}  // namespace ratel
