#include "kernels/compiler/cache/compilation.hpp"

#include <bit>
#include <concepts>
#include <utility>

#include "emulator/assembler/assembler.hpp"
#include "emulator/host/parse_number.hpp"

namespace gdr::kc {
namespace {

/// Fields in a row, each with its length.
class Writer {
 public:
  Writer& add(std::string_view field) {
    text_.append(std::to_string(field.size())).append(":").append(field);
    return *this;
  }
  Writer& add(std::unsigned_integral auto number) { return add(std::to_string(number)); }
  std::string text() && { return std::move(text_); }

 private:
  std::string text_;
};

/// Reads what a Writer wrote; after an invalid field all others are empty.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  std::string_view field() {
    const std::size_t colon = rest_.find(':');
    const std::size_t size = number(rest_.substr(0, colon));
    if (!valid_ || colon == rest_.npos || size > rest_.size() - colon - 1) {
      valid_ = false;
      return {};
    }
    const std::string_view field = rest_.substr(colon + 1, size);
    rest_.remove_prefix(colon + 1 + size);
    return field;
  }
  std::size_t number() { return number(field()); }
  /// Whether all fields were valid, and there is no other.
  bool at_end() const noexcept { return valid_ && rest_.empty(); }
  bool valid() const noexcept { return valid_; }

 private:
  std::size_t number(std::string_view digits) {
    const auto value = parse_all<std::size_t>(digits);
    if (!value) valid_ = false;
    return value.value_or(0);
  }

  std::string_view rest_;
  bool valid_ = true;
};

}  // namespace

std::string cache_key(std::string_view kernel_name, std::span<const SourceText> sources,
                      const CompileOptions& options, std::string_view version) {
  const auto& [chips, blocks, pes, registers, local, broadcast, instructions, dram, clock] =
      options.geometry;
  Writer key;
  key.add(version).add(kernel_name);
  key.add(chips).add(blocks).add(pes).add(registers).add(local).add(broadcast).add(instructions);
  key.add(dram).add(std::bit_cast<std::uint64_t>(clock));
  key.add(options.elements).add(options.effort);
  key.add(std::uint64_t{options.pipeline}).add(std::uint64_t{options.relaxed});
  key.add(std::uint64_t{options.in_longs});
  key.add(std::uint64_t{options.cutoff.has_value()});
  if (options.cutoff)
    for (const auto* names : {&options.cutoff->target, &options.cutoff->source})
      for (const std::string& name : *names) key.add(name);
  for (const SourceText& source : sources) key.add(source.text);
  return std::move(key).text();
}

std::string cache_text(const CompileResult& result) {
  Writer text;
  text.add(result.assembly).add(result.report);
  text.add(result.initiation_interval).add(result.min_interval);
  text.add(std::uint64_t{result.pipelined}).add(result.remarks.size());
  for (const std::string& remark : result.remarks) text.add(remark);
  return std::move(text).text();
}

bool restore(std::string_view text, std::string_view kernel_name, const CompileOptions& options,
             CompileResult& result) {
  Reader reader(text);
  const std::string_view assembly = reader.field(), report = reader.field();
  const auto initiation_interval = static_cast<unsigned>(reader.number());
  const auto min_interval = static_cast<unsigned>(reader.number());
  const bool pipelined = reader.number() != 0;
  std::vector<std::string> remarks;
  for (std::size_t n = reader.number(); n > 0 && reader.valid(); --n)
    remarks.emplace_back(reader.field());
  if (!reader.at_end()) return false;
  AssembleOptions assemble_options;
  assemble_options.geometry = options.geometry;
  AssembleResult assembled =
      assemble(assembly, std::string(kernel_name) + ".gds", assemble_options);
  if (!assembled.ok()) return false;
  result.program = std::move(assembled.program);
  result.assembly = assembly;
  result.report = report;
  result.remarks = std::move(remarks);
  result.initiation_interval = initiation_interval;
  result.min_interval = min_interval;
  result.pipelined = pipelined;
  return true;
}

}  // namespace gdr::kc
