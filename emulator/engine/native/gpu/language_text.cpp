#include "emulator/engine/native/gpu/language_text.hpp"

namespace gdr::native {
namespace {

/// What differs between devices' languages and between doubles and floats. Numbers, integers and
/// masks are `number`, `bits` and `bool`; words of memory are bits.
constexpr const char* prelude_of_doubles = R"(#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL FP_CONTRACT OFF
typedef double number;
typedef ulong bits;
typedef long signed_bits;
typedef ulong2 bits2;
#define as_number(x) as_double(x)
#define as_bits(x) as_ulong(x)
#define as_signed(x) as_long(x)
)";
constexpr const char* prelude_of_floats = R"(#pragma OPENCL FP_CONTRACT OFF
typedef float number;
typedef uint bits;
typedef int signed_bits;
typedef uint2 bits2;
#define as_number(x) as_float(x)
#define as_bits(x) as_uint(x)
#define as_signed(x) as_int(x)
)";
/// As the portable path's operations (lane_operations.hpp).
constexpr const char* functions = R"(
#if defined(__NV_CL_C_VERSION) || defined(__NVPTX__) || defined(__CUDACC__)
#define has_ptx
#endif
#ifdef __CUDACC__
#define assembly asm
#else
#define assembly __asm__
#endif
number larger(number a, number b) { return isnan(a) || !(b > a || isnan(b)) ? a : b; }
number smaller(number a, number b) { return isnan(a) || !(b < a || isnan(b)) ? a : b; }
bits load_mask(bool mask) { return mask ? ~(bits)0 : (bits)0; }
)";
constexpr const char* functions_of_doubles = R"(
// scale / sqrt(x). NVIDIA's function takes branches for subnormals; from the same estimate of 20 bits, a
// step of third order has an error of one unit of the last place: 1 + e / 2 + 3/8 e^2, with x y^2 = 1 - e.
// NaN for 0 and infinity, where x y is.
#ifdef has_ptx
number scaled_root(number x, number scale) {
  number y;
  assembly("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
  const number e = fma(-(x * y), y, 1.0);
  return y * fma(e, fma(e, 0.375 * scale, 0.5 * scale), scale);
}
#else
number scaled_root(number x, number scale) { return fma(x, 0.0, rsqrt(x) * scale); }
#endif
long integer_of(bits x) { return as_long(x) >> 28; }
bits round_to_short(bits x) {
  return (x + 0x7ffffffUL + ((x >> 28) & 1UL)) & ~0xfffffffUL;
}
bits shifted_left(bits a, bits b) {
  bits n = b >> 28;
  return n < 64UL ? a << n : 0UL;
}
bits shifted_right(bits a, bits b) {
  bits n = b >> 28;
  return n < 64UL ? a >> n : 0UL;
}
bits shifted_arithmetically(bits a, bits b) {
  bits n = b >> 28;
  return as_ulong(as_long(a) >> (n < 63UL ? n : 63UL));
}
bits to_int(number x) { return isnan(x) ? 0x8000000000000000UL : as_ulong(convert_long_sat_rtz(x)); }
)";
constexpr const char* functions_of_floats = R"(
#ifdef has_ptx
number estimated_root(number x) {
  number y;
  assembly("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
#else
number estimated_root(number x) { return rsqrt(x); }
#endif
// NaN for infinity.
number scaled_root(number x, number scale) { return fma(x, 0.0f, estimated_root(x) * scale); }
long integer_of(bits x) { return (long)as_int(x); }
bits shifted_left(bits a, bits b) { return b < 32u ? a << b : 0u; }
bits to_int(number x) { return isnan(x) ? 0x80000000u : as_uint(convert_int_sat_rtz(x)); }
)";

}  // namespace

std::string language_text(bool floats) {
  const std::string prelude = floats ? prelude_of_floats : prelude_of_doubles;
  return prelude + functions + (floats ? functions_of_floats : functions_of_doubles);
}

}  // namespace gdr::native
