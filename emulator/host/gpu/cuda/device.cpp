// CUDA devices, through the driver's library and NVRTC.
#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "emulator/host/gpu/backend.hpp"
#include "emulator/host/gpu/cuda/compiler.hpp"
#include "emulator/host/gpu/cuda/cublas.hpp"
#include "emulator/host/gpu/cuda/driver.hpp"
#include "emulator/host/gpu/thread_queue.hpp"
#include "gdr/error.hpp"

namespace gdr::gpu {
namespace cuda {
namespace {

/// A queue of its own for every thread of the host (CU_STREAM_PER_THREAD): threads do not wait for
/// each other's launches.
StreamObject* stream_of_thread() { return reinterpret_cast<StreamObject*>(std::uintptr_t{2}); }

struct Found {
  DeviceNumber device = 0;
  int capability = 0;  ///< 90 is 9.0
  DeviceInfo info;
};

struct Listing {
  std::vector<Found> found;
  std::vector<DeviceInfo> infos;  ///< descriptions of `found`
  std::string reason;             ///< why there is none
};

int attribute(DeviceNumber device, Attribute which) {
  int value = 0;
  const Result result = driver().call.device_attribute(&value, static_cast<int>(which), device);
  return result == success ? value : 0;
}

Found found_device(DeviceNumber device) {
  const Functions& call = driver().call;
  Found f{device, 0, {}};
  f.capability = 10 * attribute(device, Attribute::CapabilityMajor) +
                 attribute(device, Attribute::CapabilityMinor);
  std::array<char, 256> name{};
  if (call.device_name(name.data(), name.size() - 1, device) == success) f.info.name = name.data();
  std::size_t bytes = 0;
  if (call.device_memory(&bytes, device) != success) bytes = 0;
  f.info.backend = "CUDA";
  f.info.driver = version_text(driver().version);
  f.info.is_gpu = f.info.has_doubles = true;
  f.info.memory_bytes = f.info.largest_buffer_bytes = bytes;
  const auto number = [&](Attribute which) {
    return static_cast<std::uint32_t>(attribute(device, which));
  };
  f.info.units = number(Attribute::Multiprocessors);
  f.info.local_bytes = number(Attribute::SharedMemoryOfBlock);
  f.info.largest_group = number(Attribute::ThreadsOfBlock);
  f.info.pci_address = pci_address(number(Attribute::PciDomain), number(Attribute::PciBus),
                                   number(Attribute::PciDevice));
  return f;
}

Listing listed() {
  Listing listing;
  const Driver& library = driver();
  if (!library.usable) {
    listing.reason = library.reason;
    return listing;
  }
  int count = 0;
  Result result = library.call.init(0);
  if (result == success) result = library.call.device_count(&count);
  constexpr Result no_device = 100;
  if (result != success || count == 0)
    listing.reason = explain(result != success ? result : no_device);
  for (int n = 0; result == success && n < count; ++n)
    if (DeviceNumber device = 0; library.call.device(&device, n) == success)
      listing.found.push_back(found_device(device));
  for (const Found& f : listing.found) listing.infos.push_back(f.info);
  return listing;
}

const Listing& listing() {
  static const Listing* const all = new Listing(listed());
  return *all;
}

/// A device's primary context, which the other users of CUDA in the process share.
class Context {
 public:
  explicit Context(const Found& found) : found_(found) {
    check(call_.retain_context(&object_, found.device), "cannot be opened");
  }
  Context(const Context&) = delete;
  ~Context() { call_.release_context(found_.device); }

  const Found& device() const { return found_; }
  ContextObject* object() const { return object_; }
  void check(Result result, const std::string& what) const {
    if (result == success) return;
    throw Error(ErrorCategory::Device, label(found_.info) + " " + what + ": " + explain(result));
  }

 private:
  const Functions& call_ = driver().call;
  const Found& found_;
  ContextObject* object_ = nullptr;
};

/// Makes a context that of the calling thread for a while; the caller may have another one.
class Current {
 public:
  explicit Current(const Context& context)
      : context_(context), result_(driver().call.push_context(context.object())) {}
  Current(const Current&) = delete;
  ~Current() {
    ContextObject* popped = nullptr;
    if (result_ == success) driver().call.pop_context(&popped);
  }
  bool succeeded() const { return result_ == success; }
  void check() const { context_.check(result_, "cannot be used by this thread"); }

 private:
  const Context& context_;
  const Result result_;
};

class CudaBuffer final : public Buffer {
 public:
  CudaBuffer(std::shared_ptr<const Context> context, Address made)
      : address(made), context_(std::move(context)) {}
  CudaBuffer(const CudaBuffer&) = delete;
  ~CudaBuffer() override {
    const Current current(*context_);
    if (current.succeeded()) driver().call.free(address);
  }
  std::uintptr_t handle() const noexcept override { return address; }
  const Address address;

 private:
  const std::shared_ptr<const Context> context_;
};

class CudaKernel final : public Kernel {
 public:
  CudaKernel(std::shared_ptr<const Context> context, ModuleObject* module)
      : context_(std::move(context)), module_(module) {}
  CudaKernel(const CudaKernel&) = delete;
  ~CudaKernel() override {
    const Current current(*context_);
    if (current.succeeded()) driver().call.unload_module(module_);
  }
  FunctionObject* function = nullptr;

 private:
  const std::shared_ptr<const Context> context_;
  ModuleObject* const module_;
};

class CudaDevice final : public Device {
 public:
  explicit CudaDevice(const Found& found)
      : compiler_(compiler_for(found.capability, driver().version)),
        context_(std::make_shared<Context>(found)) {}

  const DeviceInfo& info() const noexcept override { return context_->device().info; }

  std::shared_ptr<const Kernel> compile(const std::string& text) override {
    write_text(text);
    const int capability = context_->device().capability;
    Image image = compiler_.compile(text, capability, false);
    const Current current(*context_);
    current.check();
    ModuleObject* module = nullptr;
    Loaded loaded = load(image, module);
    // A driver that refuses the machine code of a newer NVRTC may accept its PTX.
    if (!image.is_ptx &&
        (loaded.result == invalid_image || loaded.result == no_binary_for_device)) {
      image = compiler_.compile(text, capability, true);
      loaded = load(image, module);
    }
    context_->check(loaded.result, "does not load a kernel of " + compiler_.name() + loaded.log);
    const auto kernel = std::make_shared<CudaKernel>(context_, module);
    context_->check(call_.function(&kernel->function, module, "run"), "finds no kernel 'run'");
    return kernel;
  }

  std::shared_ptr<Buffer> allocate(std::size_t bytes) override {
    const Current current(*context_);
    current.check();
    Address address = 0;
    context_->check(call_.allocate(&address, std::max<std::size_t>(bytes, 1)),
                    "gives no buffer of " + std::to_string(bytes) + " bytes");
    return std::make_shared<CudaBuffer>(context_, address);
  }

  void send(Buffer& to, std::size_t offset, const void* from, std::size_t bytes) override {
    if (bytes == 0) return;
    const Current current(*context_);
    current.check();
    const bool waits = bytes > KeptCopies::max_bytes;
    StreamObject* const stream = stream_of_thread();
    context_->check(call_.write(address(to) + offset,
                                waits ? from : kept_of_thread().keep(from, bytes), bytes, stream),
                    "cannot be written to");
    if (waits) context_->check(call_.synchronize(stream), "cannot be written to");
  }
  void read(const Buffer& from, std::size_t offset, void* to, std::size_t bytes) override {
    if (bytes == 0) return;
    const Current current(*context_);
    current.check();
    StreamObject* const stream = stream_of_thread();
    context_->check(call_.read(to, address(from) + offset, bytes, stream), "cannot be read");
    context_->check(call_.synchronize(stream), "cannot be read");
    kept_of_thread().clear();
  }

  void finish() override {
    const Current current(*context_);
    current.check();
    context_->check(call_.synchronize(stream_of_thread()), "failed");
    kept_of_thread().clear();
  }

  void start(const Kernel& kernel, const std::vector<Argument>& arguments, std::size_t threads,
             std::size_t group) override {
    if (threads == 0) return;
    constexpr std::size_t max_groups = std::numeric_limits<std::int32_t>::max();
    const std::size_t groups = threads / group;
    if (groups > max_groups)
      throw Error(ErrorCategory::Device, label(info()) + " cannot start " + std::to_string(groups) +
                                             " groups of threads at once: use fewer targets");
    // The driver copies the arguments when it launches.
    std::vector<std::uint64_t> values;
    for (const Argument& a : arguments)
      values.push_back(a.buffer != nullptr ? address(*a.buffer) : a.number);
    std::vector<void*> pointers;
    for (std::uint64_t& value : values) pointers.push_back(&value);
    const Current current(*context_);
    current.check();
    context_->check(call_.launch(static_cast<const CudaKernel&>(kernel).function,
                                 static_cast<unsigned>(groups), 1, 1, static_cast<unsigned>(group),
                                 1, 1, 0, stream_of_thread(), pointers.data(), nullptr),
                    "cannot start a kernel");
  }

  BlasLibrary blas() override {
    const std::scoped_lock lock(blas_mutex_);
    if (blas_.blas == nullptr) blas_ = open_cublas(info(), context_->object(), stream_of_thread);
    return blas_;
  }

 private:
  struct Loaded {
    Result result = success;
    std::string log;  ///< the driver's messages, with a colon before them
  };
  Loaded load(const Image& image, ModuleObject*& module) const {
    constexpr int log_buffer = 5, log_bytes = 6;  // CU_JIT_ERROR_LOG_BUFFER and its size
    std::array<char, 4096> log{};
    std::array<int, 2> options{log_buffer, log_bytes};
    // A number is given in the place of a pointer.
    std::array<void*, 2> values{log.data(), reinterpret_cast<void*>(log.size() - 1)};
    const Result result = call_.load_module(&module, image.bytes.data(), options.size(),
                                            options.data(), values.data());
    return {result, log[0] == '\0' ? "" : std::string(" (") + log.data() + ")"};
  }

  KeptCopies& kept_of_thread() const {
    thread_local std::map<std::uint64_t, KeptCopies> all;
    return all[number_];
  }
  static Address address(const Buffer& buffer) {
    return static_cast<const CudaBuffer&>(buffer).address;
  }

  const std::uint64_t number_ = next_device_number();
  const Functions& call_ = driver().call;
  const Compiler& compiler_;
  const std::shared_ptr<const Context> context_;
  std::mutex blas_mutex_;
  BlasLibrary blas_;
};

}  // namespace
}  // namespace cuda

const Backend cuda_backend{
    "CUDA", "cuda", []() -> const std::vector<DeviceInfo>& { return cuda::listing().infos; },
    [] { return cuda::listing().reason; },
    [](std::size_t number) -> std::unique_ptr<Device> {
      return std::make_unique<cuda::CudaDevice>(cuda::listing().found[number]);
    }};

}  // namespace gdr::gpu
