#include "bench/gpu_code/toolchain.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>

#include "bench/gpu_code/run_tool.hpp"
#include "emulator/host/gpu/few_registers.hpp"
#include "gdr/error.hpp"

namespace gdr::bench {
namespace {

namespace fs = std::filesystem;

constexpr const char* architecture = "sm_90";
constexpr int capability = 90;

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

void write(const fs::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  if (!(file << text) || !file.flush())
    throw Error(ErrorCategory::Io, path.string() + " cannot be written");
}

/// Levels of optimisation: of code whose instructions are counted, and of code that shows only that
/// a compiler accepts its text, for which the highest level would take three times as long.
constexpr const char *counted = "-O3", *accepted = "-O0";

std::vector<std::string> clang_command(const std::string& clang, const char* level,
                                       const fs::path& text, const fs::path& to,
                                       const std::vector<std::string>& target) {
  std::vector<std::string> command{
      clang, "-x", "cl",       "-cl-std=CL1.2", level, "-Xclang", "-finclude-default-header",
      "-S",  "-o", to.string()};
  command.insert(command.end(), target.begin(), target.end());
  command.push_back(text.string());
  return command;
}
/// PTX for sm_80, the newest that clang 15 knows; ptxas translates it for newer cards.
std::vector<std::string> for_nvidia(const std::string& library) {
  return {"-target", "nvptx64--nvidiacl",      "-Xclang", "-target-cpu", "-Xclang", "sm_80",
          "-Xclang", "-mlink-builtin-bitcode", "-Xclang", library};
}
const std::vector<std::string> for_amd{"-target", "amdgcn--amdhsa", "-mcpu=gfx900", "-nogpulib"};

/// Whether a clang has both targets, and reads the library, which is bitcode of one version of
/// LLVM.
bool can_compile(const std::string& clang, const std::string& library) {
  const WorkFolder folder;
  const fs::path text = folder.path() / "probe.cl", to = folder.path() / "probe.s";
  write(text, "__kernel void run(__global double* x) { x[get_global_id(0)] = 1; }\n");
  return run_tool(clang_command(clang, accepted, text, to, for_nvidia(library))).succeeded &&
         run_tool(clang_command(clang, accepted, text, to, for_amd)).succeeded;
}

unsigned sum_of(const std::string& text, const std::regex& pattern) {
  unsigned sum = 0;
  for (std::sregex_iterator m(text.begin(), text.end(), pattern), end; m != end; ++m)
    sum += static_cast<unsigned>(std::stoul((*m)[1]));
  return sum;
}
unsigned largest_of(const std::string& text, const std::regex& pattern) {
  unsigned most = 0;
  for (std::sregex_iterator m(text.begin(), text.end(), pattern), end; m != end; ++m)
    most = std::max(most, static_cast<unsigned>(std::stoul((*m)[1])));
  return most;
}

}  // namespace

Toolchain::Toolchain() {
  find_clang();
  find_cuda();
}

void Toolchain::find_clang() {
  constexpr const char* library = "nvptx64--nvidiacl.bc";
  const auto path = find_tool({library}, {"/usr/lib/clc", "/usr/share/clc", "/usr/local/lib/clc"});
  library_ = path.value_or("");
  std::vector<std::string> names;
  for (int version = 15; version <= 22; ++version)
    names.push_back("clang-" + std::to_string(version));
  names.emplace_back("clang");
  if (const std::string given = variable("GDR_CLANG"); !given.empty()) names = {given};
  for (const std::string& name : names) {
    const auto found =
        name.find('/') != std::string::npos ? std::optional(name) : find_tool({name});
    if (!clang_.empty() || library_.empty() || !found) continue;
    if (can_compile(*found, library_)) clang_ = *found;
  }
  if (library_.empty())
    no_compiler_ =
        std::string("libclc's ") + library + " is missing: install libclc (Debian: libclc-15)";
  else if (clang_.empty())
    no_compiler_ = "no clang of version 15 or later with the targets nvptx64 and amdgcn reads " +
                   library_ + ": install clang-15, or name a clang in GDR_CLANG";
}

void Toolchain::find_cuda() {
  std::vector<fs::path> folders;
  if (const std::string given = variable("GDR_CUDA_TOOLS"); !given.empty())
    folders.emplace_back(given);
  if (const std::string home = variable("CUDA_HOME"); !home.empty())
    folders.push_back(fs::path(home) / "bin");
  folders.emplace_back("/usr/local/cuda/bin");
  ptxas_ = find_tool({"ptxas"}, folders).value_or("");
  nvdisasm_ = find_tool({"nvdisasm"}, folders).value_or("");
  if (ptxas_.empty() || nvdisasm_.empty())
    no_machine_code_ = std::string(ptxas_.empty() ? "ptxas" : "nvdisasm") +
                       " is missing: install CUDA's toolkit, or 'pip install nvidia-cuda-nvcc "
                       "nvidia-cuda-nvdisasm' and name the folder of both in GDR_CUDA_TOOLS";
  if (const std::string library = variable("GDR_NVRTC_LIBRARY"); !library.empty()) {
    nvrtc_ = gpu::cuda::open_compiler(library);
    if (nvrtc_ == nullptr)
      throw Error(ErrorCategory::Unsupported,
                  "GDR_NVRTC_LIBRARY: " + library +
                      " cannot be opened, or is no NVRTC of CUDA 11.2 or later");
  }
}

std::string Toolchain::description() const {
  const std::string front = nvrtc_ ? nvrtc_->name() : fs::path(clang_).filename().string();
  if (!no_machine_code_.empty()) return front;
  static const std::regex release(R"(release (\d+\.\d+))");
  const std::string told = run_tool({ptxas_, "--version"}).text;
  std::smatch match;
  const bool known = std::regex_search(told, match, release);
  return front + ", ptxas of CUDA " + (known ? match[1].str() : "of unknown version");
}

std::optional<MachineCode> Toolchain::compile(const std::string& text) const {
  const WorkFolder folder;
  const fs::path source = folder.path() / "kernel.cl", ptx = folder.path() / "kernel.ptx",
                 binary = folder.path() / "kernel.cubin";
  write(source, text);
  run_required_tool(clang_command(clang_, accepted, source, folder.path() / "amd.s", for_amd));
  const char* const level_of_ptx = no_machine_code_.empty() ? counted : accepted;
  if (nvrtc_)
    write(ptx, nvrtc_->compile(text, capability, true).bytes.c_str());
  else
    run_required_tool(clang_command(clang_, level_of_ptx, source, ptx, for_nvidia(library_)));
  if (!no_machine_code_.empty()) return std::nullopt;
  // As the interfaces do with such a text (cuda/compiler.cpp, opencl.cpp).
  const std::string level = gpu::wants_few_registers(text) ? "-O1" : "-O3";
  const std::string told =
      run_required_tool({ptxas_, "-v", level, std::string("-arch=") + architecture, "-o",
                         binary.string(), ptx.string()});
  static const std::regex registers(R"(Used (\d+) registers)"), spilled(R"((\d+) bytes spill)");
  return MachineCode{largest_of(told, registers), sum_of(told, spilled),
                     innermost_loops(run_required_tool({nvdisasm_, "-c", binary.string()}))};
}

}  // namespace gdr::bench
