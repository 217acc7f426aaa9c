// Described machines: chip, board, link, host and network as one table of values, each with its
// unit, source and confidence.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/board/time_model.hpp"
#include "libgdr/dense/prediction.hpp"

namespace gdr::predict {

/// The values of a machine (KeyInfo::meaning).
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
  RemoteRate,
  RemoteRtt,
  RemoteMtu,
  RemoteWindow,
  RemoteLoss,
  RemoteStreams,
  Count
};
inline constexpr std::size_t key_count = static_cast<std::size_t>(Key::Count);

/// Origin of a value, from the most to the least certain.
enum class Origin { Published, Recalled, Derived, Assumed, Tuned };
/// "published", "recalled", "derived", "assumed", "tuned".
std::string_view origin_name(Origin origin) noexcept;
/// Throws Error (Usage) for an unknown name.
Origin parse_origin(std::string_view name);

/// Name, unit, range and meaning of a key.
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
/// The row of a name. Throws Error (Usage) with the nearest known name.
const KeyInfo& find_key(std::string_view name);

/// A value of a machine.
struct Quantity {
  double value = 0;
  Origin origin = Origin::Assumed;
  std::string source;
};

/// A described machine: nodes with boards, connected by a network.
struct Machine {
  std::string name, summary;
  std::array<Quantity, key_count> values;

  double operator[](Key key) const noexcept { return values[static_cast<std::size_t>(key)].value; }
  double& value(Key key) noexcept { return values[static_cast<std::size_t>(key)].value; }
  std::size_t count(Key key) const noexcept { return static_cast<std::size_t>((*this)[key]); }
  /// Replaces a value. Throws Error (Usage) naming the key if it is out of its range, not whole, or
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
  /// Whether the boards are in another host (remote.rate > 0).
  bool remote() const noexcept { return (*this)[Key::RemoteRate] > 0; }
  /// Chips of the whole machine.
  std::size_t chips() const noexcept { return nodes() * boards() * count(Key::BoardChips); }
  /// Peak of all boards, flops/s: a multiplication and an addition of doubles per PE in every
  /// second clock, of floats in every clock.
  double peak_double() const noexcept;
  double peak_single() const noexcept { return 2 * peak_double(); }
  /// Power of all nodes, W. That of the network is included in the power of the hosts.
  double power() const noexcept;
};

/// A value of a named machine that differs from the base machine.
struct PresetValue {
  Key key;
  double value;
  Origin origin;
  std::string_view source;
};
/// A machine with a name.
struct Preset {
  std::string_view name, summary;
  std::vector<PresetValue> values;
};
/// All named machines; the first one is the default.
const std::vector<Preset>& presets();
/// Throws Error (Usage) with the nearest known name.
Machine preset(std::string_view name);

/// The machine described by a text: a `base`, one of the presets, and the values that differ from
/// it, by the groups in the names of the keys:
///
///     { "name": "faster link", "base": "board4",
///       "link": { "write": { "value": 5e9, "unit": "bytes/s", "origin": "assumed",
///                            "source": "eight lanes of PCI Express 2" } } }
///
/// A number alone is a value without a source; it counts as assumed. `// ...` is a comment. Throws
/// Error (Input) with `FILE:LINE:COLUMN` for invalid JSON, with `FILE: key.path` for other errors.
Machine parse_machine(std::string_view text, const std::string& file);

/// A preset by name, or the machine in a file if the name has a dot or a slash.
Machine find_machine(const std::string& name);

/// All values with units, origins and sources, as parse_machine reads them.
std::string machine_json(const Machine& machine);

}  // namespace gdr::predict
