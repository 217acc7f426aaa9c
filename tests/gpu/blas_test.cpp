// BLAS libraries of devices: cuBLAS through a fake library (fake_cuda/), and CLBlast where it is
// installed. Products, their precision, and what users read when something fails.
#include "emulator/host/gpu/blas.hpp"

#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "emulator/host/gpu/backend.hpp"
#include "emulator/host/gpu/cuda/library_search.hpp"
#include "gpu/fake_devices.hpp"
#include "support/catch.hpp"
#include "support/environment_variable.hpp"
#include "support/expect_error.hpp"
#include "support/text.hpp"

namespace gdr::test {
namespace {

/// Products of integers: 3 of 5 x 7 by 7 x 4, between other numbers in their buffers.
template <typename Number>
struct Integers {
  static constexpr std::size_t rows = 5, columns = 4, depth = 7, count = 3;
  static constexpr std::size_t a_leading = 6, b_leading = 9, c_leading = 5;
  static constexpr std::size_t a_offset = 2, b_offset = 3, c_offset = 1;
  static constexpr std::size_t a_distance = 50, b_distance = 40, c_distance = 20;
  static constexpr std::size_t size = 200;

  std::vector<Number> a, b;

  Integers() : a(size), b(size) {
    for (std::size_t n = 0; n < size; ++n) {
      a[n] = static_cast<Number>(n * n % 31) - 15;
      b[n] = static_cast<Number>(n * 7 % 29) - 14;
    }
  }
  /// Zeros around them.
  std::vector<Number> right() const {
    std::vector<Number> c(size, 0);
    for (std::size_t matrix = 0; matrix < count; ++matrix)
      for (std::size_t j = 0; j < columns; ++j)
        for (std::size_t i = 0; i < rows; ++i)
          for (std::size_t k = 0; k < depth; ++k)
            c[c_offset + matrix * c_distance + j * c_leading + i] +=
                a[a_offset + matrix * a_distance + k * a_leading + i] *
                b[b_offset + matrix * b_distance + j * b_leading + k];
    return c;
  }
};

/// Such products on a device.
template <typename Number>
class Products {
 public:
  Products(gpu::Device& device, const Integers<Number>& integers) : device_(device) {
    for (auto& buffer : buffers_) buffer = device.allocate(bytes);
    device.write(*buffers_[0], 0, integers.a.data(), bytes);
    device.write(*buffers_[1], 0, integers.b.data(), bytes);
  }
  void multiply() const {
    using I = Integers<Number>;
    const std::vector<gpu::BlasProduct> products{
        {sizeof(Number) == sizeof(double),
         I::rows,
         I::columns,
         I::depth,
         I::count,
         {buffers_[0].get(), I::a_offset, I::a_leading, I::a_distance},
         {buffers_[1].get(), I::b_offset, I::b_leading, I::b_distance},
         {buffers_[2].get(), I::c_offset, I::c_leading, I::c_distance}}};
    blas_->multiply(products);
  }
  std::vector<Number> multiplied() const {
    std::vector<Number> c(Integers<Number>::size, 0);
    device_.write(*buffers_[2], 0, c.data(), bytes);
    multiply();
    device_.read(*buffers_[2], 0, c.data(), bytes);
    return c;
  }

 private:
  static constexpr std::size_t bytes = Integers<Number>::size * sizeof(Number);
  gpu::Device& device_;
  const std::shared_ptr<gpu::Blas> blas_ = device_.blas().blas;
  std::shared_ptr<gpu::Buffer> buffers_[3];
};

/// Multiplies one number by one, in floats.
float rounded_by(gpu::Device& device, float x) {
  const auto in = device.allocate(sizeof x), one = device.allocate(sizeof x),
             out = device.allocate(sizeof x);
  constexpr float unit = 1;
  device.write(*in, 0, &x, sizeof x);
  device.write(*one, 0, &unit, sizeof x);
  const std::vector<gpu::BlasProduct> products{
      {false, 1, 1, 1, 1, {in.get(), 0, 1, 1}, {one.get(), 0, 1, 1}, {out.get(), 0, 1, 1}}};
  device.blas().blas->multiply(products);
  device.read(*out, 0, &x, sizeof x);
  return x;
}

void check_products(gpu::Device& device) {
  const Integers<double> doubles;
  const Integers<float> floats;
  CHECK(Products(device, doubles).multiplied() == doubles.right());
  CHECK(Products(device, floats).multiplied() == floats.right());
  // All bits of floats, also after products of doubles.
  CHECK(rounded_by(device, 0x1.fffffep0F) == 0x1.fffffep0F);
  std::vector<std::vector<double>> found(4);
  std::vector<std::jthread> threads;
  for (auto& c : found) threads.emplace_back([&] { c = Products(device, doubles).multiplied(); });
  threads.clear();
  for (const auto& c : found) CHECK(c == doubles.right());
}

/// Checks the kind of a failure and its message.
void expect_failure(gpu::BlasFailure kind, const std::vector<std::string>& words,
                    const auto& call) {
  try {
    call();
  } catch (const gpu::BlasError& error) {
    CHECK(error.failure() == kind);
    for (const std::string& word : words) CHECK(contains(error.what(), word));
    return;
  }
  FAIL("no BlasError");
}

}  // namespace

TEST_CASE("cuBLAS multiplies on a CUDA device, for several threads") {
  if (!has_fake_cuda()) return;
  for (const char* const name : {"cuda:0", "cuda:1"}) {
    const auto device = gpu::open_device(name);
    REQUIRE(device->blas().blas != nullptr);
    CHECK(device->blas().blas->name() == "cuBLAS 12.4.5");
    check_products(*device);
  }
}

TEST_CASE("CLBlast multiplies on an OpenCL device, for several threads") {
  if (!has_fake_cuda()) return;
  const auto device = gpu::open_device("opencl");
  const gpu::BlasLibrary library = device->blas();
  if (library.blas == nullptr) {
    CHECK(contains(library.reason, "libclblast1"));
    WARN("CLBlast is not installed: " << library.reason);
    return;
  }
  CHECK(library.blas->name() == "CLBlast");
  check_products(*device);
}

TEST_CASE("a product that cuBLAS cannot compute is an error with the remedy") {
  if (!has_fake_cuda()) return;
  using gpu::BlasFailure;
  const auto device = gpu::cuda_backend.open(0);
  const Integers<double> integers;
  struct Case {
    const char* failures;
    BlasFailure kind;
    std::vector<std::string> words;
  };
  const Case cases[] = {
      {"cublasDgemmStridedBatched=3once",
       BlasFailure::Memory,
       {"cuBLAS 12.4.5 cannot multiply on the CUDA device Fake CUDA card 0", "memory is full"}},
      {"cublasDgemmStridedBatched=8once",
       BlasFailure::Refused,
       {"GDR_GPU_BLAS=own", "(cuBLAS status 8)"}},
      {"cublasDgemmStridedBatched=13once",
       BlasFailure::Lost,
       {"removed or reset", "(cuBLAS status 13)"}},
      {"cuStreamSynchronize=719once",
       BlasFailure::Lost,
       {"Fake CUDA card 0 failed in a product of cuBLAS 12.4.5: ", "CUDA error 719"}},
  };
  for (const Case& c : cases) {
    INFO(c.failures);
    const Products<double> products(*device, integers);
    REQUIRE(products.multiplied() == integers.right());
    const Injected failure(c.failures);
    expect_failure(c.kind, c.words, [&] { products.multiply(); });
    CHECK(products.multiplied() == integers.right());
  }
  const Products<double> products(*device, integers);
  // After a failure another handle is made, for which no memory is left.
  const Injected failure("cublasDgemmStridedBatched=13once,cublasCreate_v2=3once");
  expect_failure(BlasFailure::Lost, {}, [&] { products.multiply(); });
  expect_failure(BlasFailure::Memory, {"memory is full"}, [&] { products.multiply(); });
  CHECK(products.multiplied() == integers.right());
}

TEST_CASE("a library that is named and cannot be used is an error, one that is missing is not") {
  if (!has_fake_cuda()) return;
  {
    const EnvironmentVariable library("GDR_CUBLAS_LIBRARY", "/nonexistent/libcublas.so.12");
    expect_error(ErrorCategory::Unsupported,
                 {"GDR_CUBLAS_LIBRARY: /nonexistent/libcublas.so.12 cannot be opened"},
                 [] { gpu::cuda_backend.open(0)->blas(); });
  }
  {
    const Injected failure("cublasCreate_v2=1");
    expect_error(ErrorCategory::Unsupported,
                 {"GDR_CUBLAS_LIBRARY: cuBLAS 12.4.5 (", ") does not work on the CUDA device"},
                 [] { gpu::cuda_backend.open(0)->blas(); });
  }
  {
    // Missing memory is a failure of the product, not of the library.
    const Injected failure("cublasCreate_v2=3");
    CHECK(gpu::cuda_backend.open(0)->blas().blas != nullptr);
  }
  {
    const EnvironmentVariable library("GDR_CLBLAST_LIBRARY", GDR_FAKE_CUDA);
    expect_error(ErrorCategory::Unsupported, {"GDR_CLBLAST_LIBRARY: ", "is no CLBlast"},
                 [] { gpu::opencl_backend.open(0)->blas(); });
  }
}

TEST_CASE("libraries of CUDA are tried from the driver's version downwards, then newer ones") {
  using gpu::cuda::versions_for;
  CHECK(versions_for(12040) == std::vector<int>{12, 11, 13, 14});
  CHECK(versions_for(13000) == std::vector<int>{13, 12, 11, 14});
  CHECK(versions_for(11020) == std::vector<int>{11, 12, 13, 14});
  CHECK(gpu::cuda::places_of("libnone.so", "none") == std::vector<std::string>{"libnone.so"});
}

}  // namespace gdr::test
