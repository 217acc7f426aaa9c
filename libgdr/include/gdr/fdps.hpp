// Forces of FDPS (Framework for Developing Particle Simulators) from a kernel on a device: the
// functions that its trees call for many walks at once. Includes nothing of FDPS.
//
//   using Forces = gdr::fdps::MultiWalk<FPGrav, FPGrav, PS::SPJMonopole, FPGrav>;
//   Forces forces(device, gdr::Kernel::builtin("gravity"));
//   forces.set("eps2", eps * eps);
//   forces.epi({"xi", "yi", "zi"}, &FPGrav::pos).epi("idi", &FPGrav::id);
//   forces.epj({"xj", "yj", "zj"}, &FPGrav::pos).epj("mj", &FPGrav::mass).epj("idj", &FPGrav::id);
//   forces.spj({"xj", "yj", "zj"}, &PS::SPJMonopole::pos).spj("mj", &PS::SPJMonopole::mass);
//   forces.spj("idj", -1);
//   forces.force({"ax", "ay", "az"}, &FPGrav::acc).force("pot", &FPGrav::pot);
//   tree.calcForceAllAndWriteBackMultiWalk(forces.dispatch(), forces.retrieve(), 1, system, dinfo,
//                                          n_walk_limit);
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "gdr/error.hpp"
#include "gdr/sets.hpp"

namespace gdr::fdps {

/// Spj of a tree of short-range forces, which has no superparticles.
struct NoSuperparticles {};

/// A kernel with the members of a tree's particles that its variables read and write. Describe all
/// variables, then give `dispatch()` and `retrieve()` to calcForceAllAndWriteBackMultiWalk or
/// calcForceAllAndWriteBackMultiWalkIndex of the tree, with `tag_max` 1. Both, and copies of them,
/// refer to this object, which must outlive the call and belongs to one tree at a time.
///
/// Walks are the sets of a SetJob: they have its units, errors and threads. A message says "set 7,
/// segment 1" for the superparticles of walk 7, and segment 0 for its particles. Variables
/// with a default value need no member: targets without ids have the id -1, particles and
/// superparticles -2, so that no pair is excluded by its ids.
template <typename Epi, typename Epj, typename Spj, typename Force>
class MultiWalk {
 public:
  /// The device must outlive it.
  MultiWalk(Device& device, const Kernel& kernel) : job_(device, kernel) {}
  MultiWalk(const MultiWalk&) = delete;
  MultiWalk& operator=(const MultiWalk&) = delete;

  /// Set a `param` of the kernel. As SetJob::set.
  MultiWalk& set(std::string_view name, double value) {
    job_.set(name, value);
    return *this;
  }
  MultiWalk& set(std::string_view name, std::initializer_list<double> values) {
    job_.set(name, values);
    return *this;
  }

  /// The member that a variable of targets reads (epi), or that one of sources reads in particles
  /// (epj) and superparticles (spj). Numbers are double, float, or integers of 64 bits. A vector,
  /// with members x, y and perhaps z, is read by as many variables; so is a symmetric tensor such
  /// as PS::F64mat, whose components the names have in the order xx, xy, xz, yy, yz, zz, or in two
  /// dimensions xx, xy, yy (FDPS stores them as xx, yy, zz, xy, xz, yz). The `quad` of
  /// PS::SPJQuadrupole is the sum of m y y^T; its trace is not subtracted.
  template <typename Member>
  MultiWalk& epi(std::string_view name, Member Epi::*member) {
    return epi({name}, member);
  }
  template <typename Member>
  MultiWalk& epi(std::initializer_list<std::string_view> names, Member Epi::*member) {
    return add(epi_, names, member);
  }
  template <typename Member>
  MultiWalk& epj(std::string_view name, Member Epj::*member) {
    return epj({name}, member);
  }
  template <typename Member>
  MultiWalk& epj(std::initializer_list<std::string_view> names, Member Epj::*member) {
    return add(epj_, names, member);
  }
  template <typename Member>
  MultiWalk& spj(std::string_view name, Member Spj::*member) {
    return spj({name}, member);
  }
  template <typename Member>
  MultiWalk& spj(std::initializer_list<std::string_view> names, Member Spj::*member) {
    return add(spj_, names, member);
  }
  /// The same value for all particles: a double, or an integer for a variable of integers.
  template <typename Number>
  requires std::is_arithmetic_v<Number> MultiWalk& epi(std::string_view name, Number value) {
    return add_constant(epi_, name, value);
  }
  template <typename Number>
  requires std::is_arithmetic_v<Number> MultiWalk& epj(std::string_view name, Number value) {
    return add_constant(epj_, name, value);
  }
  template <typename Number>
  requires std::is_arithmetic_v<Number> MultiWalk& spj(std::string_view name, Number value) {
    return add_constant(spj_, name, value);
  }

  /// The member of Force that a result writes. Types are those of `epi`, and integers of 32 bits.
  template <typename Member>
  MultiWalk& force(std::string_view name, Member Force::*member) {
    return force({name}, member);
  }
  template <typename Member>
  MultiWalk& force(std::initializer_list<std::string_view> names, Member Force::*member) {
    check_names(names, components<Member>);
    std::size_t k = 0;
    for (const std::string_view name : names) {
      using Number = Component<Member>;
      using Stored = std::conditional_t<std::is_floating_point_v<Number>, double, std::int64_t>;
      results_.push_back({std::string(name), std::is_floating_point_v<Number>,
                          [member, k](const std::byte* from, std::ptrdiff_t step, Force* to,
                                      std::size_t n, bool adds) {
                            for (std::size_t i = 0; i < n; ++i, from += step) {
                              Number& number = component(to[i].*member, k);
                              const auto value =
                                  static_cast<Number>(*reinterpret_cast<const Stored*>(from));
                              number = adds ? static_cast<Number>(number + value) : value;
                            }
                          }});
      ++k;
    }
    return *this;
  }

  /// Whether results are added to the members of Force, for several trees with `clear` = false, or
  /// replace them (the default).
  MultiWalk& adds(bool adds) {
    adds_ = adds;
    return *this;
  }
  /// Whether the device computes while FDPS makes the next interaction lists (default: false).
  /// Inputs are copied then, and both compete for the cores if FDPS uses all of them.
  MultiWalk& background(bool background) {
    background_ = background;
    return *this;
  }

  /// What FDPS calls with the interaction lists of `n_walk` walks, in the forms of the particle and
  /// of the index interface, with and without superparticles. Arguments are those of FDPS. Returns
  /// 0; throws what SetJob::run does.
  class Dispatch {
   public:
    explicit Dispatch(MultiWalk& walks) : walks_(&walks) {}
    int operator()(int, int n_walk, const Epi** epi, const int* n_epi, const Epj** epj,
                   const int* n_epj, const Spj** spj, const int* n_spj) const {
      return walks_->compute(n_walk, epi, n_epi, {epj, nullptr, 0, nullptr, n_epj, "n_epj", ""},
                             {spj, nullptr, 0, nullptr, n_spj, "n_spj", ""});
    }
    int operator()(int, int n_walk, const Epi** epi, const int* n_epi, const Epj** epj,
                   const int* n_epj) const {
      return walks_->compute(n_walk, epi, n_epi, {epj, nullptr, 0, nullptr, n_epj, "n_epj", ""},
                             {});
    }
    /// A call with n_walk = 0 announces all particles before the walks and has no effect.
    int operator()(int, int n_walk, const Epi** epi, const int* n_epi, const int** id_epj,
                   const int* n_epj, const int** id_spj, const int* n_spj, const Epj* epj,
                   int n_epj_total, const Spj* spj, int n_spj_total, bool) const {
      return walks_->compute(n_walk, epi, n_epi,
                             {nullptr, epj, n_epj_total, id_epj, n_epj, "n_epj", "n_epj_total"},
                             {nullptr, spj, n_spj_total, id_spj, n_spj, "n_spj", "n_spj_total"});
    }
    int operator()(int, int n_walk, const Epi** epi, const int* n_epi, const int** id_epj,
                   const int* n_epj, const Epj* epj, int n_epj_total, bool) const {
      return walks_->compute(n_walk, epi, n_epi,
                             {nullptr, epj, n_epj_total, id_epj, n_epj, "n_epj", "n_epj_total"},
                             {});
    }

   private:
    MultiWalk* walks_;
  };
  /// What FDPS calls for the forces of the walks that were dispatched last.
  class Retrieve {
   public:
    explicit Retrieve(MultiWalk& walks) : walks_(&walks) {}
    int operator()(int, int n_walk, const int* n_epi, Force** force) const {
      return walks_->give(n_walk, n_epi, force);
    }

   private:
    MultiWalk* walks_;
  };
  Dispatch dispatch() { return Dispatch(*this); }
  Retrieve retrieve() { return Retrieve(*this); }

 private:
  /// A variable that reads a member of Particle, or a constant.
  template <typename Particle>
  struct Input {
    std::string name;
    std::function<ConstArray(const Particle*)> array;
  };
  template <typename Particle>
  using Inputs = std::vector<Input<Particle>>;

  struct Result {
    std::string name;
    bool is_floating;  ///< stored as double, else as int64
    /// Copies n stored values, `step` bytes apart, to forces.
    std::function<void(const std::byte* from, std::ptrdiff_t step, Force* to, std::size_t n,
                       bool adds)>
        copy;
  };

  /// The sources of all walks of a call: their own arrays, or indices into common ones.
  template <typename Particle>
  struct Lists {
    const Particle** particles = nullptr;
    const Particle* common = nullptr;
    int n_common = 0;
    const int** index = nullptr;
    const int* n = nullptr;
    const char *n_name = "", *n_common_name = "";  ///< names of the arguments, for messages
  };

  template <typename Vector>
  static constexpr bool is_vector = requires(Vector v) {
    v.x, v.y;
  };
  template <typename Tensor>
  static constexpr bool is_tensor = requires(Tensor t) {
    t.xx, t.xy, t.yy;
  };
  template <typename Member>
  static constexpr std::size_t count_components() {
    if constexpr (is_tensor<Member>) {
      if constexpr (requires(Member t) { t.zz; }) return 6;
      return 3;
    }
    if constexpr (!is_vector<Member>) return 1;
    if constexpr (requires(Member v) { v.z; }) return 3;
    return 2;
  }
  template <typename Member>
  static constexpr std::size_t components = count_components<Member>();

  template <typename Member>
  static auto& component(Member& member, std::size_t k) {
    using Plain = std::remove_const_t<Member>;
    if constexpr (is_tensor<Plain>) {
      if constexpr (components<Plain> == 6) {
        if (k == 2) return member.xz;
        if (k == 4) return member.yz;
        if (k == 5) return member.zz;
        return k == 0 ? member.xx : k == 1 ? member.xy : member.yy;
      } else {
        return k == 0 ? member.xx : k == 1 ? member.xy : member.yy;
      }
    } else if constexpr (!is_vector<Plain>) {
      return member;
    } else {
      if constexpr (components<Plain> == 3)
        if (k == 2) return member.z;
      return k == 0 ? member.x : member.y;
    }
  }
  template <typename Member>
  using Component = std::remove_reference_t<decltype(component(std::declval<Member&>(), 0))>;

  template <typename Number>
  static ConstArray array_of(const Number* first, std::ptrdiff_t stride) {
    static_assert(std::is_same_v<Number, double> || std::is_same_v<Number, float> ||
                      (std::is_integral_v<Number> && sizeof(Number) == 8),
                  "members are double, float, integers of 64 bits, or vectors of these");
    if constexpr (std::is_integral_v<Number>)
      return {reinterpret_cast<const std::int64_t*>(first), stride};
    else
      return {first, stride};
  }

  static void check_names(std::initializer_list<std::string_view> names, std::size_t components) {
    if (names.size() == components) return;
    throw Error(ErrorCategory::Usage, "a member with " + std::to_string(components) +
                                          " components needs as many names of variables, not " +
                                          std::to_string(names.size()));
  }

  template <typename Particle, typename Member>
  MultiWalk& add(Inputs<Particle>& inputs, std::initializer_list<std::string_view> names,
                 Member Particle::*member) {
    check_names(names, components<Member>);
    std::size_t k = 0;
    for (const std::string_view name : names) {
      inputs.push_back({std::string(name), [member, k](const Particle* first) {
                          return array_of(&component(first->*member, k), sizeof(Particle));
                        }});
      ++k;
    }
    return *this;
  }

  template <typename Particle, typename Number>
  MultiWalk& add_constant(Inputs<Particle>& inputs, std::string_view name, Number value) {
    using Stored = std::conditional_t<std::is_floating_point_v<Number>, double, std::int64_t>;
    inputs.push_back(
        {std::string(name), [stored = std::make_shared<Stored>(static_cast<Stored>(value))](
                                const Particle*) { return array_of(stored.get(), 0); }});
    return *this;
  }

  /// A number of walks or particles that FDPS passes, of one walk if `walk` is not negative.
  static std::size_t number(int n, const char* name, int walk = -1) {
    if (n >= 0) return static_cast<std::size_t>(n);
    throw Error(ErrorCategory::Usage,
                (walk < 0 ? std::string() : "walk " + std::to_string(walk) + ": ") + name + " is " +
                    std::to_string(n) + "; it must not be negative");
  }

  /// Appends the arrays of particles from `first` on.
  template <typename Particle>
  std::span<const NamedInput> arrays(const Inputs<Particle>& inputs, const Particle* first) {
    const std::size_t begin = arrays_.size();
    for (const Input<Particle>& input : inputs) arrays_.push_back({input.name, input.array(first)});
    return std::span(arrays_).subspan(begin);
  }

  template <typename Particle>
  void add_segment(const Inputs<Particle>& inputs, const Lists<Particle>& lists, int walk) {
    SourceSegment& segment = segments_.emplace_back();
    segment.n = lists.n == nullptr ? 0 : number(lists.n[walk], lists.n_name, walk);
    if (segment.n == 0) return;
    const bool indexed = lists.index != nullptr;
    segment.arrays = arrays(inputs, indexed ? lists.common : lists.particles[walk]);
    if (!indexed) return;
    segment.index = lists.index[walk];
    segment.items = number(lists.n_common, lists.n_common_name);
  }

  int compute(int n_walk, const Epi** epi, const int* n_epi, const Lists<Epj>& epj,
              const Lists<Spj>& spj) {
    if (n_walk == 0) return 0;
    const std::size_t walks = number(n_walk, "n_walk");
    job_.wait();
    arrays_.clear();
    result_arrays_.clear();
    segments_.clear();
    sets_.clear();
    // Spans refer to these: no reallocation.
    arrays_.reserve(walks * (epi_.size() + epj_.size() + spj_.size()));
    result_arrays_.reserve(walks * results_.size());
    segments_.reserve(2 * walks);
    std::size_t targets = 0;
    for (int w = 0; w < n_walk; ++w) targets += number(n_epi[w], "n_epi", w);
    values_.resize(targets * results_.size());
    std::byte* values = reinterpret_cast<std::byte*>(values_.data());
    for (int w = 0; w < n_walk; ++w) {
      InteractionSet& set = sets_.emplace_back();
      set.targets = static_cast<std::size_t>(n_epi[w]);
      if (set.targets > 0) set.target_arrays = arrays(epi_, epi[w]);
      const std::size_t first = segments_.size(), first_result = result_arrays_.size();
      add_segment(epj_, epj, w);
      add_segment(spj_, spj, w);
      set.sources = std::span(segments_).subspan(first);
      for (std::size_t r = 0; r < results_.size(); ++r)
        result_arrays_.push_back({results_[r].name, value_array(values, r)});
      set.results = std::span(result_arrays_).subspan(first_result);
      values += static_cast<std::ptrdiff_t>(set.targets) * value_step();
    }
    if (background_)
      job_.start(sets_);
    else
      job_.run(sets_);
    return 0;
  }

  /// Bytes from the values of a target to those of the next.
  std::ptrdiff_t value_step() const {
    return static_cast<std::ptrdiff_t>(results_.size() * sizeof(double));
  }
  MutableArray value_array(std::byte* values, std::size_t result) const {
    std::byte* const first = values + result * sizeof(double);
    if (results_[result].is_floating) return {reinterpret_cast<double*>(first), value_step()};
    return {reinterpret_cast<std::int64_t*>(first), value_step()};
  }

  int give(int n_walk, const int* n_epi, Force** force) {
    number(n_walk, "n_walk");
    job_.wait();
    const std::byte* values = reinterpret_cast<const std::byte*>(values_.data());
    for (int w = 0; w < n_walk; ++w) {
      const std::size_t n = number(n_epi[w], "n_epi", w);
      for (std::size_t r = 0; r < results_.size(); ++r)
        results_[r].copy(values + r * sizeof(double), value_step(), force[w], n, adds_);
      values += static_cast<std::ptrdiff_t>(n) * value_step();
    }
    return 0;
  }

  Inputs<Epi> epi_;
  Inputs<Epj> epj_;
  Inputs<Spj> spj_;
  std::vector<Result> results_;
  bool adds_ = false, background_ = false;

  // Of the current call:
  std::vector<NamedInput> arrays_;
  std::vector<NamedResult> result_arrays_;
  std::vector<SourceSegment> segments_;
  std::vector<InteractionSet> sets_;
  std::vector<double> values_;  ///< results of all targets; integers as their bits
  SetJob job_;                  ///< destroyed first
};

}  // namespace gdr::fdps
