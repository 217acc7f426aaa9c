#include "libgdr/tree/designs.hpp"

#include <cstddef>

#include "libgdr/tree/octree.hpp"

namespace gdr::tree {
namespace {

// From find_designs.py.
const std::array<Point, 18> generators{{
    // degree 2
    {{-0.52573111211913393, 0, -0.85065080835203966}},
    // degree 3
    {{0.86624681810782056, -0.4225186537611117, -0.26663540151670473}},
    {{-0.42251865376111164, 0.86624681810782067, 0.26663540151670484}},
    // degree 4
    {{-0.28624872342603525, -0.04452356458541943, 0.95712032709245787}},
    {{0.30620001323957002, 0.50747544641081666, -0.80542549201166302}},
    {{0.62636367026527007, 0.74051520928072034, 0.2435277754091951}},
    // degree 5
    {{-0.12033144886678575, -0.33858435995926095, 0.93321003723952611}},
    {{0.2762302182617925, 0.07705072072573585, -0.95799793995325866}},
    {{0.36562119002628884, 0.75382866719701702, 0.54595190806125882}},
    {{-0.70018101936373156, 0.71315106584779142, 0.034089549761256242}},
    {{-0.42686411621906678, 0.45181910255524671, 0.7833559375218182}},
    // degree 6
    {{-0.17133015127040402, 0.87134530135911004, 0.45978619494832829}},
    {{0.18177851682288332, 0.02230038022235608, 0.98308660038859808}},
    {{0.54809559068236957, 0.39719170221190886, 0.73609101011257494}},
    {{0.13748211341191, 0.42686219122886454, -0.89380497771666434}},
    {{-0.67870144655565789, 0.082513873273485042, -0.72976421340092068}},
    {{-0.37669560292926718, 0.89795198702214662, -0.22755801839692352}},
    {{0.6962772781282015, 0.37947472543480004, -0.60925929186067074}},
}};

/// Numbers of generators by degree, from degree 2 on.
constexpr std::array<std::size_t, 5> orbits{1, 2, 3, 5, 7};

/// The orbits of some generators under the rotations of a tetrahedron.
Design design_of(unsigned exact, std::span<const Point> some) {
  constexpr Point signs[]{{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}};
  Design design{exact};
  for (const Point& p : some)
    for (const Point& sign : signs)
      for (std::size_t turn = 0; turn < 3; ++turn)
        for (std::size_t c = 0; c < 3; ++c)
          design.at[c].push_back(sign[(c + turn) % 3] * p[(c + turn) % 3]);
  return design;
}

std::vector<Design> all_designs() {
  std::vector<Design> all;
  std::size_t next = 0;
  for (std::size_t k = 0; k < orbits.size(); ++k) {
    const unsigned degree = min_degree + static_cast<unsigned>(k);
    all.push_back(design_of(2 * degree, std::span(generators).subspan(next, orbits[k])));
    next += orbits[k];
  }
  return all;
}

}  // namespace

const Design& design_for(unsigned degree) {
  static const std::vector<Design> all = all_designs();
  return all[degree - min_degree];
}

}  // namespace gdr::tree
