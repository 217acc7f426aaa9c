// Jobs, a kernel on a device with its data, and gravity on arrays of three-vectors.
#include <array>
#include <atomic>
#include <functional>
#include <optional>
#include <tuple>

#include "background_job.hpp"
#include "gdr/gravity.hpp"
#include "gdr/gravity_jerk.hpp"

namespace gdr::python {
namespace {

/// Sizes up to which a conversion, and a run, take no more than milliseconds.
constexpr std::size_t brief_items = 1 << 14, brief_pairs = 1 << 16;

class PyJob : public BackgroundJob<Job> {
 public:
  PyJob(DevicePointer device, const Kernel& kernel)
      : BackgroundJob(std::move(device), [&](Device& d) { return d.job(kernel); }) {}

  void set(const std::string& name, double value) {
    job_.run([&](Job& j) { j.set(name, value); }, true);
  }
  void sources(std::size_t n, const py::dict& arrays) {
    const auto inputs = input_arrays(arrays, n);
    job_.run([&](Job& j) { j.sources(n, inputs.list); }, n <= brief_items);
  }
  /// Sets sources or targets from arrays that need no conversion. False, and nothing is changed, if
  /// they do, or are refused: the Python package then converts them, or explains the error.
  bool plain_sources(const py::dict& arrays) {
    return plain(arrays, [](Job& j, std::size_t n, const auto& list) { j.sources(n, list); });
  }
  bool plain_targets(const py::dict& arrays) {
    return plain(arrays, [](Job& j, std::size_t n, const auto& list) { j.targets(n, list); });
  }
  void update_sources(std::size_t first, std::size_t n, const py::dict& arrays) {
    const auto inputs = input_arrays(arrays, n);
    job_.run([&](Job& j) { j.update_sources(first, n, inputs.list); });
  }
  void update_sources_at(const py::array_t<std::int32_t, py::array::c_style>& places,
                         const py::dict& arrays) {
    const auto n = static_cast<std::size_t>(places.size());
    const auto inputs = input_arrays(arrays, n);
    job_.run([&](Job& j) { j.update_sources(std::span(places.data(), n), inputs.list); });
  }
  void targets(std::size_t n, const py::dict& arrays) {
    const auto inputs = input_arrays(arrays, n);
    job_.run([&](Job& j) { j.targets(n, inputs.list); }, n <= brief_items);
  }
  /// Fills arrays that have been allocated for these numbers of targets and sources.
  void run(const py::dict& arrays, std::size_t targets, std::size_t sources) {
    const auto results = result_arrays(arrays);
    finish();
    const auto work = [&](Job& j) {
      check_counts(j, targets, sources);
      j.run(results.list);
    };
    job_.run(work,
             targets <= brief_items && sources <= brief_items && targets * sources <= brief_pairs);
  }
  void start(const py::dict& arrays, std::size_t targets, std::size_t sources) {
    auto results = result_arrays(arrays);
    finish();
    job_.run([&](Job& j) {
      check_counts(j, targets, sources);
      j.start(results.list);
    });
    begin();
    pending_.push_back(std::move(results));
  }
  std::size_t target_count() { return job_->target_count(); }
  std::size_t source_count() { return job_->source_count(); }

 private:
  template <typename Give>
  bool plain(const py::dict& arrays, const Give& give) {
    std::size_t n = 0;
    const auto inputs = plain_arrays(arrays, n);
    if (!inputs) return false;
    try {
      job_.run([&](Job& j) { give(j, n, inputs->list); }, n <= brief_items);
    } catch (const Error& error) {
      if (error.category() == ErrorCategory::Usage || error.category() == ErrorCategory::Input)
        return false;
      throw;
    }
    return true;
  }
  /// The library does not check the lengths of result arrays, and another thread may have changed
  /// the targets or sources after the allocation.
  static void check_counts(const Job& job, std::size_t targets, std::size_t sources) {
    if (job.target_count() != targets || job.source_count() != sources)
      throw Error(ErrorCategory::Usage,
                  "the targets or sources of the job have changed during the call");
  }
};

/// By TreeMethod.
constexpr std::array<const char*, 5> method_names{"auto", "direct", "monopole", "multipole",
                                                  "expansion"};

/// Method, degree and theta of an earlier report.
using EarlierChoice = std::tuple<std::size_t, unsigned, double>;

/// Options of a tree, and a function of Python for the progress of a call.
class PyTreeOptions {
 public:
  PyTreeOptions(double accuracy, std::size_t method, unsigned degree, double theta,
                std::size_t group_size, std::size_t leaf_size, std::size_t samples,
                std::size_t calls, const std::optional<EarlierChoice>& earlier,
                std::optional<py::function> progress)
      : options_{.accuracy = accuracy,
                 .method = static_cast<TreeMethod>(method),
                 .degree = degree,
                 .theta = theta,
                 .group_size = group_size,
                 .leaf_size = leaf_size,
                 .samples = samples,
                 .calls = calls},
        progress_(std::move(progress)) {
    if (!earlier) return;
    earlier_.emplace();
    earlier_->method = static_cast<TreeMethod>(std::get<0>(*earlier));
    earlier_->degree = std::get<1>(*earlier);
    earlier_->theta = std::get<2>(*earlier);
  }

  /// The report of work(object, options), with calls of the function meanwhile.
  template <typename Object, typename Work>
  TreeReport run(DeviceObject<Object>& object, const Work& work) const {
    std::atomic<double> share = 0;
    TreeOptions options = options_;
    if (earlier_) options.earlier = &*earlier_;
    if (progress_) options.progress = [&](double now) { share = now; };
    const std::function<void()> poll = [&] { (*progress_)(share.load()); };
    return object.run([&](Object& o) { return work(o, options); }, false,
                      progress_ ? poll : std::function<void()>());
  }

 private:
  TreeOptions options_;
  std::optional<TreeReport> earlier_;
  std::optional<py::function> progress_;
};

/// The arrays of a call of gravity, checked for their sizes.
struct ForceArrays {
  ForceArrays(const py::array& position, const py::array& mass,
              const std::optional<py::array>& targets, py::array& acceleration,
              py::array& potential)
      : n(static_cast<std::size_t>(mass.size())),
        m(targets ? static_cast<std::size_t>(targets->size()) / 3 : n),
        x(doubles(position, 3 * n, "pos")),
        mj(doubles(mass, n, "mass")),
        t(targets ? doubles(*targets, 3 * m, "targets") : nullptr),
        a(result_doubles(acceleration, 3 * m, "acc")),
        p(result_doubles(potential, m, "pot")) {}

  std::size_t n, m;          ///< numbers of sources and targets
  const double *x, *mj, *t;  ///< positions and masses of sources, positions of targets
  double *a, *p;             ///< accelerations and potentials
};

/// The fields of the type of reports in Python.
py::dict fields_of(const TreeReport& r) {
  using py::operator""_a;
  return py::dict("method"_a = method_names[static_cast<std::size_t>(r.method)],
                  "degree"_a = r.degree, "theta"_a = r.theta, "error"_a = r.error,
                  "largest_error"_a = r.largest_error, "jerk_error"_a = r.jerk_error,
                  "samples"_a = r.samples, "clusters"_a = r.clusters, "groups"_a = r.groups,
                  "sources_per_target"_a = r.sources_per_target,
                  "build_seconds"_a = r.build_seconds, "choice_seconds"_a = r.choice_seconds,
                  "expansion_seconds"_a = r.expansion_seconds, "list_seconds"_a = r.list_seconds,
                  "force_seconds"_a = r.force_seconds, "error_seconds"_a = r.error_seconds);
}

/// One softening length, or one for each source and perhaps for each target.
class PySoftening {
 public:
  PySoftening(double eps, std::optional<py::array> each, std::optional<py::array> targets)
      : eps_(eps), each_(std::move(each)), targets_(std::move(targets)) {}

  /// Of n sources and m targets.
  Softening of(std::size_t n, std::size_t m) const {
    if (!each_) return eps_;
    const double* const sources = doubles(*each_, n, "eps");
    if (!targets_) return sources;
    return {sources, doubles(*targets_, m, "target_eps")};
  }

 private:
  double eps_;
  std::optional<py::array> each_, targets_;
};

class PyGravity {
 public:
  explicit PyGravity(DevicePointer device)
      : gravity_(std::move(device), [](Device& d) { return Gravity(d); }) {}

  /// Forces of n particles on each other, or on targets.
  void compute(const py::array& position, const py::array& mass, const PySoftening& softening,
               const std::optional<py::array>& targets, py::array acceleration,
               py::array potential) {
    const ForceArrays f(position, mass, targets, acceleration, potential);
    const Softening eps = softening.of(f.n, f.m);
    gravity_.run(
        [&](Gravity& g) {
          if (targets)
            g.compute_on(f.m, f.t, f.n, f.x, f.mj, eps, f.a, f.p);
          else
            g.compute(f.n, f.x, f.mj, eps, f.a, f.p);
        },
        f.n <= brief_items && f.m <= brief_items && f.n * f.m <= brief_pairs);
  }

  /// The same with a tree; returns the fields of the report.
  py::dict compute_with_tree(const py::array& position, const py::array& mass,
                             const PySoftening& softening, const std::optional<py::array>& targets,
                             py::array acceleration, py::array potential,
                             const PyTreeOptions& options) {
    const ForceArrays f(position, mass, targets, acceleration, potential);
    const Softening eps = softening.of(f.n, f.m);
    return fields_of(options.run(gravity_, [&](Gravity& g, const TreeOptions& o) {
      return targets ? g.compute_on(f.m, f.t, f.n, f.x, f.mj, eps, f.a, f.p, o)
                     : g.compute(f.n, f.x, f.mj, eps, f.a, f.p, o);
    }));
  }

 private:
  DeviceObject<Gravity> gravity_;
};

class PyGravityJerk {
 public:
  explicit PyGravityJerk(DevicePointer device)
      : gravity_(std::move(device), [](Device& d) { return GravityJerk(d); }) {}

  /// Forces and jerks of n particles on each other, or on targets; the fields of the report if
  /// there are options for a tree, else an empty dictionary.
  py::dict compute(const py::array& position, const py::array& velocity, const py::array& mass,
                   const PySoftening& softening, const std::optional<py::array>& targets,
                   const std::optional<py::array>& target_velocity, py::array acceleration,
                   py::array jerk, py::array potential, const PyTreeOptions* options) {
    const ForceArrays f(position, mass, targets, acceleration, potential);
    const Softening eps = softening.of(f.n, f.m);
    const double* const v = doubles(velocity, 3 * f.n, "vel");
    const double* const vi = targets ? doubles(*target_velocity, 3 * f.m, "target_vel") : nullptr;
    double* const j = result_doubles(jerk, 3 * f.m, "jerk");
    if (options != nullptr)
      return fields_of(options->run(gravity_, [&](GravityJerk& g, const TreeOptions& o) {
        return targets ? g.compute_on(f.m, f.t, vi, f.n, f.x, v, f.mj, eps, f.a, j, f.p, o)
                       : g.compute(f.n, f.x, v, f.mj, eps, f.a, j, f.p, o);
      }));
    gravity_.run([&](GravityJerk& g) {
      if (targets)
        g.compute_on(f.m, f.t, vi, f.n, f.x, v, f.mj, eps, f.a, j, f.p);
      else
        g.compute(f.n, f.x, v, f.mj, eps, f.a, j, f.p);
    });
    return {};
  }

 private:
  DeviceObject<GravityJerk> gravity_;
};

}  // namespace

void bind_job(py::module_& m) {
  py::class_<PyTreeOptions>(m, "TreeOptions")
      .def(py::init<double, std::size_t, unsigned, double, std::size_t, std::size_t, std::size_t,
                    std::size_t, const std::optional<EarlierChoice>&,
                    std::optional<py::function>>());
  m.attr("tree_methods") = py::make_tuple(method_names[0], method_names[1], method_names[2],
                                          method_names[3], method_names[4]);
  py::class_<PySoftening>(m, "Softening")
      .def(py::init<double, std::optional<py::array>, std::optional<py::array>>());
  py::class_<PyGravity>(m, "Gravity")
      .def(py::init<DevicePointer>())
      .def("compute", &PyGravity::compute)
      .def("compute_with_tree", &PyGravity::compute_with_tree);
  py::class_<PyGravityJerk>(m, "GravityJerk")
      .def(py::init<DevicePointer>())
      .def("compute", &PyGravityJerk::compute);
  py::class_<PyJob>(m, "Job")
      .def(py::init<DevicePointer, const Kernel&>())
      .def("set", &PyJob::set)
      .def("sources", &PyJob::sources)
      .def("update_sources", &PyJob::update_sources)
      .def("update_sources_at", &PyJob::update_sources_at)
      .def("targets", &PyJob::targets)
      .def("plain_sources", &PyJob::plain_sources)
      .def("plain_targets", &PyJob::plain_targets)
      .def("run", &PyJob::run)
      .def("start", &PyJob::start)
      .def("ready", &PyJob::ready)
      .def("wait", &PyJob::wait)
      .def_property_readonly("target_count", &PyJob::target_count)
      .def_property_readonly("source_count", &PyJob::source_count);
}

}  // namespace gdr::python
