#include "limit/concurrency.h"

#include <algorithm>
#include <ext/pb_ds/assoc_container.hpp>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "base/check.h"

namespace ratel {

namespace {

/// A lease as the order of ends knows it.
struct End {
  Micros us;
  const void* lease;  // which of those that end together
  std::int64_t cost;

  friend bool operator<(const End& a, const End& b) {
    return a.us != b.us ? a.us < b.us : std::less<>{}(a.lease, b.lease);
  }
};

// Each node of the tree of ends carries the cost of all below it: the extension point of the library's tree.
template <typename ConstNode, typename Node, typename Less, typename Allocator>
class CostsBelow {
 public:
  using metadata_type = std::int64_t;

  virtual ~CostsBelow() = default;

  /// Of all that end at `us` or before.
  std::int64_t cost_ended(Micros us) const {
    std::int64_t cost = 0;
    for (ConstNode node = node_begin(); node != node_end();) {
      if ((**node).us > us) {
        node = node.get_l_child();
      } else {
        cost += cost_below(node.get_l_child()) + (**node).cost;
        node = node.get_r_child();
      }
    }
    return cost;
  }

  /// When so much has ended. REQUIRES: 0 < cost <= the cost of all.
  Micros ended_at(std::int64_t cost) const {
    for (ConstNode node = node_begin();;) {
      const std::int64_t before = cost_below(node.get_l_child());
      if (cost <= before) {
        node = node.get_l_child();
      } else if (cost <= before + (**node).cost) {
        return (**node).us;
      } else {
        cost -= before + (**node).cost;
        node = node.get_r_child();
      }
    }
  }

 protected:
  void operator()(Node node, ConstNode) const {
    const_cast<metadata_type&>(node.get_metadata()) =
        cost_below(node.get_l_child()) + (**node).cost + cost_below(node.get_r_child());
  }

 private:
  virtual ConstNode node_begin() const = 0;
  virtual ConstNode node_end() const = 0;

  template <typename AnyNode>
  std::int64_t cost_below(AnyNode node) const {
    return ConstNode(node) == node_end() ? 0 : node.get_metadata();
  }
};

}  // namespace

// Found by id, and summed up in the order in which they end, so that no question walks them. Trees and not hash tables,
// because clients choose the ids.
class Concurrency::Leases final : public Record {
 public:
  struct Lease {
    std::int64_t cost;
    Micros end_us;
  };
  using ById = std::map<std::string, Lease, std::less<>>;
  using Held = ById::value_type;

  std::size_t bytes() const override { return sizeof(*this) + by_id_.size() * kNodes_bytes + id_bytes_; }
  static std::size_t bytes_of_one(std::string_view id) { return kNodes_bytes + id.size(); }

  bool dismantle(std::size_t pieces) override {
    for (; pieces > 0 && !empty(); --pieces) erase(soonest());
    return empty();
  }

  bool empty() const { return by_id_.empty(); }
  Held* soonest() { return static_cast<Held*>(const_cast<void*>(by_end_.begin()->lease)); }
  Micros last_end_us() const { return by_end_.rbegin()->us; }
  std::int64_t cost_ended(Micros us) const { return by_end_.cost_ended(us); }
  Micros ended_at(std::int64_t cost) const { return by_end_.ended_at(cost); }
  std::int64_t cost() const { return cost_; }

  Held* find(std::string_view id) {
    const auto found = by_id_.find(id);
    return found == by_id_.end() ? nullptr : &*found;
  }

  void insert(std::string_view id, Lease lease) {
    const auto [place, is_new] = by_id_.emplace(id, lease);
    CHECK(is_new);
    try {
      by_end_.insert(end_of(*place));
    } catch (...) {
      by_id_.erase(place);
      throw;
    }
    cost_ += lease.cost;
    id_bytes_ += id.size();
  }

  void erase(Held* held) {
    by_end_.erase(end_of(*held));
    cost_ -= held->second.cost;
    id_bytes_ -= held->first.size();
    by_id_.erase(by_id_.find(held->first));
  }

  void set_end(Held* held, Micros end_us) {
    const End before = end_of(*held);
    if (end_us == before.us) return;
    by_end_.insert({.us = end_us, .lease = before.lease, .cost = before.cost});
    by_end_.erase(before);
    held->second.end_us = end_us;
  }

 private:
  using ByEnd = __gnu_pbds::tree<End, __gnu_pbds::null_type, std::less<End>, __gnu_pbds::rb_tree_tag, CostsBelow>;
  // A node of each tree: its value, the cost below, three links and a colour, and the allocator's header.
  static constexpr std::size_t kNodes_bytes = sizeof(Held) + sizeof(End) + sizeof(std::int64_t) + 2 * 5 * sizeof(void*);

  static End end_of(const Held& held) { return {.us = held.second.end_us, .lease = &held, .cost = held.second.cost}; }

  ById by_id_;
  ByEnd by_end_;
  std::int64_t cost_ = 0;  // of all leases
  std::size_t id_bytes_ = 0;
};

Concurrency::Concurrency(const Limit& limit, Cell& cell, std::unique_ptr<Record>& record, Micros now_us,
                         std::string_view id, Micros lease_us)
    : limit_(limit), cell_(cell), record_(record), now_us_(now_us), id_(id), lease_us_(lease_us) {
  // Identity keeps algorithms apart, so a record under a concurrency limit's cell is a set of leases. One whose leases
  // have all ended is used on: to free it at once could take long.
  if (cell.until_us != Cell::kFresh_us) leases_ = static_cast<Leases*>(record.get());
  if (leases_ == nullptr) return;
  // Whatever is asked, so that leases which have ended go also where nothing is ever acquired again.
  forget_ended();
  used_ = leases_->cost() - leases_->cost_ended(now_us);
}

bool Concurrency::held() const {
  const Leases::Held* const lease = leases_ == nullptr ? nullptr : leases_->find(id_);
  return lease != nullptr && lease->second.end_us > now_us_;
}

std::size_t Concurrency::bytes_after(std::int64_t) const {
  const std::size_t bytes = leases_ == nullptr ? sizeof(Leases) : leases_->bytes();
  return held() ? bytes : bytes + Leases::bytes_of_one(id_);
}

std::int64_t Concurrency::remaining() const {
  return std::max<std::int64_t>(0, limit_.capacity - used_);
}

Micros Concurrency::wait_us(std::int64_t cost) const {
  if (cost == 0 || held()) return 0;
  if (cost > limit_.capacity) return kNever_us;
  if (cost <= remaining()) return 0;
  const std::int64_t missing = cost - (limit_.capacity - used_);
  return leases_->ended_at(leases_->cost() - used_ + missing) - now_us_;
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
  if (Leases::Held* const ended = leases_->find(id_); ended != nullptr) leases_->erase(ended);
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
  used_ = 0;
  cell_ = Cell{};
}

void Concurrency::forget_ended() {
  for (int i = 0; i < kForgottenMax && !leases_->empty() && leases_->soonest()->second.end_us <= now_us_; ++i) {
    leases_->erase(leases_->soonest());
  }
}

void Concurrency::settle() {
  used_ = leases_->cost() - leases_->cost_ended(now_us_);
  if (used_ == 0) return reset();
  cell_ = {.until_us = leases_->last_end_us(), .word = 0};
}

}  // namespace ratel
