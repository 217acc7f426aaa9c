// The product: for each stretch of columns, tile after tile, parts of the inner dimension inside.
#include <algorithm>
#include <exception>
#include <string>
#include <utility>

#include "gdr/error.hpp"
#include "kernels/builtin.hpp"
#include "libgdr/dense/prediction.hpp"
#include "libgdr/dense/product_impl.hpp"
#include "libgdr/dense/views.hpp"
#include "libgdr/device/account.hpp"
#include "libgdr/device/side_by_side.hpp"
#include "libgdr/driver/access.hpp"

namespace gdr::dense {
namespace {

/// Columns at a time: enough to hide the tile's loading, few enough for the host's memory.
constexpr std::size_t most_columns = 16384;

void check_geometry(const Geometry& g) {
  const Geometry chip;
  if (g.pes_per_block >= chip.pes_per_block && g.local_words >= chip.local_words &&
      g.register_words >= chip.register_words && g.broadcast_words >= chip.broadcast_words)
    return;
  throw Error(ErrorCategory::Unsupported,
              "matrix products need blocks of " + std::to_string(chip.pes_per_block) +
                  " PEs with the memories of the chip; leave pes and memory sizes as they are");
}

/// C = beta C, where there is nothing to add.
template <typename Number>
void scale(std::size_t m, std::size_t n, double beta, const MatrixView<Number>& c) noexcept {
  if (c.transpose == Transpose::Yes) std::swap(m, n);
  for (std::size_t column = 0; beta != 1 && column < n; ++column) {
    Number* const to = c.data + column * c.stride;
    for (std::size_t row = 0; row < m; ++row) to[row] = static_cast<Number>(scaled(beta, to[row]));
  }
}

}  // namespace

ProductRunner::ProductRunner(std::shared_ptr<DeviceCore> device, MatrixPrecision wanted)
    : core(std::move(device)), precision(wanted), number(++core->jobs) {
  check_geometry(core->geometry);
  work.body = [this](const std::stop_token& token) {
    stop = token;
    run();
  };
}

Held ProductRunner::held_floats() const {
  const auto clocks = [&](Held held) {
    const std::size_t board =
        block_depth(held) * core->geometry.blocks * core->geometry.chips_per_board;
    return (call.k + board - 1) / board * column_clocks(held);
  };
  const bool pays = clocks(Held::Floats) < clocks(Held::Doubles);
  const bool whole =
      pays && !has_subnormal(call.a, call.m, call.k) && !has_subnormal(call.b, call.k, call.n);
  return whole ? Held::Floats : Held::Doubles;
}

/// Tiles are dealt out to the boards; each has the columns of all. What a board did not finish
/// before it was lost goes to the others.
void ProductRunner::stretch(const Inner& inner, const Columns& columns) {
  stored.assign((call.m + mapping.rows - 1) / mapping.rows, false);
  for (;;) {
    std::vector<std::size_t> left;
    for (std::size_t t = 0; t < stored.size(); ++t)
      if (!stored[t]) left.push_back(t);
    if (left.empty()) return;
    const std::vector<BoardSlot*> usable = core->usable();
    const std::size_t boards = std::min(left.size(), usable.size());
    std::vector<std::exception_ptr> errors(boards);
    std::vector<std::string> lost(boards);
    const auto multiply = [&](std::size_t b) noexcept {
      OnBoard on{*usable[b]};
      try {
        load(on);
        need_columns(on, inner, columns);
        for (const std::size_t tile : order(on, left, b, boards))
          add_tile(on, inner, tile * mapping.rows, columns);
        collect(on, columns);
      } catch (const driver::BoardFailure& e) {
        lost[b] = e.what();
      } catch (...) {
        on.slot.invalidate();
        errors[b] = std::current_exception();
      }
    };
    if (usable.front()->board->is_remote())
      side_by_side(boards, multiply);
    else
      for (std::size_t b = 0; b < boards && (b == 0 || !errors[b - 1]); ++b) multiply(b);
    for (std::size_t b = 0; b < boards; ++b) {
      if (!lost[b].empty()) core->fail(*usable[b], lost[b]);
      if (errors[b]) std::rethrow_exception(errors[b]);
    }
  }
}

/// Every `step`-th tile, the one that the board has before the others.
std::vector<std::size_t> ProductRunner::order(const OnBoard& on,
                                              const std::vector<std::size_t>& left,
                                              std::size_t first, std::size_t step) {
  std::vector<std::size_t> own;
  for (std::size_t t = first; t < left.size(); t += step) own.push_back(left[t]);
  const ResidentTile& has = on.slot.contents.tile;
  const auto held = std::ranges::find(own, has.row / mapping.rows);
  if (has.owner == number && has.generation == tiled && held != own.end())
    std::rotate(own.begin(), held, held + 1);
  return own;
}

/// Begins a new generation of a factor, unless this call's is that of the last one.
void ProductRunner::keep(Generation& generation, Kept now) {
  if (generation.kept && *generation.kept == now) return;
  generation = {++generations, std::move(now)};
}

bool ProductRunner::turn(Inner& inner) {
  const std::size_t tiles_of_a = (call.m + mapping.rows - 1) / mapping.rows;
  const bool in_pes = inner.size() <= pass_depth(inner) && tiles_of_a <= core->usable().size();
  if (call.unchanged != Unchanged::A || in_pes) return false;
  std::swap(call.m, call.n);
  std::swap(call.a, call.b);
  for (Factor* const factor : {&call.a, &call.b})
    std::visit([](auto& view) { view.transpose = turned(view.transpose); }, *factor);
  std::visit([](auto& view) { view.transpose = turned(view.transpose); }, call.c);
  for (Term& term : inner.terms) std::swap(term.a, term.b);
  return true;
}

void ProductRunner::run() {
  Account account(*core);
  if (std::holds_alternative<MatrixView<float>>(call.c)) call.held = held_floats();
  if (needs_data()) mapping = network_mapping(core->geometry, call.held);
  const MatrixPrecision needed =
      core->boards.front().board->multiplies_all_bits() ? MatrixPrecision::Chip : precision;
  Inner inner{call.k, terms_of(call.a, call.b, call.m, call.n, call.k, needed)};
  // Terms are added on the host. In the network numbers and what was cut off others, 2^50 times
  // smaller, would meet in sums that engines cannot prove in doubles.
  const std::size_t pass = pass_depth(inner);
  if (inner.terms.size() > 1) inner.pitch = (call.k + pass - 1) / pass * pass;
  const bool turned = turn(inner);
  std::vector<Part> tile_parts, column_parts;
  for (const Term& term : inner.terms) {
    tile_parts.push_back(term.a);
    column_parts.push_back(term.b);
  }
  Generation &of_tiles = turned ? of_b : of_a, &of_columns = turned ? of_a : of_b;
  keep(of_tiles, {call.a, call.m, call.k, std::move(tile_parts), call.held, false});
  keep(of_columns, {call.b, call.n, call.k, std::move(column_parts), call.held, true});
  tiled = of_tiles.number;
  streaming = of_columns.number;
  // What the memories hold bounds the columns, and of a very long inner dimension its parts.
  const std::size_t memory = core->geometry.dram_bytes / sizeof(double) / chip_words();
  const std::size_t parts = (inner.size() + pass - 1) / pass;
  if (memory / parts < 2)
    throw Error(ErrorCategory::Unsupported,
                "an inner dimension of " + std::to_string(call.k) +
                    " does not fit the memory of a board; give the device more dram, or divide it");
  const std::size_t most = std::min(most_columns, memory / parts - 1);
  const std::size_t stretches = (call.n + most - 1) / most;
  Columns columns;
  columns.stay = call.n + stretches <= memory / parts;
  for (; columns.index < stretches; ++columns.index) {
    columns.count = std::min(most, call.n - columns.first);
    stretch(inner, columns);
    columns.first += columns.count;
    if (columns.stay) columns.place += (columns.count + 1) * parts * chip_words();
  }
  const double flops =
      2.0 * static_cast<double>(call.m) * static_cast<double>(call.n) * static_cast<double>(call.k);
  account.done(0, flops);
}

template <typename Number>
bool ProductRunner::prepare(std::size_t m, std::size_t n, std::size_t k, double alpha,
                            const MatrixView<const Number>& a, const MatrixView<const Number>& b,
                            double beta, const MatrixView<Number>& c, Unchanged unchanged) {
  core->queue.wait(work);  // of a call in the background
  // Whatever becomes of this call, the next one speaks of what was since then.
  const bool all = forgotten.exchange(false), both = unchanged == Unchanged::Both;
  if (all || (!both && unchanged != Unchanged::A)) of_a.kept.reset();
  if (all || (!both && unchanged != Unchanged::B)) of_b.kept.reset();
  const bool multiplies = alpha != 0 && m > 0 && n > 0;
  require_matrix(a, m, k, "A", multiplies);
  require_matrix(b, k, n, "B", multiplies);
  require_matrix(c, m, n, "C");
  if (m == 0 || n == 0) return false;
  if (alpha == 0 || k == 0) {
    scale(m, n, beta, c);
    return false;
  }
  call = {m, n, k, alpha, beta, a, b, c, Held::Doubles, unchanged};
  return true;
}

}  // namespace gdr::dense

namespace gdr {

MatrixProduct::MatrixProduct(Device& device, MatrixPrecision precision)
    : impl_(std::make_unique<Impl>(device.core(), precision)) {}
MatrixProduct::~MatrixProduct() = default;
MatrixProduct::MatrixProduct(MatrixProduct&&) noexcept = default;
MatrixProduct& MatrixProduct::operator=(MatrixProduct&&) noexcept = default;
void MatrixProduct::forget() noexcept { impl_->forgotten = true; }

void MatrixProduct::compute(std::size_t m, std::size_t n, std::size_t k, double alpha,
                            const MatrixView<const double>& a, const MatrixView<const double>& b,
                            double beta, const MatrixView<double>& c, Unchanged unchanged) {
  if (impl_->prepare(m, n, k, alpha, a, b, beta, c, unchanged)) impl_->core->queue.run(impl_->work);
}

void MatrixProduct::compute(std::size_t m, std::size_t n, std::size_t k, float alpha,
                            const MatrixView<const float>& a, const MatrixView<const float>& b,
                            float beta, const MatrixView<float>& c, Unchanged unchanged) {
  if (impl_->prepare(m, n, k, double{alpha}, a, b, double{beta}, c, unchanged))
    impl_->core->queue.run(impl_->work);
}

void MatrixProduct::start(std::size_t m, std::size_t n, std::size_t k, double alpha,
                          const MatrixView<const double>& a, const MatrixView<const double>& b,
                          double beta, const MatrixView<double>& c) {
  if (impl_->prepare(m, n, k, alpha, a, b, beta, c, Unchanged::Nothing))
    impl_->core->queue.submit(impl_->work);
}

void MatrixProduct::wait() { impl_->core->queue.wait(impl_->work); }

std::size_t MatrixProduct::depth() const noexcept {
  const Geometry& g = impl_->core->geometry;
  return dense::network_mapping(g).depth * g.chips_per_board;
}

}  // namespace gdr
