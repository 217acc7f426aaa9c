#include "emulator/host/gpu/cuda/cublas.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <mutex>
#include <optional>
#include <vector>

#include "emulator/host/gpu/cuda/library_search.hpp"
#include "emulator/host/gpu/shared_library.hpp"

namespace gdr::gpu::cuda {
namespace {

// The names and numbers of the interface that appear here are those of cuBLAS, version 11 and
// later.
using Status = int;
constexpr Status succeeded = 0, not_initialized = 1, no_memory = 3, invalid_value = 7,
                 wrong_architecture = 8, not_supported = 15;
constexpr int not_transposed = 0;
/// Doubles are multiplied as the device does it fastest, with at least their precision (it may be
/// by tensor units). For floats that promise includes emulation, which the environment can demand;
/// the pedantic mode has none of that.
constexpr int default_math = 0, pedantic_math = 2;

/// A library's state for a device and a stream.
struct HandleObject;

template <typename Number>
using Gemm = Status (*)(HandleObject* handle, int transpose_a, int transpose_b, int rows,
                        int columns, int depth, const Number* alpha, const Number* a, int a_leading,
                        long long a_distance, const Number* b, int b_leading, long long b_distance,
                        const Number* beta, Number* c, int c_leading, long long c_distance,
                        int count);

/// The functions of the library that are used.
struct CublasFunctions {
  Status (*create)(HandleObject** handle);
  Status (*destroy)(HandleObject* handle);
  Status (*set_stream)(HandleObject* handle, StreamObject* stream);
  Status (*set_math_mode)(HandleObject* handle, int mode);
  Status (*property)(int which, int* value);
  Gemm<double> of_doubles;
  Gemm<float> of_floats;
};

/// All functions of a library, which is never unloaded; nothing if it cannot be opened or one is
/// missing.
std::optional<CublasFunctions> open_functions(const std::string& path) {
  SharedLibrary opened(path);
  CublasFunctions f{};
  opened.find(f.create, "cublasCreate_v2");
  opened.find(f.destroy, "cublasDestroy_v2");
  opened.find(f.set_stream, "cublasSetStream_v2");
  opened.find(f.set_math_mode, "cublasSetMathMode");
  opened.find(f.property, "cublasGetProperty");
  opened.find(f.of_doubles, "cublasDgemmStridedBatched");
  opened.find(f.of_floats, "cublasSgemmStridedBatched");
  return opened.is_complete() ? std::optional(f) : std::nullopt;
}

BlasFailure failure_of(Status status) {
  if (status == no_memory) return BlasFailure::Memory;
  const bool refused = status == not_initialized || status == invalid_value ||
                       status == wrong_architecture || status == not_supported;
  return refused ? BlasFailure::Refused : BlasFailure::Lost;
}

std::string explain_status(Status status) {
  const std::string number = "cuBLAS status " + std::to_string(status);
  switch (failure_of(status)) {
    case BlasFailure::Memory:
      return "its memory is full: multiply smaller matrices, or use another card (" + number + ")";
    case BlasFailure::Refused:
      return "install the cuBLAS of the driver's version, or set GDR_GPU_BLAS=own (" + number + ")";
    default:
      return "a launch failed, or the card was removed or reset (" + number + ")";
  }
}

/// Makes a context that of the calling thread for a while.
class CurrentContext {
 public:
  explicit CurrentContext(ContextObject* context) : result(driver().call.push_context(context)) {}
  CurrentContext(const CurrentContext&) = delete;
  ~CurrentContext() {
    ContextObject* popped = nullptr;
    if (result == success) driver().call.pop_context(&popped);
  }
  const Result result;
};

class Cublas final : public Blas {
 public:
  Cublas(const CublasFunctions& functions, const DeviceInfo& info, ContextObject* context,
         StreamObject* (*stream)())
      : call_(functions), label_(label(info)), context_(context), stream_(stream) {}
  Cublas(const Cublas&) = delete;
  ~Cublas() override {
    const CurrentContext current(context_);
    if (current.result != success) return;
    for (HandleObject* const handle : free_) call_.destroy(handle);
  }

  std::string name() const override {
    std::string text = "cuBLAS ";
    for (const int part : {0, 1, 2}) {
      int number = 0;
      if (call_.property(part, &number) != succeeded) return "cuBLAS";
      text += (part == 0 ? "" : ".") + std::to_string(number);
    }
    return text;
  }

  /// Whether it works with the driver and on the device; also if only memory is missing.
  bool is_usable() {
    const CurrentContext current(context_);
    if (current.result != success) return false;
    HandleObject* handle = nullptr;
    const Status status = call_.create(&handle);
    if (status == succeeded) free_.push_back(handle);
    return status == succeeded || status == no_memory;
  }

  void multiply(std::span<const BlasProduct> products) override {
    const CurrentContext current(context_);
    check_driver(current.result);
    // A handle that failed is neither used again nor released, which would wait for the device.
    HandleObject* const handle = take();
    StreamObject* const stream = stream_();
    check(call_.set_stream(handle, stream));
    for (const BlasProduct& p : products) {
      check(call_.set_math_mode(handle, p.doubles ? default_math : pedantic_math));
      check(p.doubles ? multiply(call_.of_doubles, handle, p)
                      : multiply(call_.of_floats, handle, p));
    }
    check_driver(driver().call.synchronize(stream));
    const std::scoped_lock lock(mutex_);
    free_.push_back(handle);
  }

 private:
  /// A handle of its own for every thread at a time: only so its bits do not depend on other work
  /// of the device.
  HandleObject* take() {
    {
      const std::scoped_lock lock(mutex_);
      if (!free_.empty()) {
        HandleObject* const handle = free_.back();
        free_.pop_back();
        return handle;
      }
    }
    HandleObject* handle = nullptr;
    check(call_.create(&handle));
    return handle;
  }

  template <typename Number>
  static Status multiply(Gemm<Number> gemm, HandleObject* handle, const BlasProduct& p) {
    const Number one = 1, zero = 0;
    constexpr std::size_t most = std::numeric_limits<int>::max();
    for (const std::size_t n :
         {p.rows, p.columns, p.depth, p.count, p.a.leading, p.b.leading, p.c.leading})
      if (n > most) return invalid_value;
    const auto at = [](const BlasMatrices& m) {
      return reinterpret_cast<Number*>(m.buffer->handle() + m.offset * sizeof(Number));
    };
    const auto whole = [](std::size_t n) { return static_cast<int>(n); };
    const auto distance = [](const BlasMatrices& m) { return static_cast<long long>(m.distance); };
    return gemm(handle, not_transposed, not_transposed, whole(p.rows), whole(p.columns),
                whole(p.depth), &one, at(p.a), whole(p.a.leading), distance(p.a), at(p.b),
                whole(p.b.leading), distance(p.b), &zero, at(p.c), whole(p.c.leading),
                distance(p.c), whole(p.count));
  }

  void check(Status status) const {
    if (status == succeeded) return;
    throw BlasError(failure_of(status),
                    name() + " cannot multiply on " + label_ + ": " + explain_status(status));
  }
  void check_driver(Result result) const {
    if (result == success) return;
    throw BlasError(BlasFailure::Lost,
                    label_ + " failed in a product of " + name() + ": " + explain(result));
  }

  const CublasFunctions call_;
  const std::string label_;
  ContextObject* const context_;
  StreamObject* (*const stream_)();
  std::mutex mutex_;
  std::vector<HandleObject*> free_;
};

/// PyPI's package with a cuBLAS for a driver.
std::string cublas_package(int driver_version) {
  return driver_version >= 13000 ? "nvidia-cublas" : "nvidia-cublas-cu12";
}

}  // namespace

BlasLibrary open_cublas(const DeviceInfo& info, ContextObject* context, StreamObject* (*stream)()) {
  std::string reason;
  const auto opened = [&](const std::string& path) -> std::shared_ptr<Cublas> {
    const auto functions = open_functions(path);
    if (!functions) return nullptr;
    auto made = std::make_shared<Cublas>(*functions, info, context, stream);
    if (made->is_usable()) return made;
    if (reason.empty()) reason = made->name() + " (" + path + ") does not work on " + label(info);
    return nullptr;
  };
  if (const char* const given = std::getenv("GDR_CUBLAS_LIBRARY")) {
    if (auto blas = opened(given)) return {std::move(blas), {}};
    throw Error(ErrorCategory::Unsupported,
                std::string("GDR_CUBLAS_LIBRARY: ") +
                    (reason.empty() ? std::string(given) +
                                          " cannot be opened, or is no cuBLAS of CUDA 11 or later"
                                    : reason));
  }
  for (const int version : versions_for(driver().version))
    for (const std::string& place : places_of("libcublas.so." + std::to_string(version), "cublas"))
      if (auto blas = opened(place)) return {std::move(blas), {}};
  if (reason.empty()) reason = "cuBLAS was not found";
  return {nullptr, reason + ": install it with 'pip install " + cublas_package(driver().version) +
                       "' or CUDA's toolkit, or name its libcublas.so in GDR_CUBLAS_LIBRARY"};
}

}  // namespace gdr::gpu::cuda
