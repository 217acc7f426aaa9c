// Neighbour lists of gravity_neighbours against lists made in long double.
#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "bench/laws/laws.hpp"
#include "emulator/host/gpu/device.hpp"
#include "emulator/host/isa.hpp"
#include "support/catch.hpp"

using namespace gdr;
using namespace gdr::bench;

namespace {

constexpr std::size_t capacity = 128;

struct Lists {
  std::vector<std::int64_t> count, ids, nearest;
  bool operator==(const Lists&) const = default;
};

/// The cluster with a radius for each target, and ids that differ from the particles' numbers.
Sample with_radii(std::size_t n, double radius2) {
  Sample s = law_of("gravity_neighbours").sample(n, 9);
  for (std::size_t k = 0; k < n; ++k) {
    s.columns["hi2"].resize(n);
    s.columns["hi2"][k] = radius2 * (1 + static_cast<double>(k % 7));
    s.columns["id"][k] = 4'000'000'000.0 + 3 * static_cast<double>(k);
  }
  return s;
}

Lists lists_on(const std::string& device_name, const Sample& i, const Sample& j) {
  Device device = Device::open("exact:" + device_name);
  const Kernel kernel = Kernel::builtin("gravity_neighbours");
  Job job = device.job(kernel);
  job.set("eps2", 0);
  const auto feed = [&](const Sample& s, Role role, std::vector<std::int64_t>& ids) {
    std::vector<NamedInput> list;
    ids.assign(s.of("id").begin(), s.of("id").begin() + static_cast<std::ptrdiff_t>(s.n));
    for (const KernelVariable& v : kernel.variables()) {
      if (v.role != role) continue;
      if (v.type == HostNumber::I64)
        list.push_back({v.name, ConstArray(ids.data())});
      else
        list.push_back({v.name, ConstArray(s.of(v.name))});
    }
    return list;
  };
  std::vector<std::int64_t> ids_i, ids_j;
  job.targets(i.n, feed(i, Role::Target, ids_i));
  job.sources(j.n, feed(j, Role::Source, ids_j));
  Lists out;
  out.count.resize(i.n);
  out.nearest.resize(i.n);
  out.ids.resize(i.n * capacity);
  job.run(
      {{"near", out.count.data()}, {"near[]", out.ids.data()}, {"nearest", out.nearest.data()}});
  if (device_name.find("native") != std::string::npos) {
    const Statistics statistics = device.statistics();
    INFO(device_name << ": " << statistics.fallback_reason);
    CHECK(statistics.fallback_runs == 0);
  }
  if (device_name.find("=gpu") != std::string::npos) {
    INFO(device_name << ": " << device.statistics().fallback_reason);
    CHECK((device.statistics().gpu_runs > 0) == (j.n > 0));
  }
  return out;
}

Lists brute_force(const Sample& i, const Sample& j) {
  Lists out;
  for (std::size_t t = 0; t < i.n; ++t) {
    std::vector<std::int64_t> list;
    Real least = 1e30L;
    std::int64_t nearest = -1;
    for (std::size_t s = 0; s < j.n; ++s) {
      Real r2 = 0;
      for (const char* axis : {"x", "y", "z"}) {
        const Real d = Real(j.of(axis)[s]) - i.of(axis)[t];
        r2 += d * d;
      }
      if (i.of("id")[t] == j.of("id")[s] || r2 == 0) continue;
      if (r2 < i.of("hi2")[t]) list.push_back(static_cast<std::int64_t>(j.of("id")[s]));
      if (r2 >= least) continue;
      least = r2;
      nearest = static_cast<std::int64_t>(j.of("id")[s]);
    }
    out.count.push_back(static_cast<std::int64_t>(list.size()));
    list.resize(capacity, -1);
    out.ids.insert(out.ids.end(), list.begin(), list.end());
    out.nearest.push_back(nearest);
  }
  return out;
}

/// The native engines with every instruction set. Floats round no particle of the sample across a
/// radius, nor another one to the nearest place.
std::vector<std::string> native_engines() {
  std::vector<std::string> all;
  for (const Isa isa : host_isas())
    for (const char* name : {"engine=native,isa=", "engine=native-float,isa="})
      all.push_back(name + std::string(isa_name(isa)));
  return all;
}
/// Those of GPUs, if there is one; then it also takes small calculations.
std::vector<std::string> gpu_engines() {
  if (gpu::devices().empty()) return {};
  setenv("GDR_GPU_PAIRS", "0", 1);
  return {"engine=gpu", "engine=gpu-float"};
}
std::vector<std::string> all_engines() {
  std::vector<std::string> all = native_engines();
  all.insert(all.begin(), {"engine=reference", "engine=vector"});
  for (const std::string& engine : gpu_engines()) all.push_back(engine);
  return all;
}

const std::string with_few_pes = ",threads=1,chips=2,blocks=3,pes=4";

}  // namespace

TEST_CASE("neighbour lists agree with a direct search on every engine") {
  for (const std::string& engine : all_engines())
    for (const std::size_t targets : {1, 5, 53})
      for (const std::size_t sources : {1, 2, 61}) {
        const Sample all = with_radii(61, 0.5);
        INFO(engine << ", " << targets << " targets, " << sources << " sources");
        CHECK(lists_on(engine + with_few_pes, all.first(targets), all.first(sources)) ==
              brute_force(all.first(targets), all.first(sources)));
      }
}

TEST_CASE("neighbour lists of many particles are correct for threads, boards and batches") {
  const Sample all = with_radii(1501, 0.025);
  const Lists right = brute_force(all, all);
  CHECK(*std::max_element(right.count.begin(), right.count.end()) > 20);
  CHECK(lists_on("engine=vector", all, all) == right);
  const std::string parts = ",boards=2,threads=2,chips=2,blocks=3,pes=5,bm=256,dram=65536";
  for (const std::string engine : {"engine=vector", "engine=native"})
    CHECK(lists_on(engine + parts, all, all) == right);
  // Memories that hold all sources: what remains in the chips between runs is not on a GPU.
  for (const std::string& engine : gpu_engines()) {
    CHECK(lists_on(engine + ",boards=2,threads=2,chips=2,blocks=3,pes=5,bm=256", all, all) ==
          right);
    CHECK(lists_on(engine, all, all) == right);
  }
  CHECK(lists_on("engine=native,threads=2", all, all) == right);
}

TEST_CASE("neighbours among many sources are in the order of the sources") {
  const Sample all = with_radii(40'001, 0.006);
  const Sample few = all.first(37);
  const Lists right = brute_force(few, all);
  CHECK(*std::max_element(right.count.begin(), right.count.end()) > 20);
  CHECK(lists_on("engine=native", few, all) == right);
  CHECK(lists_on("engine=native,threads=2,partition=targets", few, all) == right);
}

TEST_CASE("a full neighbour list keeps the first neighbours and counts all") {
  const Sample all = with_radii(301, 1e6);
  const Lists right = brute_force(all, all);
  CHECK(right.count == std::vector<std::int64_t>(301, 300));
  for (const std::string& engine : all_engines()) {
    const Lists found = lists_on(engine + with_few_pes, all, all);
    CHECK(found.count == right.count);
    CHECK(found.ids == right.ids);
  }
}

TEST_CASE("a radius without neighbours gives an empty list") {
  const Sample all = with_radii(37, 0);
  const Lists found = lists_on("engine=vector" + with_few_pes, all, all);
  CHECK(found.count == std::vector<std::int64_t>(37, 0));
  CHECK(found.ids == std::vector<std::int64_t>(37 * capacity, -1));
  CHECK(found == brute_force(all, all));
  CHECK(lists_on("engine=native" + with_few_pes, all, all) == found);
  CHECK(lists_on("engine=vector" + with_few_pes, all, all.first(0)).count ==
        std::vector<std::int64_t>(37, 0));
}
