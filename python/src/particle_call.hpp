// The arrays of a call of a sum over particles: PairCall, TreeCall.
#pragma once

#include <optional>

#include "arrays.hpp"
#include "gdr/error.hpp"

namespace gdr::python {

/// A view of all numbers of an array of doubles.
inline std::span<const double> all_doubles(const py::array& array, const char* name) {
  const auto n = static_cast<std::size_t>(array.size());
  return {doubles(array, n, name), n};
}

/// A call with the arrays that its views need.
template <typename Call>
class ParticleCall {
 public:
  ParticleCall(const py::array& pos, const std::optional<py::array>& target_pos,
               const py::dict& sources, const py::dict& targets, const py::dict& filled)
      : call_{.pos = all_doubles(pos, "pos")} {
    if (target_pos) call_.target_pos = all_doubles(*target_pos, "targets");
    const std::size_t n = call_.target_pos.value_or(call_.pos).size() / 3;
    sources_ = input_arrays(sources, call_.pos.size() / 3);
    targets_ = input_arrays(targets, n);
    results_ = result_arrays(filled);
    for (const py::array& array : results_.arrays)
      if (array.size() > 0 && rows(array) != n)
        throw Error(ErrorCategory::Usage, "a result has another length than the targets");
    call_.sources = sources_.list;
    call_.targets = targets_.list;
    call_.results = results_.list;
  }
  ParticleCall(const ParticleCall&) = delete;
  ParticleCall& operator=(const ParticleCall&) = delete;

  const Call& operator*() const { return call_; }

 private:
  Call call_;
  NamedArrays<NamedInput> sources_, targets_;
  NamedArrays<NamedResult> results_;
};

}  // namespace gdr::python
