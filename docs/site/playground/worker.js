// The engine in a thread of its own: calls of the page, and the integration of particles.
"use strict";

importScripts(self.location.href.replace(/[^/]*$/, "engine.js"));

/** The engine, once the page has sent its code. */
let begin;
const loaded = new Promise((resolve) => {
  begin = (module) => resolve(loadEngine({
    instantiateWasm(imports, done) {
      WebAssembly.instantiate(module, imports).then((instance) => done(instance, module));
      return {};
    },
  }));
});

/** Calls a function of engine.cpp and returns its answer; throws its error. */
function ask(engine, name, types, values) {
  const answer = JSON.parse(engine.ccall("play_" + name, "string", types, values));
  if (answer.error !== undefined && answer.ok === undefined) throw new Error(answer.error);
  return answer;
}

function setInput(engine, name, values) {
  const place = engine._malloc(8 * values.length + 8);
  engine.HEAPF64.set(values, place / 8);
  try {
    ask(engine, "input", ["string", "number", "number"], [name, place, values.length]);
  } finally {
    engine._free(place);
  }
}

function setParams(engine, params) {
  for (const [name, value] of Object.entries(params)) ask(engine, "param", ["string", "number"], [name, value]);
}

/** Sums over all sources for all targets, by the names of the results. */
function pass(engine, inputs, targets, sources, results, chosen = "vector") {
  for (const [name, values] of Object.entries(inputs)) setInput(engine, name, values);
  ask(engine, "run", ["number", "number", "string"], [targets, sources, chosen]);
  const place = engine._malloc(8 * targets + 8);
  const out = {};
  for (const name of results) {
    if (engine.ccall("play_result", "number", ["string", "number", "number"], [name, place, targets]) < 0) continue;
    out[name] = Float64Array.from(engine.HEAPF64.subarray(place / 8, place / 8 + targets));
  }
  engine._free(place);
  return out;
}

/** Particles that move under the kernel's force, by leapfrog steps in doubles. */
class Simulation {
  constructor(engine, setup) {
    Object.assign(this, setup);
    this.engine = engine;
    this.time = 0;
    this.passes = 0;
    setParams(engine, setup.params);
    this.accelerate();
    // Some libraries give the potential of gravity as a positive number.
    this.sign = this.potential?.massWeighted && this.results[this.potential.name][0] > 0 ? -1 : 1;
    this.firstEnergy = this.energy();
  }

  accelerate() {
    const inputs = {};
    const put = (variables) => {
      for (const v of variables) {
        inputs[v.name] = v.from === undefined ? v.values : this[v.from][v.axis];
      }
    };
    put(this.targetVariables);
    put(this.sourceVariables);
    this.results = pass(this.engine, inputs, this.count, this.count, this.resultNames);
    this.acceleration = this.forceNames.map((name) => this.results[name]);
    this.passes += 1;
  }

  /** Kinetic and potential energy, where a result is the potential. */
  energy() {
    if (this.potential === undefined) return undefined;
    let sum = 0;
    for (let k = 0; k < this.count; ++k) {
      let square = 0;
      for (const axis of this.velocity) square += axis[k] * axis[k];
      const weight = this.potential.massWeighted ? this.sign * this.mass[k] : 1;
      sum += 0.5 * this.mass[k] * square + 0.5 * weight * this.results[this.potential.name][k];
    }
    return sum;
  }

  advance(steps) {
    const kick = (axis, h) => {
      for (let k = 0; k < this.count; ++k) this.velocity[axis][k] += h * this.acceleration[axis][k];
    };
    for (let s = 0; s < steps; ++s) {
      for (const axis of [0, 1, 2]) {
        kick(axis, this.step / 2);
        for (let k = 0; k < this.count; ++k) this.position[axis][k] += this.step * this.velocity[axis][k];
      }
      this.accelerate();
      for (const axis of [0, 1, 2]) kick(axis, this.step / 2);
      this.time += this.step;
    }
    const energy = this.energy();
    return {
      time: this.time,
      passes: this.passes,
      position: this.position.map((axis) => Float64Array.from(axis)),
      energy,
      energyError: energy === undefined ? undefined : (energy - this.firstEnergy) / Math.abs(this.firstEnergy),
    };
  }
}

let simulation;

const calls = {
  compile: (engine, {text, assembly, pipeline}) =>
      ask(engine, "compile", ["string", "number", "number"], [text, assembly ? 1 : 0, pipeline ? 1 : 0]),
  pass(engine, {inputs, params, targets, sources, results, engine: chosen}) {
    setParams(engine, params);
    const begin = performance.now();
    const values = pass(engine, inputs, targets, sources, results, chosen);
    return {values, milliseconds: performance.now() - begin};
  },
  compare: (engine, {targets, sources}) => ask(engine, "compare", ["number", "number"], [targets, sources]),
  simulate(engine, setup) {
    simulation = new Simulation(engine, setup);
    return simulation.advance(0);
  },
  advance(_, {steps}) {
    const begin = performance.now();
    return {...simulation.advance(steps), milliseconds: performance.now() - begin};
  },
  stepBegin(engine, {blocks, pes, targets, sources, inputs, params}) {
    setParams(engine, params);
    for (const [name, values] of Object.entries(inputs)) setInput(engine, name, values);
    return ask(engine, "step_begin", ["number", "number", "number", "number"], [blocks, pes, targets, sources]);
  },
  stepTo: (engine, {count}) => ask(engine, "step_to", ["number"], [count]),
  stepState: (engine, {block, pe}) => ask(engine, "step_state", ["number", "number"], [block, pe]),
  libraryKernel: (engine, {number}) => ask(engine, "library_kernel", ["number"], [number]),
  randomStates: (engine, {category, first, count, engine: chosen}) =>
      ask(engine, "random_states", ["string", "number", "number", "string"], [category, first, count, chosen]),
};

self.onmessage = async ({data}) => {
  if (data.module !== undefined) return begin(data.module);
  try {
    const engine = await loaded;
    self.postMessage({id: data.id, answer: calls[data.call](engine, data.values)});
  } catch (error) {
    // After an error of the machine code itself (memory, stack) the engine cannot go on.
    const ended = error instanceof WebAssembly.RuntimeError || error instanceof RangeError;
    self.postMessage({id: data.id, error: error instanceof Error ? error.message : String(error), ended});
  }
};
