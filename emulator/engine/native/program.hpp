// A program compiled for host numbers: its sections as kernels, and how state gets in and out.
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
#include "emulator/engine/native/words.hpp"

namespace gdr::native {

/// A word of the broadcast memory that a section puts there, out of the outputs of kernels.
struct PutTarget {
  std::uint32_t address = 0, pe = 0;
  Width width = Width::Long;
};

/// A root that is the same in all PEs, or a part of a put.
struct ConstantRoot {
  LeafKey key;
  CellRow cell;  ///< none for parts of puts
  std::uint64_t upper = 0, lower = 0;
};

/// A short that goes from one place to another as it is, whatever it means.
struct MovedRow {
  CellRow to;
  NodeOp from = NodeOp::Input;
  CellRow cell;             ///< where from, if it is an Input
  std::uint32_t place = 0;  ///< else its address in the broadcast memory
};

/// An input that the section before leaves the same in all PEs: a vector of it.
struct GivenInput {
  std::uint32_t instance = 0, offset = 0;  ///< as in RowTransfer
  std::vector<std::byte> lanes;
};

/// Code for 1 .. most_copies - 1 work items at once, each made when it is first needed.
struct NarrowCode {
  std::array<CompiledKernel, most_copies - 1> code;
  std::array<std::once_flag, most_copies - 1> made;
};

/// Code for some kernels, under the assumption that certain uniform words are zero.
struct CompiledKernels {
  struct One {
    KernelCode code;
    std::vector<RowTransfer> in, out;   ///< of all instances
    std::vector<RowTransfer> in_after;  ///< of `in`, what is not given by the section before
    std::vector<GivenInput> given;      ///< the others
    bool given_fit = true;              ///< among floats
    CompiledKernel machine;             ///< none on the portable path
    std::unique_ptr<InterpretedKernel> portable;
    /// Of in, in_after and out, those of the first instance, which come first.
    std::size_t first_in = 0, first_in_after = 0, first_out = 0;
    std::unique_ptr<NarrowCode> narrow;  ///< none on the portable path
  };
  std::pair<std::uint64_t, Precision> key;  ///< what it was asked for
  Target target;
  std::vector<One> kernels;  ///< in the order of the section's
};

/// One section. Immutable but for code that is made when it is first needed.
class CompiledSection {
 public:
  CompiledSection(const SectionModel& model, const Demand& demand, bool loops, Target target);
  const CellMap& map() const noexcept { return map_; }
  /// Before any code is made: `before` may be run directly before it. Where both are run in one go,
  /// constants that it leaves need not go through the state.
  void follow(const CompiledSection& before);
  /// Constants of the section before that the state needs all the same.
  const std::vector<ConstantRoot>& left_before() const noexcept { return left_before_; }

  bool loops() const noexcept { return loops_; }
  const std::vector<Kernel>& kernels() const noexcept { return kernels_; }
  const std::vector<ConstantRoot>& constants() const noexcept { return constants_; }
  const std::vector<MovedRow>& moves() const noexcept { return moves_; }
  const std::vector<PutTarget>& puts() const noexcept { return puts_; }
  const WordTable& source_words() const noexcept { return source_words_; }
  const WordTable& uniform_words() const noexcept { return uniform_words_; }
  /// Of the source words, those that are compared with words of targets.
  std::vector<LeafKey> compared_words() const;

  /// Which of its uniform words are best compiled as zeros where they are zero: bits of their
  /// numbers. They stand in for lanes that do not count.
  std::uint64_t zero_candidates() const noexcept { return zero_candidates_; }
  /// The code for a set of zero words; made now if need be. Falls back from machine code to the
  /// portable path where the code generator cannot do it.
  const CompiledKernels& code(std::uint64_t zero_words, Precision precision) const;
  /// The machine code of a kernel for `items` work items at once, with the same bits: for fewer
  /// than its `machine` takes. Throws Unsupported like compile_kernel.
  const CompiledKernel& code_for(const CompiledKernels::One& one, Target target,
                                 std::size_t items) const;
  /// Of the numbers: what was asked for, or doubles where floats cannot do it.
  Target target() const noexcept { return target_; }
  Precision precision() const noexcept { return target_.precision; }
  std::size_t stream_bytes() const noexcept {
    return source_words_.words.size() * target_.lane_bytes();
  }

  std::size_t code_bytes() const noexcept { return code_bytes_; }
  double compile_seconds() const noexcept { return compile_seconds_; }
  /// With floats: is there a comparison of two computed numbers? Both may be infinite where the
  /// machine's were not, and then nothing in the results tells.
  bool compares_results() const noexcept { return compares_results_; }
  /// Counts a run that was done in doubles because floats did not have the range for it.
  void note_run_in_doubles() const noexcept {
    runs_in_doubles_.fetch_add(1, std::memory_order_relaxed);
  }
  /// Why it does not do what was asked for to the letter ("doubles instead of floats"); or empty.
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
  std::vector<PutTarget> puts_;
  /// Words of the section before by [of masks][cell or mask], and those of them that are left.
  std::map<std::pair<bool, std::uint32_t>, std::uint64_t> given_;
  std::vector<ConstantRoot> left_before_;
  WordTable source_words_, uniform_words_;
  std::uint64_t zero_candidates_ = 0;
  mutable std::shared_mutex mutex_;
  mutable std::map<std::pair<std::uint64_t, Precision>, std::unique_ptr<CompiledKernels>> made_;
  mutable std::atomic<const CompiledKernels*> last_ = nullptr;  ///< the code asked for last
  mutable std::string remark_;
  bool compares_results_ = false;
  mutable std::atomic<std::uint64_t> runs_in_doubles_ = 0;
  mutable std::atomic<std::size_t> code_bytes_ = 0;
  mutable std::atomic<double> compile_seconds_ = 0;
};

/// A program: compiled sections, and for the others the reason why not.
struct CompiledProgram {
  CompiledProgram(const Program& program, const Geometry& geometry, Target target);

  struct Part {
    std::unique_ptr<CompiledSection> section;  ///< null: it runs on the exact engine
    std::string reason;
  };
  CellMap map;
  Target target;
  std::array<Part, section_count> parts;
  /// Start, body and End can be run in one go: all are compiled, Start computes nothing, and Start
  /// and End reach only fixed words of the broadcast memory.
  bool in_one_go = false;
};

}  // namespace gdr::native
