#include "machine_reads.hpp"

#include <algorithm>
#include <array>

#include "arrays.hpp"
#include "gdr/error.hpp"

namespace gdr::python {
namespace {

/// In the order of MachineMemory.
constexpr std::array memory_names{"registers", "local", "t", "masks", "broadcast"};

using Words = std::vector<std::uint64_t>;

/// Words as an array (addresses, PEs), or (addresses) for the broadcast memory; `shape` is empty,
/// or the number of blocks, as the first dimension.
py::array_t<std::uint64_t> array_of(const Words& words, const Machine& machine, MachineMemory which,
                                    std::vector<std::size_t> shape) {
  const bool has_pes = which != MachineMemory::Broadcast;
  shape.push_back(words.size() / (shape.empty() ? 1 : shape[0]) / (has_pes ? machine.pes() : 1));
  if (has_pes) shape.push_back(machine.pes());
  py::array_t<std::uint64_t> out(shape);
  std::ranges::copy(words, out.mutable_data());
  return out;
}

}  // namespace

MachineMemory memory_by_name(const std::string& name) {
  return enumerator<MachineMemory>(memory_names, "memory", name);
}

py::array_t<std::uint64_t> memory(const Machine& machine, const std::string& name) {
  const MachineMemory which = memory_by_name(name);
  Words words;
  for (std::size_t b = 0; b < machine.blocks(); ++b) {
    const Words block = machine.memory(which, b);
    words.insert(words.end(), block.begin(), block.end());
  }
  return array_of(words, machine, which, {machine.blocks()});
}

py::array_t<std::uint64_t> reduced(const Machine& machine, const std::string& name,
                                   const std::string& operation) {
  const MachineMemory which = memory_by_name(name);
  return array_of(machine.reduced(which, operation), machine, which, {});
}

py::tuple flags(const Machine& machine, std::size_t block) {
  const MachineFlags f = machine.flags(block);
  return py::make_tuple(f.invalid, f.overflow, f.underflow);
}

py::tuple position(const Machine& machine) {
  const MachinePosition p = machine.position();
  return py::make_tuple(p.section, p.pass, p.instruction, p.text, p.file, p.line, p.clock);
}

const char* memory_name(MachineMemory memory) noexcept {
  return memory_names[static_cast<std::size_t>(memory)];
}

void results(const Machine& machine, const py::dict& arrays, std::size_t targets) {
  if (machine.target_count() != targets)
    throw Error(ErrorCategory::Usage, "the targets have changed during the call");
  machine.results(result_arrays(arrays).list);
}

}  // namespace gdr::python
