#include "emulator/engine/vector/doubles/diagnose.hpp"

#include <optional>

#include "emulator/engine/vector/doubles/bm_store.hpp"
#include "emulator/engine/vector/doubles/frame.hpp"
#include "emulator/engine/vector/doubles/saved_memory.hpp"

namespace gdr {
namespace {

/// Texts for MXCSR's flags (in the order of their bits) and DoublesFailure.
std::string_view meaning(unsigned flags, std::uint64_t failure) {
  if ((flags & 0x08) != 0) return "a number is too large for doubles";
  if ((flags & 0x10) != 0) return "a number is too small for doubles";
  if ((flags & 0x01) != 0) return "an operand is infinite or NaN";
  if ((flags & 0x20) != 0 || (failure & inexact) != 0)
    return "a result is inexact in doubles, infinite or NaN";
  return "a long has more bits than a double, or is -0";
}

class Search {
 public:
  Search(const DoublesKernels& kernels, Frame& frame) : kernels_(kernels), frame_(frame) {}

  /// True if an operation of the list fails.
  bool in(const OpList& list) {
    for (std::size_t n = 0; n + 1 < list.ops.size(); ++n) {
      if (list.ops[n].kernel == pause) continue;
      const DoublesOp one[2] = {list.ops[n], plain_operation(stop)};
      one[0].kernel(one[0], frame_.run());
      if (!frame_.failed()) continue;
      place_ = list.origins[n];
      return true;
    }
    return false;
  }
  bool in_pass(const OpList& list) {
    if (in(list)) return true;
    frame_.next_group();
    return false;
  }
  std::string text(const Program& program) {
    kernels_.leave();
    const std::string what(meaning(raised_flags() & kernels_.failure_flags, frame_.run().failure));
    if (!place_) return "a word that the section reads or writes: " + what;
    const auto section = static_cast<unsigned>(place_->section);
    std::string where = std::string(section_names[section]) + ", ";
    const auto& lines = program.lines[section];
    if (place_->instruction >= program.sections[section].size()) {
      return where + "at its end: " + what;
    }
    where += "instruction " + std::to_string(place_->instruction);
    if (place_->instruction < lines.size() && lines[place_->instruction].line != 0) {
      const SourceLine line = lines[place_->instruction];
      where += ", ";
      if (line.file < program.files.size()) where += program.files[line.file] + ":";
      where += std::to_string(line.line);
    }
    return where + ": " + what;
  }

 private:
  const DoublesKernels& kernels_;
  Frame& frame_;
  std::optional<OpOrigin> place_;
};

}  // namespace

std::string diagnose(const Program& program, const DoublesSection& section,
                     const DoublesKernels& kernels, BlockState& block, const BlockRun& run,
                     SourceLanes sources) {
  Frame frame(section, kernels, block, run, sources);
  const SavedMemory saved(section, block, run.outputs != nullptr);
  Search search(kernels, frame);
  clear_flags();
  frame.run().failure = frame.import();
  bool found = frame.failed() || search.in(section.before);
  std::uint64_t left = run.iterations;
  const std::uint64_t last = section.last_count(run);
  found = found || (left > last && search.in(section.enter));
  for (; left > last && !found; --left) found = search.in_pass(section.pass);
  for (; left > 0 && !found; --left) found = search.in_pass(section.last);
  if (!found && !search.in(section.after)) {
    std::vector<std::uint64_t> words;
    frame.run().failure |= frame.export_to(words, Frame::Wanted::All);
  }
  saved.put_back();
  return search.text(program);
}

}  // namespace gdr
