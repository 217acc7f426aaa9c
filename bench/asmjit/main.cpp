// The native engine's emitter beside asmjit's Compiler: speed, time to make code, size, results.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>
#include <string>

#include "bench/asmjit/compiler.hpp"
#include "emulator/assembler/assembler.hpp"
#include "emulator/engine/native/float_mode.hpp"
#include "emulator/engine/native/program.hpp"
#include "kernels/builtin.hpp"

namespace {

using namespace gdr;
using namespace gdr::native;
using Clock = std::chrono::steady_clock;

struct Lines {
  explicit Lines(std::size_t bytes) : memory(bytes + 64), size(bytes) {}
  std::byte* data() {
    const auto at = reinterpret_cast<std::uintptr_t>(memory.data());
    return memory.data() + ((64 - at % 64) & 63);
  }
  std::vector<std::byte> memory;
  std::size_t size;
};

/// Numbers about 1, or small integers where words are bits.
void fill(std::byte* to, std::size_t lanes, Take take, Precision precision, std::mt19937_64& random,
          bool same = false) {
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::uint64_t shared = 0;
  for (std::size_t k = 0; k < lanes; ++k) {
    std::uint64_t word = 0;
    if (take == Take::Bits || take == Take::PeNumber || take == Take::BlockNumber) {
      word = random() % 1000;
      if (precision == Precision::Double) word <<= short_shift;
    } else if (take == Take::Mask) {
      word = random() % 2 != 0 ? ~std::uint64_t{0} : 0;
    } else if (precision == Precision::Double) {
      const double x = uniform(random);
      std::memcpy(&word, &x, sizeof x);
    } else {
      const auto x = static_cast<float>(uniform(random));
      std::memcpy(&word, &x, sizeof x);
    }
    if (k == 0) shared = word;
    if (same) word = shared;
    const std::size_t bytes = precision == Precision::Float ? 4 : 8;
    std::memcpy(to + k * bytes, &word, bytes);
  }
}

struct Job {
  const KernelCode* code;
  Target target;
  Lines items, source, uniforms, spills{1 << 16};
  std::size_t groups, passes;
  Job(const KernelCode& c, Target t, const WordTable& s, const WordTable& u, std::size_t groups_,
      std::size_t passes_)
      : code(&c),
        target(t),
        items(groups_ * 4 * c.layout.bytes()),
        source(s.words.size() * passes_ * t.lane_bytes()),
        uniforms(u.words.size() * t.lane_bytes() + 64),
        groups(groups_),
        passes(passes_) {
    std::mt19937_64 random(7);
    for (std::size_t i = 0; i < groups * 4; ++i)
      for (std::size_t n = 0; n < c.inputs.size(); ++n)
        fill(items.data() + i * c.layout.bytes() + c.input_offset[n], t.lanes(), c.inputs[n],
             t.precision, random);
    for (std::size_t p = 0; p < passes; ++p)
      for (std::size_t w = 0; w < s.words.size(); ++w)
        fill(source.data() + (p * s.words.size() + w) * t.lane_bytes(), 1, s.words[w].take,
             t.precision, random, true);
    for (std::size_t w = 0; w < u.words.size(); ++w)
      fill(uniforms.data() + w * t.lane_bytes(), 1, u.words[w].take, t.precision, random, true);
  }
  void run(const CompiledKernel& k) {
    for (std::size_t g = 0; g < groups; ++g)
      k.function(items.data() + g * k.copies * code->layout.bytes(), source.data(), uniforms.data(),
                 passes, spills.data());
  }
};

/// Outputs of both, where a NaN is a NaN.
bool same_outputs(Job& a, Job& b, unsigned copies) {
  const ItemLayout& l = a.code->layout;
  for (std::size_t i = 0; i < a.groups * copies; ++i) {
    const std::byte* x = a.items.data() + i * l.bytes() + l.output(0);
    const std::byte* y = b.items.data() + i * l.bytes() + l.output(0);
    if (std::memcmp(x, y, l.outputs * l.vector_bytes) == 0) continue;
    const bool wide = a.target.precision == Precision::Double;
    for (std::size_t k = 0; k < l.outputs * l.vector_bytes; k += wide ? 8 : 4) {
      if (std::memcmp(x + k, y + k, wide ? 8 : 4) == 0) continue;
      double p = 0, q = 0;
      float r = 0, s = 0;
      if (wide) {
        std::memcpy(&p, x + k, 8);
        std::memcpy(&q, y + k, 8);
      } else {
        std::memcpy(&r, x + k, 4);
        std::memcpy(&s, y + k, 4);
        p = r;
        q = s;
      }
      if (!std::isnan(p) || !std::isnan(q)) return false;
    }
  }
  return true;
}

void dump(const std::string& name, const CompiledKernel& k) {
  if (std::FILE* f = std::fopen(name.c_str(), "wb")) {
    std::fwrite(reinterpret_cast<const void*>(k.function), 1, k.bytes, f);
    std::fclose(f);
  }
}

struct Maker {
  const char* name;
  bench::AsmjitPolicy policy;
};
const Maker makers[] = {{"keep 0", {0, false, false}},
                        {"keep 16", {16, false, false}},
                        {"keep 16, all resident", {16, false, true}},
                        {"keep 100", {100, false, false}},
                        {"hoist", {16, true, false}}};

template <typename Make>
double best_microseconds(Make make) {
  double best = 1e30;
  for (int r = 0; r < 7; ++r) {
    const auto begin = Clock::now();
    make();
    best = std::min(best, std::chrono::duration<double, std::micro>(Clock::now() - begin).count());
  }
  return best;
}

void compare(const std::string& name, const Program& program, Target target, int rounds,
             const char* dumps) {
  const CompiledProgram compiled(program, Geometry{}, target);
  const auto& section = compiled.parts[static_cast<unsigned>(Section::Body)].section;
  if (!section) return;
  const CompiledKernels& made = section->code(0, target.precision);
  if (made.target != target) return;
  const auto label = fmt::format("{:20} {:6} {:6}", name, isa_name(target.isa),
                                 target.precision == Precision::Float ? "float" : "double");
  const std::size_t count = std::size(makers);
  std::vector<double> other(count), emit(count + 1), bytes(count + 1);
  std::vector<bool> same(count, true);
  double own = 0;
  for (std::size_t n = 0; n < made.kernels.size(); ++n) {
    const CompiledKernels::One& one = made.kernels[n];
    if (!one.machine.function) return;
    const double weight = static_cast<double>(section->kernels()[n].instances.size());
    const auto& sources = section->source_words();
    const auto& uniforms = section->uniform_words();
    emit[count] += best_microseconds([&] { compile_kernel(one.code, target, sources, uniforms); });
    bytes[count] += static_cast<double>(one.machine.bytes);
    std::vector<CompiledKernel> theirs;
    for (std::size_t m = 0; m < count; ++m) {
      const auto make = [&] {
        return bench::compile_with_asmjit(one.code, target, sources, uniforms, makers[m].policy);
      };
      try {
        emit[m] += best_microseconds(make);
        theirs.push_back(make());
      } catch (const Unsupported& e) {
        fmt::print("{} {}: {}\n", label, makers[m].name, e.what());
        return;
      }
      bytes[m] += static_cast<double>(theirs[m].bytes);
      if (dumps)
        dump(fmt::format("{}/{}-{}-{}-{}-{}", dumps, name, isa_name(target.isa),
                         static_cast<int>(target.precision), n, m),
             theirs[m]);
    }
    if (dumps)
      dump(fmt::format("{}/{}-{}-{}-{}-x", dumps, name, isa_name(target.isa),
                       static_cast<int>(target.precision), n),
           one.machine);
    const FloatMode mode;
    std::vector<Job> jobs;
    for (std::size_t m = 0; m <= count; ++m)
      jobs.emplace_back(one.code, target, sources, uniforms, 4, 512);
    // A run leaves carried values behind: results are compared after the first one.
    jobs[count].run(one.machine);
    for (std::size_t m = 0; m < count; ++m) {
      jobs[m].run(theirs[m]);
      same[m] = same[m] && same_outputs(jobs[m], jobs[count], one.machine.copies);
    }
    std::vector<std::vector<double>> times(count + 1);
    for (int r = 0; r < rounds; ++r) {
      for (std::size_t m = 0; m <= count; ++m) {
        const auto begin = Clock::now();
        jobs[m].run(m < count ? theirs[m] : one.machine);
        times[m].push_back(std::chrono::duration<double>(Clock::now() - begin).count());
      }
    }
    const auto low = [&](std::size_t m) {
      auto& t = times[m];
      std::nth_element(t.begin(), t.begin() + t.size() / 4, t.end());
      return t[t.size() / 4];
    };
    own += weight * low(count);
    for (std::size_t m = 0; m < count; ++m) other[m] += weight * low(m);
  }
  for (std::size_t m = 0; m < count; ++m)
    fmt::print("{}  {:22} speed {:.3f}  made in {:6.0f} us ({:6.0f})  bytes {:6.0f} ({:6.0f}){}\n",
               label, makers[m].name, own / other[m], emit[m], emit[count], bytes[m], bytes[count],
               same[m] ? "" : "  OTHER BITS");
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 100;
  const std::string only = argc > 2 ? argv[2] : "";
  const char* dumps = argc > 3 ? argv[3] : nullptr;
  for (const BuiltinKernel& kernel : builtin_kernels()) {
    const std::string name(kernel.name);
    if (!only.empty() && name != only) continue;
    const auto result = assemble(kernel.source, name);
    if (!result.ok()) continue;
    for (const Isa isa : {Isa::Avx512, Isa::Avx2})
      for (const Precision precision : {Precision::Double, Precision::Float}) try {
          compare(name, *result.program, {isa, precision}, rounds, dumps);
        } catch (const std::exception& e) {
          fmt::print("{}: {}\n", name, e.what());
        }
  }
}
