#include "emulator/port/port_rows.hpp"

#include "emulator/port/port_words.hpp"

// The same loops for each instruction set: the compiler makes vectors of them.
#define GDR_PORT_ROWS(name, target)                                                              \
  template <auto Convert, bool Wide>                                                             \
  target void to_words_##name(const std::uint64_t* numbers, std::size_t stride, std::size_t n,   \
                              std::uint64_t* upper, std::uint64_t* lower) {                      \
    for (std::size_t i = 0; i < n; ++i) {                                                        \
      const WordHalves w = Convert(numbers[i * stride]);                                         \
      upper[i] = w.upper;                                                                        \
      if constexpr (Wide) lower[i] = w.lower;                                                    \
    }                                                                                            \
  }                                                                                              \
  target void to_doubles_##name(const std::uint64_t* upper, const std::uint64_t* lower,          \
                                std::size_t n, std::uint64_t* numbers) {                         \
    for (std::size_t i = 0; i < n; ++i) numbers[i] = port::long_to_double({upper[i], lower[i]}); \
  }                                                                                              \
  constexpr PortRows rows_##name{to_words_##name<port::double_to_long, true>,                    \
                                 to_words_##name<port::double_to_short, false>,                  \
                                 to_words_##name<port::int_to_long, true>,                       \
                                 to_words_##name<port::int_to_short, false>, to_doubles_##name};

namespace gdr {
namespace {

GDR_PORT_ROWS(portable, )
#if defined(__x86_64__)
GDR_PORT_ROWS(avx2, __attribute__((target("avx2"))))
GDR_PORT_ROWS(
    avx512,
    __attribute__((target("avx512f,avx512dq,avx512vl,avx512bw,avx2,prefer-vector-width=512"))))
#endif

}  // namespace

const PortRows& port_rows([[maybe_unused]] Isa isa) noexcept {
#if defined(__x86_64__)
  if (isa == Isa::Avx512) return rows_avx512;
  if (isa == Isa::Avx2) return rows_avx2;
#endif
  return rows_portable;
}

}  // namespace gdr
