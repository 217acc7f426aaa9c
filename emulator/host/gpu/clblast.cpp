#include "emulator/host/gpu/clblast.hpp"

#include <cstdlib>
#include <utility>

#include "emulator/host/gpu/shared_library.hpp"

namespace gdr::gpu {
namespace clblast {
namespace {

// The names and numbers of the interface that appear here are those of CLBlast's C interface,
// version 1.4 and later.
using Status = int;
constexpr Status success = 0, no_buffer = -4, no_resources = -5, no_host_memory = -6,
                 build_failure = -11, no_doubles = -2044;
constexpr int column_major = 102, not_transposed = 111;

struct EventObject;

template <typename Number>
using Gemm = Status (*)(int layout, int transpose_a, int transpose_b, std::size_t rows,
                        std::size_t columns, std::size_t depth, Number alpha, void* a,
                        std::size_t a_offset, std::size_t a_leading, std::size_t a_distance,
                        void* b, std::size_t b_offset, std::size_t b_leading,
                        std::size_t b_distance, Number beta, void* c, std::size_t c_offset,
                        std::size_t c_leading, std::size_t c_distance, std::size_t count,
                        QueueObject** queue, EventObject** event);

/// The functions of the library that are used, or why there are none. The library is never
/// unloaded: it keeps compiled kernels.
struct Library {
  Gemm<double> of_doubles = nullptr;
  Gemm<float> of_floats = nullptr;
  std::string reason;
};

Library open_library() {
  Library library;
  const char* const given = std::getenv("GDR_CLBLAST_LIBRARY");
  const std::string name = given != nullptr ? given : "libclblast.so.1";
  SharedLibrary opened(name);
  opened.find(library.of_doubles, "CLBlastDgemmStridedBatched");
  opened.find(library.of_floats, "CLBlastSgemmStridedBatched");
  if (!opened.is_complete() && given != nullptr)
    library.reason = "GDR_CLBLAST_LIBRARY: " + name +
                     " cannot be opened, or is no CLBlast of version 1.4 or later";
  else if (!opened.is_complete())
    library.reason = "the library " + name +
                     " cannot be opened: install CLBlast 1.4 or later (libclblast1), or name its "
                     "library in GDR_CLBLAST_LIBRARY";
  return library;
}

BlasFailure failure_of(Status status) {
  switch (status) {
    case no_buffer:
    case no_host_memory:
      return BlasFailure::Memory;
    case no_resources:
      return BlasFailure::Lost;
    default:
      return BlasFailure::Refused;
  }
}

std::string explain(Status status) {
  const std::string number = "CLBlast status " + std::to_string(status);
  switch (status) {
    case no_buffer:
    case no_host_memory:
      return "no memory is left for it: multiply smaller matrices, or use another card (" + number +
             ")";
    case no_resources:
      return "a launch failed, or the card was reset (" + number + ")";
    case build_failure:
      return "the driver does not compile its kernels: set GDR_GPU_BLAS=own (" + number + ")";
    case no_doubles:
      return "the device has no doubles (" + number + ")";
    default:
      return "set GDR_GPU_BLAS=own (" + number + ")";
  }
}

class Clblast final : public Blas {
 public:
  Clblast(const Library& library, const DeviceInfo& info, std::function<QueueObject*()> queue,
          std::function<void()> finish)
      : library_(library),
        label_(label(info)),
        queue_(std::move(queue)),
        finish_(std::move(finish)) {}

  std::string name() const override { return "CLBlast"; }

  void multiply(std::span<const BlasProduct> products) override {
    for (const BlasProduct& p : products) {
      const Status status = p.doubles ? call(library_.of_doubles, 1.0, 0.0, p)
                                      : call(library_.of_floats, 1.0F, 0.0F, p);
      if (status != success)
        throw BlasError(failure_of(status),
                        "CLBlast cannot multiply on " + label_ + ": " + explain(status));
    }
    try {
      finish_();
    } catch (const Error& error) {
      throw BlasError(BlasFailure::Lost, error.what());
    }
  }

 private:
  template <typename Number>
  Status call(Gemm<Number> gemm, Number one, Number zero, const BlasProduct& p) const {
    QueueObject* queue = queue_();
    const auto memory = [](const BlasMatrices& m) {
      return reinterpret_cast<void*>(m.buffer->handle());
    };
    return gemm(column_major, not_transposed, not_transposed, p.rows, p.columns, p.depth, one,
                memory(p.a), p.a.offset, p.a.leading, p.a.distance, memory(p.b), p.b.offset,
                p.b.leading, p.b.distance, zero, memory(p.c), p.c.offset, p.c.leading, p.c.distance,
                p.count, &queue, nullptr);
  }

  const Library library_;
  const std::string label_;
  const std::function<QueueObject*()> queue_;
  const std::function<void()> finish_;
};

}  // namespace
}  // namespace clblast

BlasLibrary open_clblast(const DeviceInfo& info, std::function<QueueObject*()> queue,
                         std::function<void()> finish) {
  const clblast::Library library = clblast::open_library();
  if (library.reason.empty())
    return {std::make_shared<clblast::Clblast>(library, info, std::move(queue), std::move(finish)),
            {}};
  if (std::getenv("GDR_CLBLAST_LIBRARY") != nullptr)
    throw Error(ErrorCategory::Unsupported, library.reason);
  return {nullptr, library.reason};
}

}  // namespace gdr::gpu
