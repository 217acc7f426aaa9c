#include "emulator/engine/native/words/group_conversion.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>
#include <vector>

#include "emulator/port/port_words.hpp"

namespace gdr::native {
namespace {

/// Groups per step, so that a record is still in the first cache for its next word.
constexpr std::size_t groups_at_once = 64;

/// The word of a lane of 64 bits: a double, or a short's bits at the top.
template <WordConversion conversion>
std::uint64_t wide_lane(std::uint64_t bits) noexcept {
  if constexpr (conversion == WordConversion::Long || conversion == WordConversion::Rest)
    return port::canonical(bits);
  if constexpr (conversion == WordConversion::Short)
    return port::double_to_short(bits).upper << short_shift;
  return port::int_to_short(bits).upper << short_shift;
}

/// Converts one word of n groups to doubles or shorts, or to floats or integers of 32 bits. False
/// if an integer does not fit.
template <WordConversion conversion, typename Lane>
bool convert_word(const std::uint64_t* from, std::size_t from_step, std::byte* to,
                  std::size_t to_step, std::uint64_t n) noexcept {
  bool fits = true;
  for (std::uint64_t g = 0; g < n; ++g, from += from_step, to += to_step) {
    const std::uint64_t wide = wide_lane<conversion>(*from);
    if constexpr (std::is_same_v<Lane, double>) {
      const std::uint64_t lane = conversion == WordConversion::Rest ? 0 : wide;
      std::memcpy(to, &lane, sizeof lane);
    } else if constexpr (conversion == WordConversion::Integer) {
      const auto value = static_cast<std::int64_t>(wide) >> short_shift;
      const auto narrow = static_cast<std::int32_t>(value);
      fits = fits && narrow == value;
      std::memcpy(to, &narrow, sizeof narrow);
    } else {
      const auto number = std::bit_cast<double>(wide);
      auto narrow = static_cast<float>(number);
      if constexpr (conversion == WordConversion::Rest)
        narrow = static_cast<float>(number - double{narrow});
      std::memcpy(to, &narrow, sizeof narrow);
    }
  }
  return fits;
}

/// One word after the other, without vector instructions.
class PortableConversion final : public GroupConversion {
 public:
  explicit PortableConversion(const GroupLayout& layout)
      : words_(layout.words.begin(), layout.words.end()),
        from_words_(layout.from_words),
        precision_(layout.precision) {}

  bool convert(const std::uint64_t* from, std::size_t n, std::byte* to) const noexcept override {
    const std::size_t lane = precision_ == Precision::Float ? sizeof(float) : sizeof(double);
    const std::size_t bytes = words_.size() * lane;
    bool fits = true;
    for (std::size_t g = 0; g < n; g += groups_at_once) {
      const std::size_t some = std::min(groups_at_once, n - g);
      for (std::size_t w = 0; w < words_.size(); ++w)
        fits &=
            word_loop(words_[w].conversion)(from + g * from_words_ + words_[w].from, from_words_,
                                            to + g * bytes + w * lane, bytes, some);
    }
    return fits;
  }

 private:
  using WordLoop = bool (*)(const std::uint64_t*, std::size_t, std::byte*, std::size_t,
                            std::size_t) noexcept;

  WordLoop word_loop(WordConversion conversion) const noexcept {
    const bool floats = precision_ == Precision::Float;
    const auto of = [&]<WordConversion c>() -> WordLoop {
      return floats ? convert_word<c, float> : convert_word<c, double>;
    };
    if (conversion == WordConversion::Long) return of.template operator()<WordConversion::Long>();
    if (conversion == WordConversion::Rest) return of.template operator()<WordConversion::Rest>();
    if (conversion == WordConversion::Short) return of.template operator()<WordConversion::Short>();
    return of.template operator()<WordConversion::Integer>();
  }

  std::vector<GroupWord> words_;
  std::size_t from_words_;
  Precision precision_;
};

}  // namespace

std::unique_ptr<GroupConversion> make_group_conversion(const GroupLayout& layout, Isa isa) {
  std::unique_ptr<GroupConversion> made;
  if (isa == Isa::Avx512) made = make_avx512_group_conversion(layout);
  if (isa == Isa::Avx2) made = make_avx2_group_conversion(layout);
  return made ? std::move(made) : std::make_unique<PortableConversion>(layout);
}

}  // namespace gdr::native
