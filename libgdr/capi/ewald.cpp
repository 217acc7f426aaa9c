// C interface: Ewald sums.
#include <algorithm>

#include "libgdr/capi/arrays.hpp"
#include "libgdr/capi/capi.hpp"

using gdr::capi::box_of;
using gdr::capi::copy_prefix;
using gdr::capi::create;
using gdr::capi::guarded;
using gdr::capi::numbers;
using gdr::capi::options_of;
using gdr::capi::required_device;
using gdr::capi::triples;

gdr_status gdr_ewald_create(gdr_device* device, gdr_ewald** ewald) {
  return create(ewald, "ewald", [&] { return gdr_ewald{gdr::Ewald(required_device(device))}; });
}

void gdr_ewald_free(gdr_ewald* ewald) { delete ewald; }

gdr_status gdr_ewald_run(gdr_ewald* ewald, size_t n, const double* position, const double* charge,
                         const double* vectors, const gdr_ewald_options* options,
                         size_t options_size, double* force, double* energies,
                         gdr_ewald_result* result, size_t result_size) {
  return guarded({{ewald, "ewald"}, {vectors, "vectors"}, {result, "result"}}, [&] {
    const gdr_ewald_options o = options_of(options, options_size, "gdr_ewald_options");
    gdr::EwaldCall call{.pos = triples(n, position, "position"),
                        .charge = numbers(n, 1, charge, "charge"),
                        .box = *box_of(vectors, nullptr),
                        .force = numbers(n, 3, force, "force", true),
                        .energy = numbers(n, 1, energies, "energies", true)};
    if (o.accuracy != 0) call.options.accuracy = o.accuracy;
    call.options.alpha = o.alpha;
    call.options.cutoff = o.cutoff;
    call.options.wave_cutoff = o.wave_cutoff;
    const gdr::EwaldResult r = ewald->ewald.run(call);
    gdr_ewald_result all = {r.energy, {}, r.alpha, r.cutoff, r.wave_cutoff, r.waves, r.error};
    std::ranges::copy(r.virial, all.virial);
    copy_prefix(result, result_size, all);
  });
}
