// A machine that need not exist: chip, board, link, host and network as one table of values, each
// with its unit, its source and how far that source can be trusted.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/board/time_model.hpp"
#include "libgdr/dense/prediction.hpp"

namespace gdr::predict {

/// Every value of a machine that a prediction depends on; machine.cpp says what each is.
enum class Key : std::size_t {
  ChipClock,
  ChipBlocks,
  ChipPes,
  ChipBroadcastWords,
  ChipPortIn,
  ChipPortOut,
  ChipPower,
  BoardChips,
  BoardMemory,
  BoardMemoryBandwidth,
  BoardPower,
  BoardProductShare,
  LinkWrite,
  LinkRead,
  HostProduct,
  HostMemoryBandwidth,
  HostCacheLine,
  HostMemory,
  HostPower,
  NodeBoards,
  NetworkNodes,
  NetworkBandwidth,
  NetworkLatency,
  NetworkSegment,
  Count
};
inline constexpr std::size_t key_count = static_cast<std::size_t>(Key::Count);

/// Where a value comes from, from the most to the least certain.
enum class Origin { Published, Recalled, Derived, Assumed, Tuned };
/// "published", "recalled", "derived", "assumed", "tuned".
std::string_view origin_name(Origin origin) noexcept;
/// All of them, in order.
std::vector<std::string_view> origin_names();
/// Throws Error (Usage) for a name that is none.
Origin parse_origin(std::string_view name);

/// What a key stands for.
struct KeyInfo {
  Key key;
  std::string_view name;  ///< "link.write"
  std::string_view unit;
  double least, most;
  bool whole;  ///< whole numbers only
  std::string_view meaning;
};
/// The table of keys, in the order of Key.
const std::array<KeyInfo, key_count>& key_table() noexcept;
/// The row of a name. Throws Error (Usage) naming the nearest one.
const KeyInfo& find_key(std::string_view name);

/// One value of a machine.
struct Quantity {
  double value = 0;
  Origin origin = Origin::Assumed;
  std::string source;
};

/// A described machine: nodes with boards, joined by a network.
struct Machine {
  std::string name, summary;
  std::array<Quantity, key_count> values;

  double operator[](Key key) const noexcept { return values[static_cast<std::size_t>(key)].value; }
  std::size_t count(Key key) const noexcept { return static_cast<std::size_t>((*this)[key]); }
  /// Replace a value. Throws Error (Usage) naming the key if it is out of its range, not whole, or
  /// not finite.
  void set(Key key, const Quantity& quantity);
  void set(Key key, double value, Origin origin, std::string source) {
    set(key, Quantity{value, origin, std::move(source)});
  }

  Geometry geometry() const;
  BoardRates board_rates() const;
  dense::HostRates host_rates() const;
  /// The clock of a node for factorisations and matrix products.
  dense::FactorClock factor_clock() const;
  std::size_t nodes() const noexcept { return count(Key::NetworkNodes); }
  std::size_t boards() const noexcept { return count(Key::NodeBoards); }
  /// Chips of the whole machine.
  std::size_t chips() const noexcept { return nodes() * boards() * count(Key::BoardChips); }
  /// Flops/s of all boards, every PE multiplying and adding in double precision.
  double peak_double() const noexcept;
  /// The same in single precision: twice as many.
  double peak_single() const noexcept { return 2 * peak_double(); }
  /// Watts of all nodes, the network included in what a node's host takes.
  double power() const noexcept;
};

/// A machine that the library knows by name.
struct Preset {
  std::string_view name, summary;
};
/// All of them; the first is the one that a command takes when none is named.
const std::vector<Preset>& presets();
/// Throws Error (Usage) naming the nearest one.
Machine preset(std::string_view name);

}  // namespace gdr::predict
