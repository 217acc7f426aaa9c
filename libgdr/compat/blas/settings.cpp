// Reading environment variables, and messages.
#include "libgdr/compat/blas/settings.hpp"

#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <string_view>

#include "emulator/assembler/printable.hpp"

namespace gdr::blas {
namespace {

std::string_view variable(const char* name) noexcept {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view{} : value;
}

void refuse(const char* name, std::string_view value, const char* expected) {
  report(std::string(name) + "=" + std::string(value) + " is invalid: " + expected);
}

void read_threshold(Settings& to) {
  const std::string text(variable("GDR_BLAS_THRESHOLD"));
  if (text.empty()) return;
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || *end != '\0' || std::isnan(value) || value < 0)
    return refuse("GDR_BLAS_THRESHOLD", text,
                  "give a number of operations (2 m n k), as 0 or 1e9; the default is used");
  to.threshold = value;
}

void read_precision(Settings& to) {
  const std::string_view text = variable("GDR_BLAS_PRECISION");
  if (text == "chip")
    to.precision = MatrixPrecision::Chip;
  else if (!text.empty() && text != "full")
    refuse("GDR_BLAS_PRECISION", text, "full or chip; full is used");
}

void read_statistics(Settings& to) {
  const std::string_view text = variable("GDR_BLAS_STATS");
  if (text == "1")
    to.statistics = true;
  else if (!text.empty() && text != "0")
    refuse("GDR_BLAS_STATS", text, "1 or 0; 0 is used");
}

const Settings* read() {
  auto* const made = new Settings;  // never deleted: calls may come while the program exits
  read_threshold(*made);
  read_precision(*made);
  read_statistics(*made);
  made->host = variable("GDR_BLAS_HOST");
  return made;
}

}  // namespace

const Settings& settings() noexcept {
  static const Settings* const found = read();
  return *found;
}

void report(const std::string& line) noexcept {
  try {
    const std::string text = "gdrblas: " + printable(line) + "\n";
    // Ranks of a job share one terminal: lines must not be interleaved.
    if (write(STDERR_FILENO, text.data(), text.size()) < 0) return;
  } catch (...) {  // no memory for a message
  }
}

}  // namespace gdr::blas
