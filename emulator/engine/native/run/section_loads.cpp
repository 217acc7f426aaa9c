#include "emulator/engine/native/run/section_loads.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "emulator/engine/native/translate/float_range.hpp"
#include "emulator/engine/native/words/conversion_avx512.hpp"

namespace gdr::native {

bool convert_groups(const std::vector<LeafKey>& words, Precision precision,
                    const std::uint64_t* shorts, std::size_t groups, std::uint32_t step,
                    std::byte* to) noexcept {
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

namespace {

/// The elements of a table as lanes.
bool convert_table(SectionFrame& f, const LookupTables::Lookup& lookup, std::byte* to) {
  const std::vector<TableShort>& contents = f.section.table_contents(lookup.key);
  const std::size_t shorts = contents.size() / lookup.size;
  std::vector<std::uint64_t>& words = f.scratch.table;
  words.resize(contents.size());
  // Upper shorts, then lower ones.
  for (std::size_t n = 0; n < contents.size(); ++n)
    words[n % shorts * lookup.size + n / shorts] =
        contents[n].address ? f.block.bm[*contents[n].address] : contents[n].constant;
  const bool wide = is_long(lookup.key.type);
  const std::uint64_t* const first =
      words.data() + (reads_lower_half(lookup.key) ? lookup.size : 0);
  const bool fits = row_conversion(f.code->target, lookup.key.type)
                        .to_lanes(first, wide ? first + lookup.size : first, lookup.size, to);
  const std::size_t lane = f.code->target.lane_bytes();
  for (std::size_t k = 0; k < repeated_elements; ++k)
    std::memcpy(to + (lookup.size + k) * lane, to + k * lane, lane);
  return fits;
}

/// Converts a stream of floats for code on doubles, after a range error of other data.
void widen_stream(SectionFrame& f) {
  const auto& words = f.section.source_words().words;
  grow(f.scratch.source, words.size() * sizeof(double) * f.count);
  for (std::size_t i = 0; i < words.size() * f.count; ++i) {
    std::uint64_t wide = 0;
    if (words[i % words.size()].type == WordType::Bits) {
      const std::int64_t integer = load_lane<std::int32_t>(f.source + i * sizeof(float));
      wide = static_cast<std::uint64_t>(integer) << short_shift;
    } else {
      wide = std::bit_cast<std::uint64_t>(double{load_lane<float>(f.source + i * sizeof(float))});
    }
    std::memcpy(f.scratch.source.data() + i * sizeof wide, &wide, sizeof wide);
  }
  f.source = f.scratch.source.data();
}

/// The floats that longs have beyond a float, to lanes of doubles.
void load_rests(const SectionFrame& f, const RowTransfer& t, std::size_t item, std::byte* to) {
  const std::uint64_t* const upper = t.cell.in(std::as_const(f.block));
  for (std::size_t pe = 0; pe < f.live; ++pe) {
    float rest = 0;
    words_to_lanes(t.key.type, Precision::Float, {upper + pe, upper + f.block.pes + pe, 0}, 1,
                   reinterpret_cast<std::byte*>(&rest), sizeof rest);
    const double wide = rest;
    std::memcpy(to + pe / f.lanes() * item + pe % f.lanes() * sizeof wide, &wide, sizeof wide);
  }
}

/// Rounds numbers of the state like the sources, which were floats: particles at the same place
/// must stay there.
void round_to_floats(const SectionFrame& f, std::span<const RowTransfer> rows,
                     const WorkItems& items) {
  for (const RowTransfer& t : rows) {
    if (!is_number(t.key.type)) continue;
    std::byte* at = items.place(t);
    if (t.key.type == WordType::LongRest) {
      load_rests(f, t, items.bytes, at);
      continue;
    }
    for (std::size_t v = 0; v < items.vectors; ++v, at += items.bytes)
      for (std::size_t k = 0; k < f.lanes(); ++k) {
        double number = load_lane<double>(at + k * sizeof(double));
        if (!fits_float(number)) continue;
        number = static_cast<float>(number);
        std::memcpy(at + k * sizeof number, &number, sizeof number);
      }
  }
}

void load_previous_constants(const SectionFrame& f, const CompiledKernels::Entry& entry,
                             const WorkItems& items) {
  for (const ConstantInput& given : entry.given) {
    if (f.folded && given.instance != 0) continue;
    std::byte* to = items.first + given.instance * items.vectors * items.bytes + given.offset;
    for (std::size_t v = 0; v < items.vectors; ++v, to += items.bytes)
      std::memcpy(to, given.lanes.data(), given.lanes.size());
  }
}

void load_fixed(const SectionFrame& f, WordType type, std::size_t first, std::size_t count,
                std::byte* to) {
  const std::size_t lane = f.code->target.lane_bytes();
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t word = type == WordType::PeNumber ? first + i : f.block.number;
    words_to_lanes(WordType::Bits, f.precision(), {&word, &word, 0}, 1, to + i * lane, lane);
  }
}

/// Members are copied: the compiler must assume that a store to bytes changes them.
bool load_row(const SectionFrame& f, const RowTransfer& t, std::size_t item, std::byte* to) {
  const WordType type = t.key.type;
  const std::size_t live = f.live, width = f.lanes(), bytes = width * f.code->target.lane_bytes();
  const bool fixed = type == WordType::PeNumber || type == WordType::BlockNumber;
  const auto convert = row_conversion(f.code->target, type).to_lanes;
  const std::uint64_t* const upper = fixed ? nullptr : t.cell.in(std::as_const(f.block));
  const std::uint64_t* const lower = is_long(type) ? upper + f.block.pes : upper;
  bool fits = true;
  for (std::size_t first = 0; first < live; first += width, to += item) {
    const std::size_t count = std::min(width, live - first);
    if (count < width) std::memset(to, 0, bytes);
    if (fixed)
      load_fixed(f, type, first, count, to);
    else
      fits = convert(upper + first, lower + first, count, to) && fits;
  }
  return fits;
}

}  // namespace

void clear_padding(const SectionFrame& f) {
  for (std::size_t k = 0; k < f.places.size(); ++k) {
    const std::size_t bytes = f.code->kernels[k].code.layout.bytes();
    const ItemPlace& place = f.places[k];
    std::memset(f.scratch.items.data() + place.begin + place.items * bytes, 0,
                (place.padded - place.items) * bytes);
  }
}

bool load_words(SectionFrame& f) {
  const std::size_t lane = f.code->target.lane_bytes();
  const auto& uniforms = f.section.uniform_words().words;
  const auto& sources = f.section.source_words().words;
  grow(f.scratch.uniforms, (uniforms.size() + f.section.lookups().lanes()) * lane);
  bool fits = uniform_lanes(f.section, f.precision(), f.block, f.scratch.uniforms.data());
  for (const LookupTables::Lookup& lookup : f.section.lookups().tables)
    fits = convert_table(f, lookup,
                         f.scratch.uniforms.data() + (uniforms.size() + lookup.first) * lane) &&
           fits;
  f.source = f.run.stream.groups;
  if (f.source != nullptr) {
    if (f.is_widened()) widen_stream(f);
    return fits;
  }
  grow(f.scratch.source, sources.size() * lane * f.count);
  f.source = f.scratch.source.data();
  return convert_groups(sources, f.precision(), f.block.bm.data() + f.source_base, f.count,
                        f.run.source_step, f.scratch.source.data()) &&
         fits;
}

bool load_state(SectionFrame& f) {
  bool fits = true;
  for (std::size_t k = 0; k < f.code->kernels.size(); ++k) {
    const auto& entry = f.code->kernels[k];
    const WorkItems items = f.work_items(k);
    const std::span<const RowTransfer> in = f.active(f.after ? entry.in_fused : entry.in);
    if (f.after) {
      load_previous_constants(f, entry, items);
      fits = entry.constants_fit && fits;
    }
    if (f.converts_avx512) fits = rows_to_lanes_avx512(in, f.precision(), f.block, items) && fits;
    for (const RowTransfer& t : in) {
      if (f.converts_avx512 && !t.outside_state()) continue;
      fits = load_row(f, t, items.bytes, items.place(t)) && fits;
    }
    if (f.is_widened()) round_to_floats(f, in, items);
  }
  return fits;
}

}  // namespace gdr::native
