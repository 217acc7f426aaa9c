// Whether repeated work runs on a GPU or on the processor, from measured times.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>

namespace gdr {

/// A launch has a fixed cost, which differs between drivers by a factor of ten: for small work the
/// processor is faster. Work is put into classes by its size, each up to twice as large as the one
/// before, with the measured times of both places; the slower one is tried again from time to time.
/// Work that takes long always runs on the GPU. Only for results whose bits do not depend on the
/// place. Thread-safe.
class PlaceChoice {
 public:
  /// `pairs`: of a target and a source. `min_pairs`: from which on the GPU is tried first.
  bool on_gpu(double pairs, double min_pairs) noexcept;
  /// Records the time of a call for which `on_gpu` gave that answer.
  void record(double pairs, bool on_gpu, double seconds) noexcept;

 private:
  /// Times of a class by place: the processor, the GPU.
  struct Class {
    struct Place {
      double seconds = 0;  ///< time of a pair, s
      unsigned calls = 0;
    };
    std::array<Place, 2> places;
    unsigned until_trial = first_pause, pause = first_pause;
  };
  static constexpr unsigned first_pause = 16, longest_pause = 512;
  static Class& class_of(std::array<Class, 64>& classes, double pairs) noexcept;

  std::mutex mutex_;
  std::array<Class, 64> classes_;  ///< classes, by the binary logarithm of the pairs
};

}  // namespace gdr
