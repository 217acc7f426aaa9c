// Changes of a partial schedule that can be taken back.
#pragma once

#include <span>
#include <vector>

#include "kernels/compiler/schedule/partial_schedule.hpp"

namespace gdr::kc {

/// An issue time or a storage class.
struct Change {
  bool is_time;
  std::int32_t id;  ///< the operation or the value
  int time;
  Placement placement;
};

/// Makes changes and keeps what each of them replaced.
class ChangeLog {
 public:
  explicit ChangeLog(PartialSchedule& schedule) : s_(schedule) {}

  void place(std::size_t op, int time) {
    replaced_.push_back(time_of(op));
    s_.place(op, time);
  }
  void remove(std::size_t op) {
    replaced_.push_back(time_of(op));
    s_.remove(op);
  }
  void set_placement(ValueId v, const Placement& p) {
    replaced_.push_back({false, v, 0, s_.placement(v)});
    s_.set_placement(v, p);
  }

  /// What the changes since the last `clear` replaced, in their order.
  std::span<const Change> replaced() const noexcept { return replaced_; }
  /// Keep the changes.
  void clear() noexcept { replaced_.clear(); }
  /// Take the changes back.
  void roll_back() {
    for (; !replaced_.empty(); replaced_.pop_back()) set(replaced_.back());
  }

  /// The state after the changes: what brings it back after `roll_back`.
  void copy_made(std::vector<Change>& out) const {
    out.clear();
    for (const Change& c : replaced_)
      out.push_back(c.is_time ? time_of(index(c.id)) : Change{false, c.id, 0, s_.placement(c.id)});
  }
  /// Make changes again; only what replaced issue times is kept.
  void repeat(std::span<const Change> changes) {
    for (const Change& c : changes) {
      if (c.is_time) replaced_.push_back(time_of(index(c.id)));
      set(c);
    }
  }

 private:
  Change time_of(std::size_t op) const {
    return {true, static_cast<std::int32_t>(op), s_.time(op), {}};
  }
  /// Set what a change concerns to its time or storage class.
  void set(const Change& c) {
    if (!c.is_time) {
      s_.set_placement(c.id, c.placement);
    } else if (c.time == unscheduled) {
      s_.remove(index(c.id));
    } else {
      s_.place(index(c.id), c.time);
    }
  }

  PartialSchedule& s_;
  std::vector<Change> replaced_;
};

}  // namespace gdr::kc
