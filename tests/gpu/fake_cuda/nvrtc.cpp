// An NVRTC for tests: checks options and prelude, and gives the text behind the prelude, which is
// in the dialect of OpenCL C, to the OpenCL device's compiler. Where GDR_TEST_NVRTC names a real
// NVRTC, that must compile the whole text first, for several architectures.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/host/gpu/cuda/prelude.hpp"
#include "emulator/host/gpu/few_registers.hpp"
#include "gdr/error.hpp"
#include "gpu/fake_cuda/programs.hpp"
#include "gpu/fake_cuda/real_nvrtc.hpp"
#include "gpu/fake_cuda/settings.hpp"

namespace gdr::test::fake_cuda {
namespace {

constexpr int success = 0, invalid_input = 3, invalid_option = 5, compilation_error = 6;
constexpr std::array architectures{75, 80, 86, 90};

struct Program {
  std::string text, log, image;
  bool is_ptx = false;
};

/// Which arguments of the kernel are pointers.
std::vector<bool> pointers_of(std::string_view text) {
  constexpr std::string_view begin = "void run(";
  const std::size_t at = text.find(begin);
  if (at == std::string_view::npos) return {};
  std::string_view list = text.substr(at + begin.size());
  list = list.substr(0, list.find(')'));
  std::vector<bool> pointers;
  for (;;) {
    const std::size_t comma = std::min(list.find(','), list.size());
    pointers.push_back(list.substr(0, comma).find('*') != std::string_view::npos);
    if (comma == list.size()) return pointers;
    list.remove_prefix(comma + 1);
  }
}

bool is_supported(const std::string& target) {
  return std::ranges::any_of(architectures, [&](int a) {
    return target == "sm_" + std::to_string(a) || target == "compute_" + std::to_string(a);
  });
}

int copied(const std::string& text, std::size_t* bytes, char* to) {
  if (bytes != nullptr) *bytes = text.size() + 1;
  if (to != nullptr) std::memcpy(to, text.c_str(), text.size() + 1);
  return success;
}

}  // namespace

extern "C" {

int nvrtcVersion(int* major, int* minor) {
  *major = 12;
  *minor = 4;
  return success;
}
int nvrtcGetNumSupportedArchs(int* count) {
  *count = static_cast<int>(architectures.size());
  return success;
}
int nvrtcGetSupportedArchs(int* list) {
  std::ranges::copy(architectures, list);
  return success;
}
const char* nvrtcGetErrorString(int result) {
  return result == 7 ? "NVRTC_ERROR_BUILTIN_OPERATION_FAILURE" : "NVRTC_ERROR";
}
int nvrtcCreateProgram(Program** program, const char* text, const char* /*name*/, int headers,
                       const char* const* /*texts*/, const char* const* /*names*/) {
  if (headers != 0) return invalid_input;
  *program = new Program{text, {}, {}, false};
  return success;
}
int nvrtcDestroyProgram(Program** program) {
  delete *program;
  *program = nullptr;
  return success;
}

int nvrtcCompileProgram(Program* program, int count, const char* const* options) {
  if (const int result = injected("nvrtcCompileProgram"); result != success) return result;
  const std::vector<std::string> given(options, options + count);
  constexpr std::string_view architecture = "--gpu-architecture=";
  std::string target;
  bool separate = false;
  for (const std::string& option : given) {
    if (option.starts_with(architecture)) target = option.substr(architecture.size());
    separate = separate || option == "--fmad=false";
  }
  if (!separate || !is_supported(target)) return invalid_option;
  const std::string_view prelude = gpu::cuda::prelude;
  if (!program->text.starts_with(prelude)) return invalid_input;
  const std::string dialect = program->text.substr(prelude.size());
  // Only machine code is optimized here.
  const bool reduced = std::ranges::find(given, "--ptxas-options=-O1") != given.end();
  if (reduced && !takes_ptxas_options()) return invalid_option;
  const bool wanted =
      gpu::wants_few_registers(dialect) && target.starts_with("sm_") && takes_ptxas_options();
  if (reduced != wanted) return invalid_input;
  program->log = refused_by_real_nvrtc(dialect);
  if (!program->log.empty()) return compilation_error;
  try {
    program->image = keep({opencl_device()->compile(dialect), pointers_of(dialect)}, target);
  } catch (const Error& error) {
    program->log = error.what();
    return compilation_error;
  }
  program->is_ptx = target.starts_with("compute_");
  return success;
}
int nvrtcGetProgramLogSize(Program* program, std::size_t* bytes) {
  return copied(program->log, bytes, nullptr);
}
int nvrtcGetProgramLog(Program* program, char* text) { return copied(program->log, nullptr, text); }
int nvrtcGetPTXSize(Program* program, std::size_t* bytes) {
  return program->is_ptx ? copied(program->image, bytes, nullptr) : invalid_input;
}
int nvrtcGetPTX(Program* program, char* text) { return copied(program->image, nullptr, text); }
int nvrtcGetCUBINSize(Program* program, std::size_t* bytes) {
  return program->is_ptx ? invalid_input : copied(program->image, bytes, nullptr);
}
int nvrtcGetCUBIN(Program* program, char* bytes) { return copied(program->image, nullptr, bytes); }

}  // extern "C"

}  // namespace gdr::test::fake_cuda
