// One device per process, opened by the first product, and again after a fork.
#include "gdr/device.hpp"

#include <pthread.h>

#include <algorithm>
#include <exception>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "emulator/host/host_limits.hpp"
#include "emulator/host/threads.hpp"
#include "libgdr/compat/blas/blas.hpp"
#include "libgdr/dense/direct_factor.hpp"
#include "libgdr/device/self_test.hpp"

namespace gdr::blas {
namespace {

struct Board {
  std::mutex mutex;
  std::optional<Device> device;
  std::optional<MatrixProduct> product;
  bool unusable = false;  ///< opening failed: not tried again
  bool reported = false;  ///< whether a failure was reported
  bool forked = false;    ///< this process is the child of a fork
};

// Never deleted: other threads may still multiply while the process exits.
Board* board = nullptr;

/// A fork copies this thread only, not the device's threads: the child opens a device of its own.
/// The lock keeps other threads out during the fork.
void before_fork() { board->mutex.lock(); }
void after_fork() { board->mutex.unlock(); }
void after_fork_in_child() {
  board = new Board;
  board->forked = true;
  reset_statistics();
}

Board& the_board() {
  static const bool once = [] {
    board = new Board;
    pthread_atfork(before_fork, after_fork, after_fork_in_child);
    return true;
  }();
  static_cast<void>(once);
  return *board;
}

void report_failure(Board& board_state, const std::string& what) {
  if (board_state.reported) return;
  board_state.reported = true;
  report(what + "; products run on the host's BLAS instead");
}

/// Throws what opening throws.
void open(Board& it) {
  if (it.product) return;
  it.unusable = true;  // until it is open
  it.device.emplace(Device::open());
  it.product.emplace(*it.device, settings().precision);
  it.unusable = false;
}

template <typename Number>
void multiply(MatrixProduct& product, const Call<Number>& call) {
  const auto op = [](char letter) { return letter == 'N' ? Transpose::No : Transpose::Yes; };
  const auto size = [](std::int64_t x) { return static_cast<std::size_t>(x); };
  product.compute(size(call.m), size(call.n), size(call.k), call.alpha,
                  {call.a, size(call.lda), op(call.trans_a)},
                  {call.b, size(call.ldb), op(call.trans_b)}, call.beta, {call.c, size(call.ldc)});
}

/// Copy of C, to restore it if the device fails after writing a part of it.
template <typename Number>
class SavedC {
 public:
  /// Throws std::bad_alloc. Saves nothing for beta = 0, where C is not read, and for a device that
  /// fails before it writes to C.
  SavedC(const Call<Number>& call, bool fails_before)
      : call_(call), columns_(call.beta == 0 || fails_before ? 0 : call.n) {
    values_.reserve(static_cast<std::size_t>(call.m * columns_));
    for (std::int64_t j = 0; j < columns_; ++j)
      values_.insert(values_.end(), call.c + j * call.ldc, call.c + j * call.ldc + call.m);
  }
  void restore() const noexcept {
    for (std::int64_t j = 0; j < columns_; ++j)
      std::copy_n(values_.data() + j * call_.m, call_.m, call_.c + j * call_.ldc);
  }

 private:
  const Call<Number>& call_;
  std::int64_t columns_;
  std::vector<Number> values_;
};

/// As device_multiply, with the lock held.
template <typename Number>
bool attempt(Board& it, const Call<Number>& call) noexcept {
  try {
    open(it);
    const SavedC<Number> saved(call, dense::multiplies_arrays(*core_of(*it.device)));
    try {
      const bool counted = settings().statistics;
      const Statistics before = counted ? it.device->statistics() : Statistics();
      multiply(*it.product, call);
      if (counted) count_work(gemm_of<Number>, before, it.device->statistics());
      return true;
    } catch (...) {
      saved.restore();
      throw;
    }
  } catch (const std::bad_alloc&) {
    report_failure(it, "out of memory for a product");
  } catch (const std::exception& error) {
    report_failure(it, error.what());
  } catch (...) {
    report_failure(it, "the device failed");
  }
  return false;
}

}  // namespace

template <typename Number>
bool device_multiply(const Call<Number>& call) noexcept {
  Board& it = the_board();
  const std::lock_guard lock(it.mutex);
  if (it.unusable) return false;
  if (!it.forked) return attempt(it, call);
  // OpenMP assumes that this thread still has the team of the parent, and would wait for it for
  // ever; a new thread gets a new team.
  bool done = false;
  HostThread fresh = start_thread([&] { done = attempt(it, call); });
  if (fresh.joinable())
    fresh.join();
  else
    report_failure(it, "cannot start a thread for the device: " + refused_thread_text());
  return done;
}

template bool device_multiply(const Call<double>&) noexcept;
template bool device_multiply(const Call<float>&) noexcept;

}  // namespace gdr::blas
