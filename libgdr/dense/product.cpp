// The product on boards, by the outer loops of Goto and van de Geijn, "Anatomy of high-performance
// matrix multiplication", ACM TOMS 34, 2008, with the memories of a board in place of caches:
//
//   jc  column blocks: nc columns of B in the memories of the chips
//   ic  tiles: mc rows of A in the local memories of the PEs, 256 for two elements of 128 targets.
//       Boards share them
//   pc  passes: kc inner indices, as many as the blocks of all chips hold. This loop is inside of
//       ic, so that the sums of a tile over all passes are there together
//   jr, ir, micro-kernel: the engine's, of emulated boards emulator/engine/matmul
#include <algorithm>
#include <string>
#include <utility>

#include "gdr/error.hpp"
#include "kernels/builtin.hpp"
#include "libgdr/dense/direct_factor.hpp"
#include "libgdr/dense/prediction.hpp"
#include "libgdr/dense/product_runner.hpp"
#include "libgdr/dense/triangle_product.hpp"
#include "libgdr/dense/views.hpp"
#include "libgdr/device/core.hpp"

namespace gdr::dense {
namespace {

/// Largest column block: enough to hide the tile's loading, few enough for the host's memory.
constexpr std::size_t max_columns = 16384;

void check_geometry(const Geometry& g) {
  const Geometry chip;
  if (g.pes_per_block >= chip.pes_per_block && g.local_words >= chip.local_words &&
      g.register_words >= chip.register_words && g.broadcast_words >= chip.broadcast_words)
    return;
  throw Error(ErrorCategory::Unsupported,
              "matrix products need blocks of " + std::to_string(chip.pes_per_block) +
                  " PEs with the memories of the chip; use the defaults of pes and memory sizes");
}

/// C = beta C.
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
    : core(std::move(device)),
      precision(wanted),
      direct(multiplies_arrays(*core)),
      isa(direct_isa(*core)) {
  check_geometry(core->geometry);
  work.body = [this](const std::stop_token& token) {
    stop = token;
    run();
  };
}

ElementFormat ProductRunner::float_format() const {
  const auto clocks = [&](ElementFormat format) {
    const std::size_t board =
        block_depth(format) * core->geometry.blocks * core->geometry.chips_per_board;
    return (call.k + board - 1) / board * column_clocks(format);
  };
  const bool pays = clocks(ElementFormat::Floats) < clocks(ElementFormat::Doubles);
  const bool whole =
      pays && !has_subnormal(call.a, call.m, call.k) && !has_subnormal(call.b, call.k, call.n);
  return whole ? ElementFormat::Floats : ElementFormat::Doubles;
}

/// Loop ic: distributes the tiles cyclically over the boards; every board gets all columns of the
/// block. Tiles of a board that fails are reassigned to the others.
void ProductRunner::loop_ic() {
  tile_done.assign((call.m + mapping.rows - 1) / mapping.rows, false);
  for (;;) {
    std::vector<std::size_t> left;
    for (std::size_t t = 0; t < tile_done.size(); ++t)
      if (!tile_done[t]) left.push_back(t);
    if (left.empty()) return;
    std::vector<BoardSlot*> boards = core->usable();
    boards.resize(std::min(left.size(), boards.size()));
    core->run_on_boards(boards, false, [&](std::size_t b) {
      std::vector<std::size_t> tiles;
      for (std::size_t t = b; t < left.size(); t += boards.size()) tiles.push_back(left[t]);
      multiply_on_board(*boards[b], std::move(tiles));
    });
  }
}

/// Gives a factor a new revision, unless it is that of the last call.
void ProductRunner::update_version(FactorVersion& version, CachedFactor now) {
  if (version.cached && *version.cached == now) return;
  version = {next_revision(), std::move(now)};
}

bool ProductRunner::swap_operands() {
  const std::size_t tiles_of_a = (call.m + mapping.rows - 1) / mapping.rows;
  const bool in_pes = inner.size() <= pass_depth() && tiles_of_a <= core->usable().size();
  if (call.reuse != Reuse::A || in_pes) return false;
  std::swap(call.m, call.n);
  std::swap(call.a, call.b);
  for (Factor* const factor : {&call.a, &call.b})
    std::visit([](auto& view) { view.transpose = flipped(view.transpose); }, *factor);
  std::visit([](auto& view) { view.transpose = flipped(view.transpose); }, call.c);
  for (Term& term : inner.terms) std::swap(term.a, term.b);
  return true;
}

void ProductRunner::multiply_arrays() const {
  std::visit(
      [&]<typename Number>(const MatrixView<Number>& c) {
        using View = MatrixView<const Number>;
        multiply_directly<Number>(
            {call.m, call.n, call.k, static_cast<Number>(call.alpha),
             direct_factor(std::get<View>(call.a)), direct_factor(std::get<View>(call.b)),
             static_cast<Number>(call.beta), c.data, c.transpose == Transpose::Yes ? c.stride : 1,
             c.transpose == Transpose::Yes ? 1 : c.stride, call.part},
            core->threads, isa);
      },
      call.c);
}

void ProductRunner::run() {
  StatisticsScope scope(*core);
  if (std::holds_alternative<MatrixView<float>>(call.c)) call.format = float_format();
  if (core->boards.front().board->needs_data())
    mapping = network_mapping(core->geometry, call.format);
  const MatrixPrecision needed =
      core->boards.front().board->multiplies_all_bits() ? MatrixPrecision::Chip : precision;
  inner = {call.k, terms_of(call.a, call.b, call.m, call.n, call.k, needed)};
  // Terms are added on the host: sums in the network of numbers and of residuals, 2^50 times
  // smaller, could not be proved exact in doubles by the engines.
  const std::size_t pass = pass_depth();
  if (inner.terms.size() > 1) inner.pitch = (call.k + pass - 1) / pass * pass;
  const bool swapped = swap_operands();
  std::vector<Part> tile_parts, column_parts;
  for (const Term& term : inner.terms) {
    tile_parts.push_back(term.a);
    column_parts.push_back(term.b);
  }
  FactorVersion &tile_version = swapped ? version_b : version_a,
                &column_version = swapped ? version_a : version_b;
  update_version(tile_version, {call.a, call.m, call.k, std::move(tile_parts), call.format, false});
  update_version(column_version,
                 {call.b, call.n, call.k, std::move(column_parts), call.format, true});
  tiled_revision = tile_version.revision;
  streamed_revision = column_version.revision;
  loop_jc();
  if (direct) multiply_arrays();
  const double flops =
      2.0 * static_cast<double>(call.m) * static_cast<double>(call.n) * static_cast<double>(call.k);
  scope.complete(0, flops);
}

/// Loop jc: column blocks. The capacity of the memories limits the columns, and the passes of a
/// very long inner dimension.
void ProductRunner::loop_jc() {
  const std::size_t memory = core->geometry.dram_bytes / sizeof(double) / mapping.words;
  const std::size_t parts = (inner.size() + pass_depth() - 1) / pass_depth();
  if (memory / parts < 2)
    throw Error(ErrorCategory::Unsupported,
                "an inner dimension of " + std::to_string(call.k) +
                    " does not fit the memory of a board; increase dram or split the product");
  const std::size_t nc = std::min(max_columns, memory / parts - 1);
  const std::size_t blocks = (call.n + nc - 1) / nc;
  columns = {};
  columns.resident = call.n + blocks <= memory / parts;
  for (; columns.index < blocks; ++columns.index) {
    columns.count = std::min(nc, call.n - columns.first);
    loop_ic();
    columns.first += columns.count;
    if (columns.resident) columns.address += (columns.count + 1) * parts * mapping.words;
  }
}

template <typename Number>
bool ProductRunner::prepare(std::size_t m, std::size_t n, std::size_t k, double alpha,
                            const MatrixView<const Number>& a, const MatrixView<const Number>& b,
                            double beta, const MatrixView<Number>& c, Reuse reuse) {
  core->queue.wait(work);  // a background call may be running
  // Reuse refers to the last call, also if this one fails.
  const bool all = invalidated.exchange(false), both = reuse == Reuse::Both;
  if (all || (!both && reuse != Reuse::A)) version_a.cached.reset();
  if (all || (!both && reuse != Reuse::B)) version_b.cached.reset();
  const bool multiplies = alpha != 0 && m > 0 && n > 0;
  require_matrix(a, m, k, "A", multiplies);
  require_matrix(b, k, n, "B", multiplies);
  require_matrix(c, m, n, "C");
  if (m == 0 || n == 0) return false;
  if (alpha == 0 || k == 0) {
    scale(m, n, beta, c);
    return false;
  }
  call = {m, n, k, alpha, beta, a, b, c, ElementFormat::Doubles, reuse, DirectPart::All};
  return true;
}

}  // namespace gdr::dense

namespace gdr {

MatrixProduct::MatrixProduct(Device& device, MatrixPrecision precision)
    : impl_(std::make_unique<Impl>(device.next_queue(), precision)) {}
MatrixProduct::~MatrixProduct() = default;
MatrixProduct::MatrixProduct(MatrixProduct&&) noexcept = default;
MatrixProduct& MatrixProduct::operator=(MatrixProduct&&) noexcept = default;
void MatrixProduct::invalidate() noexcept { impl_->invalidated = true; }

void MatrixProduct::compute(std::size_t m, std::size_t n, std::size_t k, double alpha,
                            const MatrixView<const double>& a, const MatrixView<const double>& b,
                            double beta, const MatrixView<double>& c, Reuse reuse) {
  if (impl_->prepare(m, n, k, alpha, a, b, beta, c, reuse)) impl_->core->queue.run(impl_->work);
}

void MatrixProduct::compute(std::size_t m, std::size_t n, std::size_t k, float alpha,
                            const MatrixView<const float>& a, const MatrixView<const float>& b,
                            float beta, const MatrixView<float>& c, Reuse reuse) {
  if (impl_->prepare(m, n, k, double{alpha}, a, b, double{beta}, c, reuse))
    impl_->core->queue.run(impl_->work);
}

void MatrixProduct::start(std::size_t m, std::size_t n, std::size_t k, double alpha,
                          const MatrixView<const double>& a, const MatrixView<const double>& b,
                          double beta, const MatrixView<double>& c) {
  if (impl_->prepare(m, n, k, alpha, a, b, beta, c, Reuse::Nothing))
    impl_->core->queue.submit(impl_->work);
}

void TriangleProduct::subtract(MatrixProduct& product, std::size_t n, std::size_t k,
                               const MatrixView<const double>& a, const MatrixView<const double>& b,
                               const MatrixView<double>& c, dense::DirectPart part) {
  auto& runner = *product.impl_;
  if (!runner.prepare(n, n, k, -1, a, b, 1, c, Reuse::Nothing)) return;
  runner.call.part = part;
  runner.core->queue.run(runner.work);
}

void MatrixProduct::wait() { impl_->core->queue.wait(impl_->work); }

std::size_t MatrixProduct::depth() const noexcept {
  const Geometry& g = impl_->core->geometry;
  return dense::network_mapping(g).depth * g.chips_per_board;
}

}  // namespace gdr
