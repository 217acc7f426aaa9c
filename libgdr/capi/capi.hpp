// The structures behind the handles of the C interface, the conversion of exceptions to status
// codes, and the conversion of C enumerations.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <deque>
#include <initializer_list>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "gdr.h"
#include "gdr/gdr.hpp"

struct gdr_device {
  explicit gdr_device(gdr::Device opened)
      : device(std::move(opened)), description(device.description()) {}
  gdr::Device device;
  std::string description;
  std::string engine = {}, isa = {}, fallback_reason = {};  ///< texts returned by the last calls
};

struct gdr_kernel {
  gdr::Kernel kernel;
};

struct gdr_job {
  gdr::Job job;
  std::vector<gdr::NamedInput> inputs = {};  ///< reused by all calls, to save allocations
  std::vector<gdr::NamedResult> results = {};
};

struct gdr_set_job {
  gdr::SetJob job;
  gdr::SetList list = {};
  std::deque<std::vector<std::int32_t>> places = {};  ///< copies of the indices in `list`
  std::vector<gdr::NamedInput> inputs = {};           ///< reused by all calls
  std::vector<gdr::NamedResult> results = {};
};

struct gdr_pair_sum {
  gdr::PairSum sum;
  std::vector<gdr::NamedInput> sources = {}, targets = {};  ///< reused by all calls
  std::vector<gdr::NamedResult> results = {};
};

struct gdr_tree_sum {
  gdr::TreeSum sum;
  std::string charges = {}, reason = {};                    ///< texts of the interface
  std::vector<gdr::NamedInput> sources = {}, targets = {};  ///< reused by all calls
  std::vector<gdr::NamedResult> results = {};
};

struct gdr_ewald {
  gdr::Ewald ewald;
};

struct gdr_sph {
  gdr::Sph sph;
};

struct gdr_neighbours {
  gdr::NeighbourOptions options = {};
  std::vector<std::int64_t> source_ids = {}, target_ids = {};
  // The last search: lists or pairs.
  std::size_t targets = 0, entries = 0;
  std::string quantities = {};  ///< arrays of `pairs`; "" for lists
  gdr::NeighbourLists lists = {};
  gdr::NeighbourPairs pairs = {};
};

struct gdr_gravity {
  gdr::Gravity gravity;
  /// Softening lengths of each source, and of targets, if they are set.
  std::optional<std::vector<double>> source_eps = {}, target_eps = {};

  /// The softening of a call: these lengths if they are set, else `eps`; without those of targets
  /// if the sources are the targets.
  gdr::Softening softening(double eps, bool same) const {
    if (!source_eps) return eps;
    if (eps != 0)
      throw gdr::Error(gdr::ErrorCategory::Usage,
                       "softening lengths of each particle are set: eps must be 0");
    if (same || !target_eps) return *source_eps;
    return {*source_eps, *target_eps};
  }
};

struct gdr_linear_solver {
  gdr::LinearSolver solver;
};

struct gdr_batched_matrices {
  gdr::BatchedMatrices batch;
};

struct gdr_matrix_product {
  gdr::MatrixProduct product;
  gdr::Reuse reuse = gdr::Reuse::Nothing;  ///< declaration for the next call
};

namespace gdr::capi {

/// Remember an error of this thread, and return its status.
gdr_status fail(gdr_status status, const char* message) noexcept;

/// An argument that must not be null.
struct Required {
  const void* pointer;
  const char* name;
};

/// Throws Error (Usage) for a null pointer.
inline void need(const void* pointer, const char* name) {
  if (pointer == nullptr)
    throw Error(ErrorCategory::Usage, "argument '" + std::string(name) + "' is a null pointer");
}

/// Check the required arguments, run `action`, and turn whatever is thrown into a status.
template <typename Action>
gdr_status guarded(std::initializer_list<Required> required, Action&& action) noexcept {
  try {
    for (const Required& argument : required) need(argument.pointer, argument.name);
    action();
    return GDR_OK;
  } catch (const RankFailure& error) {
    return fail(GDR_ERROR_RANK_FAILURE, error.what());
  } catch (const Error& error) {
    return fail(static_cast<gdr_status>(error.category()), error.what());
  } catch (const std::bad_alloc&) {
    return fail(GDR_ERROR_MEMORY, "out of memory");
  } catch (const std::exception& error) {
    return fail(GDR_ERROR_INTERNAL, error.what());
  } catch (...) {
    return fail(GDR_ERROR_INTERNAL, "an unknown exception");
  }
}

/// Set *handle to a new structure made by `make`, or to null if that fails.
template <typename Handle, typename Make>
gdr_status create(Handle** handle, const char* name, Make&& make) noexcept {
  return guarded({{handle, name}}, [&] {
    *handle = nullptr;
    *handle = new Handle(make());
  });
}

/// Copies a structure to one of `size` bytes, as an older or a newer header declares it: the rest
/// of either is cut off, or zero.
template <typename Struct>
void copy_prefix(void* to, std::size_t size, const Struct& from) noexcept {
  std::memset(to, 0, size);
  std::memcpy(to, &from, std::min(size, sizeof from));
}

/// Options as an older or a newer header declares them. Members that this library does not know
/// must be 0. Null: all are 0.
template <typename Options>
Options options_of(const Options* given, std::size_t size, const char* name) {
  Options all;
  std::memset(&all, 0, sizeof all);
  if (given == nullptr) return all;
  std::memcpy(&all, given, std::min(size, sizeof all));
  const auto* const bytes = reinterpret_cast<const unsigned char*>(given);
  if (size > sizeof all &&
      std::any_of(bytes + sizeof all, bytes + size, [](unsigned char b) { return b != 0; }))
    throw Error(ErrorCategory::Usage, std::string(name) +
                                          ": an option is set that this version of the library, " +
                                          gdr_version() + ", does not know");
  return all;
}

/// The edges of a box, one after the other, and which of them are periodic (null: all).
inline std::optional<PeriodicBox> box_of(const double* vectors, const int* periodic) {
  if (vectors == nullptr) return {};
  PeriodicBox box;
  for (std::size_t k = 0; k < 3; ++k) {
    std::copy_n(vectors + 3 * k, 3, box.vectors[k].begin());
    box.periodic[k] = periodic == nullptr || periodic[k] != 0;
  }
  return box;
}

inline Device& required_device(gdr_device* device) {
  need(device, "device");
  return device->device;
}

/// The number passed for an enumeration: C passes any, and reading an invalid one as the
/// enumeration would be undefined.
template <typename Given>
int number_of(const Given& given) noexcept {
  int number = 0;
  static_assert(sizeof number == sizeof given);
  std::memcpy(&number, &given, sizeof number);
  return number;
}

/// The second of two values for 1, the first for 0. Throws Error (Usage) for others.
template <typename Given, typename Enum>
Enum one_of(const Given& given, Enum first, Enum second, const char* name) {
  const int number = number_of(given);
  if (number != 0 && number != 1)
    throw Error(ErrorCategory::Usage, "argument '" + std::string(name) + "' is " +
                                          std::to_string(number) + ", must be 0 or 1 (see gdr.h)");
  return number == 0 ? first : second;
}

}  // namespace gdr::capi
