// Matrix products in fast numerics.
//
// The outer loops are those of Goto and van de Geijn, "Anatomy of high-performance matrix
// multiplication", ACM TOMS 34, 2008, with A the PEs' factors, B the items, and C the results:
//
//   pc  slabs of kc = 256 factors of a chip. This loop is the outermost one, since targets stay:
//       their factors are packed once (PackedSlabs) for all items of this and later passes
//   jc  tasks of nc items, which are read in place
//   ic  none: mc is the number of outputs
//   jr, ir, micro-kernel: FastMatmulFunctions::macro_kernel (cpu/fast.hpp)
#pragma once

#include <cstdint>
#include <vector>

#include "emulator/engine/api/engine.hpp"
#include "emulator/engine/matmul/product_pass.hpp"
#include "emulator/engine/matmul/resident_factors.hpp"
#include "emulator/engine/matmul/slab_plan.hpp"

namespace gdr {

class FastProducts final : public HostProducts {
 public:
  /// The executable has functions for fast products (MatmulSupport). `pattern`, `program` and
  /// `executable` outlive this.
  FastProducts(const MatmulPattern& pattern, const LoadedProgram& program, const Geometry& geometry,
               const StreamingExecutable& executable);
  /// One: products always keep all bits of their factors.
  std::uint64_t min_items() const noexcept override { return 1; }
  void begin(ProductPass& pass) override { factors_.begin(pass); }
  bool bypasses_state(std::size_t chip) const noexcept override {
    return factors_.bypasses_state(chip);
  }
  void gather(const ProductPass& pass, std::uint32_t chip, std::uint32_t block) override {
    factors_.gather(pass, chip, block);
  }
  void add_phases(const ProductPass& pass, std::vector<Phase>& phases) override;
  void add_preparation(const ProductPass& pass, std::vector<Phase>& phases) override;
  DeviceProduct product(const ProductPass& pass) override;
  void store(const ProductPass& pass, const double* sums, std::uint64_t first, std::uint64_t end,
             const std::vector<std::uint32_t>& panels) override;
  void compute(const ProductPass& pass, std::uint64_t first, std::uint64_t end) override;
  void end(ProductPass& pass) override { factors_.end(pass); }

 private:
  /// Copies of items where memory is in pieces.
  using PieceCopies = std::vector<std::vector<std::uint64_t>>;

  void loop_pc(const ProductPass& pass, std::vector<Phase>& phases);
  void loop_jc(const ProductPass& pass, std::size_t slab, std::vector<Phase>& phases);
  void add_slab(const ProductPass& pass, std::size_t number, std::uint64_t begin,
                std::uint64_t end);
  void prepare_slab(const ProductPass& pass, std::size_t number, FastTask& task) const;
  static const double* const* items_of(const ProductPass& pass, const SlabPlan::UsedSlab& used,
                                       std::uint64_t begin, std::uint64_t count,
                                       PieceCopies& copies);

  const StreamingExecutable& executable_;
  ResidentFactors factors_;
  SlabPlan plan_;
  std::vector<double, LineAllocator<double>>
      sums_;  ///< sums of the slabs so far: [item][panel][lane]
};

}  // namespace gdr
