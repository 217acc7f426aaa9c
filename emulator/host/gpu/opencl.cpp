// OpenCL devices, through the loader's library, which is opened at run time. The few names and
// numbers of the interface that appear here are those of the OpenCL specification, version 1.2.

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "emulator/host/gpu/backend.hpp"
#include "emulator/host/gpu/clblast.hpp"
#include "emulator/host/gpu/few_registers.hpp"
#include "emulator/host/gpu/shared_library.hpp"
#include "emulator/host/gpu/thread_queue.hpp"
#include "emulator/host/parse_number.hpp"
#include "gdr/error.hpp"

namespace gdr::gpu {

// Objects of the driver are pointers to types that it keeps to itself.
struct PlatformObject;
struct DeviceObject;
struct ContextObject;
struct QueueObject;
struct MemoryObject;
struct ProgramObject;
struct KernelObject;
struct EventObject;

namespace {

using Status = std::int32_t;
using Flags = std::uint64_t;

constexpr Status success = 0;
constexpr Flags any_device = 0xffffffff, gpu_device = 1 << 2;
constexpr Flags read_and_write = 1 << 0;
constexpr std::uint32_t blocking = 1;
// What clGetPlatformInfo, clGetDeviceInfo and clGetProgramBuildInfo tell.
constexpr std::uint32_t platform_name = 0x0902;
constexpr std::uint32_t device_type = 0x1000, compute_units = 0x1002, largest_allocation = 0x1010,
                        global_memory = 0x101f, local_memory = 0x1023, largest_work_group = 0x1004,
                        device_name = 0x102b, driver_version = 0x102d, device_extensions = 0x1030,
                        double_config = 0x1032;
constexpr std::uint32_t build_log = 0x1183;
constexpr std::intptr_t partition_equally = 0x1086;
// Extensions: cl_khr_pci_bus_info, and cl_nv_device_attribute_query.
constexpr std::uint32_t pci_bus_info = 0x410f;
constexpr std::uint32_t nvidia_pci_bus = 0x4008, nvidia_pci_slot = 0x4009,
                        nvidia_pci_domain = 0x400a;

/// The functions of the library that are used.
struct Functions {
  Status (*get_platforms)(std::uint32_t, PlatformObject**, std::uint32_t*);
  Status (*platform_info)(PlatformObject*, std::uint32_t, std::size_t, void*, std::size_t*);
  Status (*get_devices)(PlatformObject*, Flags, std::uint32_t, DeviceObject**, std::uint32_t*);
  Status (*create_sub_devices)(DeviceObject*, const std::intptr_t*, std::uint32_t, DeviceObject**,
                               std::uint32_t*);
  Status (*device_info)(DeviceObject*, std::uint32_t, std::size_t, void*, std::size_t*);
  ContextObject* (*create_context)(const std::intptr_t*, std::uint32_t, DeviceObject* const*,
                                   void (*)(const char*, const void*, std::size_t, void*), void*,
                                   Status*);
  Status (*release_context)(ContextObject*);
  QueueObject* (*create_queue)(ContextObject*, DeviceObject*, Flags, Status*);
  Status (*release_queue)(QueueObject*);
  MemoryObject* (*create_buffer)(ContextObject*, Flags, std::size_t, void*, Status*);
  Status (*release_memory)(MemoryObject*);
  Status (*write_buffer)(QueueObject*, MemoryObject*, std::uint32_t, std::size_t, std::size_t,
                         const void*, std::uint32_t, EventObject* const*, EventObject**);
  Status (*read_buffer)(QueueObject*, MemoryObject*, std::uint32_t, std::size_t, std::size_t, void*,
                        std::uint32_t, EventObject* const*, EventObject**);
  ProgramObject* (*create_program)(ContextObject*, std::uint32_t, const char* const*,
                                   const std::size_t*, Status*);
  Status (*build_program)(ProgramObject*, std::uint32_t, DeviceObject* const*, const char*,
                          void (*)(ProgramObject*, void*), void*);
  Status (*build_info)(ProgramObject*, DeviceObject*, std::uint32_t, std::size_t, void*,
                       std::size_t*);
  Status (*release_program)(ProgramObject*);
  KernelObject* (*create_kernel)(ProgramObject*, const char*, Status*);
  Status (*release_kernel)(KernelObject*);
  Status (*set_argument)(KernelObject*, std::uint32_t, std::size_t, const void*);
  Status (*launch)(QueueObject*, KernelObject*, std::uint32_t, const std::size_t*,
                   const std::size_t*, const std::size_t*, std::uint32_t, EventObject* const*,
                   EventObject**);
  Status (*flush)(QueueObject*);
  Status (*finish)(QueueObject*);
};

/// The library, or why there is none.
struct Library {
  Functions call{};
  bool usable = false;
  std::string reason;
};

Library open_library() {
  Library library;
  // Some containers have NVIDIA's driver, but not the file by which the loader finds it.
  std::vector<std::string> names{"libOpenCL.so.1", "libnvidia-opencl.so.1"};
  if (const char* given = std::getenv("GDR_OPENCL_LIBRARY")) names = {given};
  std::optional<SharedLibrary> opened;
  for (const std::string& name : names) {
    opened.emplace(name);
    if (opened->is_open()) break;
    if (library.reason.empty())
      library.reason = "the library " + name +
                       " cannot be opened: install the OpenCL loader "
                       "(ocl-icd-libopencl1) and the driver of the card";
  }
  if (!opened->is_open()) return library;
  Functions& f = library.call;
  opened->find(f.get_platforms, "clGetPlatformIDs");
  opened->find(f.platform_info, "clGetPlatformInfo");
  opened->find(f.get_devices, "clGetDeviceIDs");
  opened->find(f.create_sub_devices, "clCreateSubDevices");
  opened->find(f.device_info, "clGetDeviceInfo");
  opened->find(f.create_context, "clCreateContext");
  opened->find(f.release_context, "clReleaseContext");
  opened->find(f.create_queue, "clCreateCommandQueue");
  opened->find(f.release_queue, "clReleaseCommandQueue");
  opened->find(f.create_buffer, "clCreateBuffer");
  opened->find(f.release_memory, "clReleaseMemObject");
  opened->find(f.write_buffer, "clEnqueueWriteBuffer");
  opened->find(f.read_buffer, "clEnqueueReadBuffer");
  opened->find(f.create_program, "clCreateProgramWithSource");
  opened->find(f.build_program, "clBuildProgram");
  opened->find(f.build_info, "clGetProgramBuildInfo");
  opened->find(f.release_program, "clReleaseProgram");
  opened->find(f.create_kernel, "clCreateKernel");
  opened->find(f.release_kernel, "clReleaseKernel");
  opened->find(f.set_argument, "clSetKernelArg");
  opened->find(f.launch, "clEnqueueNDRangeKernel");
  opened->find(f.flush, "clFlush");
  opened->find(f.finish, "clFinish");
  library.usable = opened->is_complete();
  library.reason = library.usable
                       ? "no driver for OpenCL is installed, or it sees no device (clinfo "
                         "lists what is there)"
                       : "the OpenCL library lacks functions of version 1.2";
  return library;
}

/// Never unloaded: drivers have threads.
const Library& library() {
  static const Library* const opened = new Library(open_library());
  return *opened;
}

/// The names of the errors that users meet, and what to do.
std::string explain(Status status) {
  struct Known {
    Status status;
    const char* text;
  };
  constexpr Known known[] = {
      {-4, "its memory is full: use fewer targets or sources at a time, or another card"},
      {-5, "it has no resources left: a launch took too long and was ended, or the card was reset"},
      {-6, "the driver has no memory left"},
      {-2, "the device is not available: the card was removed or reset"},
      {-36, "its queue was lost: the card was removed or reset"},
      {-61, "a buffer is larger than the device allows"},
  };
  const auto* const found = std::ranges::find(known, status, &Known::status);
  const std::string number = "OpenCL error " + std::to_string(status);
  return found == std::end(known) ? number : std::string(found->text) + " (" + number + ")";
}

template <typename Get>
std::string text_of(Get get) {
  std::size_t size = 0;
  if (get(std::size_t{0}, nullptr, &size) != success || size == 0) return {};
  std::string text(size, '\0');
  if (get(size, text.data(), nullptr) != success) return {};
  while (!text.empty() && (text.back() == '\0' || text.back() == ' ')) text.pop_back();
  return text;
}

template <typename Number>
Number number_of(DeviceObject* device, std::uint32_t what) {
  Number number = 0;
  if (library().call.device_info(device, what, sizeof number, &number, nullptr) != success)
    return 0;
  return number;
}

/// The place on the PCI bus, or nothing where the driver does not tell it.
std::string pci_address_of(DeviceObject* device) {
  const auto& query = library().call.device_info;
  struct {
    std::uint32_t domain, bus, device, function;
  } place{};
  if (query(device, pci_bus_info, sizeof place, &place, nullptr) == success)
    return pci_address(place.domain, place.bus, place.device);
  std::uint32_t bus = 0, slot = 0;
  if (query(device, nvidia_pci_bus, sizeof bus, &bus, nullptr) != success ||
      query(device, nvidia_pci_slot, sizeof slot, &slot, nullptr) != success)
    return {};
  // A slot is a device and three bits of its function.
  return pci_address(number_of<std::uint32_t>(device, nvidia_pci_domain), bus, slot >> 3);
}

struct Found {
  DeviceObject* object = nullptr;
  DeviceInfo info;
  bool takes_levels = false;  ///< whether its compiler has NVIDIA's option for optimization
};

/// GDR_OPENCL_PARTS: into how many parts devices are divided.
std::uint32_t parts_of_environment() {
  const char* const given = std::getenv("GDR_OPENCL_PARTS");
  if (given == nullptr) return 1;
  constexpr std::uint32_t most = 1024;
  const std::uint32_t parts = parse_all<std::uint32_t>(given).value_or(0);
  if (parts < 1 || parts > most)
    throw Error(ErrorCategory::Usage, std::string("GDR_OPENCL_PARTS is '") + given +
                                          "', not a number of parts from 1 to " +
                                          std::to_string(most));
  return parts;
}

/// Parts of a device with equally many compute units; the device itself if it cannot be divided.
std::vector<DeviceObject*> divided(DeviceObject* device, std::uint32_t parts) {
  const std::uint32_t units = number_of<std::uint32_t>(device, compute_units) / parts;
  if (parts < 2 || units < 1) return {device};
  const std::array<std::intptr_t, 3> how{partition_equally, units, 0};
  std::vector<DeviceObject*> made(parts);
  std::uint32_t count = 0;
  const auto create = library().call.create_sub_devices;
  if (create(device, how.data(), 0, nullptr, &count) != success) return {device};
  made.resize(count);
  if (create(device, how.data(), count, made.data(), nullptr) != success) return {device};
  return made;
}

std::vector<Found> find_devices() {
  std::vector<Found> found;
  const Functions& call = library().call;
  if (!library().usable) return found;
  const std::uint32_t parts = parts_of_environment();
  std::uint32_t count = 0;
  if (call.get_platforms(0, nullptr, &count) != success || count == 0) return found;
  std::vector<PlatformObject*> platforms(count);
  if (call.get_platforms(count, platforms.data(), nullptr) != success) return found;
  for (PlatformObject* const platform : platforms) {
    std::uint32_t here = 0;
    if (call.get_devices(platform, any_device, 0, nullptr, &here) != success || here == 0) continue;
    std::vector<DeviceObject*> objects(here);
    if (call.get_devices(platform, any_device, here, objects.data(), nullptr) != success) continue;
    std::vector<DeviceObject*> used;
    for (DeviceObject* const object : objects)
      std::ranges::copy(divided(object, parts), std::back_inserter(used));
    for (DeviceObject* const object : used) {
      const auto text = [&](std::uint32_t what) {
        return text_of([&](std::size_t size, void* to, std::size_t* needed) {
          return call.device_info(object, what, size, to, needed);
        });
      };
      DeviceInfo info;
      info.backend = "OpenCL";
      info.name = text(device_name);
      info.driver = text(driver_version);
      info.platform = text_of([&](std::size_t size, void* to, std::size_t* needed) {
        return call.platform_info(platform, platform_name, size, to, needed);
      });
      info.is_gpu = (number_of<Flags>(object, device_type) & gpu_device) != 0;
      info.has_doubles = number_of<Flags>(object, double_config) != 0;
      info.units = number_of<std::uint32_t>(object, compute_units);
      info.memory_bytes = number_of<std::uint64_t>(object, global_memory);
      info.largest_buffer_bytes = number_of<std::uint64_t>(object, largest_allocation);
      info.local_bytes = number_of<std::uint64_t>(object, local_memory);
      info.largest_group = number_of<std::size_t>(object, largest_work_group);
      if (info.is_gpu) info.pci_address = pci_address_of(object);
      const bool takes_levels =
          text(device_extensions).find("cl_nv_compiler_options") != std::string::npos;
      found.push_back({object, std::move(info), takes_levels});
    }
  }
  std::ranges::stable_partition(found, [](const Found& f) { return f.info.is_gpu; });
  return found;
}

const std::vector<Found>& found_devices() {
  static const std::vector<Found>* const found = new std::vector<Found>(find_devices());
  return *found;
}

struct OpenClBuffer final : Buffer {
  explicit OpenClBuffer(MemoryObject* made) : object(made) {}
  OpenClBuffer(const OpenClBuffer&) = delete;
  ~OpenClBuffer() override { library().call.release_memory(object); }
  std::uintptr_t handle() const noexcept override {
    return reinterpret_cast<std::uintptr_t>(object);
  }
  MemoryObject* const object;
};

class OpenClKernel final : public Kernel {
 public:
  OpenClKernel(ProgramObject* program, KernelObject* made) : object(made), program_(program) {}
  OpenClKernel(const OpenClKernel&) = delete;
  ~OpenClKernel() override {
    library().call.release_kernel(object);
    library().call.release_program(program_);
  }
  KernelObject* const object;
  mutable std::mutex mutex;  ///< guards the kernel's arguments

 private:
  ProgramObject* const program_;
};

/// The queue of a thread for a device.
class Queue {
 public:
  explicit Queue(QueueObject* made) : object(made) {}
  Queue(const Queue&) = delete;
  ~Queue() { library().call.release_queue(object); }

  QueueObject* const object;
  KeptCopies kept;
};

class OpenClDevice final : public Device {
 public:
  explicit OpenClDevice(const Found& found) : found_(found) {
    Status status = success;
    context_ = call_.create_context(nullptr, 1, &found_.object, nullptr, nullptr, &status);
    check(status, "cannot be opened");
  }
  ~OpenClDevice() override { call_.release_context(context_); }
  OpenClDevice(const OpenClDevice&) = delete;

  const DeviceInfo& info() const noexcept override { return found_.info; }

  std::shared_ptr<const Kernel> compile(const std::string& text) override {
    write_text(text);
    Status status = success;
    const char* const from = text.c_str();
    const std::size_t length = text.size();
    ProgramObject* const program = call_.create_program(context_, 1, &from, &length, &status);
    check(status, "takes no program");
    const char* const options =
        found_.takes_levels && wants_few_registers(text) ? "-cl-nv-opt-level=1" : "";
    if (call_.build_program(program, 1, &found_.object, options, nullptr, nullptr) != success) {
      const std::string log = text_of([&](std::size_t size, void* to, std::size_t* needed) {
        return call_.build_info(program, found_.object, build_log, size, to, needed);
      });
      call_.release_program(program);
      throw Error(ErrorCategory::Program,
                  "the OpenCL compiler of " + found_.info.name + " refuses a kernel: " + log);
    }
    KernelObject* const kernel = call_.create_kernel(program, "run", &status);
    if (status != success) call_.release_program(program);
    check(status, "gives no kernel");
    return std::make_shared<OpenClKernel>(program, kernel);
  }

  std::shared_ptr<Buffer> allocate(std::size_t bytes) override {
    Status status = success;
    MemoryObject* const memory = call_.create_buffer(
        context_, read_and_write, std::max<std::size_t>(bytes, 1), nullptr, &status);
    check(status, "gives no buffer of " + std::to_string(bytes) + " bytes");
    return std::make_shared<OpenClBuffer>(memory);
  }

  void send(Buffer& to, std::size_t offset, const void* from, std::size_t bytes) override {
    if (bytes == 0) return;
    Queue& queue = queue_of_thread();
    const bool waits = bytes > KeptCopies::max_bytes;
    check(call_.write_buffer(queue.object, object(to), waits ? blocking : 0, offset, bytes,
                             waits ? from : queue.kept.keep(from, bytes), 0, nullptr, nullptr),
          "cannot be written to");
  }
  void read(const Buffer& from, std::size_t offset, void* to, std::size_t bytes) override {
    if (bytes == 0) return;
    Queue& queue = queue_of_thread();
    check(call_.read_buffer(queue.object, object(from), blocking, offset, bytes, to, 0, nullptr,
                            nullptr),
          "cannot be read");
    queue.kept.clear();
  }
  void finish() override {
    Queue& queue = queue_of_thread();
    check(call_.finish(queue.object), "failed");
    queue.kept.clear();
  }

  void start(const Kernel& given, const std::vector<Argument>& arguments, std::size_t threads,
             std::size_t group) override {
    QueueObject* const queue = queue_of_thread().object;
    {
      const auto& kernel = static_cast<const OpenClKernel&>(given);
      const std::scoped_lock lock(kernel.mutex);
      for (std::uint32_t n = 0; n < arguments.size(); ++n) {
        const Argument& a = arguments[n];
        MemoryObject* const memory = a.buffer != nullptr ? object(*a.buffer) : nullptr;
        const Status status =
            memory != nullptr ? call_.set_argument(kernel.object, n, sizeof memory, &memory)
                              : call_.set_argument(kernel.object, n, sizeof a.number, &a.number);
        check(status, "refuses an argument");
      }
      check(call_.launch(queue, kernel.object, 1, nullptr, &threads, &group, 0, nullptr, nullptr),
            "cannot start a kernel");
    }
    check(call_.flush(queue), "cannot start a kernel");
  }

  BlasLibrary blas() override {
    const std::scoped_lock lock(blas_mutex_);
    if (blas_.blas == nullptr)
      blas_ = open_clblast(
          found_.info, [this] { return queue_of_thread().object; }, [this] { finish(); });
    return blas_;
  }

 private:
  /// Queues end with their thread.
  Queue& queue_of_thread() {
    thread_local std::map<std::uint64_t, Queue> queues;
    if (const auto known = queues.find(number_); known != queues.end()) return known->second;
    Status status = success;
    QueueObject* const made = call_.create_queue(context_, found_.object, 0, &status);
    check(status, "gives no queue");
    return queues.try_emplace(number_, made).first->second;
  }
  static MemoryObject* object(const Buffer& buffer) {
    return static_cast<const OpenClBuffer&>(buffer).object;
  }
  void check(Status status, const std::string& what) const {
    if (status == success) return;
    throw Error(ErrorCategory::Device, label(found_.info) + " " + what + ": " + explain(status));
  }

  const Functions& call_ = library().call;
  const Found& found_;
  const std::uint64_t number_ = next_device_number();
  ContextObject* context_ = nullptr;
  std::mutex blas_mutex_;
  BlasLibrary blas_;
};

const std::vector<DeviceInfo>& infos() {
  static const std::vector<DeviceInfo>* const all = [] {
    auto* const made = new std::vector<DeviceInfo>;
    for (const Found& found : found_devices()) made->push_back(found.info);
    return made;
  }();
  return *all;
}

}  // namespace

const Backend opencl_backend{"OpenCL", "opencl", infos, [] { return library().reason; },
                             [](std::size_t number) -> std::unique_ptr<Device> {
                               return std::make_unique<OpenClDevice>(found_devices()[number]);
                             }};

}  // namespace gdr::gpu
