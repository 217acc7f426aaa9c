// Snapshots: the library's reader, which reads HDF5 through h5py, and the text of a snapshot.
#include "libgdr/io/snapshot.hpp"

#include <memory>
#include <utility>

#include "arrays.hpp"

namespace gdr::python {
namespace {

/// A file of gdr.nbody._hdf5.File, an object of Python.
class PythonFile : public StoredFile {
 public:
  PythonFile(const std::string& name, py::object file) : StoredFile(name), file_(std::move(file)) {}
  ~PythonFile() override {
    try {
      file_.attr("close")();
    } catch (py::error_already_set& error) {
      error.discard_as_unraisable("gdr.nbody.read");
    }
  }
  PythonFile(const PythonFile&) = delete;
  PythonFile& operator=(const PythonFile&) = delete;

  bool has(const std::string& path) const override {
    return py::cast<bool>(file_.attr("has")(path));
  }
  Shape shape(const std::string& dataset) const override {
    return py::cast<Shape>(file_.attr("shape")(dataset));
  }
  NumberClass number_class(const std::string& dataset) const override {
    const auto kind = py::cast<std::string>(file_.attr("kind")(dataset));
    if (kind == "f") return NumberClass::Float;
    if (kind == "i") return NumberClass::Signed;
    return kind == "u" ? NumberClass::Unsigned : NumberClass::Other;
  }
  void check(const std::string& dataset) const override { file_.attr("check")(dataset); }
  void read(const std::string& dataset, std::span<double> to) const override {
    file_.attr("read")(dataset, view(to.data(), to.size()));
  }
  void read(const std::string& dataset, std::span<std::uint64_t> to,
            bool as_signed) const override {
    if (as_signed)
      file_.attr("read")(dataset, view(reinterpret_cast<std::int64_t*>(to.data()), to.size()));
    else
      file_.attr("read")(dataset, view(to.data(), to.size()));
  }
  std::optional<std::vector<double>> attribute(const std::string& object,
                                               const std::string& name) const override {
    return py::cast<std::optional<std::vector<double>>>(file_.attr("attribute")(object, name));
  }

 private:
  /// An array over memory of the caller, which lives as long as the call.
  template <typename Number>
  static py::array_t<Number> view(Number* data, std::size_t size) {
    return py::array_t<Number>(static_cast<py::ssize_t>(size), data,
                               py::capsule(data, [](void*) {}));
  }
  py::object file_;
};

/// An array that owns the numbers of a vector: (n), or (n, width).
template <typename Number>
py::array owning(std::vector<Number>&& values, std::size_t width = 1) {
  auto kept = std::make_unique<std::vector<Number>>(std::move(values));
  Number* const data = kept->data();
  std::vector<py::ssize_t> shape = {static_cast<py::ssize_t>(kept->size() / width)};
  if (width > 1) shape.push_back(static_cast<py::ssize_t>(width));
  const py::capsule owner(kept.release(), [](void* vector) {
    delete static_cast<std::vector<Number>*>(vector);  // the capsule owns it
  });
  return py::array_t<Number>(std::move(shape), data, owner);
}

/// Bit patterns of ids as int64 or uint64.
py::object id_array(std::vector<std::uint64_t>&& ids, bool are_signed) {
  py::array array = owning(std::move(ids));
  return are_signed ? array.attr("view")("int64") : py::object(std::move(array));
}

/// The numbers of a run with block steps by their names in HDF5, and its arrays; None for others.
py::object take_run(Snapshot& snapshot) {
  if (!snapshot.run || !snapshot.hermite) return py::none();
  py::dict numbers;
  numbers["Step"] = snapshot.run->step;
  for (const RunNumber& number : run_numbers)
    numbers[number.hdf5_name] = (*snapshot.run).*number.value;
  for (const RunNumber& number : optional_numbers)
    numbers[number.hdf5_name] = (*snapshot.run).*number.value;
  for (const RunNumber& number : hermite_numbers)
    numbers[number.hdf5_name] = (*snapshot.run).*number.value;
  py::list arrays;
  for (const HermiteArray& array : hermite_arrays)
    arrays.append(owning(std::move((*snapshot.hermite).*array.values), array.width));
  return py::make_tuple(numbers, arrays);
}

/// Reads a snapshot without the particles of omitted types, below max_particle_types; `open` makes
/// a File of a name of HDF5. Returns positions, velocities (none if they are
/// not wanted), masses, ids, the number of particles of each type, time, header and run.
py::tuple read_stars(const std::string& path, const py::function& open, bool velocities,
                     const std::vector<std::size_t>& omitted) {
  SnapshotReading how;
  for (const std::size_t type : omitted) how.omitted.set(type);
  how.velocities = velocities ? Velocities::Needed : Velocities::Ignored;
  how.without_velocities =
      "; gdr.nbody.read(..., velocities=False) reads it with velocities of zero";
  how.open_hdf5 = [&](const std::string& name) {
    return std::make_unique<PythonFile>(name, open(py::bytes(name)));
  };
  Snapshot snapshot = read_snapshot(path, how);
  return py::make_tuple(owning(std::move(snapshot.position), 3),
                        owning(std::move(snapshot.velocity), 3), owning(std::move(snapshot.mass)),
                        id_array(std::move(snapshot.id), snapshot.signed_ids), snapshot.type_counts,
                        snapshot.time, snapshot.header, take_run(snapshot));
}

/// The state of a run with block steps: its numbers by their names in HDF5, and its arrays.
void set_run(Snapshot& snapshot, const py::dict& numbers, const std::vector<py::array>& arrays) {
  RunState run;
  run.integrator = IntegratorKind::Hermite4;
  run.step = py::cast<std::int64_t>(numbers["Step"]);
  for (const RunNumber& number : run_numbers)
    run.*number.value = py::cast<double>(numbers[number.hdf5_name]);
  for (const RunNumber& number : optional_numbers)
    if (numbers.contains(number.hdf5_name))
      run.*number.value = py::cast<double>(numbers[number.hdf5_name]);
  for (const RunNumber& number : hermite_numbers)
    run.*number.value = py::cast<double>(numbers[number.hdf5_name]);
  snapshot.run = run;
  HermiteState& state = snapshot.hermite.emplace();
  if (arrays.size() != std::size(hermite_arrays)) throw py::value_error("a run has six arrays");
  for (std::size_t k = 0; k < arrays.size(); ++k) {
    const HermiteArray& each = hermite_arrays[k];
    const std::size_t size = each.width * snapshot.size();
    const double* const values = doubles(arrays[k], size, each.hdf5_name);
    (state.*each.values).assign(values, values + size);
  }
}

/// The text of a snapshot; `run` is empty, or has the numbers and arrays of a run.
py::bytes text_of_stars(double time, const py::array& position, const py::array& velocity,
                        const py::array& mass, const std::optional<py::tuple>& run) {
  Snapshot snapshot;
  const auto n = static_cast<std::size_t>(mass.size());
  const auto numbers_of = [&](const py::array& array, std::size_t width, const char* name) {
    const double* const values = doubles(array, width * n, name);
    return std::vector<double>(values, values + width * n);
  };
  snapshot.time = time;
  snapshot.mass = numbers_of(mass, 1, "mass");
  snapshot.position = numbers_of(position, 3, "pos");
  snapshot.velocity = numbers_of(velocity, 3, "vel");
  if (run)
    set_run(snapshot, py::cast<py::dict>((*run)[0]), py::cast<std::vector<py::array>>((*run)[1]));
  return py::bytes(text_snapshot(snapshot));
}

}  // namespace

void bind_snapshot(py::module_& m) {
  m.def("read_snapshot", &read_stars);
  m.def("text_snapshot", &text_of_stars);
}

}  // namespace gdr::python
