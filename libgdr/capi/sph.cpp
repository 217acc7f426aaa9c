// C interface: smoothed particle hydrodynamics.
#include "libgdr/capi/arrays.hpp"
#include "libgdr/capi/capi.hpp"

using gdr::capi::box_of;
using gdr::capi::create;
using gdr::capi::guarded;
using gdr::capi::numbers;
using gdr::capi::options_of;
using gdr::capi::required_device;
using gdr::capi::triples;

namespace {

gdr::SphLengthOptions length_options_of(const gdr_sph_length_options* given, std::size_t size) {
  const gdr_sph_length_options all = options_of(given, size, "gdr_sph_length_options");
  gdr::SphLengthOptions options;
  if (all.eta != 0) options.eta = all.eta;
  if (all.tolerance != 0) options.tolerance = all.tolerance;
  options.least = all.least;
  if (all.most != 0) options.most = all.most;
  if (all.iterations != 0) options.iterations = all.iterations;
  return options;
}

}  // namespace

gdr_status gdr_sph_create(gdr_device* device, gdr_sph** sph) {
  return create(sph, "sph", [&] { return gdr_sph{gdr::Sph(required_device(device))}; });
}

void gdr_sph_free(gdr_sph* sph) { delete sph; }

gdr_status gdr_sph_set_box(gdr_sph* sph, const double* vectors, const int* periodic) {
  return guarded({{sph, "sph"}}, [&] { sph->sph.set_box(box_of(vectors, periodic)); });
}

gdr_status gdr_sph_density(gdr_sph* sph, size_t n, const double* position, const double* mass,
                           const double* h, double* rho, int64_t* near) {
  return guarded({{sph, "sph"}}, [&] {
    sph->sph.density({.pos = triples(n, position, "position"),
                      .mass = numbers(n, 1, mass, "mass"),
                      .h = numbers(n, 1, h, "h")},
                     numbers(n, 1, rho, "rho"), numbers(n, 1, near, "near", true));
  });
}

gdr_status gdr_sph_smoothing_lengths(gdr_sph* sph, size_t n, const double* position,
                                     const double* mass, size_t n_start, const double* start,
                                     const gdr_sph_length_options* options, size_t options_size,
                                     double* h, double* rho, int64_t* near, unsigned* iterations) {
  return guarded({{sph, "sph"}, {iterations, "iterations"}}, [&] {
    *iterations =
        sph->sph.smoothing_lengths({.pos = triples(n, position, "position"),
                                    .mass = numbers(n, 1, mass, "mass"),
                                    .h = numbers(n_start, 1, start, "start")},
                                   length_options_of(options, options_size), numbers(n, 1, h, "h"),
                                   numbers(n, 1, rho, "rho"), numbers(n, 1, near, "near", true));
  });
}

gdr_status gdr_sph_forces(gdr_sph* sph, size_t n, const double* position, const double* mass,
                          const double* h, const double* velocity, const double* rho,
                          const double* pressure, const double* sound, double alpha, double beta,
                          double eta, double* acceleration, double* dudt, double* mumax) {
  return guarded({{sph, "sph"}}, [&] {
    sph->sph.forces({.pos = triples(n, position, "position"),
                     .mass = numbers(n, 1, mass, "mass"),
                     .h = numbers(n, 1, h, "h")},
                    {.vel = triples(n, velocity, "velocity"),
                     .rho = numbers(n, 1, rho, "rho"),
                     .pressure = numbers(n, 1, pressure, "pressure"),
                     .sound = numbers(n, 1, sound, "sound"),
                     .alpha = alpha,
                     .beta = beta,
                     .eta = eta},
                    {.acc = numbers(n, 3, acceleration, "acceleration", true),
                     .dudt = numbers(n, 1, dudt, "dudt", true),
                     .mumax = numbers(n, 1, mumax, "mumax", true)});
  });
}
