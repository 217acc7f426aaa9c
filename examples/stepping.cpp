// Single-stepping a chip: a sum over sources, with the registers of a PE after every instruction.
//   c++ -std=c++20 stepping.cpp -lgdr
#include <cstdio>
#include <gdr/gdr.hpp>
#include <gdr/machine.hpp>
#include <vector>

int main() {
  try {
    const gdr::Kernel kernel = gdr::Kernel::compile(R"(
kernel moments; flops 3;
VARI p;
VARJ x, m;
VARF moment;
moment += m*(x - p);
)");
    const std::vector<double> x{1, 2, 4}, m{0.5, 0.25, 2}, places{0, 1};
    const std::vector<gdr::NamedInput> sources{{"x", x}, {"m", m}}, targets{{"p", places}};
    std::vector<double> moments(places.size());
    const std::vector<gdr::NamedResult> results{{"moment", moments}};

    gdr::Machine machine("emulator:blocks=1,pes=2");  // a chip with one block of two PEs
    machine.load(kernel);
    machine.sources(x.size(), sources);
    machine.targets(places.size(), targets);
    for (;;) {
      const gdr::MachinePosition at = machine.position();
      if (at.section.empty()) break;
      std::printf("clock %3llu  %s, pass %llu: %s\n", static_cast<unsigned long long>(at.clock),
                  at.section.c_str(), static_cast<unsigned long long>(at.pass), at.text.c_str());
      machine.step();
    }
    machine.results(results);
    const std::vector<std::uint64_t> registers = machine.memory(gdr::MachineMemory::Registers, 0);
    std::printf("%zu words in the registers of %zu PEs\n", registers.size(), machine.pes());
    std::printf("moments %g and %g\n", moments[0], moments[1]);
    return moments[0] == 9 && moments[1] == 6.25 ? 0 : 1;
  } catch (const gdr::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
