// Lines a second of the assembler on a large source: declarations, all kinds of operands, port
// checks and waits for results.
#include "emulator/assembler/assembler.hpp"

#include <chrono>
#include <cstdio>
#include <random>
#include <string>

namespace {

std::string make_source(unsigned lines) {
  static const char* const body[] = {
      "    fsub  $lr8v $lr16v x            # difference\n",
      "    fmul  $r0v dx dx ; fadd $t $lr24v $lr24v\n",
      "    fadd  $lr32v:m1.neg acc $lr40v\n",
      "    bget  $lr48v xj.v ; fmul $t $r0v 1.5\n",
      "    isub  $r8v 0x5f3000000 $r4v\n",
      "    [m1] fmul ax $lr8v half\n",
      "    fmul  $lr16v $lr8v 0.375 ; fsub $t $r20v $t\n",
      "    fadd  az $lr0v -1e-3\n",
      "    dmul  $lr24v $lr32v $lr40v\n",
      "    # a comment between\n",
      "\n",
      "    ipass $r60 7\n",
  };
  std::string text =
      "ivar long x y z f64to72\njvar long xj yj zj mj f64to72\nfvar long ax ay az f64to72 fadd\n"
      "const half = 0.5\nalias dx = $r0v\nalias acc = $lr8v\n.body\n";
  std::mt19937 random(1);
  for (unsigned i = 7; i < lines; ++i) text += body[random() % std::size(body)];
  return text;
}

}  // namespace

int main() {
  constexpr unsigned lines = 500'000;
  const std::string text = make_source(lines);
  gdr::AssembleOptions options;
  options.geometry.instruction_words = 2 * lines;
  double best = 1e30;
  for (int repeat = 0; repeat < 5; ++repeat) {
    const auto begin = std::chrono::steady_clock::now();
    const gdr::AssembleResult result = gdr::assemble(text, "bench.gds", options);
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
    if (!result.ok()) {
      std::fputs(result.diagnostics.render().c_str(), stderr);
      return 1;
    }
    if (time.count() < best) best = time.count();
  }
  std::printf("assembler: %.2f million lines a second (%u lines, one core, best of 5)\n",
              lines / best / 1e6, lines);
  return 0;
}
