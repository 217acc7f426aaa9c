#include "libgdr/cli/bug_report.hpp"

#include <omp.h>
#include <sys/utsname.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <sstream>
#include <thread>

#include "emulator/engine/api/engine.hpp"
#include "emulator/host/host_limits.hpp"
#include "emulator/host/isa.hpp"
#include "gdr/version.hpp"
#include "libgdr/cli/anonymous.hpp"
#include "libgdr/cli/build_info.hpp"
#include "libgdr/cli/command.hpp"
#include "libgdr/cli/gpus.hpp"
#include "libgdr/cli/own_process.hpp"
#include "libgdr/cli/places.hpp"
#include "libgdr/plugin/plugin.hpp"

extern char** environ;

namespace gdr::cli {
namespace {

namespace fs = std::filesystem;

constexpr ReportRow system_row{20, "  "};

/// The value of the first line `name : value` or `name=value` of a file of the system.
std::string value_in(const char* path, std::string_view name, char separator) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const std::size_t at = line.find(separator);
    if (at == std::string::npos || !line.starts_with(name)) continue;
    if (line.find_first_not_of(" \t", name.size()) != at) continue;
    const std::size_t begin = line.find_first_not_of(" \t\"", at + 1);
    if (begin == std::string::npos) return "";
    return line.substr(begin, line.find_last_not_of(" \t\"") + 1 - begin);
  }
  return "";
}

std::string or_unknown(std::string text) { return text.empty() ? "unknown" : text; }

/// Features of the processor that matter to engines.
std::string processor_features() {
  constexpr std::string_view prefixes[] = {"sse4", "avx",  "fma",   "f16c", "bmi",
                                           "amx",  "neon", "asimd", "sve",  "hypervisor"};
  std::string flags = value_in("/proc/cpuinfo", "flags", ':');
  if (flags.empty()) flags = value_in("/proc/cpuinfo", "Features", ':');
  std::istringstream words(flags);
  std::string text;
  for (std::string word; words >> word;)
    if (std::ranges::any_of(prefixes, [&](auto prefix) { return word.starts_with(prefix); }))
      text += (text.empty() ? "" : " ") + word;
  return text;
}

std::string memory_text() {
  const double page = static_cast<double>(sysconf(_SC_PAGESIZE));
  const std::string free = value_in("/proc/meminfo", "MemAvailable", ':');
  return fmt::format("{:.1f} GiB{}",
                     page * static_cast<double>(sysconf(_SC_PHYS_PAGES)) / 1073741824.0,
                     free.empty() ? "" : ", available " + free);
}

std::string isas_text() {
  std::string text;
  for (const Isa isa : host_isas())
    text += fmt::format("{}{}", text.empty() ? "" : ", ", isa_name(isa));
  return text;
}

std::string build_text() {
  const BuildInfo& b = build_info();
  const char* const jit = std::getenv("GDR_JIT");
  const bool disabled = jit != nullptr && std::string_view(jit) == "0";
  return "Build\n" + system_row("version", "gdr {}", version()) +
         system_row("commit", "{}{}{}", b.commit, b.commit_date.empty() ? "" : " of ",
                    b.commit_date) +
         system_row("build type", "{}, for {}", b.type, b.processor) +
         system_row("compiler", "{}, OpenMP {}", b.compiler, _OPENMP) +
         system_row("machine code", "{}",
                    !b.machine_code                 ? "off: built without xbyak"
                    : !can_execute_generated_code() ? host_limits_text()
                    : disabled                      ? "off in the vector engine: GDR_JIT=0"
                                                    : "on (xbyak)");
}

std::string libc_text() {
#ifdef __GLIBC__
  return fmt::format("glibc {}", gnu_get_libc_version());
#else
  return "not glibc";
#endif
}

std::string host_text() {
  utsname system{};
  uname(&system);
  std::string model = value_in("/proc/cpuinfo", "model name", ':');
  if (model.empty()) model = value_in("/proc/cpuinfo", "CPU part", ':');
  return "Host\n" +
         system_row("system", "{}; {} {}, {}",
                    or_unknown(value_in("/etc/os-release", "PRETTY_NAME", '=')), system.sysname,
                    system.release, system.machine) +
         system_row("C library", "{}", libc_text()) +
         system_row("processor", "{}", or_unknown(model)) +
         system_row("features", "{}", or_unknown(processor_features())) +
         system_row("instruction sets", "{}", isas_text()) +
         system_row("cores", "{} hardware threads, {} usable, {} by default",
                    std::thread::hardware_concurrency(), omp_get_num_procs(),
                    omp_get_max_threads()) +
         system_row("memory", "{}", memory_text());
}

/// Plugins for MPI beside the library.
std::string mpi_text() {
  std::vector<std::string> names;
  for (const char* const name : {"libgdr_mpi.so", "libgdr_mpi_mpich.so", "libgdr_mpi_ulfm.so"})
    if (plugin_exists(name)) names.emplace_back(name);
  const std::string found = fmt::format("{}", fmt::join(names, ", "));
  if (!build_info().mpi) return "built without" + (found.empty() ? "" : "; found " + found);
  return "built with" + (found.empty() ? ", but no plugin is beside the library" : ": " + found);
}

/// Versions of Python and of the packages that the interface uses, of the python3 in the path.
std::string python_text() {
  // Modules of the current folder are not meant.
  constexpr const char* command =
      "python3 -c 'import sys\n"
      "sys.path = [p for p in sys.path if p]\n"
      "import platform\n"
      "text = platform.python_version()\n"
      "for name in (\"gdr\", \"numpy\"):\n"
      "    try:\n"
      "        text += f\", {name} {__import__(name).__version__}\"\n"
      "    except Exception as error:\n"
      "        text += f\", {name} cannot be imported ({type(error).__name__})\"\n"
      "print(text)' 2>/dev/null </dev/null";
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(popen(command, "r"), pclose);
  std::array<char, 512> line{};
  if (!pipe || std::fgets(line.data(), line.size(), pipe.get()) == nullptr)
    return "no python3 in the path";
  const std::string text(line.data());
  return text.substr(0, text.find('\n'));
}

std::string gpu_text(const TestedGpus& tested) {
  std::string text = tested.why_none;
  for (const TestedGpu& gpu : tested.gpus)
    text += (text.empty() ? "" : "; ") + gpu.description +
            (gpu.failure.empty() ? "" : " (not for gpu-exact: " + gpu.failure + ")");
  return text;
}

std::string interfaces_text(const TestedGpus& gpus, const PrivateWords& words) {
  return "Interfaces\n" + system_row("MPI", "{}", mpi_text()) +
         system_row("GPUs", "{}", anonymous(gpu_text(gpus), words)) +
         system_row("Python", "{}", anonymous(python_text(), words));
}

std::string variables_text(const PrivateWords& words) {
  constexpr std::string_view prefixes[] = {"GDR_", "OMP_", "GOMP_", "KMP_", "OMPI_VERSION="};
  std::set<std::string> settings;
  for (char** entry = environ; *entry != nullptr; ++entry)
    if (std::ranges::any_of(prefixes, [&](std::string_view prefix) {
          return std::string_view(*entry).starts_with(prefix);
        }))
      settings.insert(*entry);
  std::string text = "Environment\n";
  for (const std::string& setting : settings)
    text += fmt::format("  {}\n", anonymous(setting, words));
  return settings.empty() ? text + "  no variables GDR_*, OMP_*\n" : text;
}

/// Opens and tests a device: its description, and the result for each board.
std::string test_result(const DeviceChoice& choice) {
  try {
    Device device = open_device(choice, EngineUse::Description);
    std::string text = device.description() + ": ";
    const std::vector<BoardTest> tests = device.test(1);
    bool first = true;
    for (const BoardTest& test : tests) {
      text += fmt::format("{}{} {} ({:.2g} s)", first ? "" : ", ", test.board,
                          test.failure.empty() ? "works" : "FAILS: " + test.failure, test.seconds);
      first = false;
    }
    return text;
  } catch (const std::exception& error) {  // the report goes on, whatever is broken
    return std::string("FAILS: ") + error.what();
  }
}

/// The same in a process of its own: a driver may end it.
std::string tested(const DeviceChoice& choice) {
  constexpr std::chrono::seconds longest{120};
  const Ended ended =
      in_own_process([&](const WriteText& write) { write(test_result(choice)); }, longest);
  return ended.failure.empty() ? ended.text : "FAILS: " + ended.failure;
}

std::string devices_text(const DeviceChoice& choice, bool has_gpu, const PrivateWords& words) {
  std::string text = "Devices and their self-tests\n";
  const auto add = [&](std::string_view label, std::string_view result) {
    text += system_row(anonymous(label, words), "{}", anonymous(result, words));
  };
  for (const EngineEntry& engine : engine_table()) {
    if (!has_gpu && engine.capabilities.uses_gpu) continue;
    DeviceChoice one;
    one.device = "emulator";
    one.engine = engine.name;
    add(engine.name, tested(one));
  }
  for (const BoardPlace& place : board_places()) {
    DeviceChoice one;
    one.device = place.device;
    add(place.device.empty() ? "(unusable)" : place.device,
        place.what + (place.free ? ": " + tested(one) : ""));
  }
  add("chosen", tested(choice));
  return text;
}

}  // namespace

std::string bug_report(const DeviceChoice& choice) {
  const PrivateWords words = private_words();
  const TestedGpus gpus = tested_gpus();
  return "```text\n" + build_text() + "\n" + host_text() + "\n" + interfaces_text(gpus, words) +
         "\n" + variables_text(words) + "\n" + devices_text(choice, !gpus.gpus.empty(), words) +
         "```\n";
}

}  // namespace gdr::cli
