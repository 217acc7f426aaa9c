// The matrix product of one pass, and what computes it.
#pragma once

#include <cstdint>
#include <vector>

#include "emulator/engine/api/pass_state.hpp"
#include "emulator/engine/matmul/matmul_device.hpp"
#include "emulator/engine/matmul/pattern/pattern.hpp"
#include "emulator/host/parallel.hpp"

namespace gdr {

/// The product that the body of a pass computes: sums(output, item) over the factors of all chips.
/// Output item n belongs to the j-item `delay` before it.
struct ProductPass {
  PassState& state;
  const MatmulPattern& pattern;
  std::vector<std::uint32_t> chips;  ///< chips that take part
  std::uint64_t fills_before = 0;    ///< fills of the memory that the program processes itself
  std::uint64_t first = 0;           ///< the first output item that is not of these fills
  unsigned threads = 1;              ///< maximum number of threads

  std::uint64_t end() const noexcept {
    return state.run().plan.items;
  }  ///< end of the output items
  std::uint64_t items() const noexcept { return end() - first; }
  std::uint64_t record_words() const { return state.run().plan.record_words(state.program()); }
  /// Memory address of the record of an output item.
  std::uint64_t record_of(std::uint64_t item) const {
    return state.run().address + (item - pattern.delay) * record_words();
  }
  /// Results of an output item: one word for each output.
  std::uint64_t* results_of(std::uint64_t item) const noexcept {
    return state.pass().results + state.run().output_offset + item * pattern.outputs.size();
  }
};

/// Products in the host's exact or fast numerics, for one program on one board; keeps factors from
/// pass to pass.
class HostProducts {
 public:
  virtual ~HostProducts() = default;
  /// Fewer items are left to the program.
  virtual std::uint64_t min_items() const noexcept = 0;
  /// Before the tasks of the blocks; creates the states of chips that they need.
  virtual void begin(ProductPass& pass) = 0;
  /// Whether the blocks of a chip need no state in this pass: factors come from target records.
  virtual bool bypasses_state(std::size_t /*chip*/) const noexcept { return false; }
  /// Takes the factors of a block, after its targets were written. Different blocks may be given in
  /// different threads.
  virtual void gather(const ProductPass& pass, std::uint32_t chip, std::uint32_t block) = 0;
  /// Appends what computes all items.
  virtual void add_phases(const ProductPass& pass, std::vector<Phase>& phases) = 0;

  // For a device:
  /// Appends what `product` and `compute` need.
  virtual void add_preparation(const ProductPass& pass, std::vector<Phase>& phases) = 0;
  /// The factors, and the panels of sums that are wanted.
  virtual DeviceProduct product(const ProductPass& pass) = 0;
  /// Stores sums of items first .. end - 1, [item][panel of `panels`][lane], to the results.
  virtual void store(const ProductPass& pass, const double* sums, std::uint64_t first,
                     std::uint64_t end, const std::vector<std::uint32_t>& panels) = 0;
  /// Computes items first .. end - 1, which the device could not.
  virtual void compute(const ProductPass& pass, std::uint64_t first, std::uint64_t end) = 0;

  /// After the pass.
  virtual void end(ProductPass& /*pass*/) {}
};

}  // namespace gdr
