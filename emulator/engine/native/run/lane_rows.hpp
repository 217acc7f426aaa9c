// Rows of lanes for consecutive targets: fields of records to lanes and back. Only for
// lane_targets.cpp: its functions are compiled for each instruction set of the host.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "emulator/engine/native/run/lane_transfers.hpp"
#include "emulator/port/port_words.hpp"

namespace gdr::native::lane_rows {

/// Lanes of doubles in the widest vectors.
inline constexpr std::size_t max_lanes = Target{}.lanes();
static_assert(max_lane_targets % max_lanes == 0);

/// Fields whose conversion to a lane and back is simple.
enum class FieldKind : std::uint8_t { Double, RoundedDouble, Integer, General };

inline FieldKind kind_of(const PortField& f) {
  const bool is_double =
      f.conversion.host == HostType::F64 && (f.conversion.machine == MachineFormat::FloatLong ||
                                             f.conversion.machine == MachineFormat::FloatShort);
  if (f.width == Width::Short) {
    if (is_double) return FieldKind::RoundedDouble;
    return f.conversion.machine == MachineFormat::Integer ? FieldKind::Integer : FieldKind::General;
  }
  return is_double && f.conversion.machine == MachineFormat::FloatLong ? FieldKind::Double
                                                                       : FieldKind::General;
}

/// Lanes of a vector, as bits: the compiler's vector types, whose operators apply to each lane.
template <std::size_t lanes>
using Bits [[gnu::vector_size(lanes * sizeof(std::uint64_t))]] = std::uint64_t;
template <std::size_t lanes>
using Signed [[gnu::vector_size(lanes * sizeof(std::int64_t))]] = std::int64_t;

/// Conversions of all lanes. Those of single words are in port_words.hpp.
struct Unchanged {
  template <std::size_t n>
  [[gnu::always_inline]] static void convert(Bits<n>&) {}
};
struct Canonical {
  template <std::size_t n>
  [[gnu::always_inline]] static void convert(Bits<n>& bits) {
    const auto magnitude = (Signed<n>)(bits & ~port::double_sign);
    const auto least = static_cast<std::int64_t>(std::uint64_t{1} << 52);
    bits = magnitude < least ? bits & port::double_sign : bits;
    bits = magnitude > static_cast<std::int64_t>(port::double_infinity)
               ? bits * 0 + port::double_nan
               : bits;
  }
};
/// A short's bits are at the top of a lane.
struct Rounded {
  template <std::size_t n>
  [[gnu::always_inline]] static void convert(Bits<n>& bits) {
    Canonical::convert<n>(bits);
    const auto odd = (bits >> port::below_short) & 1;
    bits = (bits + (port::below_short_mask >> 1) + odd) & short_mask;
  }
};
struct IntegerToLane {
  template <std::size_t n>
  [[gnu::always_inline]] static void convert(Bits<n>& bits) {
    constexpr std::int64_t most = (std::int64_t{1} << (Short::bit_count - 1)) - 1;
    auto value = (Signed<n>)bits;
    value = value > most ? value * 0 + most : value;
    value = value < -most - 1 ? value * 0 - most - 1 : value;
    bits = (Bits<n>)value << short_shift;
  }
};
struct LaneToInteger {
  template <std::size_t n>
  [[gnu::always_inline]] static void convert(Bits<n>& bits) {
    bits = (Bits<n>)((Signed<n>)bits >> short_shift);
  }
};
struct ShortBits {
  template <std::size_t n>
  [[gnu::always_inline]] static void convert(Bits<n>& bits) {
    bits &= short_mask;
  }
};

/// A slot of consecutive work items, whose lanes belong to consecutive targets.
struct LaneRow {
  std::byte* first = nullptr;
  std::size_t item = 0;   ///< distance of work items, bytes
  std::size_t lanes = 0;  ///< lanes of a work item: 2, 4, 8 or 32

  [[gnu::always_inline]] std::byte* lane(std::size_t number, std::size_t in_item) const {
    return first + number * item + in_item * sizeof(std::uint64_t);
  }
};

template <std::size_t lanes>
using AllLanes = std::make_index_sequence<lanes>;
template <std::size_t lanes, std::size_t... k>
[[gnu::always_inline]] inline void gather(const std::uint64_t* from, std::size_t stride,
                                          Bits<lanes>& all, std::index_sequence<k...>) {
  all = Bits<lanes>{from[k * stride]...};
}
template <std::size_t lanes, std::size_t... k>
[[gnu::always_inline]] inline void scatter(const Bits<lanes>& all, std::uint64_t* to,
                                           std::size_t stride, std::index_sequence<k...>) {
  ((to[k * stride] = all[k]), ...);
}

/// Calls work(lanes, item, lane, i) for groups of lanes of the items of n targets: so many lanes, a
/// constant, from the given one of an item on, which belong to the targets from i on. An item of 32
/// lanes is four groups: code for all of its lanes at once is no faster, and several times as long.
template <typename Work>
[[gnu::always_inline]] inline void for_each_group(const LaneRow& row, std::size_t n, Work work) {
  static_assert(max_lanes == 32);
  const auto in_groups_of = [&](auto lanes) __attribute__((always_inline)) {
    for (std::size_t i = 0, item = 0; i < n; ++item)
      for (std::size_t lane = 0; lane < row.lanes; lane += lanes.value, i += lanes.value)
        work(lanes, item, lane, i);
  };
  if (row.lanes == 2) return in_groups_of(std::integral_constant<std::size_t, 2>());
  if (row.lanes == 4) return in_groups_of(std::integral_constant<std::size_t, 4>());
  in_groups_of(std::integral_constant<std::size_t, 8>());
}

/// Converts words, `stride` apart, to the first n lanes, and stores zeros behind them: vectors are
/// read whole.
template <typename Conversion>
[[gnu::always_inline]] inline void set_row(const std::uint64_t* from, std::size_t stride,
                                           std::size_t n, const LaneRow& row) {
  for_each_group(
      row, n,
      [&](auto lanes, std::size_t item, std::size_t lane, std::size_t i)
          __attribute__((always_inline)) {
            Bits<lanes.value> all{};
            if (i + lanes.value <= n)
              gather<lanes.value>(from + i * stride, stride, all, AllLanes<lanes.value>());
            else
              for (std::size_t k = 0; i + k < n; ++k) all[k] = from[(i + k) * stride];
            Conversion::template convert<lanes.value>(all);
            std::memcpy(row.lane(item, lane), &all, sizeof all);
          });
}

/// Converts the first n lanes to words.
template <typename Conversion>
[[gnu::always_inline]] inline void get_row(const LaneRow& row, std::size_t n, std::uint64_t* to,
                                           std::size_t stride) {
  for_each_group(
      row, n,
      [&](auto lanes, std::size_t item, std::size_t lane, std::size_t i)
          __attribute__((always_inline)) {
            Bits<lanes.value> all;
            std::memcpy(&all, row.lane(item, lane), sizeof all);
            Conversion::template convert<lanes.value>(all);
            if (i + lanes.value <= n)
              scatter<lanes.value>(all, to + i * stride, stride, AllLanes<lanes.value>());
            else
              for (std::size_t k = 0; i + k < n; ++k) to[(i + k) * stride] = all[k];
          });
}

/// Converts the first n lanes to those of another slot, and stores zeros behind them.
template <typename Conversion>
[[gnu::always_inline]] inline void copy_row(const LaneRow& from, std::size_t n, const LaneRow& to) {
  for_each_group(
      from, n,
      [&](auto lanes, std::size_t item, std::size_t lane, std::size_t i)
          __attribute__((always_inline)) {
            Bits<lanes.value> all;
            std::memcpy(&all, from.lane(item, lane), sizeof all);
            Conversion::template convert<lanes.value>(all);
            for (std::size_t k = i < n ? n - i : 0; k < lanes.value; ++k) all[k] = 0;
            std::memcpy(to.lane(item, lane), &all, sizeof all);
          });
}

[[gnu::always_inline]] inline void fill_row(const LaneRow& row, std::uint64_t value,
                                            std::size_t n) {
  for_each_group(
      row, n,
      [&](auto lanes, std::size_t item, std::size_t lane, std::size_t)
          __attribute__((always_inline)) {
            const Bits<lanes.value> all = Bits<lanes.value>{} + value;
            std::memcpy(row.lane(item, lane), &all, sizeof all);
          });
}

/// The words of a field and its lanes, whatever their types.
using TaskWords = std::array<std::uint64_t, 2 * max_lane_targets>;

[[gnu::always_inline]] inline void load_field(const PortField& field, WordType type, Target target,
                                              const std::uint64_t* records, std::size_t stride,
                                              std::size_t n, const LaneRow& row) {
  const std::uint64_t* const from = records + field.half_word / 2;
  switch (kind_of(field)) {
    case FieldKind::Double:
      return set_row<Canonical>(from, stride, n, row);
    case FieldKind::RoundedDouble:
      return set_row<Rounded>(from, stride, n, row);
    case FieldKind::Integer:
      return set_row<IntegerToLane>(from, stride, n, row);
    case FieldKind::General:
      break;
  }
  TaskWords words;
  std::array<std::uint64_t, max_lane_targets> lanes;
  port_load(field, {records, stride}, n, {words.data(), 1, max_lane_targets});
  row_conversion(target, type)
      .to_lanes(words.data(), words.data() + (is_long(type) ? max_lane_targets : 0), n,
                reinterpret_cast<std::byte*>(lanes.data()));
  set_row<Unchanged>(lanes.data(), 1, n, row);
}

[[gnu::always_inline]] inline void store_field(const PortField& field, WordType type, Target target,
                                               const LaneRow& row, std::size_t n,
                                               std::uint64_t* records, std::size_t stride) {
  std::uint64_t* const to = records + field.half_word / 2;
  const FieldKind kind = kind_of(field);
  if (kind == FieldKind::Double) return get_row<Canonical>(row, n, to, stride);
  if (kind == FieldKind::RoundedDouble && type == WordType::Short)
    return get_row<Rounded>(row, n, to, stride);
  if (kind == FieldKind::Integer && type == WordType::Bits)
    return get_row<LaneToInteger>(row, n, to, stride);
  std::array<std::uint64_t, max_lane_targets> lanes;
  get_row<Unchanged>(row, n, lanes.data(), 1);
  TaskWords words;
  row_conversion(target, type)
      .from_lanes(reinterpret_cast<const std::byte*>(lanes.data()), n,
                  {words.data(), words.data() + (is_long(type) ? max_lane_targets : 0)});
  port_store(field, {words.data(), 1, max_lane_targets}, n, {records, stride});
}

/// What lanes are after they were stored as words of a type.
[[gnu::always_inline]] inline void copy_as(WordType type, const LaneRow& from, std::size_t n,
                                           const LaneRow& to) {
  switch (type) {
    case WordType::Long:
      return copy_row<Canonical>(from, n, to);
    case WordType::Short:
      return copy_row<Rounded>(from, n, to);
    case WordType::Bits:
      return copy_row<ShortBits>(from, n, to);
    default:
      return copy_row<Unchanged>(from, n, to);
  }
}

}  // namespace gdr::native::lane_rows
