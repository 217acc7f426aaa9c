// What the GRAPE libraries share: messages for invalid calls, devices, loops over targets, and the
// state of each device id.
#pragma once

#include <array>
#include <atomic>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>

#include "emulator/host/float_mode.hpp"
#include "emulator/host/isa.hpp"
#include "emulator/host/parallel.hpp"
#include "gdr/device.hpp"

namespace gdr::compat::grape {

/// Prints an error of a library function to standard error; one that repeats the last one is
/// omitted, since callers run in loops.
void print_error(const char* function, const char* what);

/// Runs the body of a library function, whatever the caller's rounding mode. An error becomes a
/// message on standard error, with the name of the function, and `on_error` is returned.
template <typename Body>
int guarded(const char* function, int on_error, const Body& body) {
  try {
    const HostFloatMode mode;
    return body();
  } catch (const std::bad_alloc&) {
    print_error(function, "there is not enough memory for as many particles");
  } catch (const std::exception& e) {
    print_error(function, e.what());
  }
  return on_error;
}

/// Opens the device of GDR_DEVICE, by default an emulator. Emulators are opened for each caller, so
/// that several compute at once; boards are shared. Throws Error (Unsupported) for devices of
/// several ranks, whose calls would have to be collective.
std::shared_ptr<Device> open_device();

/// Whether the engine of a device computes among floats, all of them or most: distances are then
/// compared in floats, too.
bool computes_in_floats(const Device& device);

/// The instruction set of an emulator of this process whose engine computes in the host's doubles;
/// none for other engines and devices.
std::optional<Isa> isa_of_host_doubles(const Device& device);

/// A number in an environment variable, or `otherwise` if it is not set. Throws Error (Usage) if it
/// is not a number from `least` to `most`.
int environment_number(const char* name, int otherwise, int least, int most);

/// A number for messages, with six digits.
std::string number_text(double value);

/// Particles of a call or addresses of particles, at most: that many need 20 GB.
constexpr int max_particles = 1 << 26;

/// Throws Error (Usage) if a count is negative or above `most`.
std::size_t checked_count(int count, const char* what, int most = max_particles);

/// Throws Error (Usage): the argument with this name is a null pointer.
[[noreturn]] void throw_null(const char* name);
/// An argument that is passed by its address, which must not be null.
template <typename T>
T argument(const T* address, const char* name) {
  if (address == nullptr) throw_null(name);
  return *address;
}

/// A device id that is passed by its address. Some clients pass null to libraries that have one
/// device only: this is device 0.
inline int id_at(const int* address) { return address == nullptr ? 0 : *address; }

/// Throws Error (Input) for the first of n numbers that is not finite: an element of the input of a
/// kernel with this name. Numbers are `stride` elements apart. For sums on the host; a device
/// checks its inputs itself, with the same message.
void require_finite_input(const double* values, std::size_t n, std::size_t stride,
                          const char* name);

/// The same for n vectors, with the name of each coordinate.
void require_finite_rows(const double (*rows)[3], std::size_t n,
                         const std::array<const char*, 3>& names);

/// Throws Error (Input) for the first of n i-particles with a result that is not finite; each has
/// `width` numbers. `what` names the result.
void require_finite_results(const double* values, std::size_t n, std::size_t width,
                            const char* what);

/// Calls work(i) for targets 0 to n - 1, in all threads or in this one. An exception of a call is
/// thrown by this function, after the other calls.
template <typename Work>
void for_each_target(std::size_t n, bool in_threads, const Work& work) {
  std::exception_ptr error;
  std::mutex mutex;
  parallel_items(n, in_threads ? 0 : 1, [&](std::size_t i) {
    try {
      work(i);
    } catch (...) {
      const std::scoped_lock lock(mutex);
      error = std::current_exception();
    }
  });
  if (error) std::rethrow_exception(error);
}

/// A lock for functions that are called often: without contention, one atomic operation to take it
/// and one to give it back, without a call.
class QuickLock {
 public:
  void lock() noexcept {
    unsigned was = free;
    if (state_.compare_exchange_strong(was, held, std::memory_order_acquire)) return;
    while (state_.exchange(awaited, std::memory_order_acquire) != free) state_.wait(awaited);
  }
  void unlock() noexcept {
    if (state_.exchange(free, std::memory_order_release) == awaited) state_.notify_one();
  }

 private:
  static constexpr unsigned free = 0, held = 1, awaited = 2;
  std::atomic<unsigned> state_ = free;
};

/// The state of a device id: made on first use, whatever the id. Calls with different ids run
/// concurrently. There is one such table for a type of state, which is never destroyed.
template <typename State>
class States {
 public:
  /// Calls work(state), while no other thread uses the state of this id.
  template <typename Work>
  int with(int id, const Work& work) {
    Entry& entry = find(id);
    const std::scoped_lock lock(entry.mutex);
    if (!entry.state) entry.state = std::make_unique<State>();
    return work(*entry.state);
  }
  void close(int id) {
    Entry& entry = find(id);
    const std::scoped_lock lock(entry.mutex);
    entry.state.reset();
  }

 private:
  struct Entry {
    int id = 0;
    QuickLock mutex;
    std::unique_ptr<State> state;
  };
  /// Clients set particles one by one: the entry of the last call, of any thread, needs no search.
  Entry& find(int id) {
    Entry* const last = last_.load(std::memory_order_acquire);
    if (last != nullptr && last->id == id) return *last;
    const std::scoped_lock lock(mutex_);
    const auto [found, is_new] = entries_.try_emplace(id);
    Entry& entry = found->second;
    if (is_new) entry.id = id;  // other threads may read it
    last_.store(&entry, std::memory_order_release);
    return entry;
  }

  std::mutex mutex_;
  std::map<int, Entry> entries_;  ///< entries stay where they are
  std::atomic<Entry*> last_ = nullptr;
};

}  // namespace gdr::compat::grape
