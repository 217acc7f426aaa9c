// What the variables of a kernel mean, from their names, and their values.
import {randomNumbers} from "./starts.js";
import {state} from "./state.js";

export const byRole = (role) => state.compiled.program.variables.filter((v) => v.role === role && !v.raw);
const axisOf = (name) => {
  const m = /^(?:p(?:os)?_?)?([xyz])(?:_?[ijs0-9]*)$/i.exec(name);
  return m ? "xyz".indexOf(m[1].toLowerCase()) : -1;
};
const velocityAxisOf = (name) => {
  const m = /^v_?([xyz])(?:_?[ijs0-9]*)$/i.exec(name);
  return m ? "xyz".indexOf(m[1].toLowerCase()) : -1;
};
const isMass = (name) => /^m(ass)?_?[ijs]?$/i.test(name);

/** Variables by what they mean, from their names; `moves`: the results are a force. */
export function mapping() {
  const targets = byRole("target"), sources = byRole("source"), results = byRole("result");
  const axes = (variables) =>
      new Set(variables.filter((v) => !v.integer).map((v) => axisOf(v.name)).filter((a) => a >= 0)).size;
  const forces = [0, 1, 2].map(
      (axis) =>
          results
              .find((r) => !r.integer && new RegExp(`^(a|f|acc|force)_?(${"xyz"[axis]}|${axis})i?$`, "i").test(r.name))
              ?.name);
  const potential = results.find((r) => /^(pot|phi|u|energy)i?$/i.test(r.name))?.name;
  const moves = axes(targets) === 3 && axes(sources) === 3 && forces.every((f) => f !== undefined);
  return {targets, sources, results, forces, potential, moves, attracts: sources.some((v) => isMass(v.name))};
}

/** Start values of a parameter that is not set by the user. */
function usualParam(name) {
  if (/^eps2$|^e2$/i.test(name)) return 0.01;
  if (/^eps$/i.test(name)) return 0.1;
  if (/^rc2$|cut.*2$/i.test(name)) return 9;
  if (/^depth$/i.test(name)) return 1;
  if (/^steep$/i.test(name)) return 4;
  if (/^r0$/i.test(name)) return 1.12;
  if (/^k$/i.test(name)) return 0.1;
  return 1;
}
export function params() {
  return Object.fromEntries(byRole("parameter").map((v) => [v.name, state.params[v.name] ?? usualParam(v.name)]));
}

/** For every variable of a role: the property of the particles that it takes, or values. */
export function variablesFrom(variables, start, count) {
  return variables.map((v) => {
    const random = randomNumbers(9001 + [...v.name].reduce((h, c) => (h * 31 + c.charCodeAt(0)) | 0, 0));
    for (let k = 0; k < 10; ++k) random();
    if (v.integer) return {name: v.name, values: Float64Array.from({length: count}, (_, k) => k)};
    if (axisOf(v.name) >= 0) return {name: v.name, from: "position", axis: axisOf(v.name)};
    if (velocityAxisOf(v.name) >= 0) return {name: v.name, from: "velocity", axis: velocityAxisOf(v.name)};
    if (isMass(v.name)) return {name: v.name, values: start.mass};
    if (/^(eps2|e2)[ij]?$/i.test(v.name)) return {name: v.name, values: new Float64Array(count).fill(0.005)};
    if (/^q_?[ijs]?$/i.test(v.name))
      return {name: v.name, values: Float64Array.from({length: count}, (_, k) => (k % 2 ? -1 : 1))};
    if (/^h/i.test(v.name)) return {name: v.name, values: new Float64Array(count).fill(0.4)};
    return {name: v.name, values: Float64Array.from({length: count}, () => 0.1 + 0.9 * random())};
  });
}
export const valuesOf = (variables, start) =>
    Object.fromEntries(variables.map((v) => [v.name, v.from === undefined ? v.values : start[v.from][v.axis]]));

export const usualStart = (m) => (m.moves && !m.attracts ? "crystal" : "plummer");
