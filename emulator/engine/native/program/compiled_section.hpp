// A section compiled for host numbers.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "emulator/engine/native/codegen/arm64/assemble.hpp"
#include "emulator/engine/native/program/code_cache.hpp"
#include "emulator/engine/native/program/section_notes.hpp"

namespace gdr::native {

/// One section. Immutable except for code generated on first use.
class CompiledSection {
 public:
  /// `table_shorts`: contents of the model's tables. `start`: the section that runs before a loop,
  /// or null.
  CompiledSection(const SectionModel& model, const Liveness& liveness,
                  std::vector<std::vector<TableShort>> table_shorts, bool loops, Target target,
                  SectionModel* start);
  /// Call before any code is generated: `previous` may precede this section in a fused run, in
  /// which its constants need not go through the state.
  void set_previous(const CompiledSection& previous);
  /// Constants of the previous section that must be stored to the state nevertheless.
  const std::vector<ConstantRoot>& unfused_constants() const noexcept {
    return previous_.unfused();
  }

  const CellMap& map() const noexcept { return contents_.map; }
  bool loops() const noexcept { return contents_.loops; }
  const std::vector<Kernel>& kernels() const noexcept { return contents_.kernels; }
  const std::vector<ConstantRoot>& constants() const noexcept { return contents_.constants; }
  const std::vector<MovedShort>& moves() const noexcept { return contents_.moves; }
  const std::vector<BmStore>& bm_stores() const noexcept { return contents_.bm_stores; }
  const WordTable& source_words() const noexcept { return contents_.words.source; }
  const WordTable& uniform_words() const noexcept { return contents_.words.uniform; }
  /// Tables that the section reads, behind the uniform words.
  const LookupTables& lookups() const noexcept { return contents_.words.lookups; }
  /// The shorts of a table, element by element.
  const std::vector<TableShort>& table_contents(LeafKey key) const {
    return contents_.table_shorts[table_of(key)];
  }
  /// Source words that are compared with words of targets.
  std::vector<LeafKey> compared_words() const { return native::compared_words(kernels()); }

  /// Bit set of uniform words that are worth specialising for zero; zeros stand for masked lanes.
  std::uint64_t zero_candidates() const noexcept { return contents_.words.zero_candidates; }
  /// The code specialised for a set of zero words; generated on first use. Falls back to the
  /// portable path if the code generator fails.
  const CompiledKernels& code(std::uint64_t zero_words, Precision precision,
                              CompiledKernels::Variant variant = {}) const;
  /// The same for a GPU; null if it cannot execute the section, which a remark then tells.
  const CompiledKernels* gpu_code(Gpu& gpu, std::uint64_t zero_words, Precision precision) const;
  /// Machine code of a kernel for at most `items` work items; results do not depend on it. Throws
  /// Unsupported like compile_kernel.
  const CompiledKernel& code_for(const CompiledKernels::Entry& entry, Target target,
                                 std::size_t items) const;
  /// Code for AArch64 of the first kernel, which any host can generate.
  Arm64Code arm64_code() const;
  /// The requested precision, or doubles where floats are unsupported.
  Target target() const noexcept { return target_; }
  Precision precision() const noexcept { return target_.precision; }
  std::size_t stream_bytes() const noexcept {
    return source_words().words.size() * target_.lane_bytes();
  }

  std::size_t code_bytes() const noexcept { return code_bytes_; }
  double compile_seconds() const noexcept { return codes_.seconds(); }
  /// Whether floats are compared with each other: both may overflow where doubles do not, without a
  /// trace in the results.
  bool compares_results() const noexcept { return compares_results_; }
  /// Whether a run of floats is repeated in doubles after an overflow, even if no result tells.
  bool notes_overflow() const noexcept {
    return precision() == Precision::Float &&
           (compares_results() || target_.mode == FloatMode::Fast);
  }
  /// Counts a run in doubles after a range error of floats.
  void note_run_in_doubles() const noexcept { notes_.count_run_in_doubles(); }
  /// Remarks why the section does not run on the GPU.
  void note_not_on_gpu(const std::string& reason) const;
  /// Remarks why shorts are rounded as on the chip, though there is a program in longs.
  void note_in_shorts(const std::string& reason) const;
  /// Remarks that a GPU failed, instead of an earlier remark.
  void note_gpu_failure(const std::string& remark) const { notes_.set_remark(remark); }
  /// False after a GPU's compiler or the generator of its text has refused a kernel.
  bool may_run_on_gpu() const noexcept { return !refused_by_gpu_.load(std::memory_order_relaxed); }
  /// Whether threads of a GPU can share the iterations of all kernels
  /// (KernelCode::can_share_iterations).
  bool can_share_iterations() const;
  void note_gpu_run() const noexcept { notes_.count_gpu_run(); }
  std::uint64_t gpu_runs() const noexcept { return notes_.gpu_runs(); }
  /// Deviation from the request ("doubles instead of floats"); or empty.
  std::string remark() const { return notes_.remark(); }

 private:
  CompiledKernels::Entry make_host_entry(const Kernel& kernel, std::uint64_t zero_words,
                                         Target target) const;
  CompiledKernels::Entry make_gpu_entry(const Kernel& kernel, std::uint64_t zero_words,
                                        Target target, Gpu& gpu) const;
  std::unique_ptr<CompiledKernels> compile(std::uint64_t zero_words, Precision precision,
                                           CompiledKernels::Variant variant) const;
  std::unique_ptr<CompiledKernels> compile_for(Gpu& gpu, std::uint64_t zero_words,
                                               Precision precision) const;

  SectionContents contents_;
  Target target_;
  PreviousConstants previous_;
  bool compares_results_ = false;
  mutable CodeCache codes_;
  mutable SectionNotes notes_;
  mutable std::atomic<std::size_t> code_bytes_ = 0;  ///< size of the machine code and GPU texts
  mutable std::atomic<bool> refused_by_gpu_ = false;
  mutable std::once_flag sharing_known_;
  mutable bool can_share_iterations_ = false;
};

}  // namespace gdr::native
