// `gdr selftest`: the engines against the reference on random programs, bit for bit.
#include "emulator/selftest/selftest.hpp"

#include <cstdlib>

#include "emulator/assembler/assembler.hpp"
#include "emulator/engine/api/capabilities.hpp"
#include "kernels/builtin.hpp"
#include "libgdr/cli/command.hpp"
#include "libgdr/cli/selftest_report.hpp"

namespace gdr::cli::selftest_command {
namespace {

struct Options {
  double minutes = 1.0 / 6;
  std::uint64_t seed = 1, cases = 0;
  std::string isa, only, states, engine = "vector";
  unsigned threads = 0;
  bool json = false;
};

/// The vector engine with the instruction set of --isa or GDR_ISA, else with all of this host; or
/// the exact engine on a GPU, which takes programs of any size then.
std::vector<std::unique_ptr<Engine>> engines_under_test(const std::string& name, std::string isa) {
  if (name != "vector") {
    const Capabilities engine = capabilities_of(name);
    if (!engine.exact() || !engine.uses_gpu)
      throw usage_error("--engine: '{}' is not an exact engine; there are vector and gpu-exact",
                        name);
    setenv("GDR_GPU_PAIRS", "0", 0);
    std::vector<std::unique_ptr<Engine>> engines;
    engines.push_back(make_engine(name, isa));
    return engines;
  }
  const char* variable = std::getenv("GDR_ISA");
  if (isa.empty() && variable != nullptr) isa = variable;
  std::vector<std::unique_ptr<Engine>> engines;
  if (!isa.empty()) {
    engines.push_back(make_engine("vector", isa));
    return engines;
  }
  for (const Isa each : host_isas()) engines.push_back(make_engine("vector", isa_name(each)));
  return engines;
}

std::vector<Program> library_kernels() {
  std::vector<Program> programs;
  for (const BuiltinKernel& kernel : builtin_kernels()) {
    AssembleResult result = assemble(kernel.source, std::string(kernel.name));
    if (!result.ok())
      throw Error(ErrorCategory::Internal,
                  fmt::format("kernel {} of the library does not assemble", kernel.name));
    programs.push_back(*std::move(result.program));
  }
  return programs;
}

/// A line for every program: category, seed, hash of the state that it leaves.
std::string states_of_programs(const Options& options, const Engine& engine) {
  constexpr std::uint64_t usual_cases = 1000;
  std::string text;
  for (const char* const category : {"operations", "programs", "loops"}) {
    if (!options.only.empty() && options.only != category) continue;
    for (std::uint64_t n = 0; n < (options.cases > 0 ? options.cases : usual_cases); ++n) {
      const std::uint64_t seed = options.seed + n;
      const BlockState state = selftest::run_case(engine, selftest::random_case(category, seed));
      text += fmt::format("{} {} {}\n", category, seed, selftest::hash_text(state));
    }
  }
  if (text.empty())
    throw usage_error("--states needs --only operations, programs or loops, or no --only");
  return text;
}

int run(const Options& options) {
  if (!(options.minutes > 0)) throw usage_error("--minutes: the time must be above 0");
  const auto engines = engines_under_test(options.engine, options.isa);
  for (const auto& engine : engines)
    verbose("engine", "{}, {}, compared with reference", engine->name(), isa_name(engine->isa()));
  if (!options.states.empty()) {
    write_text(options.states, states_of_programs(options, *engines.front()));
    return 0;
  }
  const std::vector<Program> kernels = library_kernels();
  selftest::Options wanted;
  wanted.seed = options.seed;
  wanted.seconds = 60 * options.minutes;
  wanted.cases = options.cases;
  wanted.category = options.only;
  wanted.threads = options.threads;
  wanted.kernels = kernels;
  const double categories = options.only.empty() ? 4 : 1;
  const double total =
      options.cases > 0 ? static_cast<double>(options.cases) * categories : wanted.seconds;
  selftest::Outcome outcome;
  {
    Progress progress("selftest", total);
    wanted.progress = [&progress](double done) { progress.update(done); };
    outcome = selftest::run(engines, wanted);
  }
  const SelftestReport report{options.seed, engines, outcome};
  write_output(options.json ? selftest_json(report) : selftest_text(report));
  return outcome.failure ? 1 : 0;
}

void add_options(CLI::App& app, Options& options) {
  add_number(app, "--minutes", options.minutes, "M", "duration of the test (default: 10 s)");
  add_whole_number(app, "--seed", options.seed,
                   "seed: program n of a category has seed N + n (default 1)");
  add_text(app, "--only", options.only, "operations|programs|loops|kernels", "one category");
  add_whole_number(app, "--cases", options.cases,
                   "number of programs of every category, instead of a duration");
  add_text(app, "--states", options.states, "FILE",
           "instead of comparing engines, write the seed of every random program and a hash of "
           "the state that it leaves, the same on every host, for 1000 programs of every category "
           "or as many as --cases; - prints it");
  add_text(app, "--engine", options.engine, "ENGINE",
           "engine under test: vector (default), or gpu-exact, whose programs take a second each");
  add_text(app, "--isa", options.isa, "ISA",
           "one instruction set: avx512, avx2, neon, portable (or GDR_ISA; default: all)");
  add_whole_number(app, "--threads", options.threads, "host threads; 0: one for each core");
  add_json_option(app, options.json);
}

const Registration registration{
    {.name = "selftest",
     .summary = "check the fast engine against the reference, bit for bit",
     .example = "gdr selftest\ngdr selftest --minutes 60 --seed 20240607 --isa avx2",
     .group = Group::Machine,
     .prepare = prepare<Options, add_options, run>,
     .details =
         "Runs random programs on the vector engine, with every instruction set of this host, and\n"
         "on the reference engine, and compares the whole state that they leave: single\n"
         "operations of every kind on hard operands, random programs of all units and memories,\n"
         "loops as kernels have them, and the kernels of the library. On a difference it prints\n"
         "the first instruction, PE, element and word that differ and the smallest program that\n"
         "shows it, and the exit status is 1."}};

}  // namespace
}  // namespace gdr::cli::selftest_command
