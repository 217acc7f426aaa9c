// Particles to begin with.

/** Uniform numbers from 0 to 1, the same in every browser (xorshift). */
export function randomNumbers(seed) {
  let state = seed | 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 4294967296;
  };
}

/** Two normally distributed numbers a pair of uniform ones (Box and Muller). */
function normalNumbers(random) {
  return () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

export const STARTS = {
  plummer: "Plummer sphere, in equilibrium",
  collapse: "homogeneous sphere, at rest",
  crystal: "cubic crystal, warm",
};

/** Positions, velocities and masses. */
export function startOf(name, count, seed = 7) {
  const random = randomNumbers(seed * 2654435761);
  const normal = normalNumbers(random);
  for (let k = 0; k < 20; ++k) random();
  const axis = () => new Float64Array(count);
  const position = [axis(), axis(), axis()], velocity = [axis(), axis(), axis()];
  const mass = new Float64Array(count).fill(name === "crystal" ? 1 : 1 / count);
  const direction = (length) => {
    const z = 2 * random() - 1, angle = 2 * Math.PI * random(), flat = Math.sqrt(1 - z * z);
    return [length * flat * Math.cos(angle), length * flat * Math.sin(angle), length * z];
  };
  for (let k = 0; k < count; ++k) {
    if (name === "plummer") {
      // Aarseth, Henon and Wielen 1974, in units with G = M = 1 and E = -1/4.
      const scale = (3 * Math.PI) / 16;
      const r = 1 / Math.sqrt((0.999 * random() + 1e-6) ** (-2 / 3) - 1);
      let q, limit;
      do {
        q = random();
        limit = q * q * (1 - q * q) ** 3.5;
      } while (0.1 * random() > limit);
      const speed = q * Math.SQRT2 * (1 + r * r) ** -0.25;
      direction(scale * Math.min(r, 8)).forEach((x, a) => {
        position[a][k] = x;
      });
      direction(speed / Math.sqrt(scale)).forEach((x, a) => {
        velocity[a][k] = x;
      });
    } else if (name === "collapse") {
      direction(1.2 * Math.cbrt(random())).forEach((x, a) => {
        position[a][k] = x;
      });
    } else {
      const side = Math.ceil(Math.cbrt(count));
      [k % side, Math.floor(k / side) % side, Math.floor(k / side / side)].forEach((n, a) => {
        position[a][k] = 1.1 * (n - (side - 1) / 2);
        velocity[a][k] = 0.35 * normal();
      });
    }
  }
  for (const axes of [position, velocity]) {
    for (const values of axes) {
      const mean = values.reduce((a, b) => a + b, 0) / count;
      for (let k = 0; k < count; ++k) values[k] -= mean;
    }
  }
  return {position, velocity, mass};
}
