#include "emulator/engine/native/native.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <list>
#include <mutex>

#include "emulator/engine/api/check.hpp"
#include "emulator/engine/api/engine.hpp"
#include "emulator/engine/matmul/cpu/functions.hpp"
#include "emulator/engine/matmul/gpu/gpu_products.hpp"
#include "emulator/engine/native/run/block_executor.hpp"
#include "emulator/engine/native/run/packed_plan.hpp"
#include "emulator/engine/native/run/packed_runner.hpp"
#include "emulator/engine/runners/blockwise.hpp"
#include "emulator/host/float_mode.hpp"
#include "emulator/isa/larger_memories.hpp"

namespace gdr {
namespace {

/// Key of a compiled program: its content and geometry, without names of variables and files.
struct Key {
  Program program;
  Geometry geometry;
  native::Target target;
  Gpus gpus;

  bool operator==(const Key& other) const {
    const auto same_place = [](const Variable& a, const Variable& b) {
      return a.kind == b.kind && a.location == b.location;
    };
    return target == other.target && gpus == other.gpus &&
           program.sections == other.program.sections &&
           program.elements == other.program.elements &&
           program.fixed_shorts == other.program.fixed_shorts && geometry == other.geometry &&
           std::ranges::equal(program.variables, other.program.variables, same_place);
  }
};

struct CachedProgram {
  Key key;
  std::shared_ptr<const native::CompiledProgram> compiled;
};

/// Equal programs and geometries are compiled once per process. Thread-safe.
std::shared_ptr<const native::CompiledProgram> compiled_program(const Program& program,
                                                                const Geometry& geometry,
                                                                native::Target target, Gpus gpus) {
  constexpr std::size_t max_programs = 64;
  static std::mutex mutex;
  static std::list<CachedProgram> entries;  // most recently used first
  Key key{program, geometry, target, std::move(gpus)};
  const std::lock_guard lock(mutex);
  const auto found = std::ranges::find(entries, key, &CachedProgram::key);
  if (found != entries.end()) {
    entries.splice(entries.begin(), entries, found);
    return entries.front().compiled;
  }
  auto compiled = std::make_shared<native::CompiledProgram>(program, geometry, target, key.gpus);
  entries.push_front({std::move(key), compiled});
  if (entries.size() > max_programs) entries.pop_back();
  return compiled;
}

class NativeExecutable final : public StreamingExecutable {
 public:
  NativeExecutable(const Program& program, const Geometry& geometry, native::Target target,
                   Gpus gpus, std::shared_ptr<const Engine> exact,
                   std::shared_ptr<MatmulDevice> matmul_device)
      : isa_(target.isa),
        geometry_(geometry),
        source_(program),
        exact_engine_(std::move(exact)),
        program_(compiled_program(program, geometry, target, std::move(gpus))),
        matmul_device_(std::move(matmul_device)),
        products_(&fast_matmul_of(target.isa)),
        accepts_streams_(body_accepts_streams(program)) {
    if (!program.in_longs.empty() && target.precision == native::Precision::Double)
      set_in_longs(program.in_longs.front());
  }

  void run(BlockState& block, const BlockRun& run) const override {
    if (run.iterations == 0) return;
    const auto number = static_cast<unsigned>(run.section);
    const native::CompiledSection* const section = program_->section(run.section);
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
    const native::CompiledSection* const body = program_->section(Section::Body);
    return body != nullptr && accepts_streams_ ? body->stream_bytes() : 0;
  }
  bool convert_sources(const std::uint64_t* shorts, std::size_t groups, std::uint32_t step,
                       std::byte* to) const noexcept override {
    return native::convert_sources(*program_->section(Section::Body), shorts, groups, step, to);
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
      const bool multiplied = runs_[s] != 0 && exact_runs_[s] == 0;  // if it is not compiled
      if (part.section != nullptr)
        stats[s].reason = part.section->remark();
      else if (!multiplied)
        stats[s].reason = part.reason;
      add_work(part.section.get(), stats[s]);
    }
    add_others(stats);
    if (device_matmul_runs_ != 0) {
      SectionStats& body = stats[static_cast<unsigned>(Section::Body)];
      body.gpu_runs += device_matmul_runs_;
      body.reason.clear();  // why its instructions would not run there
    }
    if (matmul_device_ != nullptr)
      if (std::string failed = matmul_device_->failure(); !failed.empty())
        stats[static_cast<unsigned>(Section::Body)].reason = std::move(failed);
    return stats;
  }
  MatmulSupport matmul() const noexcept override {
    return {nullptr, products_, matmul_device_.get()};
  }
  std::unique_ptr<PassRunner> pass_runner(const LoadedProgram& loaded,
                                          const Geometry& geometry) const override {
    native::FallbackRunners others{blockwise_runner(loaded, geometry, *this), {}};
    if (program_->target.precision == native::Precision::Float)
      others.make_in_doubles = [this, &loaded, geometry, blockwise = others.blockwise] {
        return in_doubles_runner(loaded, geometry, blockwise);
      };
    std::unique_ptr<PassRunner> own = native::make_packed_runner(*program_, loaded, geometry, *this,
                                                                 std::move(others), runs_.data());
    return in_longs_ != nullptr ? in_longs_runner(loaded, std::move(own)) : std::move(own);
  }
  void record_matmul(std::uint64_t blocks, std::uint64_t /*slow*/) const noexcept override {
    runs_[static_cast<unsigned>(Section::Body)].fetch_add(blocks, std::memory_order_relaxed);
  }
  void record_device_matmul(std::uint64_t blocks, bool computed,
                            bool /*repeated*/) const noexcept override {
    record_matmul(blocks, 0);
    if (computed) device_matmul_runs_.fetch_add(blocks, std::memory_order_relaxed);
  }

 private:
  struct InLongs;

  static void add_work(const native::CompiledSection* section, SectionStats& to) {
    if (section == nullptr) return;
    to.gpu_runs += section->gpu_runs();
    to.code_bytes += section->code_bytes();
    to.compile_seconds += section->compile_seconds();
  }
  /// Adds what other executables did with packed targets, and their remarks about them.
  void add_others(ExecutableStats& to) const;
  void add_to(ExecutableStats& to) const;

  std::unique_ptr<PassRunner> in_doubles_runner(
      const LoadedProgram& loaded, const Geometry& geometry,
      const std::shared_ptr<PassRunner>& blockwise) const {
    const NativeExecutable& doubles = in_doubles();
    return native::make_packed_runner(*doubles.program_, loaded, geometry, doubles, {blockwise, {}},
                                      runs_.data());
  }
  /// This program in doubles, made on first use.
  const NativeExecutable& in_doubles() const {
    const std::lock_guard lock(in_doubles_mutex_);
    if (in_doubles_ == nullptr)
      in_doubles_ = std::make_shared<NativeExecutable>(
          source_, geometry_,
          native::Target{isa_, native::Precision::Double, native::FloatMode::Plain, false},
          program_->gpus, exact_engine_, nullptr);
    return *in_doubles_;
  }
  std::shared_ptr<const NativeExecutable> made_in_doubles() const {
    const std::lock_guard lock(in_doubles_mutex_);
    return in_doubles_;
  }

  /// Without the program in longs if even larger memories have no room for it.
  void set_in_longs(const Program& program);
  /// Packs targets for the program in longs; `own` has all other passes.
  std::unique_ptr<PassRunner> in_longs_runner(const LoadedProgram& loaded,
                                              std::unique_ptr<PassRunner> own) const;

  /// The exact engine's, made on first use: most programs never need it.
  const Executable& exact() const {
    std::call_once(exact_made_, [this] { exact_ = exact_engine_->prepare(source_, geometry_); });
    return *exact_;
  }

  const Isa isa_;
  const Geometry geometry_;
  const Program source_;
  const std::shared_ptr<const Engine> exact_engine_;
  mutable std::once_flag exact_made_;
  mutable std::shared_ptr<const Executable> exact_;
  mutable std::array<std::atomic<std::uint64_t>, section_count> runs_{}, exact_runs_{};
  std::shared_ptr<const native::CompiledProgram> program_;
  std::shared_ptr<MatmulDevice> matmul_device_;
  const FastMatmulFunctions* products_;
  mutable std::atomic<std::uint64_t> device_matmul_runs_{0};  ///< block runs
  bool accepts_streams_;
  std::shared_ptr<const InLongs> in_longs_;  ///< executes packed targets; may be null
  /// Executes packed targets whose sources are beyond the range of floats.
  mutable std::mutex in_doubles_mutex_;
  mutable std::shared_ptr<const NativeExecutable> in_doubles_;
};

/// The same kernel with every number as a long.
struct NativeExecutable::InLongs {
  InLongs(const Program& program, const Geometry& made_for, const NativeExecutable& of)
      : geometry(made_for),
        executable(program, geometry, in_doubles(of.program_->target), of.program_->gpus,
                   of.exact_engine_, nullptr),
        loaded(load_program(program, geometry, of.isa_, false)) {}
  static native::Target in_doubles(native::Target target) {
    target.longs_are_doubles = true;
    return target;
  }
  Geometry geometry;
  NativeExecutable executable;
  LoadedProgram loaded;
};

void NativeExecutable::set_in_longs(const Program& program) {
  for (const Geometry& geometry : {geometry_, larger_memories(geometry_)}) {
    try {
      check_program(program, geometry);
      in_longs_ = std::make_shared<InLongs>(program, geometry, *this);
      return;
    } catch (const Error& error) {
      if (error.category() != ErrorCategory::Program) throw;
    }
  }
}

void NativeExecutable::add_others(ExecutableStats& to) const {
  if (in_longs_ != nullptr) in_longs_->executable.add_to(to);
  if (const auto doubles = made_in_doubles()) doubles->add_to(to);
}
void NativeExecutable::add_to(ExecutableStats& to) const {
  for (unsigned s = 0; s < section_count; ++s) {
    const native::CompiledSection* const section = program_->parts[s].section.get();
    add_work(section, to[s]);
    if (section == nullptr) continue;
    if (std::string remark = section->remark(); !remark.empty()) to[s].reason = std::move(remark);
  }
}

std::unique_ptr<PassRunner> NativeExecutable::in_longs_runner(
    const LoadedProgram& loaded, std::unique_ptr<PassRunner> own) const {
  const native::CompiledProgram& compiled = *in_longs_->executable.program_;
  if (const native::PackedPlan plan = native::make_packed_plan(compiled, in_longs_->loaded);
      !plan.usable) {
    if (const native::CompiledSection* const body = compiled.section(Section::Body))
      body->note_in_shorts(plan.reason);
    return own;
  }
  return native::make_packed_runner(compiled, in_longs_->loaded, in_longs_->geometry,
                                    in_longs_->executable, {std::move(own), {}}, runs_.data(),
                                    &loaded);
}

}  // namespace

NativeEngine::NativeEngine(Isa isa, native::Precision precision, native::FloatMode mode,
                           std::shared_ptr<const Engine> exact)
    : target_{isa, precision, mode, false}, exact_(std::move(exact)) {
  target_.square_roots = isa != Isa::Portable && precision == native::Precision::Double &&
                         prefers_square_root_instruction();
}

NativeEngine::NativeEngine(Isa isa, native::Precision precision, Gpus gpus,
                           std::shared_ptr<const Engine> exact)
    : target_{isa, precision, native::FloatMode::Plain, false},
      gpus_(std::move(gpus)),
      exact_(std::move(exact)),
      matmul_device_(matmul_on(gpus_, precision == native::Precision::Double
                                          ? DeviceNumbers::Doubles
                                          : DeviceNumbers::Floats)) {}

std::string_view NativeEngine::name() const noexcept {
  const bool doubles = target_.precision == native::Precision::Double;
  if (!gpus_.empty()) return doubles ? "gpu" : "gpu-float";
  if (doubles) return "native";
  switch (target_.mode) {
    case native::FloatMode::Mixed:
      return "native-mixed";
    case native::FloatMode::Fast:
      return "native-fast";
    default:
      return "native-float";
  }
}

std::shared_ptr<const Executable> NativeEngine::prepare(const Program& program,
                                                        const Geometry& geometry) const {
  check_program(program, geometry);
  return std::make_shared<NativeExecutable>(program, geometry, target_, gpus_, exact_,
                                            matmul_device_);
}

}  // namespace gdr
