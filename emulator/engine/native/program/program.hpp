// A program compiled for host numbers: its sections as kernels, with their state transfers.
#pragma once

#include <array>
#include <atomic>
#include <compare>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "emulator/engine/gpu/gpu.hpp"
#include "emulator/engine/native/codegen/code.hpp"
#include "emulator/engine/native/words/word_conversion.hpp"

namespace gdr::native {

/// A short of a PE's state: a cell, or a mask of an element.
struct StatePlace {
  bool mask = false;
  std::uint32_t number = 0;
  friend auto operator<=>(const StatePlace&, const StatePlace&) = default;
};
/// The places of a word.
std::vector<StatePlace> places_of(LeafKey key);

/// A root that is equal in all PEs, or a part of a BM store.
struct ConstantRoot {
  LeafKey key;
  std::uint64_t upper = 0, lower = 0;
};

/// An input that the previous section sets to a constant: a vector of it.
struct ConstantInput {
  std::uint32_t instance = 0, offset = 0;  ///< as in RowTransfer
  std::vector<std::byte> lanes;
};

/// Code for a single work item, generated on first use.
struct SingleItemCode {
  std::once_flag made;
  std::atomic<bool> ready = false;
  CompiledKernel code;
};
static_assert(max_copies == 2);

class GpuKernel;

/// Code of a section's kernels, specialised for a set of uniform words that are zero.
struct CompiledKernels {
  struct Entry {
    KernelCode code;
    std::vector<RowTransfer> in, out;        ///< transfers of all instances, in their order
    std::vector<RowTransfer> in_fused;       ///< inputs except constants of the previous section
    std::vector<ConstantInput> given;        ///< constants of the previous section
    bool constants_fit = true;               ///< among floats
    CompiledKernel machine;                  ///< none on the portable path
    InterpretedKernel portable;              ///< on the portable path
    std::unique_ptr<SingleItemCode> narrow;  ///< none on the portable path
    std::shared_ptr<const GpuKernel> gpu;    ///< on a GPU only
  };
  /// Variants of the code for a host: as in Target.
  struct Variant {
    bool infinities = false, source_vectors = false;
    friend auto operator<=>(const Variant&, const Variant&) = default;
  };
  /// Zero words, requested precision, the GPU that it is for (null: for the host).
  using Key = std::tuple<std::uint64_t, Precision, const Gpu*, Variant>;
  Key key;
  Target target;
  std::vector<Entry> kernels;  ///< same order as the section's
};

/// One section. Immutable except for code generated on first use.
class CompiledSection {
 public:
  /// `contents`: of the model's tables. `start`: the section that runs before a loop, or null.
  CompiledSection(const SectionModel& model, const Liveness& liveness,
                  std::vector<std::vector<TableShort>> contents, bool loops, Target target,
                  SectionModel* start);
  /// Call before any code is generated: `before` may precede this section in a fused run, in which
  /// its constants need not go through the state.
  void follow(const CompiledSection& before);
  /// Constants of the previous section that must be stored to the state nevertheless.
  const std::vector<ConstantRoot>& unfused_constants() const noexcept { return unfused_constants_; }

  const CellMap& map() const noexcept { return map_; }
  bool loops() const noexcept { return loops_; }
  const std::vector<Kernel>& kernels() const noexcept { return kernels_; }
  const std::vector<ConstantRoot>& constants() const noexcept { return constants_; }
  const std::vector<MovedShort>& moves() const noexcept { return moves_; }
  const std::vector<BmStore>& bm_stores() const noexcept { return bm_stores_; }
  const WordTable& source_words() const noexcept { return source_words_; }
  const WordTable& uniform_words() const noexcept { return uniform_words_; }
  /// Tables that the section reads, behind the uniform words.
  const LookupTables& lookups() const noexcept { return lookups_; }
  /// The shorts of a table, element by element.
  const std::vector<TableShort>& table_contents(LeafKey key) const {
    return contents_[table_of(key)];
  }
  /// Source words that are compared with words of targets.
  std::vector<LeafKey> compared_words() const;

  /// Bit set of uniform words that are worth specialising for zero; zeros stand for masked lanes.
  std::uint64_t zero_candidates() const noexcept { return zero_candidates_; }
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
  /// Whether a run of floats is repeated in doubles after an overflow, even if no result tells.
  bool notes_overflow() const noexcept {
    return precision() == Precision::Float &&
           (compares_results() || target_.mode == FloatMode::Fast);
  }
  /// Counts a run in doubles after a range error of floats.
  void note_run_in_doubles() const noexcept {
    runs_in_doubles_.fetch_add(1, std::memory_order_relaxed);
  }
  /// Remarks why the section does not run on the GPU.
  void note_not_on_gpu(const std::string& reason) const;
  /// Remarks why shorts are rounded as on the chip, though there is a program in longs.
  void note_in_shorts(const std::string& reason) const;
  /// Remarks that a GPU failed, instead of an earlier remark.
  void note_gpu_failure(const std::string& remark) const;
  /// False after a GPU's compiler or the generator of its text has refused a kernel.
  bool may_run_on_gpu() const noexcept { return !refused_by_gpu_.load(std::memory_order_relaxed); }
  /// Whether threads of a GPU can share the passes of all kernels (KernelCode::can_share_passes).
  bool can_share_passes() const;
  void note_gpu_run() const noexcept { gpu_runs_.fetch_add(1, std::memory_order_relaxed); }
  std::uint64_t gpu_runs() const noexcept { return gpu_runs_.load(std::memory_order_relaxed); }
  /// Deviation from the request ("doubles instead of floats"); or empty.
  std::string remark() const;

 private:
  CompiledKernels::Entry make_entry(const Kernel& kernel, std::uint64_t zero_words, Target target,
                                    Gpu* gpu) const;
  const CompiledKernels* made_code(const CompiledKernels::Key& key, Gpu* gpu) const;
  CodeContext context(const CompiledKernels::Entry& entry, Target target) const {
    return {entry.code, target, source_words_, uniform_words_, lookups_};
  }
  void add_transfers(const Kernel& kernel, Target target, CompiledKernels::Entry& entry) const;
  bool is_given(LeafKey key) const;
  void add_given(const RowTransfer& to, Target target, CompiledKernels::Entry& entry) const;
  std::unique_ptr<CompiledKernels> compile(std::uint64_t zero_words, Precision precision,
                                           CompiledKernels::Variant variant) const;
  std::unique_ptr<CompiledKernels> compile_for(Gpu& gpu, std::uint64_t zero_words,
                                               Precision precision) const;
  void check_precision();
  /// Call under the mutex, or before other threads use the section.
  void set_remark(std::string remark) const;
  KernelCode make_code(const Kernel& kernel, std::uint64_t zero_words, Target target) const;
  void note_code(const KernelCode& code);
  void collect_words();

  CellMap map_;
  bool loops_;
  Target target_;
  std::vector<Kernel> kernels_;
  std::vector<ConstantRoot> constants_;
  std::vector<MovedShort> moves_;
  std::vector<BmStore> bm_stores_;
  std::map<StatePlace, std::uint64_t> given_;  ///< constants of the previous section
  std::vector<ConstantRoot> unfused_constants_;
  std::vector<Table> tables_;
  std::vector<std::vector<TableShort>> contents_;  ///< by table
  WordTable source_words_, uniform_words_;
  LookupTables lookups_;
  std::uint64_t zero_candidates_ = 0;
  mutable std::shared_mutex mutex_;
  mutable std::map<CompiledKernels::Key, std::unique_ptr<CompiledKernels>> made_;
  mutable std::atomic<const CompiledKernels*> last_ = nullptr;  ///< the most recently used code
  mutable std::string remark_;
  mutable std::atomic<bool> has_remark_ = false;
  bool compares_results_ = false;
  mutable std::atomic<std::uint64_t> runs_in_doubles_ = 0, gpu_runs_ = 0;
  mutable std::atomic<bool> refused_by_gpu_ = false;
  mutable std::once_flag sharing_known_;
  mutable bool can_share_passes_ = false;
  mutable std::atomic<std::size_t> code_bytes_ = 0;
  mutable std::atomic<double> compile_seconds_ = 0;
};

/// A program: compiled sections, and for the others the reason.
struct CompiledProgram {
  CompiledProgram(const Program& program, const Geometry& geometry, Target target, Gpus gpus = {});

  struct Part {
    std::unique_ptr<CompiledSection> section;  ///< null: it runs on the exact engine
    std::string reason;
  };
  CellMap map;
  Target target;  ///< of the host
  Gpus gpus;      ///< that loops over sources of packed targets run on; empty: none
  std::array<Part, section_count> parts;
  /// Whether Start, body and End can run fused: all are compiled, Start computes nothing, and Start
  /// and End access only fixed words of the broadcast memory.
  bool fusable = false;

  /// Null if it runs on the exact engine.
  const CompiledSection* section(Section s) const noexcept {
    return parts[static_cast<unsigned>(s)].section.get();
  }
};

}  // namespace gdr::native
