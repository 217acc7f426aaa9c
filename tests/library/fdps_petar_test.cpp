// The soft forces of PeTar through gdr/fdps.hpp, compared with its formulas as plain sums.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "gdr/fdps.hpp"
#include "gdr/gdr.hpp"
#include "support/catch.hpp"

namespace petar {
namespace {

struct Vector {
  double x = 0, y = 0, z = 0;
};
struct Tensor {  // in FDPS's order
  double xx = 0, yy = 0, zz = 0, xy = 0, xz = 0, yz = 0;
};
// Members of PeTar's EPISoft, EPJSoft, SPJSoft and ForceSoft that its forces read and write.
struct Target {
  Vector pos;
  double r_search = 0;
};
struct Star {
  double mass = 0;
  Vector pos;
  double r_search = 0;
};
struct Node {
  double mass = 0;
  Vector pos;
  Tensor quad;
};
struct Force {
  Vector acc;
  double pot = 0;
  int n_ngb = 0;
};
using Walks = gdr::fdps::MultiWalk<Target, Star, Node, Force>;

// The text of docs/guides/fdps.md.
constexpr const char* law = R"(
kernel petar;
CONST eps2, rout2;
VARI xi, yi, zi, ri;
VARJ xj, yj, zj, mj, rj, star, qxx, qxy, qxz, qyy, qyz, qzz;
VARF ax, ay, az, pot; VARF int ngb;
dx = xj - xi; dy = yj - yi; dz = zj - zi;
d2 = dx*dx + dy*dy + dz*dz;
reach = max(ri, rj);
if (star > 0 && d2 < reach*reach) { ngb += 1; }
s = rsqrt(max(d2 + eps2, rout2)); s2 = s*s; s3 = s*s2; s5 = s3*s2;
gx = qxx*dx + qxy*dy + qxz*dz; gy = qxy*dx + qyy*dy + qyz*dz; gz = qxz*dx + qyz*dy + qzz*dz;
trace = qxx + qyy + qzz;
g = 1.5*s5*(dx*gx + dy*gy + dz*gz);
pot -= mj*s + g - 0.5*s3*trace;
f = mj*s3 + 5*g*s2 - 1.5*s5*trace;
ax += f*dx - 3*s5*gx; ay += f*dy - 3*s5*gy; az += f*dz - 3*s5*gz;
)";

constexpr double eps2 = 1e-6, r_out = 0.02;

void describe(Walks& forces) {
  forces.set("eps2", eps2).set("rout2", r_out * r_out);
  forces.epi({"xi", "yi", "zi"}, &Target::pos).epi("ri", &Target::r_search);
  forces.epj({"xj", "yj", "zj"}, &Star::pos).epj("mj", &Star::mass).epj("rj", &Star::r_search);
  forces.spj({"xj", "yj", "zj"}, &Node::pos).spj("mj", &Node::mass).spj("rj", 0.0);
  forces.epj("star", 1.0).spj("star", 0.0);
  for (const char* name : {"qxx", "qxy", "qxz", "qyy", "qyz", "qzz"}) forces.epj(name, 0.0);
  forces.spj({"qxx", "qxy", "qxz", "qyy", "qyz", "qzz"}, &Node::quad);
  forces.force({"ax", "ay", "az"}, &Force::acc).force("pot", &Force::pot);
  forces.force("ngb", &Force::n_ngb);
}

/// The sums of PeTar's functors for particles, with the linear cut-off and the number of
/// neighbours, and for superparticles with quadrupoles (Wang et al. 2020, MNRAS 497, 536).
Force plain_sums(const Target& target, const std::vector<Star>& stars,
                 const std::vector<Node>& nodes) {
  long double ax = 0, ay = 0, az = 0, pot = 0;
  Force total;
  const auto distance = [&](const Vector& x) {
    return Vector{target.pos.x - x.x, target.pos.y - x.y, target.pos.z - x.z};
  };
  for (const Star& s : stars) {
    const Vector d = distance(s.pos);
    const long double d2 = d.x * d.x + d.y * d.y + d.z * d.z;
    const double reach = std::max(target.r_search, s.r_search);
    if (d2 < reach * reach) ++total.n_ngb;
    const long double r = std::sqrt(std::max<long double>(d2 + eps2, r_out * r_out));
    ax -= s.mass * d.x / (r * r * r);
    ay -= s.mass * d.y / (r * r * r);
    az -= s.mass * d.z / (r * r * r);
    pot -= s.mass / r;
  }
  for (const Node& s : nodes) {
    const Vector d = distance(s.pos);
    const Tensor& q = s.quad;
    const long double r = std::sqrt(d.x * d.x + d.y * d.y + d.z * d.z + eps2);
    const long double r3 = r * r * r, r5 = r3 * r * r;
    const long double gx = q.xx * d.x + q.xy * d.y + q.xz * d.z;
    const long double gy = q.xy * d.x + q.yy * d.y + q.yz * d.z;
    const long double gz = q.xz * d.x + q.yz * d.y + q.zz * d.z;
    const long double along = d.x * gx + d.y * gy + d.z * gz, trace = q.xx + q.yy + q.zz;
    const long double radial = s.mass / r3 - 1.5L * trace / r5 + 7.5L * along / (r5 * r * r);
    ax -= radial * d.x - 3 * gx / r5;
    ay -= radial * d.y - 3 * gy / r5;
    az -= radial * d.z - 3 * gz / r5;
    pot -= s.mass / r - 0.5L * trace / r3 + 1.5L * along / r5;
  }
  total.acc = {static_cast<double>(ax), static_cast<double>(ay), static_cast<double>(az)};
  total.pot = static_cast<double>(pot);
  return total;
}

TEST_CASE("forces, potentials and numbers of neighbours of PeTar are those of its formulas") {
  std::mt19937 random(11);
  std::uniform_real_distribution<double> number(0, 1);
  std::vector<Star> stars(701);
  for (std::size_t k = 0; k < stars.size(); ++k)
    stars[k] = {k % 7 == 0 ? 0.0 : 1e-3 * number(random),  // such as the members of binaries
                {number(random), number(random), number(random)},
                0.05 + 0.1 * number(random)};
  stars[300].pos = stars[200].pos;
  stars[400].pos = stars[200].pos;
  stars[400].pos.x += 0.5 * r_out;
  std::vector<Node> nodes(33);
  for (Node& node : nodes) {
    node = {1e-2, {3 + number(random), number(random), number(random)}, {}};
    Tensor& q = node.quad;
    for (double* part : {&q.xx, &q.yy, &q.zz, &q.xy, &q.xz, &q.yz}) *part = 1e-3 * number(random);
  }
  std::vector<Target> targets;
  targets.reserve(stars.size());
  for (const Star& s : stars) targets.push_back({s.pos, s.r_search});
  struct Case {
    const char* device;
    double error;
  };
  for (const Case& c :
       {Case{"emulator:engine=native", 1e-13}, {"emulator:engine=native-float", 4e-6}}) {
    gdr::Device device = gdr::Device::open(c.device);
    const gdr::Kernel kernel = gdr::Kernel::compile(law);
    Walks forces(device, kernel);
    describe(forces);
    // All particles and superparticles; none of the latter; no particles.
    const int sizes[][3] = {{701, 701, 33}, {1, 701, 0}, {5, 0, 33}, {3, 0, 0}};
    std::vector<const Target*> epi(4, targets.data());
    std::vector<const Star*> epj(4, stars.data());
    std::vector<const Node*> spj(4, nodes.data());
    std::vector<int> n_epi, n_epj, n_spj;
    std::vector<std::vector<Force>> found;
    std::vector<Force*> to;
    for (const auto& [ni, nj, ns] : sizes) {
      n_epi.push_back(ni);
      n_epj.push_back(nj);
      n_spj.push_back(ns);
      found.emplace_back(static_cast<std::size_t>(ni));
    }
    to.reserve(found.size());
    for (std::vector<Force>& f : found) to.push_back(f.data());
    forces.dispatch()(0, 4, epi.data(), n_epi.data(), epj.data(), n_epj.data(), spj.data(),
                      n_spj.data());
    forces.retrieve()(0, 4, n_epi.data(), to.data());
    if (std::string(c.device).ends_with("float"))
      CHECK(device.statistics().fallback_reason.empty());  // nothing is computed in doubles
    for (std::size_t w = 0; w < found.size(); ++w) {
      double error2 = 0, size2 = 0;
      for (std::size_t i = 0; i < found[w].size(); ++i) {
        const Force& f = found[w][i];
        const Force right = plain_sums(targets[i], {stars.begin(), stars.begin() + n_epj[w]},
                                       {nodes.begin(), nodes.begin() + n_spj[w]});
        CHECK(f.n_ngb == right.n_ngb);  // also in floats: no star is at the edge
        CHECK(std::abs(f.pot - right.pot) <= c.error * std::abs(right.pot));
        error2 += std::pow(f.acc.x - right.acc.x, 2) + std::pow(f.acc.y - right.acc.y, 2) +
                  std::pow(f.acc.z - right.acc.z, 2);
        size2 += std::pow(right.acc.x, 2) + std::pow(right.acc.y, 2) + std::pow(right.acc.z, 2);
      }
      CHECK(std::sqrt(error2) <= c.error * std::sqrt(size2));
    }
    // A target is its own neighbour, as there.
    CHECK(found[0][0].n_ngb > 1);
    CHECK(found[3][0].n_ngb == 0);
  }
}

}  // namespace
}  // namespace petar
