// Checks that the thread sanitizer supports the OpenMP runtime of this build. Without an argument all
// accesses are synchronised by barriers and the end of the parallel region, and the sanitizer must
// not report a race; with the argument `race` all threads increment one variable, and it must.
#include <cstdio>
#include <string_view>
#include <vector>

int main(int argc, char** argv) {
  const bool race = argc > 1 && std::string_view(argv[1]) == "race";
  std::vector<int> values(1000, 1);
  int count = 0;
  for (int round = 0; round < 20; ++round) {
#pragma omp parallel num_threads(4)
    {
#pragma omp for schedule(dynamic)
      for (int i = 0; i < 1000; ++i) values[static_cast<std::size_t>(i)] += i;
#pragma omp for schedule(dynamic)
      for (int i = 999; i >= 0; --i) values[static_cast<std::size_t>(i)] -= 1;
      if (race) ++count;
    }
    for (int& value : values) ++value;
  }
  std::printf("%d %d\n", values[5], count);
  return 0;
}
