// Runs a job that is distributed over the ranks and writes the results of this rank, so that a test
// can concatenate them and compare them with those of one process.
//
// usage: test_mpi_jobs DEVICE LAYOUT FOLDER CASE...
// After every case rank 0 prints the memory of each rank: CASE BYTES-OF-SOURCES BYTES
//   LAYOUT: even, uneven (first ranks have few targets, last ones few sources), or ends (the last
//   rank has all targets, the first all sources)
#include <algorithm>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>

#include "gdr/gdr.hpp"
#include "support/reaction_kernel.hpp"

namespace {

/// Two items per iteration, floats and integers.
constexpr const char* typed_text = R"(
.kernel typed
.flops 2
.group 2
ivar  long xi f32to72
ivar  long idi i64int
jvar  long xj f32to72
jvar  long mj f64to72 pad 0
jvar  long idj i64int
fvar  long force f32to72 fadd at $lr24v
fvar  long idsum i64int iadd at $lr32v
.start
    upass force 0
    upass idsum 0
.body
.repeat J = 0, 1
    vlen 1
    bget $lr0 xj@{J}
    bget $lr2 mj@{J}
    bget $lr4 idj@{J}
    vlen 4
    fsub $lr8v $lr0 xi
    dmul $lr8v $lr8v $lr2
    fadd force force $lr8v
    iadd idsum idsum $lr4
.endrepeat
)";

/// Uses the numbers of PE and block.
constexpr const char* placed_text = R"(
.kernel placed
ivar  long xi f64to72
jvar  long xj f64to72
fvar  long sum f64to72 fadd at $lr24v
fvar  long where i64int pass at $lr32v
.start
    upass sum 0
    ishl $lr32v $bb 8
    ior where $lr32v $pe
.body
    vlen 1
    bget $lr0 xj
    vlen 4
    fsub $lr8v $lr0 xi
    fadd sum sum $lr8v
)";

struct Case {
  const char* kernel;
  const char* text;  ///< null: a kernel of the library
  std::size_t targets, sources;
};
const std::map<std::string, Case> cases = {
    {"gravity", {"gravity", nullptr, 301, 999}},
    {"few", {"gravity", nullptr, 37, 20000}},
    {"many", {"gravity", nullptr, 37, 40000}},
    {"one", {"gravity", nullptr, 1, 9000}},
    {"pieces", {"gravity", nullptr, 2100, 9001}},
    {"none", {"gravity", nullptr, 0, 100}},
    {"empty", {"gravity", nullptr, 50, 0}},
    {"jerk", {"gravity_jerk", nullptr, 20, 9001}},
    {"nearest", {"gravity_nearest", nullptr, 33, 12345}},
    {"neighbours", {"gravity_neighbours", nullptr, 70, 500}},
    {"typed", {"typed", typed_text, 30, 30001}},
    {"reaction", {"reaction", gdr::test::reaction_text, 45, 230}},
    {"placed", {"placed", placed_text, 150, 77}},
};

/// A number from 0 to 1, a function of its arguments only.
double value(std::uint64_t what, std::uint64_t index) {
  std::uint64_t x = what * 0x9e3779b97f4a7c15 + index * 0xbf58476d1ce4e5b9 + 0x94d049bb133111eb;
  for (int k = 0; k < 3; ++k) x = (x ^ (x >> 31)) * 0xd6e8feb86659fd93;
  return static_cast<double>(x >> 11) * 0x1p-53;
}

struct Range {
  std::size_t first = 0, count = 0;
};

Range part_of(const std::string& layout, bool targets, std::size_t n, std::size_t rank,
              std::size_t ranks) {
  const auto begin = [&](std::size_t r) {
    if (layout == "even") return n * r / ranks;
    if (layout == "ends") return targets ? (r == ranks ? n : 0) : (r == 0 ? 0 : n);
    const std::size_t back = ranks - r;  // uneven
    return targets ? n * r * r / (ranks * ranks) : n - n * back * back / (ranks * ranks);
  };
  return {begin(rank), begin(rank + 1) - begin(rank)};
}

/// Arrays for all variables of a role, with their bindings.
class Arrays {
 public:
  Arrays(const gdr::Kernel& kernel, gdr::Role role, Range range, std::uint64_t salt) {
    std::size_t words = 0;
    for (const gdr::KernelVariable& v : kernel.variables()) words += v.role == role ? 1 : 0;
    data_.assign(words, std::vector<std::uint64_t>(range.count));
    std::size_t k = 0;
    for (const gdr::KernelVariable& v : kernel.variables()) {
      if (v.role != role) continue;
      for (std::size_t i = 0; i < range.count; ++i) put(v, k, i, salt + k, range.first + i);
      if (v.type == gdr::HostNumber::F32)
        inputs.push_back({v.name, reinterpret_cast<float*>(data_[k].data())});
      else if (v.type == gdr::HostNumber::F64)
        inputs.push_back({v.name, reinterpret_cast<double*>(data_[k].data())});
      else
        inputs.push_back({v.name, reinterpret_cast<std::int64_t*>(data_[k].data())});
      ++k;
    }
  }
  std::vector<gdr::NamedInput> inputs;

 private:
  void put(const gdr::KernelVariable& v, std::size_t k, std::size_t i, std::uint64_t what,
           std::size_t index) {
    if (v.type == gdr::HostNumber::F32) {
      const auto x = static_cast<float>(value(what, index));
      std::memcpy(reinterpret_cast<float*>(data_[k].data()) + i, &x, sizeof x);
    } else if (v.type == gdr::HostNumber::F64) {
      const double x = value(what, index);
      std::memcpy(&data_[k][i], &x, sizeof x);
    } else {
      data_[k][i] = index;
    }
  }
  std::vector<std::vector<std::uint64_t>> data_;
};

/// Runs the job and appends all results and outputs, element by element.
void run(gdr::Job& job, const gdr::Kernel& kernel, std::vector<std::uint64_t> (&files)[2],
         bool in_background = false) {
  std::vector<std::vector<std::uint64_t>> data;
  for (const gdr::KernelVariable& v : kernel.variables())
    data.emplace_back(v.role == gdr::Role::Output ? job.source_count() : job.target_count());
  std::vector<gdr::NamedResult> results;
  for (std::size_t k = 0; k < data.size(); ++k) {
    const gdr::KernelVariable& v = kernel.variables()[k];
    if (v.role != gdr::Role::Result && v.role != gdr::Role::Output) continue;
    if (v.type == gdr::HostNumber::F64 || v.type == gdr::HostNumber::F32)
      results.push_back({v.name, reinterpret_cast<double*>(data[k].data())});
    else
      results.push_back({v.name, reinterpret_cast<std::int64_t*>(data[k].data())});
  }
  if (in_background) {
    job.start(results);
    job.wait();
  } else {
    job.run(results);
  }
  for (std::size_t k = 0; k < data.size(); ++k) {
    const gdr::Role role = kernel.variables()[k].role;
    if (role != gdr::Role::Result && role != gdr::Role::Output) continue;
    auto& to = files[role == gdr::Role::Output ? 1 : 0];
    // A separator allows the files of ranks to be concatenated variable by variable.
    to.push_back(data[k].size());
    to.insert(to.end(), data[k].begin(), data[k].end());
  }
}

void work(gdr::Device& device, const std::string& layout, const std::string& folder,
          const std::string& name) {
  const Case& c = cases.at(name);
  const gdr::Kernel kernel =
      c.text == nullptr ? gdr::Kernel::builtin(c.kernel) : gdr::Kernel::assemble(c.text, c.kernel);
  const Range targets = part_of(layout, true, c.targets, device.rank(), device.ranks());
  const Range sources = part_of(layout, false, c.sources, device.rank(), device.ranks());
  std::vector<std::uint64_t> files[2];
  gdr::Job job = device.job(kernel);
  for (const gdr::KernelVariable& v : kernel.variables())
    if (v.role == gdr::Role::Param) job.set(v.name, 0.01);
  job.sources(sources.count, Arrays(kernel, gdr::Role::Source, sources, 100).inputs);
  job.targets(targets.count, Arrays(kernel, gdr::Role::Target, targets, 200).inputs);
  run(job, kernel, files);
  // Other targets on the same sources, then fewer on other sources.
  job.targets(targets.count, Arrays(kernel, gdr::Role::Target, targets, 300).inputs);
  run(job, kernel, files);
  const Range half = part_of(layout, true, c.targets / 2, device.rank(), device.ranks());
  job.targets(half.count, Arrays(kernel, gdr::Role::Target, half, 400).inputs);
  job.sources(sources.count, Arrays(kernel, gdr::Role::Source, sources, 500).inputs);
  run(job, kernel, files);
  // Some sources change (none on some ranks), and the run is asynchronous.
  const Range changed{c.sources / 3, c.sources / 2 - c.sources / 3};
  const std::size_t from = std::max(changed.first, sources.first);
  const std::size_t to =
      std::max(from, std::min(changed.first + changed.count, sources.first + sources.count));
  const bool none = from > sources.first + sources.count;
  const Range mine{none ? sources.first : from, none ? 0 : to - from};
  job.update_sources(mine.first - sources.first, mine.count,
                     Arrays(kernel, gdr::Role::Source, mine, 600).inputs);
  run(job, kernel, files, true);
  const char* const kinds[] = {"results", "outputs"};
  for (int f = 0; f < 2; ++f) {
    std::ofstream out(folder + "/" + name + "." + kinds[f] + "." + std::to_string(device.rank()),
                      std::ios::binary);
    out.write(reinterpret_cast<const char*>(files[f].data()),
              static_cast<std::streamsize>(files[f].size() * sizeof(std::uint64_t)));
    if (!out.flush()) throw gdr::Error(gdr::ErrorCategory::Io, "cannot write in " + folder);
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    gdr::Device device = gdr::Device::open(argv[1]);
    for (int k = 4; k < argc; ++k) {
      work(device, argv[2], argv[3], argv[k]);
      for (const gdr::RankReport& r : device.rank_reports())
        if (device.rank() == 0)
          std::cout << argv[k] << " " << r.sources_bytes << " " << r.memory_bytes << "\n";
    }
    return 0;
  } catch (const std::exception& e) {
    std::cerr << e.what() << "\n";
    return 1;
  }
}
