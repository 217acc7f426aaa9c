// gdr/fdps.hpp with the calling convention of FDPS's multi-walk functions, without FDPS.
#include "gdr/fdps.hpp"

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "gdr/gdr.hpp"
#include "library/refused.hpp"
#include "support/catch.hpp"

using gdr::test::has;
using gdr::test::refused;

namespace {

// Types like those of FDPS: numbers, vectors, particles that are targets, sources and forces.
template <typename T>
struct Vector3 {
  T x, y, z;
};
struct Body {
  long long id = 0;
  double mass = 0;
  Vector3<double> pos{}, vel{}, acc{};
  double pot = 0;
};
struct Node {
  float mass = 0;
  Vector3<float> pos{};
};
struct FloatForce {
  Vector3<float> acc{};
  float pot = 0;
};

constexpr double eps2 = 1e-4;

/// A tree that has made its interaction lists. It calls like FDPS: interaction lists of the next
/// walks overwrite those of the previous ones before these are retrieved.
template <typename Force>
class MockTree {
 public:
  MockTree(std::size_t n, std::size_t n_nodes, unsigned seed = 3) : nodes(n_nodes) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> uniform(-1, 1);
    bodies.resize(n);
    long long id = 0;
    for (Body& b : bodies)
      b = {id++, 1.0 / static_cast<double>(n), {uniform(random), uniform(random), uniform(random)}};
    for (Node& node : nodes)
      node = {static_cast<float>(0.01),
              {static_cast<float>(3 + uniform(random)), static_cast<float>(uniform(random)),
               static_cast<float>(uniform(random))}};
    forces.resize(n);
    std::size_t first = 0;
    for (std::size_t w = 0; first < n; ++w) {
      Walk walk{first, std::min<std::size_t>(n - first, 20 + 13 * (w % 5)), {}, {}};
      for (std::size_t j = 0; j < n; ++j)
        if (j % (2 + w % 3) == 0 || (j >= first && j < first + walk.n))
          walk.bodies.push_back(static_cast<int>(j));
      for (std::size_t j = w % 4; j < n_nodes; j += 3) walk.nodes.push_back(static_cast<int>(j));
      if (w % 6 == 5) walk.nodes.clear();
      first += walk.n;
      walks.push_back(walk);
    }
  }

  /// calcForceAllAndWriteBackMultiWalk of a tree of long-range forces.
  template <typename Dispatch, typename Retrieve>
  int multi_walk(Dispatch dispatch, Retrieve retrieve, std::size_t limit) {
    return call(retrieve, limit, [&](int n) {
      return dispatch(0, n, epi.data(), n_epi.data(), epj.data(), n_epj.data(), spj.data(),
                      n_spj.data());
    });
  }
  /// The same of a tree of short-range forces.
  template <typename Dispatch, typename Retrieve>
  int multi_walk_short(Dispatch dispatch, Retrieve retrieve, std::size_t limit) {
    return call(retrieve, limit, [&](int n) {
      return dispatch(0, n, epi.data(), n_epi.data(), epj.data(), n_epj.data());
    });
  }
  /// calcForceAllAndWriteBackMultiWalkIndex.
  template <typename Dispatch, typename Retrieve>
  int multi_walk_index(Dispatch dispatch, Retrieve retrieve, std::size_t limit) {
    const int nb = static_cast<int>(bodies.size()), nn = static_cast<int>(nodes.size());
    dispatch(0, 0, static_cast<const Body**>(nullptr), static_cast<const int*>(nullptr),
             static_cast<const int**>(nullptr), static_cast<const int*>(nullptr),
             static_cast<const int**>(nullptr), static_cast<const int*>(nullptr), bodies.data(), nb,
             nodes.data(), nn, true);
    return call(retrieve, limit, [&](int n) {
      return dispatch(0, n, epi.data(), n_epi.data(), id_epj.data(), n_epj.data(), id_spj.data(),
                      n_spj.data(), bodies.data(), nb, nodes.data(), nn, false);
    });
  }
  template <typename Dispatch, typename Retrieve>
  int multi_walk_index_short(Dispatch dispatch, Retrieve retrieve, std::size_t limit) {
    const int nb = static_cast<int>(bodies.size());
    return call(retrieve, limit, [&](int n) {
      return dispatch(0, n, epi.data(), n_epi.data(), id_epj.data(), n_epj.data(), bodies.data(),
                      nb, false);
    });
  }

  /// Forces in double. `self`: whether a particle acts on itself.
  std::vector<Body> reference(bool with_nodes, bool self) const {
    std::vector<Body> out(bodies.size());
    for (const Walk& walk : walks)
      for (std::size_t i = walk.first; i < walk.first + walk.n; ++i) {
        const auto add = [&](const auto& from) {
          const double dx = from.pos.x - bodies[i].pos.x, dy = from.pos.y - bodies[i].pos.y,
                       dz = from.pos.z - bodies[i].pos.z;
          const double r = std::sqrt(dx * dx + dy * dy + dz * dz + eps2);
          out[i].pot -= from.mass / r;
          out[i].acc.x += from.mass * dx / (r * r * r);
          out[i].acc.y += from.mass * dy / (r * r * r);
          out[i].acc.z += from.mass * dz / (r * r * r);
        };
        for (const int j : walk.bodies)
          if (self || static_cast<std::size_t>(j) != i) add(bodies[static_cast<std::size_t>(j)]);
        for (const int j : walk.nodes)
          if (with_nodes) add(nodes[static_cast<std::size_t>(j)]);
      }
    return out;
  }
  double error(const std::vector<Body>& expected) const {
    double worst = 0;
    for (std::size_t i = 0; i < forces.size(); ++i) {
      const auto &f = forces[i], &e = expected[i];
      const double size = std::hypot(e.acc.x, e.acc.y, e.acc.z);
      worst = std::max({worst,
                        std::hypot(f.acc.x - e.acc.x, f.acc.y - e.acc.y, f.acc.z - e.acc.z) / size,
                        std::abs((f.pot - e.pot) / e.pot)});
    }
    return worst;
  }

  std::vector<Body> bodies;
  std::vector<Node> nodes;
  std::vector<Force> forces;

 private:
  struct Walk {
    std::size_t first, n;
    std::vector<int> bodies, nodes;
  };
  template <typename Retrieve, typename Send>
  int call(Retrieve retrieve, std::size_t limit, Send send) {
    int status = 0;
    std::vector<int> n_before;
    std::vector<Force*> before;
    for (std::size_t first = 0; first < walks.size(); first += limit) {
      const std::size_t n = std::min(limit, walks.size() - first);
      const std::vector<Force*> targets = make_lists(first, n);
      if (!before.empty())
        status += retrieve(0, static_cast<int>(before.size()), n_before.data(), before.data());
      status += send(static_cast<int>(n));
      n_before = n_epi;
      before = targets;
    }
    return status + retrieve(0, static_cast<int>(before.size()), n_before.data(), before.data());
  }
  /// Writes the lists of some walks over those before; returns the addresses of their forces.
  std::vector<Force*> make_lists(std::size_t first, std::size_t n) {
    body_lists.assign(n, {});
    node_lists.assign(n, {});
    for (auto* list : {&n_epi, &n_epj, &n_spj}) list->assign(n, 0);
    epi.assign(n, nullptr);
    epj.assign(n, nullptr);
    spj.assign(n, nullptr);
    id_epj.assign(n, nullptr);
    id_spj.assign(n, nullptr);
    std::vector<Force*> targets;
    for (std::size_t w = 0; w < n; ++w) {
      const Walk& walk = walks[first + w];
      for (const int j : walk.bodies) body_lists[w].push_back(bodies[static_cast<std::size_t>(j)]);
      for (const int j : walk.nodes) node_lists[w].push_back(nodes[static_cast<std::size_t>(j)]);
      n_epi[w] = static_cast<int>(walk.n);
      n_epj[w] = static_cast<int>(walk.bodies.size());
      n_spj[w] = static_cast<int>(walk.nodes.size());
      epi[w] = &bodies[walk.first];
      epj[w] = body_lists[w].data();
      spj[w] = node_lists[w].data();
      id_epj[w] = walk.bodies.data();
      id_spj[w] = walk.nodes.data();
      targets.push_back(&forces[walk.first]);
    }
    return targets;
  }

  std::vector<Walk> walks;
  std::vector<std::vector<Body>> body_lists;
  std::vector<std::vector<Node>> node_lists;
  std::vector<int> n_epi, n_epj, n_spj;
  std::vector<const Body*> epi, epj;
  std::vector<const Node*> spj;
  std::vector<const int*> id_epj, id_spj;
};

template <typename Force>
using TreeForces = gdr::fdps::MultiWalk<Body, Body, Node, Force>;

template <typename Force>
void describe(TreeForces<Force>& forces) {
  forces.set("eps2", eps2);
  forces.epi({"xi", "yi", "zi"}, &Body::pos).epi("idi", &Body::id);
  forces.epj({"xj", "yj", "zj"}, &Body::pos).epj("mj", &Body::mass).epj("idj", &Body::id);
  forces.spj({"xj", "yj", "zj"}, &Node::pos).spj("mj", &Node::mass).spj("idj", -1);
  forces.force({"ax", "ay", "az"}, &Force::acc).force("pot", &Force::pot);
}

}  // namespace

TEST_CASE("walks of FDPS have the forces of plain sums, in all forms of the interface") {
  const auto [name, error] = GENERATE(std::pair{"emulator:engine=native,threads=2", 1e-6},
                                      std::pair{"emulator:engine=native-float,threads=2", 1e-4},
                                      std::pair{"emulator:engine=vector,threads=1", 1e-6});
  CAPTURE(name);
  gdr::Device device = gdr::Device::open(name);
  TreeForces<Body> forces(device, gdr::Kernel::builtin("gravity"));
  describe(forces);
  MockTree<Body> tree(700, 60);
  const std::vector<Body> all = tree.reference(true, false), near = tree.reference(false, false);
  for (const bool background : {false, true})
    for (const std::size_t limit : std::initializer_list<std::size_t>{1, 7, 100}) {
      forces.background(background);
      const auto check = [&](int status, const std::vector<Body>& expected) {
        CHECK(status == 0);
        CHECK(tree.error(expected) < error);
        tree.forces.assign(tree.bodies.size(), {});
      };
      check(tree.multi_walk(forces.dispatch(), forces.retrieve(), limit), all);
      check(tree.multi_walk_index(forces.dispatch(), forces.retrieve(), limit), all);
      check(tree.multi_walk_short(forces.dispatch(), forces.retrieve(), limit), near);
      check(tree.multi_walk_index_short(forces.dispatch(), forces.retrieve(), limit), near);
    }
}

TEST_CASE("without ids a particle acts on its own potential, as in FDPS's sample") {
  gdr::Device device = gdr::Device::open("emulator:engine=native,threads=1");
  // None of the three, all, and only some of them, whose numbers have no equal.
  for (const bool targets : {false, true})
    for (const bool sources : {false, true}) {
      TreeForces<Body> forces(device, gdr::Kernel::builtin("gravity"));
      forces.set("eps2", eps2);
      forces.epi({"xi", "yi", "zi"}, &Body::pos);
      forces.epj({"xj", "yj", "zj"}, &Body::pos).epj("mj", &Body::mass);
      forces.spj({"xj", "yj", "zj"}, &Node::pos).spj("mj", &Node::mass);
      forces.force({"ax", "ay", "az"}, &Body::acc).force("pot", &Body::pot);
      if (targets) forces.epi("idi", &Body::id);
      if (sources) forces.epj("idj", &Body::id);
      MockTree<Body> tree(300, 20);
      tree.multi_walk(forces.dispatch(), forces.retrieve(), 10);
      CHECK(tree.error(tree.reference(true, !(targets && sources))) < 1e-6);
      tree.multi_walk_index(forces.dispatch(), forces.retrieve(), 10);
      CHECK(tree.error(tree.reference(true, !(targets && sources))) < 1e-6);
    }
}

TEST_CASE("forces may be floats, and may be added to") {
  gdr::Device device = gdr::Device::open("emulator:engine=native,threads=1");
  TreeForces<FloatForce> forces(device, gdr::Kernel::builtin("gravity"));
  describe(forces);
  MockTree<FloatForce> tree(300, 20);
  const std::vector<Body> expected = tree.reference(true, false);
  tree.multi_walk(forces.dispatch(), forces.retrieve(), 10);
  tree.multi_walk(forces.dispatch(), forces.retrieve(), 10);
  CHECK(tree.error(expected) < 1e-6);
  forces.adds(true);
  tree.multi_walk(forces.dispatch(), forces.retrieve(), 10);
  std::vector<Body> twice = expected;
  for (Body& b : twice) b = {0, 0, {}, {}, {2 * b.acc.x, 2 * b.acc.y, 2 * b.acc.z}, 2 * b.pot};
  CHECK(tree.error(twice) < 1e-6);
}

TEST_CASE("a user's kernel computes a short-range force with integer results") {
  struct Grain {
    double x = 0;
    std::int64_t neighbours = 0;
  };
  const gdr::Kernel kernel = gdr::Kernel::assemble(R"(
.kernel count
.flops 1
ivar  long xi f64to72
jvar  long xj f64to72
jvar  long one i64int
fvar  long sum f64to72 fadd at $lr24v
fvar  long n  i64int iadd at $lr32v
.start
    upass sum 0
    upass n 0
.body
    vlen 1
    bget $lr0 xj
    bget $lr2 one
    vlen 4
    fadd sum sum $lr0
    iadd n n $lr2
)",
                                                   "count.gds");
  gdr::Device device = gdr::Device::open("emulator:engine=native,threads=1");
  gdr::fdps::MultiWalk<Grain, Grain, gdr::fdps::NoSuperparticles, Grain> walks(device, kernel);
  walks.epi("xi", &Grain::x).epj("xj", &Grain::x).epj("one", 1);
  walks.force("sum", &Grain::x).force("n", &Grain::neighbours);
  std::vector<Grain> grains(5), out(2);
  for (std::size_t i = 0; i < 5; ++i) grains[i].x = static_cast<double>(i);
  const Grain *epi = &grains[1], *epj = grains.data();
  const int ni = 2, nj = 4;
  walks.dispatch()(0, 1, &epi, &ni, &epj, &nj);
  Grain* force = out.data();
  walks.retrieve()(0, 1, &ni, &force);
  for (const Grain& g : out) {
    CHECK(g.x == 6);
    CHECK(g.neighbours == 4);
  }
}

TEST_CASE("grains of the guide repel each other where they overlap") {
  struct Vector {
    double x = 0, y = 0, z = 0;
  };
  struct Grain {
    Vector pos;
    double radius = 0;
    std::int64_t id = 0;
  };
  struct Contact {
    Vector force;
    std::int64_t count = 0;
  };
  const gdr::Kernel kernel = gdr::Kernel::compile(R"(
kernel grains;
CONST stiffness;
VARI xi, yi, zi, ri; VARI int idi;
VARJ xj, yj, zj, rj; VARJ int idj;
VARF fx, fy, fz; VARF int contacts;
dx = xi - xj; dy = yi - yj; dz = zi - zj;
d2 = dx*dx + dy*dy + dz*dz;
reach = ri + rj;
skip if (idi == idj || d2 >= reach*reach || d2 == 0);
f = stiffness*(reach*rsqrt(d2) - 1);
fx += f*dx; fy += f*dy; fz += f*dz;
contacts += 1;
)");
  gdr::Device device = gdr::Device::open("emulator:engine=native,threads=1");
  gdr::fdps::MultiWalk<Grain, Grain, gdr::fdps::NoSuperparticles, Contact> forces(device, kernel);
  forces.set("stiffness", 1e4);
  forces.epi({"xi", "yi", "zi"}, &Grain::pos).epi("ri", &Grain::radius).epi("idi", &Grain::id);
  forces.epj({"xj", "yj", "zj"}, &Grain::pos).epj("rj", &Grain::radius).epj("idj", &Grain::id);
  forces.force({"fx", "fy", "fz"}, &Contact::force).force("contacts", &Contact::count);
  std::mt19937 engine(5);
  std::uniform_real_distribution<double> number(0, 1);
  std::vector<Grain> grains(300);
  for (std::size_t k = 0; k < grains.size(); ++k)
    grains[k] = {{number(engine), number(engine), number(engine)},
                 0.05 + 0.1 * number(engine),
                 static_cast<std::int64_t>(k)};
  std::vector<Contact> out(grains.size());
  const Grain* const all = grains.data();
  const Grain *epi = all, *epj = all;
  const int n = static_cast<int>(grains.size());
  forces.dispatch()(0, 1, &epi, &n, &epj, &n);
  Contact* to = out.data();
  forces.retrieve()(0, 1, &n, &to);
  std::int64_t contacts = 0;
  for (std::size_t i = 0; i < grains.size(); ++i) {
    Contact right;
    for (const Grain& b : grains) {
      const Grain& a = grains[i];
      const Vector d{a.pos.x - b.pos.x, a.pos.y - b.pos.y, a.pos.z - b.pos.z};
      const double distance = std::sqrt(d.x * d.x + d.y * d.y + d.z * d.z);
      const double overlap = a.radius + b.radius - distance;
      if (a.id == b.id || overlap <= 0) continue;
      right.force.x += 1e4 * overlap * d.x / distance;
      right.force.y += 1e4 * overlap * d.y / distance;
      right.force.z += 1e4 * overlap * d.z / distance;
      ++right.count;
    }
    CHECK(out[i].count == right.count);
    CHECK(std::abs(out[i].force.x - right.force.x) < 1e-2);
    CHECK(std::abs(out[i].force.y - right.force.y) < 1e-2);
    CHECK(std::abs(out[i].force.z - right.force.z) < 1e-2);
    contacts += right.count;
  }
  CHECK(contacts > 1000);
}

TEST_CASE("quadrupoles of superparticles are read from FDPS's symmetric tensors") {
  struct Vector {
    double x = 0, y = 0, z = 0;
  };
  struct Tensor {  // in FDPS's order
    double xx = 0, yy = 0, zz = 0, xy = 0, xz = 0, yz = 0;
  };
  struct Star {
    Vector pos;
    double mass = 0;
  };
  struct Quadrupole {
    double mass = 0;
    Vector pos;
    Tensor quad;
  };
  struct Force {
    Vector acc;
    double pot = 0;
  };
  // The text of docs/guides/fdps.md.
  const gdr::Kernel kernel = gdr::Kernel::compile(R"(
kernel quadrupoles;
CONST eps2;
VARI xi, yi, zi;
VARJ xj, yj, zj, mj, qxx, qxy, qxz, qyy, qyz, qzz;
VARF ax, ay, az, pot;
dx = xj - xi; dy = yj - yi; dz = zj - zi;
r2 = dx*dx + dy*dy + dz*dz + eps2;
skip if (r2 == 0);
s = rsqrt(r2); s2 = s*s; s3 = s*s2; s5 = s3*s2;
gx = qxx*dx + qxy*dy + qxz*dz; gy = qxy*dx + qyy*dy + qyz*dz; gz = qxz*dx + qyz*dy + qzz*dz;
trace = qxx + qyy + qzz;
g = 1.5*s5*(dx*gx + dy*gy + dz*gz);
pot -= mj*s + g - 0.5*s3*trace;
f = mj*s3 + 5*g*s2 - 1.5*s5*trace;
ax += f*dx - 3*s5*gx; ay += f*dy - 3*s5*gy; az += f*dz - 3*s5*gz;
)");
  // Pairs of equal stars on both sides of the centre: there are no odd moments.
  std::mt19937 engine(9);
  std::uniform_real_distribution<double> number(-1, 1);
  Quadrupole node{0, {3, -2.5, 4}, {}};
  std::vector<Star> members, targets(20);
  for (int k = 0; k < 15; ++k) {
    const Vector y{0.3 * number(engine), 0.1 * number(engine), 0.2 * number(engine)};
    const double m = 1 + number(engine);
    for (const double sign : {1.0, -1.0}) {
      members.push_back(
          {{node.pos.x + sign * y.x, node.pos.y + sign * y.y, node.pos.z + sign * y.z}, m});
      node.mass += m;
      node.quad.xx += m * y.x * y.x;
      node.quad.yy += m * y.y * y.y;
      node.quad.zz += m * y.z * y.z;
      node.quad.xy += m * y.x * y.y;
      node.quad.xz += m * y.x * y.z;
      node.quad.yz += m * y.y * y.z;
    }
  }
  for (Star& t : targets) t.pos = {number(engine), number(engine), number(engine)};
  gdr::Device device = gdr::Device::open("emulator:engine=native,threads=1");
  const auto forces_of = [&](bool as_node) {
    gdr::fdps::MultiWalk<Star, Star, Quadrupole, Force> forces(device, kernel);
    forces.epi({"xi", "yi", "zi"}, &Star::pos);
    forces.epj({"xj", "yj", "zj"}, &Star::pos).epj("mj", &Star::mass);
    for (const char* name : {"qxx", "qxy", "qxz", "qyy", "qyz", "qzz"}) forces.epj(name, 0.0);
    forces.spj({"xj", "yj", "zj"}, &Quadrupole::pos).spj("mj", &Quadrupole::mass);
    forces.spj({"qxx", "qxy", "qxz", "qyy", "qyz", "qzz"}, &Quadrupole::quad);
    forces.force({"ax", "ay", "az"}, &Force::acc).force("pot", &Force::pot);
    std::vector<Force> out(targets.size());
    const Star *epi = targets.data(), *epj = members.data();
    const Quadrupole* spj = &node;
    const int n = static_cast<int>(targets.size());
    const int n_epj = as_node ? 0 : static_cast<int>(members.size()), n_spj = as_node ? 1 : 0;
    forces.dispatch()(0, 1, &epi, &n, &epj, &n_epj, &spj, &n_spj);
    Force* to = out.data();
    forces.retrieve()(0, 1, &n, &to);
    return out;
  };
  const std::vector<Force> right = forces_of(false), found = forces_of(true);
  const Tensor quad = node.quad;
  node.quad = {};
  const std::vector<Force> monopole = forces_of(true);
  node.quad = quad;
  const auto error = [&](const std::vector<Force>& of) {
    double largest = 0;
    for (std::size_t i = 0; i < of.size(); ++i) {
      const Vector &a = of[i].acc, &b = right[i].acc;
      const double size = std::sqrt(b.x * b.x + b.y * b.y + b.z * b.z);
      largest = std::max(largest, std::hypot(a.x - b.x, a.y - b.y, a.z - b.z) / size);
      largest = std::max(largest, std::abs(of[i].pot / right[i].pot - 1));
    }
    return largest;
  };
  CHECK(error(monopole) > 1e-3);
  CHECK(error(found) < 3e-5);
  // Two names for six components.
  gdr::fdps::MultiWalk<Star, Star, Quadrupole, Force> forces(device, kernel);
  has(refused([&] {
        forces.spj({"qxx", "qxy"}, &Quadrupole::quad);
      }),
      "a member with 6 components needs as many names of variables, not 2");
}

TEST_CASE("errors name the walk, and members that do not match the kernel") {
  gdr::Device device = gdr::Device::open("emulator:engine=native,threads=1");
  TreeForces<Body> forces(device, gdr::Kernel::builtin("gravity"));
  has(refused([&] {
        forces.epi({"xi", "yi"}, &Body::pos);
      }),
      "a member with 3 components needs as many names");
  describe(forces);
  MockTree<Body> tree(300, 20);
  tree.nodes[3].mass = std::nanf("");
  try {
    tree.multi_walk(forces.dispatch(), forces.retrieve(), 10);
    FAIL("no error");
  } catch (const gdr::Error& e) {
    CHECK(e.category() == gdr::ErrorCategory::Input);
    has(e.what(), "set 0, segment 1: \"mj\"[1] is not a number");
  }
  TreeForces<Body> missing(device, gdr::Kernel::builtin("gravity"));
  missing.epi({"xi", "yi", "zi"}, &Body::pos).epi("idi", &Body::id);
  missing.epj({"xj", "yj", "zj"}, &Body::pos);
  has(refused([&] { tree.multi_walk(missing.dispatch(), missing.retrieve(), 10); }),
      "set 0, segment 0: no array is given for source variable \"mj\"");
}

TEST_CASE("a negative number of particles or walks is an error that names it and the walk") {
  gdr::Device device = gdr::Device::open("emulator:engine=native,threads=1");
  TreeForces<Body> forces(device, gdr::Kernel::builtin("gravity"));
  describe(forces);
  const std::vector<Body> bodies(8);
  const std::vector<Node> nodes(8);
  std::vector<Body> out(8);
  const Body* const epi[] = {&bodies[0], &bodies[4]};
  const Body* epj[] = {bodies.data(), bodies.data()};
  const Node* spj[] = {nodes.data(), nodes.data()};
  const std::vector<int> index{0, 1, 2, 3, 4, 5, 6, 7};
  const int* id[] = {index.data(), index.data()};
  const int few[] = {4, 4}, wrong[] = {4, -2};
  const auto epi_list = const_cast<const Body**>(epi);
  auto dispatch = forces.dispatch();
  const auto message = [&](const int* n_epi, const int* n_epj, const int* n_spj) {
    return refused([&] { dispatch(0, 2, epi_list, n_epi, epj, n_epj, spj, n_spj); });
  };
  CHECK(message(wrong, few, few) == "walk 1: n_epi is -2; it must not be negative");
  CHECK(message(few, wrong, few) == "walk 1: n_epj is -2; it must not be negative");
  CHECK(message(few, few, wrong) == "walk 1: n_spj is -2; it must not be negative");
  CHECK(refused([&] { dispatch(0, 2, epi_list, few, epj, wrong); }) ==
        "walk 1: n_epj is -2; it must not be negative");
  CHECK(refused([&] { dispatch(0, -1, epi_list, few, epj, few); }) ==
        "n_walk is -1; it must not be negative");
  const auto by_index = [&](const int* n_epj, int n_epj_total, int n_spj_total) {
    return refused([&] {
      dispatch(0, 2, epi_list, few, id, n_epj, id, few, bodies.data(), n_epj_total, nodes.data(),
               n_spj_total, false);
    });
  };
  CHECK(by_index(wrong, 8, 8) == "walk 1: n_epj is -2; it must not be negative");
  CHECK(by_index(few, -8, 8) == "n_epj_total is -8; it must not be negative");
  CHECK(by_index(few, 8, -1) == "n_spj_total is -1; it must not be negative");
  CHECK(refused([&] { dispatch(0, 2, epi_list, few, id, wrong, bodies.data(), 8, false); }) ==
        "walk 1: n_epj is -2; it must not be negative");
  Body* force[] = {&out[0], &out[4]};
  CHECK(refused([&] { forces.retrieve()(0, 2, wrong, force); }) ==
        "walk 1: n_epi is -2; it must not be negative");
  // The object is usable afterwards.
  MockTree<Body> tree(300, 20);
  tree.multi_walk(forces.dispatch(), forces.retrieve(), 10);
  CHECK(tree.error(tree.reference(true, false)) < 1e-6);
}
