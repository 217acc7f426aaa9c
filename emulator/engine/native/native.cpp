#include "emulator/engine/native/native.hpp"

#include <array>
#include <atomic>
#include <mutex>

#include "emulator/engine/check.hpp"
#include "emulator/engine/engine.hpp"
#include "emulator/engine/matmul/kernels.hpp"
#include "emulator/engine/native/block_executor.hpp"
#include "emulator/engine/native/cache.hpp"
#include "emulator/engine/native/packed_runner.hpp"
#include "emulator/engine/vector/vector.hpp"
#include "emulator/host/float_mode.hpp"

namespace gdr {
namespace {

class NativeExecutable final : public StreamingExecutable {
 public:
  NativeExecutable(const Program& program, const Geometry& geometry, native::Target target)
      : isa_(target.isa),
        geometry_(geometry),
        source_(program),
        program_(native::compiled_program(program, geometry, target)),
        products_(target.precision == native::Precision::Double ? fast_matmul_of(target.isa)
                                                                : nullptr),
        accepts_streams_(body_accepts_streams(program)) {}

  void run(BlockState& block, const BlockRun& run) const override {
    if (run.iterations == 0) return;
    const auto number = static_cast<unsigned>(run.section);
    const native::CompiledSection* section = program_->parts[number].section.get();
    if (section == nullptr || run.collect_flags) {
      exact_runs_[number].fetch_add(1, std::memory_order_relaxed);
      exact().run(block, run);
      return;
    }
    runs_[number].fetch_add(1, std::memory_order_relaxed);
    const MachineFloatMode mode;
    native::run_section(*section, block, run);
  }

  std::size_t stream_bytes() const noexcept override {
    const auto& body = program_->parts[static_cast<unsigned>(Section::Body)].section;
    return body && accepts_streams_ ? body->stream_bytes() : 0;
  }
  bool convert_sources(const std::uint64_t* shorts, std::size_t groups, std::uint32_t step,
                       std::byte* to) const noexcept override {
    const auto& body = program_->parts[static_cast<unsigned>(Section::Body)].section;
    return native::convert_sources(*body, shorts, groups, step, to);
  }

  std::uint64_t max_fused_groups() const noexcept override {
    return accepts_streams_ && program_->fusable ? ~std::uint64_t{0} : 0;
  }
  bool run_program(BlockState& block, const BlockRun& body) const override {
    const MachineFloatMode mode;
    native::run_program(*program_, block, body);
    for (const Section section : {Section::Start, Section::Body, Section::End})
      runs_[static_cast<unsigned>(section)].fetch_add(1, std::memory_order_relaxed);
    return true;
  }

  ExecutableStats stats() const override {
    ExecutableStats stats;
    for (unsigned s = 0; s < section_count; ++s) {
      const auto& part = program_->parts[s];
      stats[s].compiled = part.section != nullptr;
      stats[s].runs = runs_[s];
      stats[s].fallback_runs = exact_runs_[s];
      stats[s].reason = part.section ? part.section->remark() : part.reason;
      if (!part.section) continue;
      stats[s].code_bytes = part.section->code_bytes();
      stats[s].compile_seconds = part.section->compile_seconds();
    }
    return stats;
  }
  const FastMatmulKernels* fast_matmul_kernels() const noexcept override { return products_; }
  std::unique_ptr<PassRunner> pass_runner(const LoadedProgram& loaded,
                                          const Geometry& geometry) const override {
    return std::make_unique<native::PackedRunner>(
        *program_, loaded, geometry, *this, StreamingExecutable::pass_runner(loaded, geometry),
        runs_.data());
  }
  void record_matmul(std::uint64_t blocks, std::uint64_t /*slow*/) const noexcept override {
    runs_[static_cast<unsigned>(Section::Body)].fetch_add(blocks, std::memory_order_relaxed);
  }

 private:
  /// The exact engine's, made when it is first needed: most programs never do.
  const Executable& exact() const {
    std::call_once(exact_made_,
                   [this] { exact_ = VectorEngine(isa_).prepare(source_, geometry_); });
    return *exact_;
  }

  const Isa isa_;
  const Geometry geometry_;
  const Program source_;
  mutable std::once_flag exact_made_;
  mutable std::shared_ptr<const Executable> exact_;
  mutable std::array<std::atomic<std::uint64_t>, section_count> runs_{}, exact_runs_{};
  std::shared_ptr<const native::CompiledProgram> program_;
  const FastMatmulKernels* products_;
  bool accepts_streams_;
};

}  // namespace

bool NativeEngine::multiplies_all_bits() const noexcept {
  return target_.precision == native::Precision::Double && fast_matmul_of(target_.isa) != nullptr;
}

std::shared_ptr<const Executable> NativeEngine::prepare(const Program& program,
                                                        const Geometry& geometry) const {
  check_program(program, geometry);
  return std::make_shared<NativeExecutable>(program, geometry, target_);
}

}  // namespace gdr
