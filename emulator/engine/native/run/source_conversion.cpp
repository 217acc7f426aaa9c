#include "emulator/engine/native/run/source_conversion.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "emulator/engine/native/run/block_executor.hpp"
#include "emulator/engine/native/translate/float_range.hpp"
#include "emulator/host/float_mode.hpp"
#include "emulator/port/port_words.hpp"

namespace gdr::native {
namespace {

/// Items per step of the general conversion.
constexpr std::uint64_t items_at_once = 64;

/// The simple conversion of a field, as port_load. Floats that are read as bits, and integers that
/// are read as numbers, are rare.
std::optional<WordConversion> conversion_of(const PortField& f, LeafKey key) noexcept {
  const MachineFormat machine = f.conversion.machine;
  const bool number = machine == MachineFormat::FloatLong || machine == MachineFormat::FloatShort;
  const bool f64 = number && f.conversion.host == HostType::F64;
  if (f64 && f.width == Width::Short && key.type == WordType::Short) return WordConversion::Short;
  if (f64 && machine == MachineFormat::FloatLong && is_long(key.type))
    return key.type == WordType::Long ? WordConversion::Long : WordConversion::Rest;
  if (machine == MachineFormat::Integer && f.width == Width::Short && key.type == WordType::Bits)
    return WordConversion::Integer;
  return std::nullopt;
}

}  // namespace

SourceConversion::SourceConversion(const CompiledSection& body, const LoadedProgram& loaded)
    : body_(body), loaded_(loaded) {
  const std::uint32_t item_shorts = loaded.program.item_shorts;
  const std::uint32_t words = loaded.layout.source_words;
  std::vector<GroupWord> simple;
  for (const LeafKey key : body.source_words().words) {
    std::optional<GroupWord> word;
    for (const PortField& field : loaded.sources) {
      if (field.location.address != key.place % item_shorts) continue;
      if (const auto conversion = conversion_of(field, key))
        word = GroupWord{*conversion, key.place / item_shorts * words + field.half_word / 2};
    }
    if (word) simple.push_back(*word);
  }
  if (simple.size() == body.source_words().words.size())
    simple_ = make_group_conversion({simple, loaded.program.group * words, body.precision()},
                                    body.target().isa);
}

/// False if lanes of floats cannot represent a word. Doubles need no arithmetic.
bool SourceConversion::convert_simply(const std::uint64_t* from, std::uint64_t groups,
                                      std::byte* to) const {
  if (body_.precision() == Precision::Double) return simple_->convert(from, groups, to);
  const MachineFloatMode mode;
  const RangeErrorMonitor range_errors(true);
  const bool fits = simple_->convert(from, groups, to);
  return fits && !range_errors.detected();
}

/// General conversion through machine words. False if the lanes cannot represent a word.
bool SourceConversion::convert_any(const std::uint64_t* from, std::uint64_t groups,
                                   std::byte* to) const {
  const MachineFloatMode mode;
  thread_local std::vector<std::uint64_t> shorts;
  const std::uint32_t group = loaded_.program.group;
  const std::size_t item_shorts = loaded_.program.item_shorts, words = loaded_.layout.source_words;
  const std::uint64_t at_once = (items_at_once + group - 1) / group;
  if (shorts.size() < at_once * group * item_shorts) shorts.resize(at_once * group * item_shorts);
  bool usable = true;
  for (std::uint64_t g = 0; g < groups; g += at_once) {
    const std::uint64_t n = std::min(at_once, groups - g);
    for (const PortField& field : loaded_.sources)
      port_load(field, {from + g * group * words, words}, n * group,
                {shorts.data() + field.location.address, item_shorts, 1});
    if (!convert_sources(body_, shorts.data(), n, static_cast<std::uint32_t>(group * item_shorts),
                         to + g * body_.stream_bytes()))
      usable = false;
  }
  return usable;
}

}  // namespace gdr::native
