// Every word of the dialect of kernels (emulator/host/gpu/README.md): devices compute what the host
// computes, and a real NVRTC compiles them, if GDR_TEST_NVRTC names one.
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "emulator/host/gpu/cuda/compiler.hpp"
#include "emulator/host/gpu/device.hpp"
#include "emulator/numeric/words.hpp"
#include "gpu/fake_devices.hpp"
#include "support/catch.hpp"
#include "support/text.hpp"

namespace gdr::test {
namespace {

constexpr std::size_t threads = 256, group = 128, results = 64;

constexpr const char* text = R"(#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL FP_CONTRACT OFF
__constant double table[2] = {1.5, -2.25};
double twice(double x) { return x + x; }
__kernel __attribute__((reqd_work_group_size(128, 1, 1)))
void run(__global const double* restrict in, __global ulong* restrict out,
         __global uint* restrict counters, ulong count) {
  __local double tile[128];
  const ulong n = get_global_id(0);
  const double x = n < count ? in[n] : 0.0;
  tile[get_local_id(0)] = x;
  barrier(CLK_LOCAL_MEM_FENCE);
  const double y = tile[(get_local_id(0) + 1UL) % get_local_size(0)] + table[n & 1UL];
  const float f = (float)x, g = (float)y;
  const ulong u = as_ulong(x), v = as_ulong(y);
  const long i = as_long(x), j = as_long(y);
  const uint p = as_uint(f), q = as_uint(g);
  const int r = as_int(f), s = as_int(g);
  __global ulong* restrict o = out + n * 64UL;
  o[0] = as_ulong(twice(x) - y);
  o[1] = as_ulong(x * y + x);
  o[2] = as_ulong(fma(x, y, -x));
  o[3] = as_ulong(x / y);
  o[4] = as_ulong(sqrt(fabs(x)));
  o[5] = as_ulong(trunc(x) + floor(y));
  o[6] = as_ulong(ceil(x) + rint(y));
  o[7] = as_ulong(fmin(x, y));
  o[8] = as_ulong(fmax(x, y));
  o[9] = as_ulong(copysign(x, y));
  o[10] = as_ulong(ldexp(x, 7));
  o[11] = (isnan(x) ? 1UL : 0UL) | (isinf(x) ? 2UL : 0UL) | (isfinite(x) ? 4UL : 0UL) |
          (isunordered(x, y) ? 8UL : 0UL) | (isunordered(f, g) ? 16UL : 0UL) |
          (isnan(f) ? 32UL : 0UL);
  o[12] = (ulong)as_uint(f + g);
  o[13] = (ulong)as_uint(f * g + f);
  o[14] = (ulong)as_uint(fma(f, g, -f));
  o[15] = (ulong)as_uint(fmin(f, g)) + (ulong)as_uint(fmax(f, g));
  o[16] = (ulong)as_uint(trunc(f) + floor(g)) + (ulong)as_uint(ceil(f) + rint(g));
  o[17] = (ulong)as_uint(copysign(f, g)) + (ulong)as_uint(fabs(f));
  o[18] = min(u, v) ^ max(u, v) << 1;
  o[19] = as_ulong(min(i, j)) ^ as_ulong(max(i, j)) << 1;
  o[20] = (ulong)(min(p, q) ^ max(p, q) << 1);
  o[21] = (ulong)(uint)(min(r, s) ^ max(r, s) / 2);
  o[22] = clz(u) + 100UL * popcount(u);
  o[23] = as_ulong(clz(i) + 100L * popcount(i));
  o[24] = (ulong)(clz(p) + 100u * popcount(p));
  o[25] = (ulong)(uint)(clz(r) + 100 * popcount(r));
  o[26] = mul_hi(u, v);
  o[27] = as_ulong(mul_hi(i, j));
  o[28] = (ulong)mul_hi(p, q);
  o[29] = (ulong)(uint)mul_hi(r, s);
  o[30] = as_ulong(convert_long_sat_rtz(x));
  o[31] = as_ulong(convert_long_sat_rte(x));
  o[32] = (ulong)(uint)convert_int_sat_rtz(x);
  o[33] = (ulong)(uint)convert_int_sat_rte(x);
  o[34] = (ulong)(uint)convert_int_sat_rtz(f);
  o[35] = (ulong)(uint)convert_int_sat_rte(f);
  o[36] = as_ulong(convert_double(i)) + as_ulong(convert_double(p));
  o[37] = (ulong)as_uint(convert_float(r));
  o[38] = (ulong)convert_uint(u) + convert_ulong(p) + (ulong)(uint)convert_int(v);
  o[39] = as_ulong(convert_long(s));
  o[40] = as_ulong(as_double(u)) ^ as_ulong(as_double(j)) ^ as_ulong(as_long(v));
  o[41] = (ulong)(as_uint(as_float(p)) ^ as_uint(as_float(s)) ^ as_uint(as_int(q)));
  o[42] = get_group_id(0) + 10UL * get_num_groups(0) + 1000UL * get_global_size(0);
  o[43] = u << 3 | v >> 60;
  o[44] = as_ulong(i >> 63);
  o[45] = (ulong)(uchar)u + ((ulong)(ushort)v << 8);
  atomic_add(counters, 1u);
  atomic_or(counters + 1, 1u << (n & 31UL));
  atomic_max(counters + 2, (uint)n);
  atomic_min(counters + 3, (uint)n);
  atomic_and(counters + 4, ~(1u << (n & 15UL)));
  atomic_inc(counters + 5);
  if (n == 9UL) atomic_xchg(counters + 6, 77u);
  atomic_cmpxchg(counters + 7, 0u, 5u);
}
)";

std::vector<std::uint64_t> run(gpu::Device& device) {
  std::vector<double> in;
  for (std::size_t n = 0; n < threads; ++n)
    in.push_back((static_cast<double>(n % 61) - 30.5) * (n % 2 == 0 ? 1e-3 : 1e17) / 7);
  in[3] = std::bit_cast<double>(std::uint64_t{0x7ff8000000000000});  // NaN
  in[5] = std::bit_cast<double>(std::uint64_t{0x7ff0000000000000});  // infinite
  std::vector<std::uint64_t> out(threads * results, 0);
  std::vector<std::uint32_t> counters{0, 0, 0, ~0u, ~0u, 0, 0, 0};
  const auto kernel = device.compile(text);
  const std::size_t in_bytes = threads * sizeof(double), out_bytes = out.size() * 8,
                    counter_bytes = counters.size() * 4;
  const auto from = device.allocate(in_bytes), to = device.allocate(out_bytes),
             count = device.allocate(counter_bytes);
  device.write(*from, 0, in.data(), in_bytes);
  device.write(*to, 0, out.data(), out_bytes);
  device.write(*count, 0, counters.data(), counter_bytes);
  device.run(*kernel, {{from.get()}, {to.get()}, {count.get()}, {nullptr, threads}}, threads,
             group);
  device.read(*to, 0, out.data(), out_bytes);
  device.read(*count, 0, counters.data(), counter_bytes);
  out.insert(out.end(), counters.begin(), counters.end());
  return out;
}

}  // namespace

TEST_CASE("a kernel with all words of the dialect computes what the host computes") {
  if (!has_fake_cuda()) return;
  const std::vector<std::uint64_t> out = run(*gpu::open_device("opencl"));
  CHECK(run(*gpu::open_device("cuda")) == out);
  // One thread's results, as the host has them: x = in[7], y = in[8] + table[1].
  const double x = -23.5 * 1e17 / 7, y = -22.5 * 1e-3 / 7 - 2.25;
  const auto* const o = out.data() + 7 * results;
  const auto bits = [](double value) { return std::bit_cast<std::uint64_t>(value); };
  CHECK(o[0] == bits(x + x - y));
  CHECK(o[1] == bits(x * y + x));
  CHECK(o[2] == bits(std::fma(x, y, -x)));
  CHECK(o[3] == bits(x / y));
  CHECK(o[4] == bits(std::sqrt(-x)));
  CHECK(o[7] == bits(x));
  CHECK(o[8] == bits(y));
  CHECK(o[11] == 4);
  CHECK(o[26] == static_cast<std::uint64_t>(u128{bits(x)} * bits(y) >> 64));
  CHECK(o[30] == static_cast<std::uint64_t>(static_cast<std::int64_t>(x)));
  CHECK(o[32] == 0x80000000);
  CHECK(o[42] == 10 * threads / group + 1000 * threads);
  const auto* const nan = out.data() + 3 * results;
  CHECK(nan[11] == (1 + 8 + 16 + 32));
  CHECK(nan[30] == 0);
  CHECK(nan[34] == 0);
  const auto* const infinite = out.data() + 5 * results;
  CHECK(infinite[11] == 2);
  CHECK(infinite[30] == 0x7fffffffffffffff);
  CHECK(infinite[32] == 0x7fffffff);
  const std::vector<std::uint64_t> counters(out.end() - 8, out.end());
  CHECK(counters == std::vector<std::uint64_t>{threads, 0xffffffff, threads - 1, 0, 0xffff0000,
                                               threads, 77, 5});
}

TEST_CASE("NVRTC compiles all words of the dialect for cards from sm_70 to sm_90") {
  const char* const library = std::getenv("GDR_TEST_NVRTC");
  const auto compiler = library == nullptr ? nullptr : gpu::cuda::open_compiler(library);
  if (!compiler) {
    WARN("GDR_TEST_NVRTC names no NVRTC (PyPI's nvidia-cuda-nvrtc-cu12 has one)");
    return;
  }
  std::size_t made = 0;
  for (const int capability : {70, 75, 80, 86, 89, 90}) {
    if (!compiler->makes_binary(capability)) continue;
    INFO(capability);
    CHECK(!compiler->compile(text, capability, false).bytes.empty());
    CHECK(contains(compiler->compile(text, capability, true).bytes, ".entry run"));
    ++made;
  }
  CHECK(made >= 3);
}

}  // namespace gdr::test
