// The host's BLAS: finding it, excluding this library, and its products, or plain loops.
#include <dlfcn.h>
#include <link.h>

#include <initializer_list>
#include <limits>
#include <string>
#include <vector>

#include "libgdr/compat/blas/blas.hpp"

/// Identifies this library under any name and in any copy.
extern "C" [[gnu::visibility("default")]] const char gdrblas_version[] = GDR_VERSION;

namespace gdr::blas {
namespace {

struct Host {
  void* handle = nullptr;
  std::string path = "none";
};

/// The system's own BLAS comes first, as the program would have used it; then usual names, in case
/// the first one is this library.
constexpr const char* usual[] = {"libblas.so.3",
                                 "libopenblas.so.0",
                                 "libopenblas.so",
                                 "libblis.so.4",
                                 "libmkl_rt.so.2",
                                 "libmkl_rt.so.1",
                                 "/usr/lib/" GDR_MULTIARCH "/blas/libblas.so.3",
                                 "/usr/lib64/libblas.so.3",
                                 "/usr/lib/libblas.so.3"};

/// The library if it is a BLAS and not this one; else null, and why.
void* open_blas(const char* name, std::string& why) {
  void* const handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* const message = dlerror();
    why = message == nullptr ? "it cannot be opened" : message;
    return nullptr;
  }
  if (dlsym(handle, "gdrblas_version") != nullptr)
    why = "it is this library, or needs it";
  else if (dlsym(handle, "dgemm_") == nullptr)
    why = "it has no dgemm_";
  else
    return handle;
  dlclose(handle);
  return nullptr;
}

std::string path_of(void* handle) {
  Dl_info info;
  return dladdr(dlsym(handle, "dgemm_"), &info) != 0 ? info.dli_fname : "?";
}

const Host* search() {
  auto* const host = new Host;  // never deleted
  std::string why;
  const std::string& wanted = settings().host;
  if (wanted == "none") return host;
  if (!wanted.empty()) {
    host->handle = open_blas(wanted.c_str(), why);
    if (host->handle == nullptr)
      report("GDR_BLAS_HOST=" + wanted + " cannot be used: " + why +
             "; searching for another BLAS");
  }
  for (const char* name : usual)
    if (host->handle == nullptr) host->handle = open_blas(name, why);
  if (host->handle != nullptr)
    host->path = path_of(host->handle);
  else
    report(
        "no BLAS found on this host (set GDR_BLAS_HOST=PATH): products that do not run on the "
        "device use plain loops");
  return host;
}

const Host& host() {
  static const Host* const found = search();
  return *found;
}

/// Paths of loaded libraries that may be the BLAS of a wheel.
std::vector<std::string> loaded_blas() {
  std::vector<std::string> paths;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* to) {
        const std::string path = info->dlpi_name == nullptr ? "" : info->dlpi_name;
        if (path.find("openblas") != std::string::npos)
          static_cast<std::vector<std::string>*>(to)->push_back(path);
        return 0;
      },
      &paths);
  return paths;
}

}  // namespace

void* host_routine(const char* name) noexcept {
  void* const handle = host().handle;
  return handle == nullptr ? nullptr : dlsym(handle, name);
}

const char* host_path() noexcept { return host().path.c_str(); }

void* wheel_routine(const char* name) noexcept {
  for (const std::string& path : loaded_blas()) {
    void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    if (handle == nullptr) continue;
    void* const found = dlsym(handle, name);
    dlclose(handle);  // the caller keeps it loaded
    if (found != nullptr) return found;
  }
  return nullptr;
}

namespace {

/// xGEMM of Fortran with sizes of type Int; the last two are the lengths of the character
/// arguments, which Fortran passes unseen.
template <typename Number, typename Int>
using Gemm = void (*)(const char*, const char*, const Int*, const Int*, const Int*, const Number*,
                      const Number*, const Int*, const Number*, const Int*, const Number*, Number*,
                      const Int*, std::size_t, std::size_t);

struct HostGemm {
  void* routine = nullptr;
  bool wide = false;  ///< whether sizes have 64 bits
};

/// In wheels: NumPy 2 and SciPy, 64 and 32 bits; NumPy 1.
template <typename Number>
HostGemm find(Caller caller) {
  const std::string plain = std::string(routine_names[std::size_t(gemm_of<Number>)]) + "_";
  if (caller == Caller::Wheel) {
    for (const std::string& name : {"scipy_" + plain + "64_", plain + "64_"})
      if (void* const routine = wheel_routine(name.c_str())) return {routine, true};
    if (void* const routine = wheel_routine(("scipy_" + plain).c_str())) return {routine, false};
  }
  return {host_routine(plain.c_str()), false};
}

template <typename Number>
const HostGemm& gemm(Caller caller) {
  if (caller == Caller::Wheel) {
    static const HostGemm wheel = find<Number>(Caller::Wheel);
    return wheel;
  }
  static const HostGemm system = find<Number>(Caller::System);
  return system;
}

template <typename Number>
bool narrow(const Call<Number>& call) noexcept {
  for (const std::int64_t size : {call.m, call.n, call.k, call.lda, call.ldb, call.ldc})
    if (size > std::numeric_limits<std::int32_t>::max()) return false;
  return true;
}

template <typename Int, typename Number>
void pass_on(void* routine, const Call<Number>& call) noexcept {
  const Int m = Int(call.m), n = Int(call.n), k = Int(call.k);
  const Int lda = Int(call.lda), ldb = Int(call.ldb), ldc = Int(call.ldc);
  reinterpret_cast<Gemm<Number, Int>>(routine)(&call.trans_a, &call.trans_b, &m, &n, &k,
                                               &call.alpha, call.a, &lda, call.b, &ldb, &call.beta,
                                               call.c, &ldc, 1, 1);
}

/// The definition, for hosts without a BLAS: sums in double.
template <typename Number>
void plain_multiply(const Call<Number>& call) noexcept {
  const std::int64_t a_row = call.trans_a == 'N' ? 1 : call.lda;
  const std::int64_t a_inner = call.trans_a == 'N' ? call.lda : 1;
  const std::int64_t b_inner = call.trans_b == 'N' ? 1 : call.ldb;
  const std::int64_t b_column = call.trans_b == 'N' ? call.ldb : 1;
  const bool multiplies = call.alpha != 0 && call.k > 0;
  if (!multiplies && call.beta == 1) return;
  for (std::int64_t j = 0; j < call.n; ++j) {
    for (std::int64_t i = 0; i < call.m; ++i) {
      double sum = 0;
      for (std::int64_t p = 0; multiplies && p < call.k; ++p)
        sum += double(call.a[i * a_row + p * a_inner]) * double(call.b[p * b_inner + j * b_column]);
      Number& c = call.c[i + j * call.ldc];
      const double kept = call.beta == 0 ? 0 : double(call.beta) * double(c);
      c = Number(multiplies ? double(call.alpha) * sum + kept : kept);
    }
  }
}

}  // namespace

template <typename Number>
void host_multiply(const Call<Number>& call) noexcept {
  const HostGemm& host = gemm<Number>(call.caller);
  if (host.routine == nullptr || !(host.wide || narrow(call))) return plain_multiply(call);
  if (host.wide) return pass_on<std::int64_t>(host.routine, call);
  pass_on<std::int32_t>(host.routine, call);
}

template void host_multiply(const Call<double>&) noexcept;
template void host_multiply(const Call<float>&) noexcept;

}  // namespace gdr::blas
