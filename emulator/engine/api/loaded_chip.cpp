#include <algorithm>
#include <utility>

#include "emulator/engine/api/pass.hpp"

namespace gdr {

void initialise_blocks(ChipState& chip, const LoadedProgram& program,
                       const Executable& executable) {
  BlockRun init;
  init.section = Section::Init;
  init.source_base = program.halves.source_base[0];
  init.output_base = program.halves.output_base[0];
  for (BlockState& block : chip.blocks) executable.run(block, init);
}

void LoadedChip::load(const LoadedProgram& program, const Executable& executable) {
  program_ = &program;
  executable_ = &executable;
  init_pending_ = true;
  params_.clear();
  params_pending_.clear();
  work_ = nullptr;
  ++version_;
}

void LoadedChip::set_param(std::uint32_t variable, std::span<const std::uint64_t> words) {
  if (work_) state();  // it comes before the parameter
  // Written even if unchanged: a program may have overwritten it.
  if (std::ranges::find(params_pending_, variable) == params_pending_.end())
    params_pending_.push_back(variable);
  params_.set(variable, words);
}

void LoadedChip::copy_params(const LoadedChip& other) {
  bool has_more = false;
  params_.for_each([&](std::uint32_t variable, auto) {
    has_more = has_more || other.params_.words(variable).empty();
  });
  if (has_more) load(*program_, *executable_);
  other.params_.for_each([&](std::uint32_t variable, std::span<const std::uint64_t> words) {
    set_param(variable, words);
  });
}

ChipState& LoadedChip::state() {
  if (!state_) state_ = make_chip(geometry_);
  if (init_pending_) {
    if (!clean_) clear(*state_);
    initialise_blocks(*state_, *program_, *executable_);
    init_pending_ = false;
  }
  for (const std::uint32_t variable : params_pending_)
    for (BlockState& block : state_->blocks)
      load_param(program_->params[variable], program_->program.elements, block,
                 params_.words(variable).data());
  params_pending_.clear();
  if (work_) std::exchange(work_, nullptr)(*state_);
  clean_ = false;
  ++version_;
  return *state_;
}

}  // namespace gdr
