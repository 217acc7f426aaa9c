// A device that computes matrix products in place of the host (cpu/functions.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "emulator/engine/sources/source_view.hpp"

namespace gdr {

/// Factors of the PEs for consecutive inner indices of one chip: of a block for exact products, a
/// slab for fast ones.
struct DevicePiece {
  const double* numbers = nullptr;  ///< factors of panel 0: [factor][lane]
  std::size_t panel_step = 0;       ///< doubles from a panel to the next one
  std::size_t depth = 0;            ///< number of factors
  std::size_t chip = 0;             ///< number among the chips of the product
  std::size_t first = 0;            ///< the item's factor that belongs to the first one
};

/// Items, the columns of the product's other matrix: a record in each chip's memory.
struct DeviceItems {
  std::size_t columns = 0;
  std::size_t words = 0;                ///< words of a record
  bool floats = false;                  ///< whether a word has two floats; else it is a double
  std::vector<RecordSegment> segments;  ///< records of all columns in the memory of each chip

  std::size_t chips() const noexcept { return segments.size(); }
};

/// A product: for each column and each lane of the panels, the sum over all pieces. Exact products
/// add up as the machine does: the pieces in the order of their factors, then those of a chip in
/// the reduction network's tree, then the chips. Fast ones add up each piece, then all in order.
struct DeviceProduct {
  std::vector<DevicePiece> pieces;
  std::size_t blocks = 0;             ///< pieces of a chip, for exact products
  std::vector<std::uint32_t> panels;  ///< the panels to compute, ascending
  DeviceItems items;
  double* sums = nullptr;  ///< [column][panel of `panels`][lane]
};

/// Computes products one after the other, for one runner; keeps the items of the last one.
class DeviceProducts {
 public:
  virtual ~DeviceProducts() = default;
  /// By column: 1 if the host must compute it, because of numbers that the device cannot. Empty if
  /// the device failed, and the host must compute all. Throws
  /// Error (Device), and Cancelled between launches.
  virtual std::vector<char> multiply(const DeviceProduct& product) = 0;
};

class MatmulDevice {
 public:
  virtual ~MatmulDevice() = default;
  /// Multiplications below which the host is faster.
  virtual double min_multiplications() const = 0;
  virtual std::unique_ptr<DeviceProducts> products() = 0;
  /// The last failure after which another device or the host took over; empty: none.
  virtual std::string failure() const = 0;
};

}  // namespace gdr
