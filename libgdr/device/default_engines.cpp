#include "libgdr/device/default_engines.hpp"

#include <algorithm>
#include <cstdlib>

namespace gdr {
namespace {

constexpr DefaultEngine table[] = {
    {EngineUse::Library, "native",
     "`gdr::Device::open`, `gdr_device_open`, Fortran's `gdr_device_open`, `gdr.open`, Python "
     "functions and kernels without `device=`, the devices `mpi` and `auto` where they emulate",
     "programs want results in doubles, as fast as the host gives them"},
    {EngineUse::Calculation, "native",
     "`gdr force`, `gdr nbody`; the libraries for existing programs: GRAPE-6, GRAPE-5, NBODY6, "
     "BLAS, and the original's matrix product",
     "existing programs and data expect doubles and the speed of their host"},
    {EngineUse::Description, "native", "`gdr info`, `gdr info --bug-report`",
     "describes and tests the device that calculations open"},
    {EngineUse::Machine, "vector",
     "`gdr run`, `gdr debug`, `gdr profile`, `gdr selftest`, `gdr::Machine`, `gdr.Machine`, "
     "`gdr.Debugger`",
     "these show what the machine does: its words, bits and clocks"},
    {EngineUse::Board, "vector", "`gdr serve`, `gdr boards`, boards of virtual machines",
     "stands for a board of another process or host, whose results all clients share"},
    {EngineUse::Benchmark, "vector", "`gdr bench` where a benchmark names no engine",
     "measures the emulation of the machine; the tables name every engine"},
};

}  // namespace

std::span<const DefaultEngine> default_engines() noexcept { return table; }

std::string_view default_engine(EngineUse use) noexcept {
  return std::ranges::find(table, use, &DefaultEngine::use)->engine;
}

std::string chosen_engine(std::string_view given, std::string_view otherwise) {
  if (!given.empty()) return std::string(given);
  const char* const variable = std::getenv("GDR_ENGINE");
  return std::string(variable != nullptr && *variable != '\0' ? variable : otherwise);
}

}  // namespace gdr
