// Common part of the generated C++ headers: host structures described by the offsets of their
// members, so that they are accessed in place.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "gdr/device.hpp"
#include "gdr/error.hpp"

namespace gdr::kernels {

/// The structure member for a variable of a kernel.
struct Field {
  std::string_view name;  ///< declared name of the variable
  HostNumber type = HostNumber::F64;
  std::size_t offset = 0;  ///< offset of the member, bytes
};

/// The members of n structures as arrays of the library's interface.
template <typename Named, typename Record, std::size_t count>
std::array<Named, count> arrays_of(std::span<Record> records,
                                   const std::array<Field, count>& fields) {
  std::array<Named, count> named{};
  for (std::size_t k = 0; k < count; ++k) {
    named[k].name = fields[k].name;
    named[k].array.type = fields[k].type;
    named[k].array.stride = sizeof(Record);
    // An empty list may be a null pointer.
    if (records.empty()) continue;
    if constexpr (std::is_const_v<Record>) {
      named[k].array.data = reinterpret_cast<const std::byte*>(records.data()) + fields[k].offset;
    } else {
      named[k].array.data = reinterpret_cast<std::byte*>(records.data()) + fields[k].offset;
    }
  }
  return named;
}

/// The value of a parameter as a double. Throws Error (Input) for an integer that a double cannot
/// represent.
inline double parameter(double value) { return value; }
template <typename Integer>
requires std::is_integral_v<Integer>
double parameter(Integer value) {
  const auto number = static_cast<double>(value);
  if (std::abs(number) > 0x1p53)
    throw Error(ErrorCategory::Input, "a parameter of more than 53 bits: " + std::to_string(value));
  return number;
}

/// A job whose data are structures. `Definition` comes from the generated header of a kernel: the
/// structures Source, Target, Result and Output, their members (source_fields and so on), and
/// `kernel()`. Functions behave like those of gdr::Job with the members as arrays; a list may be
/// changed after the call.
template <typename Definition>
class TypedJob {
 public:
  using Source = typename Definition::Source;
  using Target = typename Definition::Target;
  using Result = typename Definition::Result;
  using Output = typename Definition::Output;

  /// The device must outlive it.
  explicit TypedJob(Device& device) : job_(device.job(Definition::kernel())) {}

  void sources(std::span<const Source> list) {
    job_.sources(list.size(), arrays_of<NamedInput>(list, Definition::source_fields));
  }
  /// Replace the sources from index `first` on by those of the list.
  void update_sources(std::size_t first, std::span<const Source> list) {
    job_.update_sources(first, list.size(), arrays_of<NamedInput>(list, Definition::source_fields));
  }
  void targets(std::span<const Target> list) {
    job_.targets(list.size(), arrays_of<NamedInput>(list, Definition::target_fields));
  }

  /// Compute a result for each target. Throws Error (Usage) if the length of the list is not the
  /// number of targets, and the errors of gdr::Job::run.
  void run(std::span<Result> results) {
    check("results", results.size(), "targets", job_.target_count());
    job_.run(arrays_of<NamedResult>(results, Definition::result_fields));
  }
  /// Compute with a kernel that has outputs, one for each source.
  void run(std::span<Result> results, std::span<Output> outputs) {
    check("results", results.size(), "targets", job_.target_count());
    check("outputs", outputs.size(), "sources", job_.source_count());
    const auto first = arrays_of<NamedResult>(results, Definition::result_fields);
    const auto second = arrays_of<NamedResult>(outputs, Definition::output_fields);
    std::array<NamedResult, first.size() + second.size()> all{};
    std::copy(first.begin(), first.end(), all.begin());
    std::copy(second.begin(), second.end(), all.begin() + first.size());
    job_.run(all);
  }
  /// Compute in the background: the list is filled when `wait` returns.
  void start(std::span<Result> results) {
    check("results", results.size(), "targets", job_.target_count());
    job_.start(arrays_of<NamedResult>(results, Definition::result_fields));
  }
  bool ready() const { return job_.ready(); }
  void wait() { job_.wait(); }

  /// The underlying job.
  gdr::Job& untyped() noexcept { return job_; }

 private:
  static void check(const char* what, std::size_t n, const char* other, std::size_t wanted) {
    if (n == wanted) return;
    throw Error(ErrorCategory::Usage, "kernel " + Definition::kernel().name() + ": a list of " +
                                          std::to_string(n) + " " + what + " for " +
                                          std::to_string(wanted) + " " + other);
  }

  gdr::Job job_;
};

}  // namespace gdr::kernels
