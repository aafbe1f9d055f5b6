// Improvement ratios as SVG: their distributions, and matrices of them.

import { fixed, percent, plural } from "./base.js";
import { svg, text } from "./figure.js";
import { clip, extent, frame, linear, shown, ticks } from "./scales.js";

// Blue above one, orange below, pale near it.
export function ratioInk(ratio, reach = 0.3) {
  const share = Math.round(100 * Math.min(Math.abs(ratio - 1) / reach, 1) ** 0.7);
  return `color-mix(in srgb, var(${ratio >= 1 ? "--good" : "--bad"}) ${share}%, var(--soft))`;
}
const ratioText = (ratio, reach = 0.3) => (Math.abs(ratio - 1) / reach > 0.55 ? "var(--card)" : "var(--ink)");

// rows: [{name, quantiles: [5], mean, bins, counts, count, better}]
export function distributions(rows, width) {
  const left = Math.min(88, width * 0.2),
    right = 62,
    line = 40,
    top = 6,
    bottom = 34;
  const height = top + rows.length * line + bottom;
  const made = frame(width, height);
  const [low, high] = extent([...rows.flatMap((r) => [r.quantiles[0], r.quantiles[4], r.mean]), 1], 0.06);
  const x = linear(low, high, left, width - right);
  for (const at of ticks(low, high, width < 420 ? 4 : 7)) {
    made.append(svg("line", { class: "axis", x1: x(at), x2: x(at), y1: top, y2: height - bottom + 4 }));
    made.append(text(x(at), height - bottom + 18, shown(at), { "text-anchor": "middle" }));
  }
  made.append(svg("line", { class: "reference", x1: x(1), x2: x(1), y1: top, y2: height - bottom }));
  made.append(
    text((left + width - right) / 2, height - 2, "improvement ratio (1: no change)", {
      "text-anchor": "middle",
    }),
  );
  rows.forEach((row, i) => {
    const y = top + i * line + line / 2;
    const [p5, p25, p50, p75, p95] = row.quantiles.map(x);
    const told = [
      `${row.name}, ${plural(row.count, "experience")}`,
      `median ${fixed(row.quantiles[2])}, mean ${fixed(row.mean)}`,
      `half of them ${fixed(row.quantiles[1])} to ${fixed(row.quantiles[3])}`,
      `90 % of them ${fixed(row.quantiles[0])} to ${fixed(row.quantiles[4])}`,
      `above 1: ${percent(row.better)}`,
    ];
    const group = svg("g", { "data-tip": told.join("\n") });
    group.append(
      svg("rect", {
        x: left,
        y: y - line / 2,
        width: width - left - right,
        height: line,
        fill: "transparent",
      }),
    );
    group.append(shape(row, x, y, low, high));
    group.append(
      svg("line", { x1: p5, x2: p95, y1: y + 8, y2: y + 8, stroke: "var(--quiet)", "stroke-width": 1.2 }),
    );
    group.append(
      svg("rect", {
        x: p25,
        y: y + 4,
        width: Math.max(p75 - p25, 1),
        height: 8,
        rx: 2,
        fill: "var(--accent)",
        "fill-opacity": 0.75,
      }),
    );
    group.append(
      svg("line", { x1: p50, x2: p50, y1: y + 2, y2: y + 14, stroke: "var(--ink)", "stroke-width": 2 }),
    );
    made.append(group);
    made.append(text(left - 10, y + 12, row.name, { "text-anchor": "end", class: "strong" }));
    made.append(text(width - 4, y + 12, fixed(row.quantiles[2]), { "text-anchor": "end", class: "strong" }));
  });
  return made;
}

// The histogram of a row, smoothed to steps that can be seen, above its box.
function shape(row, x, y, low, high) {
  const steps = 60,
    counts = new Array(steps).fill(0);
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

function inside(x, y, words, ink) {
  const made = text(x, y, words, { "text-anchor": "middle", class: "inside" });
  made.style.fill = ink;
  return made;
}

// values[i][j] for rows[i] and columns[j]; tip(i, j) and pick(i, j) are optional.
export function matrix(
  { rows, columns, values, tip = null, pick = null, reach = 0.3, xTitle = "", yTitle = "", chosen = null },
  width,
) {
  const longest = Math.max(...rows.map((r) => r.length), 3);
  const left = Math.min(18 + longest * 7, width * 0.36);
  const cell = (width - left - 2) / columns.length;
  const slanted = columns.some((c) => c.length * 7.2 > cell - 4);
  const headed = slanted ? 18 + 4.4 * Math.min(Math.max(...columns.map((c) => c.length)), 26) : 20;
  const top = headed + (xTitle ? 17 : 0),
    line = Math.max(20, Math.min(34, cell * 0.7));
  const made = frame(width, top + rows.length * line + 4);
  if (xTitle) made.append(text(left + (width - left) / 2, 12, xTitle, { "text-anchor": "middle" }));
  if (yTitle) made.append(text(0, top - 6, yTitle));
  columns.forEach((name, j) => {
    const at = left + (j + 0.5) * cell;
    made.append(
      slanted
        ? text(at, top - 6, clip(name, 26), { transform: `rotate(-40 ${at} ${top - 6})`, class: "strong" })
        : text(at, top - 6, name, {
            "text-anchor": "middle",
            class: j === chosen ? "strong" : null,
            "font-weight": j === chosen ? 700 : null,
          }),
    );
  });
  rows.forEach((name, i) => {
    const y = top + i * line;
    made.append(
      text(left - 8, y + line / 2 + 4, clip(name, Math.floor((left - 8) / 6.6)), {
        "text-anchor": "end",
        class: "strong",
      }),
    );
    columns.forEach((_, j) => {
      const value = values[i][j],
        at = left + j * cell;
      const missing = value === null || value === undefined;
      const group = svg("g", { "data-tip": tip ? tip(i, j) : null });
      group.append(
        svg("rect", {
          x: at + 1,
          y: y + 1,
          width: Math.max(cell - 2, 1),
          height: line - 2,
          rx: 3,
          fill: missing ? "var(--soft)" : ratioInk(value, reach),
          "fill-opacity": missing ? 0.4 : 1,
        }),
      );
      if (!missing && cell > 34)
        group.append(
          inside(at + cell / 2, y + line / 2 + 4, fixed(value, cell > 44 ? 3 : 2), ratioText(value, reach)),
        );
      if (pick) {
        group.addEventListener("click", () => pick(i, j));
        group.style.cursor = "pointer";
      }
      made.append(group);
    });
  });
  return made;
}
