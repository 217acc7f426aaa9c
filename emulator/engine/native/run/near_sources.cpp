#include "emulator/engine/native/run/near_sources.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "emulator/host/for_each_isa.hpp"

namespace gdr::native {
namespace {

/// Fewer sources are not tested.
constexpr std::uint64_t min_sources = 32;
/// Sources that are left out together.
constexpr std::uint64_t tested_at_once = 8;
/// The squares of distances here and in the program are rounded differently.
constexpr double distance_rounding = 1e-12;

/// The coordinates of sources one after the other.
GDR_FOR_EACH_ISA void take_apart(const double* sources, std::size_t words, std::uint64_t n,
                                 const std::array<std::size_t, 3>& places, double* x, double* y,
                                 double* z) {
  const double* const from_x = sources + places[0];
  const double* const from_y = sources + places[1];
  const double* const from_z = sources + places[2];
  for (std::uint64_t j = 0; j < n; ++j) {
    x[j] = from_x[j * words];
    y[j] = from_y[j * words];
    z[j] = from_z[j * words];
  }
}

/// Writes 1 for each source that is so near to a box that its distance to some point of it may be
/// below a limit, or whose position is NaN, else 0: as wide as a coordinate, for vectors of both.
GDR_FOR_EACH_ISA void find_near(const double* x, const double* y, const double* z, std::uint64_t n,
                                const double* low, const double* high, double limit,
                                std::uint64_t* near) {
#pragma omp simd
  for (std::uint64_t j = 0; j < n; ++j) {
    const double dx = std::max(std::max(x[j] - high[0], low[0] - x[j]), 0.0),
                 dy = std::max(std::max(y[j] - high[1], low[1] - y[j]), 0.0),
                 dz = std::max(std::max(z[j] - high[2], low[2] - z[j]), 0.0);
    near[j] = dx * dx + dy * dy + dz * dz >= limit ? std::uint64_t{0} : std::uint64_t{1};
  }
}

/// Copies the near sources, of so many words, one after the other; returns how many. The row behind
/// them is written, too.
template <std::size_t words>
[[gnu::always_inline]] inline std::uint64_t copy_rows(const double* from, std::uint64_t n,
                                                      const std::uint64_t* near, double* to) {
  std::uint64_t count = 0;
  const auto copy = [&](std::uint64_t j) __attribute__((always_inline)) {  // without branches
    std::memcpy(to + count * words, from + j * words, words * sizeof(double));
    count += near[j];
  };
  std::uint64_t j = 0;
  for (; j + tested_at_once <= n; j += tested_at_once) {
    std::uint64_t any = 0;
    for (std::uint64_t k = 0; k < tested_at_once; ++k) any |= near[j + k];
    for (std::uint64_t k = 0; any != 0 && k < tested_at_once; ++k) copy(j + k);
  }
  for (; j < n; ++j) copy(j);
  return count;
}

/// Copies for any number of words.
std::uint64_t copy_any(const double* from, std::size_t words, std::uint64_t n,
                       const std::uint64_t* near, double* to) {
  std::uint64_t count = 0;
  for (std::uint64_t j = 0; j < n; ++j)
    if (near[j] != 0) std::copy_n(from + j * words, words, to + count++ * words);
  return count;
}

GDR_FOR_EACH_ISA std::uint64_t copy_near(const double* from, std::size_t words, std::uint64_t n,
                                         const std::uint64_t* near, double* to) {
  switch (words) {
    case 3:
      return copy_rows<3>(from, n, near, to);
    case 4:
      return copy_rows<4>(from, n, near, to);
    case 5:
      return copy_rows<5>(from, n, near, to);
    case 6:
      return copy_rows<6>(from, n, near, to);
    case 8:
      return copy_rows<8>(from, n, near, to);
    default:
      return copy_any(from, words, n, near, to);
  }
}

/// Whether the loop reads a host double as it is.
bool is_plain_double(const PortField& field) noexcept {
  return field.width == Width::Long && field.conversion.host == HostType::F64 &&
         field.conversion.machine == MachineFormat::FloatLong;
}

}  // namespace

std::optional<CutoffWords> cutoff_words(const LoadedProgram& loaded, const CompiledSection& body) {
  const Program& program = loaded.program;
  if (!program.cutoff || program.group != 1 || body.precision() != Precision::Double)
    return std::nullopt;
  CutoffWords words;
  words.target_words = loaded.layout.target_words;
  words.source_words = body.source_words().words.size();
  const auto find = [](const std::vector<PortField>& all,
                       const std::vector<LinkLayout::Field>& fields,
                       std::uint32_t variable) -> const PortField* {
    const auto found = std::ranges::find(fields, variable, &LinkLayout::Field::variable);
    if (found == fields.end()) return nullptr;
    const PortField* const field = &all[static_cast<std::size_t>(found - fields.begin())];
    return is_plain_double(*field) ? field : nullptr;
  };
  const auto set_target = [&](std::uint32_t variable, std::size_t& word) {
    const PortField* const field = find(loaded.targets, loaded.layout.targets, variable);
    if (field != nullptr) word = field->half_word / 2;
    return field != nullptr;
  };
  const auto set_source = [&](std::uint32_t variable, std::size_t& word) {
    const PortField* const field = find(loaded.sources, loaded.layout.sources, variable);
    if (field == nullptr) return false;
    word = body.source_words().number({WordType::Long, field->location.address, 0});
    return word < words.source_words;
  };
  if (!set_target(program.cutoff->radius2, words.radius2)) return std::nullopt;
  for (std::size_t c = 0; c < 3; ++c)
    if (!set_target(program.cutoff->target[c], words.target_position[c]) ||
        !set_source(program.cutoff->source[c], words.source_position[c]))
      return std::nullopt;
  return words;
}

void NearSources::begin(const CutoffWords& words, const std::uint64_t* targets,
                        std::size_t target_count, const LoopSources& all) {
  words_ = &words;
  targets_ = targets;
  target_count_ = target_count;
  all_ = all;
  if (all.count < min_sources) return;
  for (std::vector<double>& x : at_)
    if (x.size() < all.count) x.resize(all.count);
  if (near_.size() < all.count) near_.resize(all.count);
  grow(groups_, (all.count + 1) * words.source_words * sizeof(double));
  take_apart(reinterpret_cast<const double*>(all.groups), words.source_words, all.count,
             words.source_position, at_[0].data(), at_[1].data(), at_[2].data());
}

/// The bounds of some targets, and the largest square of their radii.
void NearSources::set_box(std::size_t first, std::size_t count) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  low_.fill(infinity);
  high_.fill(-infinity);
  radius2_ = 0;
  const std::uint64_t* record = targets_ + first * words_->target_words;
  const std::size_t end = std::min(first + count, target_count_);
  for (std::size_t i = first; i < end; ++i, record += words_->target_words) {
    for (std::size_t c = 0; c < 3; ++c) {
      const auto x = std::bit_cast<double>(record[words_->target_position[c]]);
      low_[c] = std::min(low_[c], x);
      high_[c] = std::max(high_[c], x);
    }
    radius2_ = std::max(radius2_, std::bit_cast<double>(record[words_->radius2]));
  }
}

LoopSources NearSources::select(std::size_t first, std::size_t count) {
  if (all_.count < min_sources) return all_;
  set_box(first, count);
  find_near(at_[0].data(), at_[1].data(), at_[2].data(), all_.count, low_.data(), high_.data(),
            radius2_ * (1 + distance_rounding), near_.data());
  const auto* const from = reinterpret_cast<const double*>(all_.groups);
  auto* const to = reinterpret_cast<double*>(groups_.data());
  const std::uint64_t near = copy_near(from, words_->source_words, all_.count, near_.data(), to);
  if (near == all_.count) return all_;
  // The loop has at least one iteration.
  if (near == 0) std::copy_n(from, words_->source_words, to);
  return {groups_.data(), std::max<std::uint64_t>(near, 1)};
}

}  // namespace gdr::native
