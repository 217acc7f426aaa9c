// Axes of plots on a canvas.
import {page} from "./state.js";
import {short} from "./elements.js";

/** Round numbers that divide a range into about `parts`. */
function ticks(low, high, parts) {
  const rough = (high - low) / parts;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((f) => f * power).find((s) => s >= rough);
  const found = [];
  for (let k = Math.ceil(low / step); k * step <= high * (1 + 1e-12); ++k)
    found.push(Number((k * step).toPrecision(12)));
  return found;
}

/** Axes with ticks and names; returns functions from numbers to places. */
export function axes(canvas, {x, y, xName, yName, square}) {
  const style = getComputedStyle(page);
  const c = canvas.getContext("2d");
  const font = `12px ${style.fontFamily}`;
  c.font = font;
  // Space for the name of the axis and the longest number.
  const left = 30 + Math.ceil(Math.max(...ticks(...y, 5).map((t) => c.measureText(short(t, 3)).width)));
  const width = canvas.clientWidth || 420, right = width - 12, top = 12;
  const height = square ? right - left + top + 44 : Math.round(width * 0.62), bottom = height - 44;
  const dense = window.devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * dense) || canvas.height !== Math.round(height * dense)) {
    canvas.width = Math.round(width * dense);
    canvas.height = Math.round(height * dense);
    canvas.style.height = `${height}px`;
  }
  c.setTransform(dense, 0, 0, dense, 0, 0);
  c.clearRect(0, 0, width, height);
  c.font = font;
  const toX = (v) => left + ((v - x[0]) / (x[1] - x[0])) * (right - left);
  const toY = (v) => bottom - ((v - y[0]) / (y[1] - y[0])) * (bottom - top);
  const ink = style.getPropertyValue("--pg-ink"), faint = style.getPropertyValue("--pg-faint");
  c.fillStyle = ink;
  c.lineWidth = 1;
  c.strokeStyle = faint;
  c.textAlign = "center";
  c.textBaseline = "top";
  const line = (x0, y0, x1, y1) => {
    c.beginPath();
    c.moveTo(x0, y0);
    c.lineTo(x1, y1);
    c.stroke();
  };
  for (const t of ticks(...x, 5)) {
    line(toX(t), top, toX(t), bottom);
    c.fillText(short(t), toX(t), bottom + 6);
  }
  c.textAlign = "right";
  c.textBaseline = "middle";
  for (const t of ticks(...y, 5)) {
    line(left, toY(t), right, toY(t));
    c.fillText(short(t, 3), left - 6, toY(t));
  }
  c.strokeStyle = ink;
  c.strokeRect(left, top, right - left, bottom - top);
  c.textAlign = "center";
  c.textBaseline = "bottom";
  c.fillText(xName, (left + right) / 2, height - 4);
  c.save();
  c.translate(13, (top + bottom) / 2);
  c.rotate(-Math.PI / 2);
  c.fillText(yName, 0, 0);
  c.restore();
  c.save();
  c.beginPath();
  c.rect(left, top, right - left, bottom - top);
  c.clip();
  return {c, toX, toY, style};
}
