#include "emulator/host/gpu/cuda/prelude.hpp"

namespace gdr::gpu::cuda {

// Functions without a qualifier are for the device (option --device-as-default-execution-space).
// CUDA C++ has fma, sqrt, rsqrt, trunc, floor, ceil, rint, fabs, fmin, fmax, copysign, isnan,
// isinf, isfinite, min and max for all types of the dialect under the same names.
const char* const prelude = R"(
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
static_assert(sizeof(ulong) == 8, "ulong has 64 bits");

#define __kernel extern "C" __global__
#define __global
#define __local __shared__
#define __constant __constant__
#define __private
#define restrict __restrict__
#define reqd_work_group_size(x, y, z) launch_bounds(x)

ulong get_local_id(uint) { return threadIdx.x; }
ulong get_group_id(uint) { return blockIdx.x; }
ulong get_local_size(uint) { return blockDim.x; }
ulong get_num_groups(uint) { return gridDim.x; }
ulong get_global_id(uint) { return (ulong)blockIdx.x * blockDim.x + threadIdx.x; }
ulong get_global_size(uint) { return (ulong)gridDim.x * blockDim.x; }

#define CLK_LOCAL_MEM_FENCE 1
#define CLK_GLOBAL_MEM_FENCE 2
#define barrier(fences) __syncthreads()
#define mem_fence(fences) __threadfence_block()

double as_double(ulong x) { return __longlong_as_double((long long)x); }
double as_double(long x) { return __longlong_as_double(x); }
double as_double(double x) { return x; }
long as_long(double x) { return __double_as_longlong(x); }
long as_long(ulong x) { return (long)x; }
long as_long(long x) { return x; }
ulong as_ulong(double x) { return (ulong)__double_as_longlong(x); }
ulong as_ulong(long x) { return (ulong)x; }
ulong as_ulong(ulong x) { return x; }
float as_float(uint x) { return __uint_as_float(x); }
float as_float(int x) { return __int_as_float(x); }
float as_float(float x) { return x; }
int as_int(float x) { return __float_as_int(x); }
int as_int(uint x) { return (int)x; }
int as_int(int x) { return x; }
uint as_uint(float x) { return __float_as_uint(x); }
uint as_uint(int x) { return (uint)x; }
uint as_uint(uint x) { return x; }

// These conversions saturate; only NaN, which becomes 0, is not the same for all types.
template <typename T> long convert_long_sat_rtz(T x) { return x != x ? 0 : __double2ll_rz(x); }
template <typename T> long convert_long_sat_rte(T x) { return x != x ? 0 : __double2ll_rn(x); }
int convert_int_sat_rtz(float x) { return x != x ? 0 : __float2int_rz(x); }
int convert_int_sat_rte(float x) { return x != x ? 0 : __float2int_rn(x); }
int convert_int_sat_rtz(double x) { return x != x ? 0 : __double2int_rz(x); }
int convert_int_sat_rte(double x) { return x != x ? 0 : __double2int_rn(x); }
#define convert_int_rtz convert_int_sat_rtz
#define convert_int_rte convert_int_sat_rte
#define convert_long_rtz convert_long_sat_rtz
#define convert_long_rte convert_long_sat_rte
template <typename T> double convert_double(T x) { return (double)x; }
template <typename T> float convert_float(T x) { return (float)x; }
template <typename T> int convert_int(T x) { return (int)x; }
template <typename T> uint convert_uint(T x) { return (uint)x; }
template <typename T> long convert_long(T x) { return (long)x; }
template <typename T> ulong convert_ulong(T x) { return (ulong)x; }

bool isunordered(double a, double b) { return isnan(a) || isnan(b); }
bool isunordered(float a, float b) { return isnan(a) || isnan(b); }

int clz(int x) { return __clz(x); }
uint clz(uint x) { return (uint)__clz((int)x); }
long clz(long x) { return __clzll(x); }
ulong clz(ulong x) { return (ulong)__clzll((long long)x); }
int popcount(int x) { return __popc((uint)x); }
uint popcount(uint x) { return (uint)__popc(x); }
long popcount(long x) { return __popcll((unsigned long long)x); }
ulong popcount(ulong x) { return (ulong)__popcll(x); }
int mul_hi(int a, int b) { return __mulhi(a, b); }
uint mul_hi(uint a, uint b) { return __umulhi(a, b); }
long mul_hi(long a, long b) { return __mul64hi(a, b); }
ulong mul_hi(ulong a, ulong b) { return __umul64hi(a, b); }

int atomic_add(int* p, int x) { return atomicAdd(p, x); }
uint atomic_add(uint* p, uint x) { return atomicAdd(p, x); }
uint atomic_inc(uint* p) { return atomicAdd(p, 1u); }
int atomic_or(int* p, int x) { return atomicOr(p, x); }
uint atomic_or(uint* p, uint x) { return atomicOr(p, x); }
int atomic_and(int* p, int x) { return atomicAnd(p, x); }
uint atomic_and(uint* p, uint x) { return atomicAnd(p, x); }
int atomic_min(int* p, int x) { return atomicMin(p, x); }
uint atomic_min(uint* p, uint x) { return atomicMin(p, x); }
int atomic_max(int* p, int x) { return atomicMax(p, x); }
uint atomic_max(uint* p, uint x) { return atomicMax(p, x); }
uint atomic_xchg(uint* p, uint x) { return atomicExch(p, x); }
uint atomic_cmpxchg(uint* p, uint old, uint x) { return atomicCAS(p, old, x); }
)";

}  // namespace gdr::gpu::cuda
