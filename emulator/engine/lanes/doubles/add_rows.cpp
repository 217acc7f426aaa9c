#include "emulator/engine/lanes/doubles/add_rows.hpp"

#include <algorithm>
#include <vector>

#include "emulator/chip/state.hpp"
#include "emulator/engine/lanes/doubles/verified.hpp"
#include "emulator/host/float_mode.hpp"

namespace gdr {

bool add_rows_in_doubles(Isa isa, const LongRows& rows) {
  constexpr auto pair = static_cast<unsigned>(Form::Pair);
  const DoublesKernels* const kernels = verified_doubles_kernels(isa, narrow_batch);
  if (kernels == nullptr) return false;
  const MachineFloatMode mode;
  // Row after row: heads of all lanes, then tails.
  thread_local std::vector<double, LineAllocator<double>> pairs;
  const std::size_t padded = (rows.lanes + kernels->batch - 1) / kernels->batch * kernels->batch;
  if (pairs.size() < rows.count * 2 * padded) pairs.resize(rows.count * 2 * padded);
  const auto words = [&](std::uint64_t* shorts, std::size_t count) {
    StateRows r{shorts, shorts + rows.lanes, pairs.data(), pairs.data() + padded, rows.lanes,
                padded};
    r.count = static_cast<std::uint32_t>(count);
    r.state_step = 2 * rows.lanes;
    r.frame_step = 2 * padded;
    return r;
  };
  DoublesRun run;
  run.frame = reinterpret_cast<std::byte*>(pairs.data());
  clear_flags();
  run.failure = kernels->import[pair](words(rows.shorts, rows.count));

  // Row k = row 2k + row 2k+1: written after its operands were read.
  const auto bytes = static_cast<std::uint32_t>(padded * sizeof(double));
  DoublesOp ops[2] = {{}, plain_operation(stop)};
  DoublesOp& add = ops[0];
  add.kernel = kernels->sum[0][pair][pair][1].always;
  add.lanes = static_cast<std::uint32_t>(padded);
  add.a = {0, bytes, 4 * bytes};
  add.b = {2 * bytes, 3 * bytes, 4 * bytes};
  add.out = {0, bytes, 2 * bytes};
  for (std::size_t n = rows.count; n > 1 && run.failure == 0; n = (n + 1) / 2) {
    add.elements = static_cast<std::uint32_t>(n / 2);
    add.kernel(add, run);
    const auto row = [&](std::size_t k) { return pairs.data() + k * 2 * padded; };
    if (n % 2 != 0) std::copy_n(row(n - 1), 2 * padded, row(n / 2));
  }

  thread_local std::vector<std::uint64_t> sum;
  sum.resize(2 * rows.lanes);
  run.failure |= kernels->export_[pair](words(sum.data(), 1));
  kernels->leave();
  if (run.failure != 0 || (raised_flags() & kernels->failure_flags) != 0) return false;
  std::ranges::copy(sum, rows.shorts);
  return true;
}

}  // namespace gdr
