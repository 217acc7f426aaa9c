#include "emulator/engine/matmul/matmul_runner.hpp"

#include <algorithm>

#include "emulator/engine/matmul/exact_products.hpp"
#include "emulator/engine/matmul/fast_products.hpp"

namespace gdr {
namespace {

/// Whether consecutive fields are numbers of a width in records of such numbers alone.
bool are_numbers(const std::vector<PortField>& fields, Width width) {
  const bool wide = width == Width::Long;
  const HostType host = wide ? HostType::F64 : HostType::F32;
  const MachineFormat machine = wide ? MachineFormat::FloatLong : MachineFormat::FloatShort;
  for (std::size_t k = 0; k < fields.size(); ++k) {
    const PortField& f = fields[k];
    const std::size_t at = shorts_in(width) * k;
    if (f.conversion.host != host || f.width != width || f.conversion.machine != machine ||
        f.location.address != at || f.half_word != at)
      return false;
  }
  return true;
}

/// Whether j-items are consecutive doubles (or floats, if the factors are shorts) and output items
/// are sums converted to doubles.
bool are_numbers(const LoadedProgram& loaded, const MatmulPattern& pattern) {
  const unsigned shorts = shorts_in(pattern.width);
  if (2 * loaded.layout.source_words != shorts * pattern.depth ||
      loaded.sources.size() != pattern.depth || loaded.outputs.size() != pattern.outputs.size())
    return false;
  return are_numbers(loaded.sources, pattern.width) && are_numbers(loaded.outputs, Width::Long) &&
         std::ranges::all_of(loaded.outputs,
                             [](const PortField& f) { return f.reduce == Reduce::Fadd; });
}

std::unique_ptr<HostProducts> host_products(const MatmulPattern& pattern,
                                            const LoadedProgram& program, const Geometry& geometry,
                                            const StreamingExecutable& executable) {
  if (executable.matmul().exact != nullptr) return std::make_unique<ExactProducts>(executable);
  return std::make_unique<FastProducts>(pattern, program, geometry, executable);
}

}  // namespace

std::unique_ptr<MatmulRunner> MatmulRunner::make(const LoadedProgram& program,
                                                 const Geometry& geometry,
                                                 const StreamingExecutable& executable) {
  const MatmulSupport support = executable.matmul();
  if (support.exact == nullptr && support.fast == nullptr) return nullptr;
  const std::optional<MatmulPattern> pattern = match_matmul(program.program);
  if (!pattern || !are_numbers(program, *pattern)) return nullptr;
  return std::make_unique<MatmulRunner>(*pattern, program, geometry, executable);
}

MatmulRunner::MatmulRunner(const MatmulPattern& pattern, const LoadedProgram& program,
                           const Geometry& geometry, const StreamingExecutable& executable)
    : pattern_(pattern), host_(host_products(pattern_, program, geometry, executable)) {
  if (MatmulDevice* const device = executable.matmul().device; device != nullptr)
    device_.emplace(*device, executable);
}

bool MatmulRunner::computes(const PassState& state) const noexcept {
  constexpr std::uint32_t wanted = run_start | run_end | run_results_only | run_return;
  if (!state.has_run() || !state.run_has(wanted) || (state.run().flags & run_flags) != 0)
    return false;
  // In TargetsOverBlocks every block reads the whole record, in SourcesOverBlocks other items.
  return state.run().plan.partition == ChipPartition::PartsOverBlocks &&
         items_before(state) + host_->min_items() <= state.run().plan.items;
}

/// Items whose output depends on previous register contents run normally, unless that is known to
/// be zero.
std::uint64_t MatmulRunner::fills_before(const PassState& state) const noexcept {
  if (pattern_.begins_with_zeros) return 0;
  const std::uint64_t size = state.run().plan.groups_per_half;
  return (pattern_.delay + size - 1) / size;
}

std::uint64_t MatmulRunner::items_before(const PassState& state) const noexcept {
  return pattern_.begins_with_zeros ? pattern_.delay
                                    : fills_before(state) * state.run().plan.groups_per_half;
}

void MatmulRunner::begin(PassState& state, unsigned threads) {
  std::vector<std::uint32_t> chips;
  for (std::uint32_t c = 0; c < state.chips(); ++c)
    if (state.blocks_of(c) != 0) chips.push_back(c);
  pass_.emplace(ProductPass{state, pattern_, std::move(chips), fills_before(state),
                            items_before(state), threads});
  host_->begin(*pass_);
  if (pattern_.begins_with_zeros && !pass_->chips.empty())
    std::fill_n(pass_->results_of(0), pattern_.delay * pattern_.outputs.size(), 0);
}

void MatmulRunner::add_phases(std::vector<Phase>& phases) {
  if (pass_->chips.empty()) return;
  if (device_ && device_->takes(*pass_)) return device_->add_phases(*pass_, *host_, phases);
  host_->add_phases(*pass_, phases);
}

void MatmulRunner::end() { host_->end(*pass_); }

}  // namespace gdr
