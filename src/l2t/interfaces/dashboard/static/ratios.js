// Improvement ratios as SVG: distributions and matrices.

import { fixed, percent, plural } from "./base.js";
import { line, rect, svg, text } from "./figure.js";
import { extent, fit, frame, linear, shown, ticks, wide } from "./scales.js";

// Blue above one, orange below, pale near it; grey if not clear.
const REACH = 0.2;
export function ratioInk(ratio, clear = true) {
  if (!clear) return "var(--soft)";
  const share = Math.round(25 + 75 * Math.min(Math.abs(ratio - 1) / REACH, 1));
  return `color-mix(in srgb, var(${ratio >= 1 ? "--good" : "--bad"}) ${share}%, var(--soft))`;
}
const inkOn = (ratio, clear) => (clear && Math.abs(ratio - 1) / REACH > 0.35 ? "var(--card)" : "var(--ink)");

const LEAST = 5; // values that a shape is drawn from

// rows: [{name, quantiles: [5], mean, bins, counts, count, better}]
export function distributions(rows, width) {
  const left = Math.min(Math.max(...rows.map((row) => wide(row.name))) + 14, width * 0.36),
    [right, step, top, bottom] = [62, 40, 6, 34];
  const height = top + rows.length * step + bottom,
    end = height - bottom;
  const made = frame(width, height);
  const [low, high] = extent([...rows.flatMap((r) => [r.quantiles[0], r.quantiles[4], r.mean]), 1], 0.06);
  const x = linear(low, high, left, width - right);
  for (const at of ticks(low, high, width < 420 ? 4 : 7)) {
    made.append(line(x(at), top, x(at), end + 4));
    made.append(text(x(at), end + 18, shown(at), { "text-anchor": "middle" }));
  }
  made.append(line(x(1), top, x(1), end, { class: "reference" }));
  const title = "accuracy with transfer / without (1: no change)";
  made.append(text(width / 2, height - 2, fit(title, width), { "text-anchor": "middle" }));
  rows.forEach((row, i) => {
    const y = top + i * step + step / 2;
    const [p5, p25, p50, p75, p95] = row.quantiles.map(x);
    const lines = [
      `${row.name}, ${plural(row.count, "task")}`,
      `median ${fixed(row.quantiles[2])}, mean ${fixed(row.mean)}`,
      `half of them ${fixed(row.quantiles[1])} to ${fixed(row.quantiles[3])}`,
      `90 % of them ${fixed(row.quantiles[0])} to ${fixed(row.quantiles[4])}`,
      `above 1: ${percent(row.better)}`,
    ];
    const group = svg("g", { "data-tip": lines.join("\n") });
    group.append(rect(left, y - step / 2, width - left - right, step, { fill: "transparent" }));
    if (row.count >= LEAST) group.append(shape(row, x, y, low, high));
    group.append(line(p5, y + 8, p95, y + 8, { stroke: "var(--quiet)", "stroke-width": 1.2 }));
    group.append(rect(p25, y + 4, p75 - p25, 8, { rx: 2, fill: "var(--accent)", "fill-opacity": 0.75 }));
    group.append(line(p50, y + 2, p50, y + 14, { stroke: "var(--ink)", "stroke-width": 2 }));
    group.append(text(left - 10, y + 12, fit(row.name, left - 10), { "text-anchor": "end", class: "strong" }));
    group.append(text(width - 4, y + 2, fixed(row.quantiles[2]), { "text-anchor": "end", class: "strong" }));
    group.append(text(width - 4, y + 16, `n = ${row.count}`, { "text-anchor": "end" }));
    made.append(group);
  });
  return made;
}

// The histogram of a row, smoothed to steps that can be seen, above its box.
function shape(row, x, y, low, high) {
  const steps = 60,
    counts = Array.from({ length: steps }, () => 0);
  row.bins.forEach((bin, i) => {
    const at = Math.floor(((bin - low) / (high - low)) * steps);
    if (at >= 0 && at < steps) counts[at] += row.counts[i];
  });
  const smooth = counts.map((_, i) => ((counts[i - 1] ?? 0) + 2 * counts[i] + (counts[i + 1] ?? 0)) / 4);
  const most = Math.max(...smooth, 1e-9),
    edge = (i) => x(low + ((high - low) * (i + 0.5)) / steps);
  const points = smooth.map((n, i) => `${edge(i).toFixed(1)},${(y + 2 - (18 * n) / most).toFixed(1)}`);
  return svg("polygon", {
    points: [`${edge(0)},${y + 2}`, ...points, `${edge(steps - 1)},${y + 2}`].join(" "),
    fill: "var(--accent)",
    "fill-opacity": 0.22,
  });
}

// cells[i][j] for rows[i] and columns[j]: {value, text, below, clear}, or null; tip(i, j) for each.
export function matrix({ rows, columns, cells, tip, xTitle = "", yTitle = "" }, width) {
  const left = Math.min(Math.max(...rows.map(wide), wide(yTitle)) + 12, width * 0.36),
    cell = Math.min((width - left - 2) / columns.length, 150);
  const slanted = columns.some((name) => wide(name) > cell - 4);
  // Slanted names end at their columns, so that they begin inside the picture.
  const heads = columns.map((name, j) => fit(name, slanted ? Math.min(180, 1.25 * (left + (j + 0.5) * cell)) : cell));
  const headed = slanted ? 18 + 0.65 * Math.max(...heads.map(wide)) : 20;
  const top = headed + (xTitle ? 17 : 0),
    step = cell > 50 ? 40 : Math.max(20, cell * 0.7);
  const made = frame(width, top + rows.length * step + 4);
  if (xTitle) made.append(text(left + (cell * columns.length) / 2, 12, xTitle, { "text-anchor": "middle" }));
  if (yTitle) made.append(text(0, top - 6, yTitle));
  heads.forEach((name, j) => {
    const at = left + (j + 0.5) * cell,
      look = slanted ? { transform: `rotate(40 ${at} ${top - 6})` } : {};
    made.append(text(at, top - 6, name, { "text-anchor": slanted ? "end" : "middle", ...look, class: "strong" }));
  });
  rows.forEach((name, i) => {
    const y = top + i * step;
    made.append(text(left - 8, y + step / 2 + 4, fit(name, left - 8), { "text-anchor": "end", class: "strong" }));
    columns.forEach((_, j) => {
      const one = cells[i][j],
        at = left + j * cell,
        group = svg("g", { "data-tip": tip(i, j) });
      const look = one ? { fill: ratioInk(one.value, one.clear) } : { fill: "var(--soft)", "fill-opacity": 0.4 };
      group.append(rect(at + 1, y + 1, cell - 2, step - 2, { rx: 3, ...look }));
      const parts = one && cell > 50 ? { [one.text]: -2, [one.below]: 13 } : {};
      for (const [content, shift] of Object.entries(parts)) {
        const label = text(at + cell / 2, y + step / 2 + shift, content, { "text-anchor": "middle", class: "inside" });
        label.style.fill = inkOn(one.value, one.clear);
        group.append(label);
      }
      made.append(group);
    });
  });
  return made;
}
