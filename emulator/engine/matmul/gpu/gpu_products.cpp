#include "emulator/engine/matmul/gpu/gpu_products.hpp"

#include <algorithm>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "emulator/engine/matmul/gpu/card_products.hpp"
#include "emulator/engine/matmul/gpu/library_choice.hpp"
#include "emulator/engine/matmul/gpu/product_text.hpp"
#include "emulator/host/monitor.hpp"
#include "emulator/host/parallel.hpp"

namespace gdr {
namespace {

/// Multiplications that a pair of a target and a source stands for (Gpu::min_pairs).
constexpr double multiplications_of_pair = 1000, exact_multiplications_of_pair = 100;

/// The cards of an engine, and the last failure of one of them.
class SharedMatmul final : public MatmulDevice {
 public:
  explicit SharedMatmul(std::vector<std::shared_ptr<MatmulCard>> cards)
      : cards_(std::move(cards)) {}

  double min_multiplications() const override {
    return first().gpu->min_pairs *
           (first().exact() ? exact_multiplications_of_pair : multiplications_of_pair);
  }
  std::unique_ptr<DeviceProducts> products() override;
  std::string failure() const override {
    const std::scoped_lock lock(mutex_);
    return failure_;
  }

  const std::vector<std::shared_ptr<MatmulCard>>& cards() const { return cards_; }
  void record_failure(const std::string& text) {
    const std::scoped_lock lock(mutex_);
    failure_ = text;
  }

 private:
  const MatmulCard& first() const { return *cards_.front(); }
  bool by_library();

  const std::vector<std::shared_ptr<MatmulCard>> cards_;
  mutable std::mutex mutex_;
  std::optional<bool> by_library_;
  std::string failure_;
};

/// A card and its columns.
struct CardTask {
  CardProducts* card = nullptr;
  std::vector<ColumnRange> ranges;
  std::exception_ptr error;
};

class SharedProducts final : public DeviceProducts {
 public:
  SharedProducts(SharedMatmul& device, bool by_library)
      : device_(device), tile_(by_library ? columns_of_library : device_tile) {
    for (const auto& card : device.cards())
      cards_.push_back(std::make_unique<CardProducts>(card, by_library));
  }

  std::vector<char> multiply(const DeviceProduct& product) override {
    std::vector<char> unfit(product.items.columns, 0);
    std::vector<CardProducts*> usable;
    for (const auto& card : cards_)
      if (card->card().gpu->is_usable()) usable.push_back(card.get());
    std::vector<ColumnRange> left;
    if (product.items.columns != 0) left.push_back({0, product.items.columns});
    std::optional<GpuError> failure;
    while (!left.empty() && !usable.empty()) {
      std::vector<CardTask> tasks = divided(left, usable);
      left.clear();
      run(product, tasks, unfit);
      for (const CardTask& task : tasks) {
        if (!task.error) continue;
        try {
          std::rethrow_exception(task.error);
        } catch (const GpuError& error) {
          failure = error;
        }
        std::erase(usable, task.card);
        left.insert(left.end(), task.ranges.begin(), task.ranges.end());
      }
    }
    if (left.empty()) {
      if (failure) device_.record_failure(failure->reason() + "; other GPUs took over");
      return unfit;
    }
    if (!failure) failure = reason_of_loss();
    cards_.front()->card().gpu->require_fallback(*failure);
    device_.record_failure(failure->reason() + "; the processor took over");
    return {};
  }

 private:
  /// Every range in equal parts of whole tiles for the cards.
  std::vector<CardTask> divided(const std::vector<ColumnRange>& ranges,
                                const std::vector<CardProducts*>& cards) const {
    std::vector<CardTask> tasks;
    for (CardProducts* const card : cards) tasks.push_back({card, {}, {}});
    for (const ColumnRange& range : ranges) {
      const std::size_t tiles = parts_of(range.count, tile_);
      for (std::size_t n = 0; n < cards.size(); ++n) {
        const std::size_t first = std::min(tiles * n / cards.size() * tile_, range.count);
        const std::size_t end = std::min(tiles * (n + 1) / cards.size() * tile_, range.count);
        if (end > first) tasks[n].ranges.push_back({range.first + first, end - first});
      }
    }
    std::erase_if(tasks, [](const CardTask& task) { return task.ranges.empty(); });
    return tasks;
  }

  /// Executes the tasks, each in a thread of its own.
  static void run(const DeviceProduct& product, std::vector<CardTask>& tasks,
                  std::vector<char>& unfit) {
    const WorkMonitor& monitor = monitor_of_thread();
    const auto run_task = [&](CardTask& task) noexcept {
      const MonitoredScope scope(monitor);
      try {
        for (const ColumnRange& range : task.ranges) task.card->multiply(product, range, unfit);
      } catch (...) {
        task.error = std::current_exception();
      }
    };
    run_concurrently(tasks.size(), [&](std::size_t n) { run_task(tasks[n]); });
  }

  /// Why no card was usable from the beginning.
  GpuError reason_of_loss() const {
    try {
      cards_.front()->card().gpu->device->require_usable();
    } catch (const GpuError& error) {
      return error;
    }
    return {GpuFailure::Lost, ErrorCategory::Device, "the GPU was lost"};
  }

  SharedMatmul& device_;
  const std::size_t tile_;
  std::vector<std::unique_ptr<CardProducts>> cards_;
};

std::unique_ptr<DeviceProducts> SharedMatmul::products() {
  return std::make_unique<SharedProducts>(*this, by_library());
}

/// Decided once, by the first usable card: all are of one kind.
bool SharedMatmul::by_library() {
  const std::scoped_lock lock(mutex_);
  if (first().exact()) return false;
  for (const auto& card : cards_) {
    if (by_library_) break;
    if (card->gpu->is_usable()) by_library_ = multiplying_library(*card->gpu->device) != nullptr;
  }
  // Without a usable card, every product fails.
  return by_library_.value_or(false);
}

}  // namespace

std::shared_ptr<MatmulDevice> matmul_on(const Gpus& gpus, DeviceNumbers numbers,
                                        std::size_t max_bytes) {
  const std::size_t group = numbers == DeviceNumbers::Exact ? exact_group : fast_group;
  std::vector<std::shared_ptr<MatmulCard>> cards;
  for (const std::shared_ptr<Gpu>& gpu : gpus) {
    const gpu::DeviceInfo& info = gpu->device->info();
    if (info.local_bytes >= tile_bytes && info.largest_group >= group)
      cards.push_back(std::make_shared<MatmulCard>(gpu, numbers, max_bytes));
  }
  return cards.empty() ? nullptr : std::make_shared<SharedMatmul>(std::move(cards));
}

}  // namespace gdr
