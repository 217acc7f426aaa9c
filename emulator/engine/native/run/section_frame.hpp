// What a run of a section on a block works on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "emulator/engine/api/engine.hpp"
#include "emulator/engine/native/program/program.hpp"
#include "emulator/engine/native/run/kernel_calls.hpp"

namespace gdr::native {

/// Buffers of one thread, reused between runs.
struct SectionScratch {
  LaneBytes items, source, uniforms;
  CallBuffers calls;
  std::vector<std::uint64_t> scatter_words, moved, lists, table;
};
SectionScratch& scratch_of_thread();

/// Location of a kernel's work items.
struct ItemPlace {
  std::size_t begin = 0;              ///< offset in the items, bytes
  std::size_t items = 0, padded = 0;  ///< numbers of items, without and with those that pad a call
};

/// A section, the block that it runs on, and the lanes that its code reads and writes. The
/// functions of section_loads, section_checks and section_stores work on it.
struct SectionFrame {
  SectionScratch& scratch;
  const CompiledSection& section;
  BlockState& block;
  const BlockRun& run;
  const bool folded;                   ///< whether only element 0 is computed
  std::uint32_t live;                  ///< number of active PEs
  CompiledKernels::Variant variant{};  ///< infinities: for code on doubles
  const CompiledKernels* code = nullptr;
  bool after = false;                  ///< whether the previous section's constants are inputs
  bool converts_avx512 = false;        ///< whether the code is for the host's AVX-512
  std::size_t chunks = 0;              ///< vectors that the active PEs fill
  std::vector<ItemPlace> places = {};  ///< places by kernel
  // The iterations:
  std::uint64_t count = 1;
  std::uint32_t source_base = 0;  ///< address of the first group in the broadcast memory, shorts
  const std::byte* source = nullptr;
  const SourceWindows* windows = nullptr;
  std::uint64_t first_window = 0;  ///< window of the first iteration

  std::size_t lanes() const { return code->target.lanes(); }
  Precision precision() const { return code->target.precision; }
  /// Whether code on doubles reads a stream of floats.
  bool is_widened() const {
    return run.stream.groups != nullptr && precision() != section.precision();
  }
  std::size_t instances(std::size_t kernel) const {
    return folded ? 1 : section.kernels()[kernel].instances.size();
  }
  std::size_t uniform_bytes() const {
    return (section.uniform_words().words.size() + section.lookups().lanes()) *
           code->target.lane_bytes();
  }
  WorkItems work_items(std::size_t kernel) const {
    return {scratch.items.data() + places[kernel].begin, code->kernels[kernel].code.layout.bytes(),
            chunks, live};
  }
  /// Transfers of the active instances.
  std::span<const RowTransfer> active(const std::vector<RowTransfer>& rows) const;
  CellRow cell(std::uint32_t number) const {
    return cell_row(section.map(), {WordType::Bits, number, 0});
  }
};

// --- lists, which are changed in the state during the run

/// Sets the rows of a kernel's lists in its work items.
void bind_lists(SectionFrame& f, std::size_t k);
/// Saves the lists, for a run that may be repeated in doubles.
void save_lists(SectionFrame& f);
void restore_lists(SectionFrame& f);

}  // namespace gdr::native
