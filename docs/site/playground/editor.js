// The editor: a text area with line numbers, and marks at errors.
import {make} from "./elements.js";
import {ui} from "./state.js";

export function followScroll() {
  ui.marks.scrollTop = ui.numbers.scrollTop = ui.text.scrollTop;
  ui.marks.scrollLeft = ui.text.scrollLeft;
}

/** Line numbers, with a sign at lines with errors, and underlined ranges. */
export function drawMarks(diagnostics = []) {
  const lines = ui.text.value.split("\n");
  const byLine = new Map();
  for (const d of diagnostics)
    if (!byLine.has(d.line) || d.error) byLine.set(d.line, d);
  ui.numbers.replaceChildren(...lines.map((_, k) => {
    const d = byLine.get(k + 1);
    return make(
        "div", {class: d ? (d.error ? "pg-wrong" : "pg-warned") : ""}, `${d ? (d.error ? "✗ " : "! ") : ""}${k + 1}`);
  }));
  const encoder = new TextEncoder(), decoder = new TextDecoder();
  const parts = [];
  lines.forEach((line, k) => {
    const d = byLine.get(k + 1);
    if (!d || d.column === 0) {
      parts.push(line + "\n");
      return;
    }
    const bytes = encoder.encode(line);
    const cut = (from, to) => decoder.decode(bytes.slice(from, to));
    const end = Math.max(d.end, d.column + 1) - 1;
    const marked = cut(d.column - 1, end) || " ";
    parts.push(
        cut(0, d.column - 1), make("mark", {class: d.error ? "pg-wrong" : "pg-warned"}, marked), cut(end) + "\n");
  });
  ui.marks.replaceChildren(...parts);
  followScroll();
}
