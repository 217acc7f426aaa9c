#include "emulator/engine/native/program/section_notes.hpp"

#include <mutex>
#include <utility>

namespace gdr::native {

void SectionNotes::set_remark(std::string remark) {
  const std::unique_lock lock(mutex_);
  remark_ = std::move(remark);
  has_remark_.store(true, std::memory_order_release);
}

void SectionNotes::add_remark(const std::string& remark) {
  const std::unique_lock lock(mutex_);
  if (!remark_.empty()) return;
  remark_ = remark;
  has_remark_.store(true, std::memory_order_release);
}

std::string SectionNotes::remark() const {
  const std::uint64_t runs = runs_in_doubles_.load(std::memory_order_relaxed);
  // Statistics ask after each list of commands.
  if (runs == 0 && !has_remark_.load(std::memory_order_acquire)) return {};
  const std::shared_lock lock(mutex_);
  if (runs == 0) return remark_;
  return remark_ + (remark_.empty() ? "" : "; ") + "doubles instead of floats in " +
         std::to_string(runs) + " runs: numbers or integers beyond the range of floats";
}

}  // namespace gdr::native
