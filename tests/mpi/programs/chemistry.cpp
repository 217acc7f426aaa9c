// A Coulomb matrix on a device: every rank prints the words of its result.
//
// usage: test_mpi_chemistry DEVICE
#include <bit>
#include <cstdio>

#include "chemistry/molecules.hpp"
#include "gdr/gdr.hpp"

int main(int, char** words) try {
  gdr::Device device = gdr::Device::open(words[1]);
  const auto shells = gdr::test::various_shells(true, 3);
  gdr::chemistry::Coulomb coulomb(device, shells, {});
  const auto density = gdr::test::random_density(coulomb.functions());
  std::vector<double> made(density.size());
  coulomb.matrix(density.data(), made.data());
  std::uint64_t sum = 0;
  for (const double value : made)
    sum = (sum ^ std::bit_cast<std::uint64_t>(value)) * 0xd6e8feb86659fd93 + 1;
  std::printf("%016llx\n", static_cast<unsigned long long>(sum));
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
