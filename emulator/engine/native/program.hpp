// A program compiled for host numbers: its sections as kernels, with their state transfers.
#pragma once

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <utility>
#include <vector>

#include "emulator/engine/native/code.hpp"
#include "emulator/engine/native/interpret.hpp"
#include "emulator/engine/native/word_conversion.hpp"

namespace gdr::native {

/// A broadcast memory word that a section stores from kernel outputs.
struct BmStoreTarget {
  std::uint32_t address = 0, pe = 0;
  Width width = Width::Long;
};

/// A root that is equal in all PEs, or a part of a BM store.
struct ConstantRoot {
  LeafKey key;
  CellRow cell;  ///< unused for parts of BM stores
  std::uint64_t upper = 0, lower = 0;
};

/// A short that is copied without interpretation.
struct MovedRow {
  CellRow to;
  NodeOp from = NodeOp::Input;
  CellRow cell;             ///< source of an Input
  std::uint32_t place = 0;  ///< else its address in the broadcast memory
};

/// An input that the previous section sets to a constant: a vector of it.
struct ConstantInput {
  std::uint32_t instance = 0, offset = 0;  ///< as in RowTransfer
  std::vector<std::byte> lanes;
};

/// Code for 1 .. max_copies - 1 work items, generated on first use.
struct PartialCode {
  std::array<CompiledKernel, max_copies - 1> code;
  std::array<std::once_flag, max_copies - 1> made;
};

/// Code of a section's kernels, specialised for a set of uniform words that are zero.
struct CompiledKernels {
  struct One {
    KernelCode code;
    std::vector<RowTransfer> in, out;   ///< transfers of all instances
    std::vector<RowTransfer> in_fused;  ///< inputs except constants of the previous section
    std::vector<ConstantInput> given;   ///< constants of the previous section
    bool constants_fit = true;          ///< among floats
    CompiledKernel machine;             ///< none on the portable path
    std::unique_ptr<InterpretedKernel> portable;
    /// Number of transfers of the first instance, which come first, in in, in_fused and out.
    std::size_t first_in = 0, first_in_fused = 0, first_out = 0;
    std::unique_ptr<PartialCode> narrow;  ///< none on the portable path
  };
  std::pair<std::uint64_t, Precision> key;  ///< zero words and requested precision
  Target target;
  std::vector<One> kernels;  ///< same order as the section's
};

/// One section. Immutable except for code generated on first use.
class CompiledSection {
 public:
  CompiledSection(const SectionModel& model, const Liveness& demand, bool loops, Target target);
  const CellMap& map() const noexcept { return map_; }
  /// Call before any code is generated: `before` may precede this section in a fused run, in which
  /// its constants need not go through the state.
  void follow(const CompiledSection& before);
  /// Constants of the previous section that must be stored to the state nevertheless.
  const std::vector<ConstantRoot>& unfused_constants() const noexcept { return left_before_; }

  bool loops() const noexcept { return loops_; }
  const std::vector<Kernel>& kernels() const noexcept { return kernels_; }
  const std::vector<ConstantRoot>& constants() const noexcept { return constants_; }
  const std::vector<MovedRow>& moves() const noexcept { return moves_; }
  const std::vector<BmStoreTarget>& bm_stores() const noexcept { return bm_stores_; }
  const WordTable& source_words() const noexcept { return source_words_; }
  const WordTable& uniform_words() const noexcept { return uniform_words_; }
  /// Source words that are compared with words of targets.
  std::vector<LeafKey> compared_words() const;

  /// Bit set of uniform words that are worth specialising for zero; zeros stand for masked lanes.
  std::uint64_t zero_candidates() const noexcept { return zero_candidates_; }
  /// The code specialised for a set of zero words; generated on first use. Falls back to the
  /// portable path if the code generator fails.
  const CompiledKernels& code(std::uint64_t zero_words, Precision precision) const;
  /// Machine code of a kernel for `items` work items, fewer than `machine` takes, with the same
  /// results. Throws Unsupported like compile_kernel.
  const CompiledKernel& code_for(const CompiledKernels::One& one, Target target,
                                 std::size_t items) const;
  /// The requested precision, or doubles where floats are unsupported.
  Target target() const noexcept { return target_; }
  Precision precision() const noexcept { return target_.precision; }
  std::size_t stream_bytes() const noexcept {
    return source_words_.words.size() * target_.lane_bytes();
  }

  std::size_t code_bytes() const noexcept { return code_bytes_; }
  double compile_seconds() const noexcept { return compile_seconds_; }
  /// Whether floats are compared with each other: both may overflow where doubles do not, without a
  /// trace in the results.
  bool compares_results() const noexcept { return compares_results_; }
  /// Counts a run in doubles after a range error of floats.
  void note_run_in_doubles() const noexcept {
    runs_in_doubles_.fetch_add(1, std::memory_order_relaxed);
  }
  /// Deviation from the request ("doubles instead of floats"); or empty.
  std::string remark() const;

 private:
  void add_transfers(const Kernel& kernel, Target target, CompiledKernels::One& one) const;
  bool is_given(LeafKey key) const;
  void add_given(const RowTransfer& to, Target target, CompiledKernels::One& one) const;
  std::unique_ptr<CompiledKernels> compile(std::uint64_t zero_words, Precision precision) const;
  void check_precision();
  KernelCode make_code(const Kernel& kernel, std::uint64_t zero_words, Target target) const;
  void collect_words();

  CellMap map_;
  bool loops_;
  Target target_;
  std::vector<Kernel> kernels_;
  std::vector<ConstantRoot> constants_;
  std::vector<MovedRow> moves_;
  std::vector<BmStoreTarget> bm_stores_;
  /// Constants of the previous section by [is mask][cell or mask].
  std::map<std::pair<bool, std::uint32_t>, std::uint64_t> given_;
  std::vector<ConstantRoot> left_before_;
  WordTable source_words_, uniform_words_;
  std::uint64_t zero_candidates_ = 0;
  mutable std::shared_mutex mutex_;
  mutable std::map<std::pair<std::uint64_t, Precision>, std::unique_ptr<CompiledKernels>> made_;
  mutable std::atomic<const CompiledKernels*> last_ = nullptr;  ///< the most recently used code
  mutable std::string remark_;
  bool compares_results_ = false;
  mutable std::atomic<std::uint64_t> runs_in_doubles_ = 0;
  mutable std::atomic<std::size_t> code_bytes_ = 0;
  mutable std::atomic<double> compile_seconds_ = 0;
};

/// A program: compiled sections, and for the others the reason.
struct CompiledProgram {
  CompiledProgram(const Program& program, const Geometry& geometry, Target target);

  struct Part {
    std::unique_ptr<CompiledSection> section;  ///< null: it runs on the exact engine
    std::string reason;
  };
  CellMap map;
  Target target;
  std::array<Part, section_count> parts;
  /// Whether Start, body and End can run fused: all are compiled, Start computes nothing, and Start
  /// and End access only fixed words of the broadcast memory.
  bool fusable = false;
};

}  // namespace gdr::native
