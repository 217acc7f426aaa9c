// Elements of the page, and numbers as text.

/** An element with attributes, event handlers (names with "on") and children. */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on"))
      element.addEventListener(name.slice(2), value);
    else if (value === true)
      element.setAttribute(name, "");
    else if (value !== false && value !== undefined)
      element.setAttribute(name, value);
  }
  element.append(...children.filter((c) => c !== undefined));
  return element;
}

const minus = (x) => String(x).replace("-", "−");

/** A number with few digits, in plain notation where it is short. */
export function short(x, digits = 4) {
  if (typeof x !== "number") return String(x);
  if (!Number.isFinite(x)) return String(x);
  if (x === 0) return "0";
  const size = Math.abs(x);
  if (size >= 1e-3 && size < 1e5) return minus(Number(x.toPrecision(digits)));
  const [mantissa, exponent] = x.toExponential(digits - 1).split("e");
  const raised = String(Number(exponent)).replace("-", "⁻").replace(/\d/g, (d) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[d]);
  return `${minus(Number(mantissa))}×10${raised}`;
}

export const counted = (n, noun) => `${n} ${noun}${n === 1 ? "" : "s"}`;
