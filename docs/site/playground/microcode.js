// Instructions as tables.
import {counted, make} from "./elements.js";
import {ui} from "./state.js";

const PORTS = [
  ["Rr", "reads of the register file"],
  ["Rw", "writes of the register file"],
  ["LM", "local memory"],
  ["Tr", "reads of T"],
  ["Tw", "writes of T"],
  ["BM", "broadcast memory"],
];

function instructionRow(i, section, index, limits) {
  const predicate = i.predicate ? `[${i.predicate}] ` : "";
  const cells = [make("td", {class: "pg-clock"}, String(i.clock))];
  i.units.forEach((text, k) => {
    cells.push(make("td", {class: text ? `pg-op pg-unit${k}` : "pg-idle"}, text ? predicate + text : "·"));
  });
  i.ports.forEach((used, k) => {
    const limit = limits[k] * i.stride;
    const level = used === 0 ? 0 : used >= limit ? 2 : 1;
    cells.push(make(
        "td", {class: `pg-port pg-level${level}`, title: `${PORTS[k][1]}: ${used} of ${limit}`},
        used ? String(used) : "·"));
  });
  cells.push(make("td", {class: "pg-line"}, i.line ? String(i.line) : ""));
  return make("tr", {"data-at": `${section}:${index}`}, ...cells);
}

export function microcodeTable(program, section) {
  const s = program.sections.find((x) => x.name === section);
  const head = make(
      "thead", {},
      make(
          "tr", {}, make("th", {scope: "col"}, "clock"), make("th", {scope: "col"}, "multiplier"),
          make("th", {scope: "col"}, "adder, integer unit"), make("th", {scope: "col"}, "transfer"),
          ...PORTS.map(
              ([name, meaning]) =>
                  make("th", {scope: "col", class: "pg-port", title: meaning}, make("abbr", {title: meaning}, name))),
          make("th", {scope: "col", class: "pg-line", title: "line of the assembly"}, "line")));
  const body = make("tbody", {}, ...s.instructions.map((i, k) => instructionRow(i, section, k, program.portLimits)));
  return make("table", {class: "pg-microcode"}, head, body);
}

const SECTIONS = {
  init: "Init, once when the program is loaded",
  start: "Start, once a pass",
  body: "Body, once for each group of sources",
  end: "End, once a pass"
};

export function drawMicrocode({program}) {
  const parts = [make(
      "p", {class: "pg-hint"},
      "A row is an instruction: one operation for each of the three units, for all targets of a PE. " +
          "At the right: accesses of one target by port; dark cells are at the port's limit.")];
  for (const name of ["body", "start", "end", "init"]) {
    const s = program.sections.find((x) => x.name === name);
    if (s.instructions.length === 0) continue;
    parts.push(make(
        "details", {open: name === "body"},
        make(
            "summary", {},
            `${SECTIONS[name]}: ${counted(s.instructions.length, "instruction")}, ${counted(s.clocks, "clock")}`),
        make(
            "div", {class: "pg-scroll", tabindex: "0", role: "region", "aria-label": `Instructions of section ${name}`},
            microcodeTable(program, name))));
  }
  ui.panels.microcode.replaceChildren(...parts);
}
