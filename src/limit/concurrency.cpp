#include "limit/concurrency.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "base/check.h"

namespace ratel {

// Found by id, and walked in the order in which they end: both stay cheap at a million leases. Trees and not hash
// tables, because clients choose the ids.
class Concurrency::Leases final : public Record {
 public:
  struct Lease {
    std::int64_t cost;
    Micros end_us;
  };
  using ById = std::map<std::string, Lease, std::less<>>;
  using Held = ById::value_type;
  struct Sooner {
    bool operator()(const Held* a, const Held* b) const {
      return a->second.end_us != b->second.end_us ? a->second.end_us < b->second.end_us : std::less<>{}(a, b);
    }
  };

  std::size_t bytes() const override {
    // A node of each tree: its value, three links and a colour, and the allocator's header.
    constexpr std::size_t kNodeBytes = sizeof(Held) + sizeof(Held*) + 2 * 5 * sizeof(void*);
    return sizeof(*this) + by_id.size() * kNodeBytes + id_bytes;
  }

  void insert(std::string_view id, Lease lease) {
    Held& held = *by_id.emplace(id, lease).first;
    by_end.insert(&held);
    used += lease.cost;
    id_bytes += held.first.capacity();
  }

  void erase(Held* held) {
    by_end.erase(held);
    used -= held->second.cost;
    id_bytes -= held->first.capacity();
    by_id.erase(by_id.find(held->first));
  }

  void set_end(Held* held, Micros end_us) {
    auto node = by_end.extract(held);
    held->second.end_us = end_us;
    by_end.insert(std::move(node));
  }

  Held* find(std::string_view id) {
    const auto found = by_id.find(id);
    return found == by_id.end() ? nullptr : &*found;
  }

  ById by_id;
  std::set<Held*, Sooner> by_end;
  std::int64_t used = 0;  // by all leases
  std::size_t id_bytes = 0;
};

Concurrency::Concurrency(const Limit& limit, Cell& cell, std::unique_ptr<Record>& record, Micros now_us,
                         std::string_view id, Micros lease_us)
    : limit_(limit), cell_(cell), record_(record), now_us_(now_us), id_(id), lease_us_(lease_us) {
  // Identity keeps algorithms apart, so a record under a concurrency limit's cell is a set of leases.
  if (cell.until_us > now_us) leases_ = static_cast<Leases*>(record.get());
  if (leases_ == nullptr) return;
  // Whatever is asked, so that each lease that has ended is walked past once, and not by every question from then on.
  forget_expired();
  used_ = leases_->used;
}

bool Concurrency::held() const {
  return leases_ != nullptr && leases_->find(id_) != nullptr;
}

std::int64_t Concurrency::remaining() const {
  return std::max<std::int64_t>(0, limit_.capacity - used_);
}

Micros Concurrency::wait_us(std::int64_t cost) const {
  if (cost == 0 || held()) return 0;
  if (cost > limit_.capacity) return kNever_us;
  if (cost <= remaining()) return 0;
  std::int64_t missing = cost - (limit_.capacity - used_);
  for (const auto* held : leases_->by_end) {
    missing -= held->second.cost;
    if (missing <= 0) return held->second.end_us - now_us_;
  }
  CHECK(false);  // all leases together hold used_, and cost <= capacity
}

Micros Concurrency::reset_after_us() const {
  return used_ > 0 ? cell_.until_us - now_us_ : 0;
}

void Concurrency::charge(std::int64_t cost) {
  if (cost == 0) return;
  if (held()) return renew();
  if (leases_ == nullptr) {
    auto fresh = std::make_unique<Leases>();
    leases_ = fresh.get();
    record_ = std::move(fresh);
  }
  leases_->insert(id_, {.cost = cost, .end_us = now_us_ + lease_us_});
  settle();
}

void Concurrency::renew() {
  leases_->set_end(leases_->find(id_), now_us_ + lease_us_);
  settle();
}

void Concurrency::release() {
  leases_->erase(leases_->find(id_));
  settle();
}

void Concurrency::reset() {
  leases_ = nullptr;
  record_.reset();
  used_ = 0;
  cell_ = Cell{};
}

void Concurrency::forget_expired() {
  while (!leases_->by_end.empty() && (*leases_->by_end.begin())->second.end_us <= now_us_) {
    leases_->erase(*leases_->by_end.begin());
  }
}

void Concurrency::settle() {
  if (leases_->by_end.empty()) return reset();
  used_ = leases_->used;
  cell_ = {.until_us = (*leases_->by_end.rbegin())->second.end_us, .word = 0};
}

}  // namespace ratel
