#include "emulator/engine/native/runner.hpp"

#include <algorithm>
#include <cstring>

namespace gdr::native {
namespace {

using Bytes = std::vector<std::byte, LineAllocator<std::byte>>;

/// Memory of one thread, kept from run to run.
struct Scratch {
  Bytes items, source, uniforms, spills;
  std::vector<std::uint64_t> put_words;
};

void grow(Bytes& bytes, std::size_t size) {
  if (bytes.size() < size) bytes.resize(size);
}

class SectionRun {
 public:
  SectionRun(const CompiledSection& section, const CellMap& map, BlockState& block,
             const BlockRun& run)
      : s_(section), map_(map), block_(block), run_(run), code_(nullptr) {}

  void passes(std::uint64_t count, std::uint32_t source_base) {
    source_base_ = source_base;
    count_ = count;
    if (!prepare(s_.precision())) prepare(Precision::Double);
    for (std::size_t k = 0; k < s_.kernels().size(); ++k) execute(k);
    for (std::size_t k = 0; k < s_.kernels().size(); ++k) leave(k);
    leave_constants();
    put_words();
  }

 private:
  /// Where the work items of a kernel stand.
  struct Place {
    std::size_t begin = 0, items = 0;
  };

  bool prepare(Precision precision);
  std::uint64_t zero_words() const;
  bool take_words();
  bool take_state();
  bool take_instance(const CompiledKernels::One& one, const KernelInstance& instance,
                     std::byte* items);
  void execute(std::size_t k);
  void leave(std::size_t k);
  void leave_instance(const CompiledKernels::One& one, const KernelInstance& instance,
                      const std::byte* items);
  void leave_constants();
  void put_words();
  std::uint64_t* put_row(LeafKey key, unsigned word);

  std::size_t lanes() const { return code_->target.lanes(); }
  std::size_t chunks() const { return (block_.pes + lanes() - 1) / lanes(); }
  Precision precision() const { return code_->target.precision; }

  static thread_local Scratch scratch_;
  const CompiledSection& s_;
  const CellMap& map_;
  BlockState& block_;
  const BlockRun& run_;
  const CompiledKernels* code_;
  std::vector<Place> places_;
  std::uint64_t count_ = 1;
  std::uint32_t source_base_ = 0;
};

thread_local Scratch SectionRun::scratch_;

WordsIn memory_words(const BlockState& block, Take take, std::uint32_t address,
                     std::size_t stride) {
  const std::uint64_t* first = block.bm.data() + address;
  return {first, take == Take::Long ? first + 1 : first, stride};
}

std::uint64_t SectionRun::zero_words() const {
  std::uint64_t zeros = 0;
  const auto& words = s_.uniform_words().words;
  for (std::size_t w = 0; w < std::min<std::size_t>(words.size(), 64); ++w) {
    if (((s_.zero_candidates() >> w) & 1) == 0) continue;
    std::uint64_t bits = 0;
    words_to_lanes(words[w].take, Precision::Double,
                   memory_words(block_, words[w].take, words[w].place, 0), 1,
                   reinterpret_cast<std::byte*>(&bits), sizeof bits);
    if (bits == 0) zeros |= std::uint64_t{1} << w;
  }
  return zeros;
}

/// Finds the code and brings in all that it reads; false if floats cannot hold it.
bool SectionRun::prepare(Precision precision) {
  code_ = &s_.code(zero_words(), precision);
  std::size_t bytes = 0;
  places_.clear();
  for (std::size_t k = 0; k < s_.kernels().size(); ++k) {
    const auto& one = code_->kernels[k];
    const std::size_t copies = one.machine.copies;
    const std::size_t items = s_.kernels()[k].instances.size() * chunks();
    places_.push_back({bytes, items});
    bytes += (items + copies - 1) / copies * copies * one.code.layout.bytes();
  }
  grow(scratch_.items, bytes);
  scratch_.put_words.assign(s_.puts().size() * 3 * block_.pes, 0);
  return take_words() && take_state();
}

bool SectionRun::take_words() {
  const std::size_t lane = code_->target.lane_bytes();
  const auto& uniforms = s_.uniform_words().words;
  const auto& sources = s_.source_words().words;
  grow(scratch_.uniforms, uniforms.size() * lane);
  grow(scratch_.source, sources.size() * lane * count_);
  bool fits = true;
  for (std::size_t w = 0; w < uniforms.size(); ++w) {
    const auto words = memory_words(block_, uniforms[w].take, uniforms[w].place, 0);
    fits = words_to_lanes(uniforms[w].take, precision(), words, 1,
                          scratch_.uniforms.data() + w * lane, lane) &&
           fits;
  }
  for (std::size_t w = 0; w < sources.size(); ++w) {
    const auto words =
        memory_words(block_, sources[w].take, source_base_ + sources[w].place, run_.source_step);
    fits = words_to_lanes(sources[w].take, precision(), words, count_,
                          scratch_.source.data() + w * lane, sources.size() * lane) &&
           fits;
  }
  return fits;
}

bool SectionRun::take_state() {
  bool fits = true;
  for (std::size_t k = 0; k < s_.kernels().size(); ++k) {
    const auto& one = code_->kernels[k];
    std::byte* items = scratch_.items.data() + places_[k].begin;
    for (const KernelInstance& instance : s_.kernels()[k].instances) {
      fits = take_instance(one, instance, items) && fits;
      items += chunks() * one.code.layout.bytes();
    }
  }
  return fits;
}

bool SectionRun::take_instance(const CompiledKernels::One& one, const KernelInstance& instance,
                               std::byte* items) {
  const ItemLayout& layout = one.code.layout;
  const std::size_t lane = code_->target.lane_bytes();
  bool fits = true;
  for (std::uint32_t n = 0; n < instance.inputs.size(); ++n) {
    const LeafKey key = instance.inputs[n];
    const auto& slots = one.code.carried_slot;
    const auto found = std::find(slots.begin(), slots.end(), n);
    const std::uint32_t offset =
        found == slots.end() ? layout.input(n)
                             : layout.set(0) + static_cast<std::uint32_t>(found - slots.begin()) *
                                                   layout.vector_bytes;
    for (std::size_t c = 0; c < chunks(); ++c) {
      std::byte* const to = items + c * layout.bytes() + offset;
      const std::size_t first = c * lanes();
      const std::size_t count = std::min(lanes(), block_.pes - first);
      if (count < lanes()) std::memset(to, 0, layout.vector_bytes);
      if (key.take == Take::PeNumber || key.take == Take::BlockNumber) {
        for (std::size_t i = 0; i < count; ++i) {
          const std::uint64_t word = key.take == Take::PeNumber ? first + i : block_.number;
          words_to_lanes(Take::Bits, precision(), {&word, &word, 0}, 1, to + i * lane, lane);
        }
        continue;
      }
      const std::uint64_t* row = cell_row(std::as_const(block_), map_, key) + first;
      const WordsIn words{row, key.take == Take::Long ? row + block_.pes : row, 1};
      fits = words_to_lanes(key.take, precision(), words, count, to, lane) && fits;
    }
  }
  return fits;
}

void SectionRun::execute(std::size_t k) {
  const auto& one = code_->kernels[k];
  std::byte* items = scratch_.items.data() + places_[k].begin;
  grow(scratch_.spills, one.machine.spill_bytes);
  const std::size_t copies = one.machine.copies;
  for (std::size_t i = 0; i < places_[k].items; i += copies) {
    std::byte* const at = items + i * one.code.layout.bytes();
    if (one.portable) {
      one.portable->run(at, scratch_.source.data(), scratch_.uniforms.data(), count_);
    } else {
      one.machine.function(at, scratch_.source.data(), scratch_.uniforms.data(), count_,
                           scratch_.spills.data());
    }
  }
}

void SectionRun::leave(std::size_t k) {
  const auto& one = code_->kernels[k];
  const std::byte* items = scratch_.items.data() + places_[k].begin;
  for (const KernelInstance& instance : s_.kernels()[k].instances) {
    leave_instance(one, instance, items);
    items += chunks() * one.code.layout.bytes();
  }
}

/// Parts of words that go to the broadcast memory wait in rows: upper, lower, enabled.
std::uint64_t* SectionRun::put_row(LeafKey key, unsigned word) {
  return scratch_.put_words.data() + (key.place * 3 + word) * block_.pes;
}

void SectionRun::leave_instance(const CompiledKernels::One& one, const KernelInstance& instance,
                                const std::byte* items) {
  const ItemLayout& layout = one.code.layout;
  for (std::uint32_t n = 0; n < instance.outputs.size(); ++n) {
    const LeafKey key = instance.outputs[n];
    WordsOut rows{};
    if (key.delay == 0) {
      rows.upper = cell_row(block_, map_, key);
      rows.lower = key.take == Take::Long ? rows.upper + block_.pes : rows.upper;
    } else {
      const auto part = static_cast<PutPart>(key.delay);
      const unsigned row = part == PutPart::Enabled ? 2 : part == PutPart::Lower ? 1 : 0;
      rows = {put_row(key, row), put_row(key, 1)};
    }
    for (std::size_t c = 0; c < chunks(); ++c) {
      const std::size_t first = c * lanes();
      const std::size_t count = std::min(lanes(), block_.pes - first);
      lanes_to_words(key.take, precision(), items + c * layout.bytes() + layout.output(n), count,
                     {rows.upper + first, rows.lower + first});
    }
  }
}

void SectionRun::leave_constants() {
  for (const ConstantRoot& constant : s_.constants()) {
    const std::size_t pes = block_.pes;
    if (constant.key.delay != 0) {
      const auto part = static_cast<PutPart>(constant.key.delay);
      const unsigned row = part == PutPart::Enabled ? 2 : part == PutPart::Lower ? 1 : 0;
      std::fill_n(put_row(constant.key, row), pes, constant.upper);
      if (part == PutPart::Word) std::fill_n(put_row(constant.key, 1), pes, constant.lower);
      continue;
    }
    std::uint64_t* const row = cell_row(block_, map_, constant.key);
    std::fill_n(row, pes, constant.upper);
    if (constant.key.take == Take::Long) std::fill_n(row + pes, pes, constant.lower);
  }
}

void SectionRun::put_words() {
  for (std::uint32_t n = 0; n < s_.puts().size(); ++n) {
    const PutTarget& put = s_.puts()[n];
    const LeafKey key{Take::Mask, n, 0};
    if (put_row(key, 2)[put.pe] == 0) continue;
    const u128 lower = put_row(key, 1)[put.pe];
    const u128 upper = put_row(key, 0)[put.pe];
    write_bm(block_, put.address, put.width,
             put.width == Width::Long ? (upper << Short::bit_count) | lower : lower);
  }
}

}  // namespace

void run_section(const CompiledSection& section, const CellMap& map, BlockState& block,
                 const BlockRun& run) {
  SectionRun section_run(section, map, block, run);
  if (section.loops()) {
    section_run.passes(run.iterations, run.source_base);
    return;
  }
  std::uint32_t source = run.source_base;
  for (std::uint64_t i = 0; i < run.iterations; ++i) {
    section_run.passes(1, source);
    source += run.source_step;
  }
}

}  // namespace gdr::native
