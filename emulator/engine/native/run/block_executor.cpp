#include "emulator/engine/native/run/block_executor.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>
#include <utility>

#include "emulator/engine/native/run/gpu_batch.hpp"
#include "emulator/engine/native/run/kernel_calls.hpp"
#include "emulator/engine/native/translate/float_range.hpp"
#include "emulator/engine/native/words/conversion_avx512.hpp"
#include "emulator/host/float_mode.hpp"
#include "emulator/host/parallel.hpp"

namespace gdr::native {
namespace {

/// Buffers of one thread, reused between runs.
struct Scratch {
  LaneBytes items, source, uniforms;
  CallBuffers calls;
  std::vector<std::uint64_t> scatter_words, moved, lists, table;
};

Scratch& scratch_of_thread() {
  static thread_local Scratch scratch;
  return scratch;
}

/// Rows have few lanes: an unrolled loop of eight costs less than a call of a library function.
constexpr std::size_t at_once = 8;

void fill_lanes(std::uint64_t* to, std::size_t n, std::uint64_t word) {
  std::size_t i = 0;
  for (; i + at_once <= n; i += at_once) {
    for (std::size_t k = 0; k < at_once; ++k) to[i + k] = word;
  }
  for (; i < n; ++i) to[i] = word;
}

void copy_lanes(const std::uint64_t* from, std::size_t n, std::uint64_t* to) {
  std::size_t i = 0;
  for (; i + at_once <= n; i += at_once) std::memcpy(to + i, from + i, at_once * sizeof *to);
  for (; i < n; ++i) to[i] = from[i];
}

/// Words of groups of items, one group behind the other.
bool convert(const std::vector<LeafKey>& words, Precision precision, const std::uint64_t* shorts,
             std::size_t groups, std::uint32_t step, std::byte* to) noexcept {
  const std::size_t lane = precision == Precision::Float ? 4 : 8;
  bool fits = true;
  for (std::size_t w = 0; w < words.size(); ++w) {
    const std::uint64_t* first = shorts + words[w].place;
    const WordsIn in{first, is_long(words[w].type) ? first + 1 : first, step};
    fits =
        words_to_lanes(words[w].type, precision, in, groups, to + w * lane, words.size() * lane) &&
        fits;
  }
  return fits;
}

/// Whether n adjacent floats are finite. Two at a time, without comparisons: adding one to an
/// exponent of all ones carries into the sign bit.
bool all_finite(const std::byte* from, std::size_t n) {
  constexpr std::uint64_t both = 0x1'0000'0001, sign = both << 31, one = both << 23;
  std::uint64_t found = 0;
  std::size_t i = 0;
  for (; i + 2 <= n; i += 2)
    found |= (load_lane<std::uint64_t>(from + i * sizeof(float)) & (sign - both)) + one;
  if (i < n)
    found |= (load_lane<std::uint32_t>(from + i * sizeof(float)) & ((1U << 31) - 1)) + (1U << 23);
  return (found & sign) == 0;
}

/// Results of a kernel that depend on functions which are zero below an end (Function::Exp).
struct VanishingResults {
  std::vector<std::uint32_t> offsets;  ///< offsets of the results in a work item, bytes
  bool masked = false;                 ///< zero may mean that a PE has no terms at all

  explicit VanishingResults(const KernelCode& code) {
    for (const Store& store : code.once.stores) {
      if (!store.may_vanish || store.area != Store::Area::Output) continue;
      offsets.push_back(code.layout.output(store.slot));
      masked = masked || store.may_be_masked;
    }
  }
  /// Whether each of n lanes has a result that is large beside the terms that are zero; `together`:
  /// whether they have, as lanes of one target.
  bool have_size(const std::byte* item, std::size_t n, bool together) const {
    constexpr float small = 0x1p-60F;
    const auto is_small = [&](float most) { return most < small && !(masked && most == 0); };
    float largest = 0;
    for (std::size_t i = 0; i < n; ++i) {
      float most = 0;
      for (const std::uint32_t offset : offsets)
        most = std::max(most, std::abs(load_lane<float>(item + offset + i * sizeof(float))));
      if (!together && is_small(most)) return false;
      largest = std::max(largest, most);
    }
    return !together || !is_small(largest);
  }
};

/// Row of the buffers of BM stores (upper, lower, enabled) that a part begins with.
unsigned row_of(LeafKey key) {
  const auto part = static_cast<BmStorePart>(key.delay);
  return part == BmStorePart::Enabled ? 2 : part == BmStorePart::Lower ? 1 : 0;
}

class SectionRun {
 public:
  /// `folded`: only element 0 is computed.
  SectionRun(const CompiledSection& section, BlockState& block, const BlockRun& run,
             bool folded = false)
      : s_(section), block_(block), run_(run), code_(nullptr), live_(block.pes), folded_(folded) {
    // A word for the broadcast memory may come from any PE.
    if (run.live_pes != 0 && section.bm_stores().empty()) live_ = std::min(live_, run.live_pes);
  }

  /// Leaves out PEs without targets, except those whose words the section stores to the broadcast
  /// memory. For packed blocks: there these words are constants.
  void leave_out_idle_pes() {
    std::uint32_t needed = std::max(run_.live_pes, 1U);
    for (const BmStore& store : s_.bm_stores()) needed = std::max(needed, store.pe + 1);
    live_ = std::min(live_, needed);
  }

  /// For a section without kernels: stores the constants that the next one does not absorb.
  void leave_to(const CompiledSection& next) {
    scratch_.scatter_words.assign(s_.bm_stores().size() * 3 * live_, 0);
    finish(next.unfused_constants());
  }

  /// Sets the windows of the next passes' sources: `first` is the index of the first window.
  void set_windows(const SourceWindows& windows, std::uint64_t first) {
    windows_ = &windows;
    first_window_ = first;
  }

  /// The sources of the next passes are rows of SourceVectors.
  void set_source_vectors() { variant_.source_vectors = true; }

  /// The passes of this section run on a GPU: its part before GpuBatch::run, and the one after.
  /// False if they must run on the host; the state is then as before.
  bool load(std::uint64_t count, bool after, GpuBatch& batch, const GpuSlot& slot) {
    after_ = after;
    count_ = count;
    if (!prepare(s_.precision(), &batch.gpu())) return false;
    return batch.load(slot, *code_, scratch_.items.data(), begins(), all_instances(),
                      scratch_.uniforms.data(), uniform_bytes());
  }
  bool finish_loaded(std::uint64_t count, bool after, const GpuBatch& batch, const GpuSlot& slot) {
    after_ = after;
    count_ = count;
    if (!prepare(s_.precision(), &batch.gpu())) return false;
    batch.store(slot, scratch_.items.data(), begins(), all_instances());
    if (precision() == Precision::Float && !(results_are_finite() && have_not_vanished())) {
      s_.note_run_in_doubles();
      return false;
    }
    if (precision() == Precision::Double && !results_are_numbers()) return false;
    s_.note_gpu_run();
    finish(s_.constants());
    return true;
  }

  /// `after`: the previous section's constants are inputs of this one. False, with the state as
  /// before, if that needs another code than one for vectors of sources.
  bool passes(std::uint64_t count, std::uint32_t source_base, bool after = false) {
    after_ = after;
    source_base_ = source_base;
    count_ = count;
    // Streams were checked at conversion.
    if (s_.precision() == Precision::Float) {
      save_lists();
      if (!prepare(s_.precision()) || !compute()) {
        if (variant_.source_vectors) return false;
        s_.note_run_in_doubles();
        restore_lists();
        run_in_doubles();
      }
    } else if (!run_in_doubles()) {
      return false;
    }
    finish(s_.constants());
    return true;
  }

 private:
  /// Again where a result is NaN or infinite, with the values of IEEE 754 for infinite numbers,
  /// which cost some speed. At once with lists, which would have to be saved.
  bool run_in_doubles() {
    variant_.infinities =
        std::ranges::any_of(s_.kernels(), [](const Kernel& k) { return !k.lists.empty(); });
    if (!prepare(Precision::Double) && variant_.source_vectors) return false;
    if (!compute()) {
      variant_.infinities = true;
      prepare(Precision::Double);
      compute();
    }
    variant_.infinities = false;
    return true;
  }

  /// Location of a kernel's work items.
  struct Place {
    std::size_t begin = 0, items = 0, padded = 0;  ///< padded to the work items per call
  };

  /// Selects the code and loads its inputs; false if floats cannot represent them, or if a GPU
  /// cannot execute it.
  bool prepare(Precision precision, Gpu* gpu = nullptr) {
    const std::uint64_t zeros = zero_words(s_, block_);
    code_ =
        gpu != nullptr ? s_.gpu_code(*gpu, zeros, precision) : &s_.code(zeros, precision, variant_);
    if (code_ == nullptr) return false;
    // Rows are for the vectors of the section's target.
    if (variant_.source_vectors && lanes() != s_.target().lanes()) return false;
    converts_avx512_ = code_->target.isa == Isa::Avx512;
    chunks_ = (live_ + lanes() - 1) / lanes();
    std::size_t bytes = 0;
    places_.clear();
    for (std::size_t k = 0; k < s_.kernels().size(); ++k) {
      const auto& entry = code_->kernels[k];
      const std::size_t copies = entry.machine.copies;
      const std::size_t items = instances(k) * chunks();
      const std::size_t padded = (items + copies - 1) / copies * copies;
      places_.push_back({bytes, items, padded});
      bytes += padded * entry.code.layout.bytes();
    }
    grow(scratch_.items, bytes);
    for (std::size_t k = 0; k < places_.size(); ++k) bind_lists(k);
    scratch_.scatter_words.assign(s_.bm_stores().size() * 3 * live_, 0);
    if (precision == Precision::Double) return gather_words() && load_state();
    clear_padding();
    const RangeErrorMonitor range_errors(true);
    return gather_words() && load_state() && !range_errors.detected();
  }

  /// Runs all kernels; false after a float range error: underflow to zero, or overflow that reached
  /// a result; and if a result of doubles may be wrong because a number was infinite.
  bool compute() {
    std::optional<RangeErrorMonitor> range_errors;
    // An estimate alone does not show that its operand overflowed.
    if (precision() == Precision::Float)
      range_errors.emplace(s_.notes_overflow(), !all_may_vanish());
    for (std::size_t k = 0; k < s_.kernels().size(); ++k) execute(k);
    if (!range_errors) return variant_.infinities || results_are_numbers();
    return !range_errors->detected() && results_are_finite() && have_not_vanished();
  }

  /// Results to the state and to the broadcast memory.
  void finish(const std::vector<ConstantRoot>& constants) {
    gather_moved();
    for (std::size_t k = 0; k < s_.kernels().size(); ++k) store_results(k);
    leave_moved();
    leave_constants(constants);
    scatter_words();
  }

  std::vector<std::size_t> begins() const {
    std::vector<std::size_t> begins;
    for (const Place& place : places_) begins.push_back(place.begin);
    return begins;
  }
  std::vector<std::size_t> all_instances() const {
    std::vector<std::size_t> all;
    for (std::size_t k = 0; k < places_.size(); ++k) all.push_back(instances(k));
    return all;
  }
  std::size_t uniform_bytes() const {
    return (s_.uniform_words().words.size() + s_.lookups().lanes()) * code_->target.lane_bytes();
  }

  WorkItems work_items(std::size_t k) const {
    return {scratch_.items.data() + places_[k].begin, code_->kernels[k].code.layout.bytes(),
            chunks(), live_};
  }
  std::size_t instances(std::size_t k) const {
    return folded_ ? 1 : s_.kernels()[k].instances.size();
  }
  /// Transfers of the active instances.
  std::span<const RowTransfer> active(const std::vector<RowTransfer>& rows) const {
    if (!folded_) return rows;
    return {rows.begin(), std::ranges::partition_point(
                              rows, [](const RowTransfer& t) { return t.instance == 0; })};
  }
  /// Whether code on doubles reads a stream of floats.
  bool is_widened() const { return run_.stream.groups != nullptr && precision() != s_.precision(); }
  std::size_t lanes() const { return code_->target.lanes(); }
  std::size_t chunks() const { return chunks_; }
  Precision precision() const { return code_->target.precision; }

  // --- lists, which are changed in the state during the run

  /// Sets the rows of a kernel's lists in its work items.
  void bind_lists(std::size_t k) {
    const ItemLayout& layout = code_->kernels[k].code.layout;
    if (layout.lists == 0) return;
    std::byte* item = scratch_.items.data() + places_[k].begin;
    for (std::size_t i = 0; i < instances(k); ++i)
      for (std::size_t first = 0; first < live_; first += lanes(), item += layout.bytes())
        for (std::uint32_t n = 0; n < layout.lists; ++n) {
          const List& list = s_.kernels()[k].instances[i].lists[n];
          const std::size_t count = std::min<std::size_t>(lanes(), live_ - first);
          const jit::ListRows rows{cell(list.counter).in(block_) + first,
                                   cell(s_.map().local).in(block_) + first,
                                   block_.pes * sizeof(std::uint64_t),
                                   ~std::uint64_t{0} >> (64 - count),
                                   list.stride,
                                   list.first,
                                   list.last};
          std::memcpy(item + layout.list(n), &rows, sizeof rows);
        }
  }

  /// Calls `visit` for each row of each list.
  template <typename Visit>
  void each_list_row(Visit visit) {
    for (std::size_t k = 0; k < s_.kernels().size(); ++k)
      for (std::size_t i = 0; i < instances(k); ++i)
        for (const List& list : s_.kernels()[k].instances[i].lists) {
          visit(cell(list.counter).in(block_));
          for (std::uint32_t at = list.first; at <= list.last; ++at)
            visit(cell(s_.map().local + at).in(block_));
        }
  }
  /// Saves the lists, for a run that may be repeated in doubles.
  void save_lists() {
    scratch_.lists.clear();
    each_list_row([this](const std::uint64_t* row) {
      scratch_.lists.insert(scratch_.lists.end(), row, row + live_);
    });
  }
  void restore_lists() {
    const std::uint64_t* from = scratch_.lists.data();
    each_list_row([&](std::uint64_t* row) {
      std::copy_n(from, live_, row);
      from += live_;
    });
  }

  /// Stale values in padding lanes must not raise flags.
  void clear_padding() const {
    for (std::size_t k = 0; k < places_.size(); ++k) {
      const std::size_t bytes = code_->kernels[k].code.layout.bytes();
      const Place& place = places_[k];
      std::memset(scratch_.items.data() + place.begin + place.items * bytes, 0,
                  (place.padded - place.items) * bytes);
    }
  }

  bool gather_words() {
    const std::size_t lane = code_->target.lane_bytes();
    const auto& uniforms = s_.uniform_words().words;
    const auto& sources = s_.source_words().words;
    grow(scratch_.uniforms, (uniforms.size() + s_.lookups().lanes()) * lane);
    bool fits = uniform_lanes(s_, precision(), block_, scratch_.uniforms.data());
    for (const LookupTables::Lookup& lookup : s_.lookups().tables)
      fits = convert_table(lookup,
                           scratch_.uniforms.data() + (uniforms.size() + lookup.first) * lane) &&
             fits;
    source_ = run_.stream.groups;
    if (source_ != nullptr) {
      if (is_widened()) widen_stream();
      return fits;
    }
    grow(scratch_.source, sources.size() * lane * count_);
    source_ = scratch_.source.data();
    return convert(sources, precision(), block_.bm.data() + source_base_, count_, run_.source_step,
                   scratch_.source.data()) &&
           fits;
  }

  /// The elements of a table as lanes.
  bool convert_table(const LookupTables::Lookup& lookup, std::byte* to) {
    const std::vector<TableShort>& contents = s_.table_contents(lookup.key);
    const std::size_t shorts = contents.size() / lookup.size;
    std::vector<std::uint64_t>& words = scratch_.table;
    words.resize(contents.size());
    // Upper shorts, then lower ones.
    for (std::size_t n = 0; n < contents.size(); ++n)
      words[n % shorts * lookup.size + n / shorts] =
          contents[n].address ? block_.bm[*contents[n].address] : contents[n].constant;
    const bool wide = is_long(lookup.key.type);
    const std::uint64_t* const first =
        words.data() + (reads_lower_half(lookup.key) ? lookup.size : 0);
    const bool fits = row_conversion(code_->target, lookup.key.type)
                          .to_lanes(first, wide ? first + lookup.size : first, lookup.size, to);
    const std::size_t lane = code_->target.lane_bytes();
    for (std::size_t k = 0; k < repeated_elements; ++k)
      std::memcpy(to + (lookup.size + k) * lane, to + k * lane, lane);
    return fits;
  }

  /// Converts a stream of floats for code on doubles, after a range error of other data.
  void widen_stream() {
    const auto& words = s_.source_words().words;
    grow(scratch_.source, words.size() * sizeof(double) * count_);
    for (std::size_t i = 0; i < words.size() * count_; ++i) {
      std::uint64_t wide = 0;
      if (words[i % words.size()].type == WordType::Bits) {
        const std::int64_t integer = load_lane<std::int32_t>(source_ + i * sizeof(float));
        wide = static_cast<std::uint64_t>(integer) << short_shift;
      } else {
        wide = std::bit_cast<std::uint64_t>(double{load_lane<float>(source_ + i * sizeof(float))});
      }
      std::memcpy(scratch_.source.data() + i * sizeof wide, &wide, sizeof wide);
    }
    source_ = scratch_.source.data();
  }

  bool load_state() {
    bool fits = true;
    for (std::size_t k = 0; k < code_->kernels.size(); ++k) {
      const auto& entry = code_->kernels[k];
      const WorkItems items = work_items(k);
      const std::span<const RowTransfer> in = active(after_ ? entry.in_fused : entry.in);
      if (after_) {
        load_previous_constants(entry, items);
        fits = entry.constants_fit && fits;
      }
      if (converts_avx512_) fits = rows_to_lanes_avx512(in, precision(), block_, items) && fits;
      for (const RowTransfer& t : in) {
        if (converts_avx512_ && !t.outside_state()) continue;
        fits = load_row(t, items.bytes, items.place(t)) && fits;
      }
      if (is_widened()) round_to_floats(in, items);
    }
    return fits;
  }

  /// Rounds numbers of the state like the sources, which were floats: particles at the same place
  /// must stay there.
  void round_to_floats(std::span<const RowTransfer> rows, const WorkItems& items) const {
    for (const RowTransfer& t : rows) {
      if (!is_number(t.key.type)) continue;
      std::byte* at = items.place(t);
      if (t.key.type == WordType::LongRest) {
        load_rests(t, items.bytes, at);
        continue;
      }
      for (std::size_t v = 0; v < items.vectors; ++v, at += items.bytes)
        for (std::size_t k = 0; k < lanes(); ++k) {
          double number = load_lane<double>(at + k * sizeof(double));
          if (!fits_float(number)) continue;
          number = static_cast<float>(number);
          std::memcpy(at + k * sizeof number, &number, sizeof number);
        }
    }
  }

  /// The floats that longs have beyond a float, to lanes of doubles.
  void load_rests(const RowTransfer& t, std::size_t item, std::byte* to) const {
    const std::uint64_t* const upper = t.cell.in(std::as_const(block_));
    for (std::size_t pe = 0; pe < live_; ++pe) {
      float rest = 0;
      words_to_lanes(t.key.type, Precision::Float, {upper + pe, upper + block_.pes + pe, 0}, 1,
                     reinterpret_cast<std::byte*>(&rest), sizeof rest);
      const double wide = rest;
      std::memcpy(to + pe / lanes() * item + pe % lanes() * sizeof wide, &wide, sizeof wide);
    }
  }

  void load_previous_constants(const CompiledKernels::Entry& entry, const WorkItems& items) const {
    for (const ConstantInput& given : entry.given) {
      if (folded_ && given.instance != 0) continue;
      std::byte* to = items.first + given.instance * items.vectors * items.bytes + given.offset;
      for (std::size_t v = 0; v < items.vectors; ++v, to += items.bytes)
        std::memcpy(to, given.lanes.data(), given.lanes.size());
    }
  }

  /// Members are copied: the compiler must assume that a store to bytes changes them.
  bool load_row(const RowTransfer& t, std::size_t item, std::byte* to) const {
    const WordType type = t.key.type;
    const std::size_t live = live_, width = lanes(), bytes = width * code_->target.lane_bytes();
    const bool fixed = type == WordType::PeNumber || type == WordType::BlockNumber;
    const auto convert = row_conversion(code_->target, type).to_lanes;
    const std::uint64_t* const upper = fixed ? nullptr : t.cell.in(std::as_const(block_));
    const std::uint64_t* const lower = is_long(type) ? upper + block_.pes : upper;
    bool fits = true;
    for (std::size_t first = 0; first < live; first += width, to += item) {
      const std::size_t count = std::min(width, live - first);
      if (count < width) std::memset(to, 0, bytes);
      if (fixed)
        load_fixed(type, first, count, to);
      else
        fits = convert(upper + first, lower + first, count, to) && fits;
    }
    return fits;
  }

  void load_fixed(WordType type, std::size_t first, std::size_t count, std::byte* to) const {
    const std::size_t lane = code_->target.lane_bytes();
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t word = type == WordType::PeNumber ? first + i : block_.number;
      words_to_lanes(WordType::Bits, precision(), {&word, &word, 0}, 1, to + i * lane, lane);
    }
  }

  /// Of floats, in the lanes that count.
  bool results_are_finite() const {
    for (std::size_t k = 0; k < s_.kernels().size(); ++k) {
      const WorkItems items = work_items(k);
      const auto& entry = code_->kernels[k];
      for (const RowTransfer& t : active(entry.out)) {
        if (t.key.type != WordType::Long && t.key.type != WordType::Short) continue;
        const std::byte* from = items.place(t);
        for (std::size_t first = 0; first < live_; first += lanes(), from += items.bytes)
          if (!all_finite(from, std::min<std::size_t>(lanes(), live_ - first))) return false;
      }
    }
    return true;
  }

  /// False if a result of a kernel of doubles with reciprocals or roots is NaN or infinite.
  bool results_are_numbers() const {
    for (std::size_t k = 0; k < s_.kernels().size(); ++k) {
      const auto& entry = code_->kernels[k];
      if (!entry.code.has_roots()) continue;
      const WorkItems items = work_items(k);
      for (const RowTransfer& t : active(entry.out)) {
        if (t.key.type != WordType::Long && t.key.type != WordType::Short) continue;
        const std::byte* from = items.place(t);
        for (std::size_t first = 0; first < live_; first += lanes(), from += items.bytes)
          if (has_no_value(from, std::min<std::size_t>(lanes(), live_ - first), code_->target.isa))
            return false;
      }
    }
    return true;
  }
  /// Whether all results depend on functions which are zero below an end: then factors and squares
  /// of their values may underflow, which the size of the results tells from those that matter.
  bool all_may_vanish() const {
    return std::ranges::all_of(code_->kernels, [](const CompiledKernels::Entry& entry) {
      return std::ranges::all_of(entry.code.once.stores, [](const Store& store) {
        return store.area != Store::Area::Output || !is_number(store.type) || store.may_vanish;
      });
    });
  }
  /// False if terms that are zero may be missing in the results of a PE.
  bool have_not_vanished() const {
    for (std::size_t k = 0; k < s_.kernels().size(); ++k) {
      const VanishingResults results(code_->kernels[k].code);
      if (results.offsets.empty()) continue;
      const WorkItems items = work_items(k);
      const std::byte* item = items.first;
      for (std::size_t n = 0; n < instances(k) * chunks(); ++n, item += items.bytes) {
        const std::size_t first = n % chunks() * lanes();
        if (!results.have_size(item, std::min<std::size_t>(lanes(), live_ - first),
                               variant_.source_vectors))
          return false;
      }
    }
    return true;
  }

  void execute(std::size_t k) {
    call_kernel({s_, *code_, source_, scratch_.uniforms.data(), count_, chunks(), live_, windows_,
                 first_window_},
                k, scratch_.items.data() + places_[k].begin, places_[k].items, scratch_.calls);
  }

  void store_results(std::size_t k) {
    const auto& entry = code_->kernels[k];
    const WorkItems items = work_items(k);
    const std::span<const RowTransfer> out = active(entry.out);
    if (converts_avx512_) lanes_to_rows_avx512(out, precision(), items, block_);
    for (const RowTransfer& t : out) {
      if (!converts_avx512_ || t.outside_state()) store_row(t, items.bytes, items.place(t));
    }
  }

  void store_row(const RowTransfer& t, std::size_t item, const std::byte* from) {
    WordsOut rows{};
    if (t.key.delay == 0) {
      rows.upper = t.cell.in(block_);
      rows.lower = t.key.type == WordType::Long ? rows.upper + block_.pes : rows.upper;
    } else {
      rows = {put_row(t.key, row_of(t.key)), put_row(t.key, 1)};
    }
    const auto convert = row_conversion(code_->target, t.key.type).from_lanes;
    const std::size_t live = live_, width = lanes();
    for (std::size_t first = 0; first < live; first += width, from += item)
      convert(from, std::min(width, live - first), {rows.upper + first, rows.lower + first});
  }

  std::uint64_t* put_row(LeafKey key, unsigned word) {
    return scratch_.scatter_words.data() + (key.place * 3 + word) * live_;
  }

  CellRow cell(std::uint32_t number) const {
    return cell_row(s_.map(), {WordType::Bits, number, 0});
  }

  /// Copies shorts, from the initial state or from the last group of items.
  void gather_moved() {
    scratch_.moved.resize(s_.moves().size() * block_.pes);
    std::uint64_t* to = scratch_.moved.data();
    for (const MovedShort& move : s_.moves()) {
      if (move.from == NodeOp::Input) {
        copy_lanes(cell(move.place).in(block_), live_, to);
      } else {
        std::uint64_t base = 0;
        if (move.from == NodeOp::Source) {
          base = run_.stream.groups != nullptr ? run_.stream.last_group
                                               : source_base_ + (count_ - 1) * run_.source_step;
        }
        fill_lanes(to, live_, block_.bm[base + move.place]);
      }
      to += block_.pes;
    }
  }

  void leave_moved() {
    const std::uint64_t* from = scratch_.moved.data();
    for (const MovedShort& move : s_.moves()) {
      copy_lanes(from, live_, cell(move.to).in(block_));
      from += block_.pes;
    }
  }

  void leave_constants(const std::vector<ConstantRoot>& constants) {
    for (const ConstantRoot& constant : constants) {
      const std::size_t pes = block_.pes;
      if (constant.key.delay != 0) {
        const bool word = static_cast<BmStorePart>(constant.key.delay) == BmStorePart::Word;
        std::fill_n(put_row(constant.key, row_of(constant.key)), live_, constant.upper);
        if (word) std::fill_n(put_row(constant.key, 1), live_, constant.lower);
        continue;
      }
      std::uint64_t* const row = cell_row(s_.map(), constant.key).in(block_);
      fill_lanes(row, live_, constant.upper);
      if (constant.key.type == WordType::Long) fill_lanes(row + pes, live_, constant.lower);
    }
  }

  void scatter_words() {
    for (std::uint32_t n = 0; n < s_.bm_stores().size(); ++n) {
      const BmStore& put = s_.bm_stores()[n];
      const LeafKey key{WordType::Mask, n, 0};
      if (put_row(key, 2)[put.pe] == 0) continue;
      const u128 lower = put_row(key, 1)[put.pe];
      const u128 upper = put_row(key, 0)[put.pe];
      write_bm(block_, put.address, put.width,
               put.width == Width::Long ? (upper << Short::bit_count) | lower : lower);
    }
  }

  Scratch& scratch_ = scratch_of_thread();
  const CompiledSection& s_;
  CompiledKernels::Variant variant_;  ///< infinities: for code on doubles
  BlockState& block_;
  const BlockRun& run_;
  const CompiledKernels* code_;
  const std::byte* source_ = nullptr;
  std::vector<Place> places_;
  std::uint64_t count_ = 1;
  std::uint32_t source_base_ = 0;
  const SourceWindows* windows_ = nullptr;
  std::uint64_t first_window_ = 0;
  std::uint32_t live_;  ///< active PEs
  bool folded_;
  bool after_ = false;            ///< the previous section's constants are inputs
  bool converts_avx512_ = false;  ///< the code is for the host's AVX-512
  std::size_t chunks_ = 0;        ///< vectors that they fill
};

}  // namespace

void run_section(const CompiledSection& section, BlockState& block, const BlockRun& run) {
  SectionRun section_run(section, block, run);
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

void run_program(const CompiledProgram& program, BlockState& block, const BlockRun& body) {
  SectionRun(*program.section(Section::Start), block, body)
      .leave_to(*program.section(Section::Body));
  SectionRun(*program.section(Section::Body), block, body)
      .passes(body.iterations, body.source_base, true);
  BlockRun end = body;
  end.stream = {};
  SectionRun(*program.section(Section::End), block, end).passes(1, body.source_base);
}

void start_packed(const CompiledProgram& program, const PackedTargets& targets) {
  BlockRun run;
  run.live_pes = targets.live;
  SectionRun start(*program.section(Section::Start), targets.block, run, targets.folded);
  start.leave_out_idle_pes();
  if (program.fusable)
    start.leave_to(*program.section(Section::Body));
  else
    start.passes(1, 0);
}

namespace {

void end_packed(const CompiledProgram& program, const PackedTargets& targets) {
  BlockRun run;
  run.live_pes = targets.live;
  SectionRun(*program.section(Section::End), targets.block, run, targets.folded).passes(1, 0);
}

/// The whole body as one run, for a GPU.
BlockRun body_of(const PackedTargets& targets, const PackedSources& sources) {
  BlockRun body;
  body.live_pes = targets.live;
  body.stream = {sources.groups, sources.address};
  return body;
}

}  // namespace

bool run_packed(const CompiledProgram& program, const PackedTargets& targets,
                const PackedSources& sources) {
  start_packed(program, targets);
  const std::size_t bytes = program.section(Section::Body)->stream_bytes();
  BlockRun body = body_of(targets, sources);
  const std::uint64_t* last_group = sources.last_groups;
  for (std::uint64_t done = 0; done < sources.count; last_group += sources.group_shorts) {
    const std::uint64_t some = std::min(groups_between_polls, sources.count - done);
    std::copy_n(last_group, sources.group_shorts, targets.block.bm.data() + sources.address);
    SectionRun loop(*program.section(Section::Body), targets.block, body, targets.folded);
    if (sources.windows != nullptr)
      loop.set_windows(*sources.windows, sources.first_window + done / SourceWindows::groups);
    if (sources.vectors) loop.set_source_vectors();
    if (!loop.passes(some, 0, done == 0 && program.fusable)) return false;
    body.stream.groups += some * bytes;
    done += some;
    if (done < sources.count) cancellation_point();
  }
  end_packed(program, targets);
  return true;
}

bool load_packed(const CompiledProgram& program, const PackedTargets& targets,
                 const PackedSources& sources, GpuBatch& batch, const GpuSlot& slot) {
  start_packed(program, targets);
  const BlockRun body = body_of(targets, sources);
  SectionRun loop(*program.section(Section::Body), targets.block, body, targets.folded);
  return loop.load(sources.count, program.fusable, batch, slot);
}

bool finish_packed(const CompiledProgram& program, const PackedTargets& targets,
                   const PackedSources& sources, const GpuBatch& batch, const GpuSlot& slot) {
  start_packed(program, targets);
  const std::uint64_t parts = (sources.count + groups_between_polls - 1) / groups_between_polls;
  std::copy_n(sources.last_groups + (parts - 1) * sources.group_shorts, sources.group_shorts,
              targets.block.bm.data() + sources.address);
  const BlockRun body = body_of(targets, sources);
  SectionRun loop(*program.section(Section::Body), targets.block, body, targets.folded);
  if (!loop.finish_loaded(sources.count, program.fusable, batch, slot)) return false;
  end_packed(program, targets);
  return true;
}

bool convert_sources(const CompiledSection& section, const std::uint64_t* shorts,
                     std::size_t groups, std::uint32_t step, std::byte* to) noexcept {
  const MachineFloatMode mode;
  const RangeErrorMonitor range_errors(true);
  const bool fits =
      convert(section.source_words().words, section.precision(), shorts, groups, step, to);
  return fits && (section.precision() == Precision::Double || !range_errors.detected());
}

}  // namespace gdr::native
