#include "emulator/host/gpu/cuda/compiler.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "emulator/host/gpu/cuda/library_search.hpp"
#include "emulator/host/gpu/cuda/prelude.hpp"
#include "emulator/host/gpu/few_registers.hpp"
#include "emulator/host/gpu/shared_library.hpp"
#include "gdr/error.hpp"

namespace gdr::gpu::cuda {
namespace {

/// A program as NVRTC has it.
struct ProgramObject;

struct NvrtcFunctions {
  int (*version)(int* major, int* minor);
  int (*count_architectures)(int* count);
  int (*architectures)(int* list);
  int (*create)(ProgramObject** program, const char* text, const char* name, int headers,
                const char* const* header_texts, const char* const* header_names);
  int (*destroy)(ProgramObject** program);
  int (*compile)(ProgramObject* program, int count, const char* const* options);
  int (*log_size)(ProgramObject* program, std::size_t* bytes);
  int (*log)(ProgramObject* program, char* text);
  int (*ptx_size)(ProgramObject* program, std::size_t* bytes);
  int (*ptx)(ProgramObject* program, char* text);
  int (*binary_size)(ProgramObject* program, std::size_t* bytes);
  int (*binary)(ProgramObject* program, char* bytes);
  const char* (*error_text)(int result);
};

constexpr int invalid_option = 5, compilation_error = 6;

/// All functions of a library, or nothing if one is missing.
std::optional<NvrtcFunctions> functions_of(SharedLibrary opened) {
  NvrtcFunctions f{};
  opened.find(f.version, "nvrtcVersion");
  opened.find(f.count_architectures, "nvrtcGetNumSupportedArchs");
  opened.find(f.architectures, "nvrtcGetSupportedArchs");
  opened.find(f.create, "nvrtcCreateProgram");
  opened.find(f.destroy, "nvrtcDestroyProgram");
  opened.find(f.compile, "nvrtcCompileProgram");
  opened.find(f.log_size, "nvrtcGetProgramLogSize");
  opened.find(f.log, "nvrtcGetProgramLog");
  opened.find(f.ptx_size, "nvrtcGetPTXSize");
  opened.find(f.ptx, "nvrtcGetPTX");
  opened.find(f.binary_size, "nvrtcGetCUBINSize");
  opened.find(f.binary, "nvrtcGetCUBIN");
  opened.find(f.error_text, "nvrtcGetErrorString");
  return opened.is_complete() ? std::optional(f) : std::nullopt;
}

class Nvrtc final : public Compiler {
 public:
  explicit Nvrtc(const NvrtcFunctions& functions) : call_(functions) {
    int count = 0;
    call_.version(&major_, &minor_);
    if (call_.count_architectures(&count) != 0) return;
    architectures_.resize(static_cast<std::size_t>(count));
    if (call_.architectures(architectures_.data()) != 0) architectures_.clear();
    std::ranges::sort(architectures_);
  }
  std::string name() const override {
    return "NVRTC " + std::to_string(major_) + "." + std::to_string(minor_);
  }
  bool makes_binary(int capability) const override {
    return std::ranges::binary_search(architectures_, capability);
  }
  int ptx_capability(int capability) const override {
    const auto after = std::ranges::upper_bound(architectures_, capability);
    return after == architectures_.begin() ? 0 : *(after - 1);
  }

  Image compile(const std::string& text, int capability, bool as_ptx) const override {
    as_ptx = as_ptx || !makes_binary(capability);
    const std::string target = as_ptx ? "compute_" + std::to_string(ptx_capability(capability))
                                      : "sm_" + std::to_string(capability);
    const std::string architecture = "--gpu-architecture=" + target;
    // Every operation rounds once, also roots and quotients of floats, and subnormals are kept: the
    // default but for contraction.
    std::vector<const char*> options{architecture.c_str(),
                                     "--fmad=false",
                                     "--ftz=false",
                                     "--prec-sqrt=true",
                                     "--prec-div=true",
                                     "--std=c++17",
                                     "--device-as-default-execution-space",
                                     "--disable-warnings"};
    const std::size_t always = options.size();
    if (!as_ptx && wants_few_registers(text)) options.push_back("--ptxas-options=-O1");
    const Program program(call_, prelude + text);
    const auto compile = [&](std::size_t count) {
      return call_.compile(program.object, static_cast<int>(count), options.data());
    };
    int result = compile(options.size());
    // Early versions of NVRTC have no options for ptxas.
    if (result == invalid_option && options.size() > always) result = compile(always);
    if (result == compilation_error)
      throw Error(ErrorCategory::Program, name() + " refuses a kernel for " + target + ": " +
                                              got(program.object, call_.log_size, call_.log));
    check(result, "cannot compile a kernel for " + target);
    Image image{as_ptx ? got(program.object, call_.ptx_size, call_.ptx)
                       : got(program.object, call_.binary_size, call_.binary),
                as_ptx};
    if (image.bytes.empty())
      throw Error(ErrorCategory::Device, name() + " made no code for " + target);
    return image;
  }

 private:
  struct Program {
    Program(const NvrtcFunctions& functions, const std::string& text) : call(functions) {
      if (call.create(&object, text.c_str(), "kernel.cu", 0, nullptr, nullptr) != 0)
        throw Error(ErrorCategory::Device, "NVRTC takes no program: no memory is left");
    }
    Program(const Program&) = delete;
    ~Program() { call.destroy(&object); }
    const NvrtcFunctions& call;
    ProgramObject* object = nullptr;
  };
  static std::string got(ProgramObject* program, int (*size)(ProgramObject*, std::size_t*),
                         int (*get)(ProgramObject*, char*)) {
    std::size_t bytes = 0;
    if (size(program, &bytes) != 0 || bytes == 0) return {};
    std::string text(bytes, '\0');
    return get(program, text.data()) == 0 ? text : std::string();
  }
  void check(int result, const std::string& what) const {
    if (result == 0) return;
    throw Error(ErrorCategory::Device, name() + " " + what + ": " + call_.error_text(result) +
                                           "; libnvrtc-builtins of the same version must be in the "
                                           "folder of libnvrtc");
  }

  NvrtcFunctions call_;
  int major_ = 0, minor_ = 0;
  std::vector<int> architectures_;
};

/// All libraries that can be opened, in the order of library_names.
std::vector<std::unique_ptr<Compiler>> open_compilers(int driver_version) {
  std::vector<std::unique_ptr<Compiler>> found;
  const auto add = [&](const std::string& path) {
    auto opened = open_compiler(path);
    if (!opened) return false;
    found.push_back(std::move(opened));
    return true;
  };
  if (const char* const given = std::getenv("GDR_NVRTC_LIBRARY")) {
    if (!add(given))
      throw Error(ErrorCategory::Unsupported, std::string("GDR_NVRTC_LIBRARY: ") + given +
                                                  " cannot be opened, or is no NVRTC of CUDA 11.2 "
                                                  "or later");
    return found;
  }
  for (const std::string& name : library_names(driver_version))
    for (const std::string& place : places_of(name, "cuda_nvrtc"))
      if (add(place)) break;
  return found;
}

/// The package of PyPI with an NVRTC for a driver.
std::string package_for(int driver_version) {
  return driver_version >= 13000 ? "nvidia-cuda-nvrtc" : "nvidia-cuda-nvrtc-cu12";
}

}  // namespace

std::unique_ptr<Compiler> open_compiler(const std::string& path) {
  const std::optional<NvrtcFunctions> functions = functions_of(SharedLibrary(path));
  return functions ? std::make_unique<Nvrtc>(*functions) : nullptr;
}

std::vector<std::string> library_names(int driver_version) {
  std::vector<std::string> names;
  for (const int major : versions_for(driver_version))
    // CUDA 11.2 to 11.8 have the same name.
    names.push_back("libnvrtc.so." + (major == 11 ? "11.2" : std::to_string(major)));
  return names;
}

const Compiler& compiler_for(int capability, int driver_version) {
  static std::mutex mutex;
  static std::vector<std::unique_ptr<Compiler>>* libraries = nullptr;
  const std::scoped_lock lock(mutex);
  if (libraries == nullptr)
    libraries = new std::vector<std::unique_ptr<Compiler>>(open_compilers(driver_version));
  if (libraries->empty())
    throw Error(ErrorCategory::Unsupported,
                "CUDA's compiler NVRTC was not found: install it with 'pip install " +
                    package_for(driver_version) +
                    "' or CUDA's toolkit, or name its libnvrtc.so in GDR_NVRTC_LIBRARY");
  for (const auto& library : *libraries)
    if (library->makes_binary(capability)) return *library;
  for (const auto& library : *libraries)
    if (library->ptx_capability(capability) != 0) return *library;
  throw Error(ErrorCategory::Unsupported,
              libraries->front()->name() + " no longer supports cards of compute capability " +
                  std::to_string(capability / 10) + "." + std::to_string(capability % 10) +
                  ": install an older one, 'pip install nvidia-cuda-nvrtc-cu12' or "
                  "nvidia-cuda-nvrtc-cu11");
}

}  // namespace gdr::gpu::cuda
