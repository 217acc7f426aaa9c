// Fast matrix products in doubles: loops jr and ir around the micro-kernel, for one slab of the
// PEs' factors (A) and some items (B). FastProducts has the outer loops.
//
// Items are read in place, not packed: a record is already a column with all its factors together,
// and few are read at a time. The next ones are prefetched.
#pragma once

#include "emulator/engine/matmul/cpu/functions.hpp"

namespace gdr {

/// `Host`: vectors of the instruction set; `Host::mr` outputs, whole panels, and `Host::nr` columns
/// fill the registers.
template <class Host>
class FastMatmul {
 public:
  /// Loop jr: nr columns at a time, which stay in the first-level cache.
  static void loop_jr(const FastTask& t) {
    for (std::size_t column = 0; column < t.columns; column += nr) some_columns<nr>(t, column);
  }

  static std::size_t pack(const PackTask& rows) {
    std::size_t k = 0, used = 0;
    for (; k + width <= rows.count; k += width) {
      V all = Host::all(0);
      for (std::size_t part = 0; part < parts; ++part) {
        V some[width];
        for (std::size_t i = 0; i < width; ++i) {
          some[i] = Host::load(reinterpret_cast<const double*>(rows.rows[part * width + i] + k));
          all = Host::bits_of(all, some[i]);
        }
        Host::transpose(some);
        for (std::size_t i = 0; i < width; ++i)
          Host::store(rows.to + (k + i) * fast_lanes + part * width, some[i]);
      }
      if (Host::has_bits(all)) used = k + width;
    }
    for (; k < rows.count; ++k) {
      for (std::size_t lane = 0; lane < fast_lanes; ++lane) {
        const std::uint64_t bits = rows.rows[lane][k];
        __builtin_memcpy(rows.to + k * fast_lanes + lane, &bits, sizeof bits);
        if (bits != 0) used = k + 1;
      }
    }
    return used;
  }

 private:
  using V = typename Host::V;
  static constexpr std::size_t width = Host::width;
  static constexpr std::size_t parts = fast_lanes / width;  ///< vectors of a panel
  static constexpr std::size_t mr_panels = Host::mr / fast_lanes, nr = Host::nr;
  static constexpr std::size_t line = 8;  ///< doubles of a line of the cache
  static_assert(fast_columns % nr == 0);

  /// Largest distance of records in one memory, in bytes.
  static constexpr std::size_t max_pitch = std::size_t{1} << 20;

  /// Columns at a distance of `pitch` bytes, and one to prefetch.
  struct Columns {
    std::size_t first = 0;
    const double* numbers = nullptr;
    std::size_t pitch = 0;
    const double* ahead = nullptr;
  };
  static constexpr std::size_t group = 3;  ///< columns that share a pointer: registers are few

  /// Loop ir for the remaining columns, up to `Max`.
  template <std::size_t Max>
  static void some_columns(const FastTask& t, std::size_t column) {
    if (t.columns - column >= Max) return loop_ir<Max>(t, column);
    if constexpr (Max > 1) some_columns<Max - 1>(t, column);
  }

  /// The columns of the task in place if they are equidistant, else copied to scratch.
  template <std::size_t Count>
  static Columns columns_of(const FastTask& t, std::size_t first) {
    const double* const* const items = t.items + first;
    const auto place = [&](std::size_t j) { return reinterpret_cast<std::uintptr_t>(items[j]); };
    const std::size_t pitch = Count > 1 ? place(1) - place(0) : 0;
    bool even = pitch <= max_pitch;
    for (std::size_t j = 1; j < Count; ++j) even = even && place(j) == place(0) + j * pitch;
    if (even) return {first, items[0], pitch, nullptr};
    for (std::size_t j = 0; j < Count; ++j)
      __builtin_memcpy(t.scratch + j * scratch_pitch, items[j], t.depth * sizeof(double));
    return {first, t.scratch, scratch_pitch * sizeof(double), nullptr};
  }

  /// Loop ir: mr outputs at a time, which stream from the second-level cache.
  template <std::size_t Count>
  static void loop_ir(const FastTask& t, std::size_t first) {
    Columns c = columns_of<Count>(t, first);
    // Each micro-kernel prefetches one of the next columns.
    std::size_t next = first + Count;
    const std::size_t end = next + nr < t.items_known ? next + nr : t.items_known;
    const auto prefetch_next = [&] { c.ahead = next < end ? t.items[next++] : c.numbers; };
    std::size_t panel = 0;
    for (; panel + mr_panels <= t.panels; panel += mr_panels) {
      prefetch_next();
      micro_kernel<mr_panels, Count>(t, panel, c);
    }
    prefetch_next();
    if constexpr (mr_panels > 1) last_panels<mr_panels - 1, Count>(t, panel, c);
  }

  /// The remaining panels, up to `Max`.
  template <std::size_t Max, std::size_t Count>
  static void last_panels(const FastTask& t, std::size_t panel, const Columns& c) {
    if (t.panels - panel == Max) return micro_kernel<Max, Count>(t, panel, c);
    if constexpr (Max > 1) last_panels<Max - 1, Count>(t, panel, c);
  }

  template <std::size_t Panels, std::size_t Count>
  using Sums = V[Count][Panels * parts];

  template <std::size_t Count>
  using Pointers = const char * [(Count + group - 1) / group];

  /// One factor of each output and column.
  template <std::size_t Panels, std::size_t Count>
  [[gnu::always_inline]] static void add(const double* a, std::size_t panel_size,
                                         const Pointers<Count>& items, std::size_t pitch,
                                         std::size_t k, Sums<Panels, Count>& sums) {
    V numbers[Panels * parts];
#pragma GCC unroll 16
    for (std::size_t r = 0; r < Panels * parts; ++r)
      numbers[r] = Host::load(a + r / parts * panel_size + r % parts * width);
#pragma GCC unroll 16
    for (std::size_t j = 0; j < Count; ++j) {
      const V one = Host::all(*reinterpret_cast<const double*>(
          items[j / group] + j % group * pitch + k * sizeof(double)));
#pragma GCC unroll 16
      for (std::size_t r = 0; r < Panels * parts; ++r)
        sums[j][r] = Host::fma(numbers[r], one, sums[j][r]);
    }
  }

  /// Sums of `Panels` panels and `Count` columns over the factors of the slab, in registers.
  template <std::size_t Panels, std::size_t Count>
  static void micro_kernel(const FastTask& t, std::size_t panel, const Columns& c) {
    constexpr std::size_t rows = Panels * parts;
    const std::size_t panel_size = t.panel_step;
    const double* a = t.numbers + panel * panel_size;
    const double* const before =
        t.before == nullptr ? nullptr : t.before + c.first * t.before_step + panel * fast_lanes;
    double* const to = t.sums + c.first * t.sums_step + panel * fast_lanes;
    // Prefetch: they are needed at the end of the slab.
    for (std::size_t j = 0; j < Count; ++j)
      for (std::size_t p = 0; before != nullptr && p < Panels; ++p)
        __builtin_prefetch(before + j * t.before_step + p * line);
    Sums<Panels, Count> sums;
#pragma GCC unroll 16
    for (std::size_t j = 0; j < Count; ++j) {
#pragma GCC unroll 16
      for (std::size_t r = 0; r < rows; ++r) sums[j][r] = Host::all(0);
    }
    Pointers<Count> items;
    for (std::size_t j = 0; j < Count; j += group)
      items[j / group] = reinterpret_cast<const char*>(c.numbers) + j * c.pitch;
    const std::size_t pitch = c.pitch;
    const double* const ahead = c.ahead;
    std::size_t k = 0;
    for (; k + line <= t.depth; k += line, a += line * fast_lanes) {
      __builtin_prefetch(ahead + k, 0, 2);
#pragma GCC unroll 8
      for (std::size_t i = 0; i < line; ++i)
        add<Panels, Count>(a + i * fast_lanes, panel_size, items, pitch, k + i, sums);
    }
    for (; k < t.depth; ++k, a += fast_lanes)
      add<Panels, Count>(a, panel_size, items, pitch, k, sums);
#pragma GCC unroll 16
    for (std::size_t j = 0; j < Count; ++j) {
#pragma GCC unroll 16
      for (std::size_t r = 0; r < rows; ++r) {
        V sum = sums[j][r];
        if (before != nullptr)
          sum = Host::add(Host::load(before + j * t.before_step + r * width), sum);
        if (t.ends) sum = Host::canonical(sum);
        Host::store(to + j * t.sums_step + r * width, sum);
      }
    }
  }
};

}  // namespace gdr
