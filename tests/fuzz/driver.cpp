// A small fuzzing driver for compilers without libFuzzer: runs the corpus, then a number of
// mutations of it, or as many as a time allows. After a crash, a failed check or a hang it saves
// the input and prints how to repeat it.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "fuzz/mutate.hpp"
#include "support/iterations.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)());

namespace {

using fuzz::Bytes;

constexpr unsigned hang_seconds = 20;
constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();

struct Options {
  std::uint64_t inputs = no_limit;
  double seconds = std::numeric_limits<double>::infinity();
  std::optional<std::uint64_t> seed;  ///< none: that of the day
  std::size_t max_length = 4096;
  std::string corpus;
  std::string crash_file = "crash.bin";
  std::vector<std::string> files;
};

// Data of the signal handler, which must not allocate.
const std::uint8_t* current_data = nullptr;
std::size_t current_size = 0;
char crash_path[4096];
char repeat_line[512];

void say(const char* text) {
  if (::write(2, text, std::strlen(text)) < 0) return;
}

/// Calls only async-signal-safe functions.
void save_current_input() {
  const int file = ::open(crash_path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  std::size_t done = 0;
  while (file >= 0 && done < current_size) {
    const auto count = ::write(file, current_data + done, current_size - done);
    if (count <= 0) break;
    done += static_cast<std::size_t>(count);
  }
  if (file >= 0) ::close(file);
  say("\nThe input is in ");
  say(crash_path);
  say("\nRun the target with this file to repeat it. ");
  say(repeat_line);
}

extern "C" void on_signal(int number) {
  say(number == SIGALRM ? "\nfuzz: an input takes too long"
                        : "\nfuzz: an input crashes the target");
  save_current_input();
  std::signal(number, SIG_DFL);
  ::raise(number);
}

void install_handlers() {
  for (const int number : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGALRM}) {
    std::signal(number, on_signal);
  }
  if (&__sanitizer_set_death_callback != nullptr) {
    __sanitizer_set_death_callback(save_current_input);
  }
}

/// Copies the input to a heap block of exactly its size, so that a sanitizer detects reads beyond
/// it.
void run_input(const Bytes& input) {
  std::vector<std::uint8_t> exact(input.begin(), input.end());
  exact.shrink_to_fit();
  current_data = exact.data();
  current_size = exact.size();
  try {
    LLVMFuzzerTestOneInput(exact.data(), exact.size());
  } catch (const std::exception& error) {
    say("\nfuzz: an exception leaves the target: ");
    say(error.what());
    std::abort();
  }
}

Bytes read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    std::fprintf(stderr, "fuzz: cannot read %s\n", path.c_str());
    std::exit(2);
  }
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// The files of the corpus directory sorted by name, so that runs are the same on every machine.
std::vector<Bytes> read_corpus(const std::string& folder) {
  std::vector<std::string> paths;
  if (!folder.empty() && std::filesystem::is_directory(folder)) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      if (entry.is_regular_file()) paths.push_back(entry.path().string());
    }
  }
  std::sort(paths.begin(), paths.end());
  std::vector<Bytes> corpus;
  for (const auto& path : paths) corpus.push_back(read_file(path));
  return corpus;
}

[[noreturn]] void usage() {
  std::fputs(
      "usage: fuzz_NAME [--corpus DIR] [--inputs N] [--seconds S] [--seed N (0: from the clock)]\n"
      "                 [--max-length BYTES] [--crash-file FILE] [FILE...]\n"
      "With FILEs only these are run. Give --inputs or --seconds.\n",
      stderr);
  std::exit(2);
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name.rfind("--", 0) != 0) {
      options.files.push_back(name);
      continue;
    }
    if (i + 1 == argc) usage();
    const char* value = argv[++i];
    if (name == "--corpus") {
      options.corpus = value;
    } else if (name == "--inputs") {
      options.inputs = std::strtoull(value, nullptr, 10);
    } else if (name == "--seconds") {
      options.seconds = std::strtod(value, nullptr);
    } else if (name == "--seed") {
      options.seed = std::strtoull(value, nullptr, 10);
    } else if (name == "--max-length") {
      options.max_length = std::strtoull(value, nullptr, 10);
    } else if (name == "--crash-file") {
      options.crash_file = value;
    } else {
      usage();
    }
  }
  const bool has_end = options.inputs != no_limit || std::isfinite(options.seconds);
  if (options.files.empty() && !has_end) usage();
  return options;
}

/// Runs mutations of the corpus, as many as the options say or until their time is over; returns
/// their number.
std::uint64_t run_mutations(const Options& options, std::uint64_t seed, std::vector<Bytes> corpus) {
  using Clock = std::chrono::steady_clock;
  if (corpus.empty()) corpus.emplace_back();
  fuzz::Mutator mutator(seed, corpus, options.max_length);
  const auto start = Clock::now();
  const std::chrono::duration<double> limit(options.seconds);
  std::uint64_t runs = 0;
  auto last_alarm = Clock::time_point{};
  for (auto now = start; runs < options.inputs && now - start < limit; now = Clock::now(), ++runs) {
    if (now - last_alarm > std::chrono::seconds(1)) {  // restart the timeout
      ::alarm(hang_seconds);
      last_alarm = now;
    }
    run_input(mutator.next());
  }
  ::alarm(0);
  return runs;
}

std::uint64_t seed_of(const Options& options) {
  if (!options.seed) return gdr::test::first_seed();
  if (*options.seed != 0) return *options.seed;
  return static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  const std::uint64_t seed = seed_of(options);
  std::snprintf(crash_path, sizeof crash_path, "%s", options.crash_file.c_str());
  std::snprintf(repeat_line, sizeof repeat_line, "The seed was %llu.\n",
                static_cast<unsigned long long>(seed));
  install_handlers();
  if (!options.files.empty()) {
    for (const auto& file : options.files) run_input(read_file(file));
    std::printf("%zu inputs, no failure\n", options.files.size());
    return 0;
  }
  const std::vector<Bytes> corpus = read_corpus(options.corpus);
  std::printf("corpus of %zu inputs, seed %llu\n", corpus.size(),
              static_cast<unsigned long long>(seed));
  std::fflush(stdout);
  for (const Bytes& input : corpus) {
    ::alarm(hang_seconds);
    run_input(input);
  }
  const std::uint64_t runs = run_mutations(options, seed, corpus);
  std::printf("%llu mutants, no failure\n", static_cast<unsigned long long>(runs));
  return 0;
}
