// Charts as SVG: lines with bands and error bars, scatter plots, bars, shares with intervals.

import { fixed, percent, rooted } from "./base.js";
import { color, line, rect, svg, text } from "./figure.js";
import { extent, fit, frame, linear, shown, ticks, wide } from "./scales.js";

function axes(made, { x, y, xTicks, yTicks, xTitle, yTitle, box, xText = shown, yText = shown }) {
  const { left, right, top, bottom } = box;
  for (const at of yTicks) {
    made.append(line(left, y(at), right, y(at)));
    made.append(text(left - 8, y(at) + 4, yText(at), { "text-anchor": "end" }));
  }
  for (const at of xTicks) {
    made.append(line(x(at), bottom, x(at), bottom + 4));
    made.append(text(x(at), bottom + 18, xText(at), { "text-anchor": "middle" }));
  }
  made.append(line(left, bottom, right, bottom));
  if (xTitle) made.append(text((left + right) / 2, bottom + 35, xTitle, { "text-anchor": "middle" }));
  if (yTitle) made.append(text(0, top - 16, yTitle));
}

// The values whose labels do not overlap, including the last one.
function apart(values, x) {
  const kept = [];
  for (const at of values.toReversed())
    if (!kept.length || x(kept[0]) - x(at) > 5 * (shown(at).length + shown(kept[0]).length) + 6) kept.unshift(at);
  return kept;
}

function plotBox(width, height, yTicks, yText = shown) {
  const left = Math.max(48, ...yTicks.map((at) => wide(yText(at)) + 10));
  return { left, right: width - 12, top: 32, bottom: height - 42 };
}

// series: [{name, ink?, points: [{x, y, low?, high?, tip?}], dash?, band?}]
export function lines(
  { series, xTitle, yTitle, xs = null, log = false, reference = null, yFrom = null, yTo = null, yText = shown },
  width,
) {
  const height = 290,
    made = frame(width, height);
  const points = series.flatMap((s) => s.points);
  const place = (value) => (log ? Math.log(value) : value);
  const values = xs ?? [...new Set(points.map((p) => p.x))].sort((a, b) => a - b);
  const [first, last] = xs || log ? [place(values[0] ?? 0), place(values.at(-1) ?? 1)] : extent(values, 0.02);
  let [low, high] = extent([...points.flatMap((p) => [p.y, p.low, p.high]), reference ?? NaN], 0.08);
  low = yFrom ?? low;
  high = yTo ?? high;
  const yTicks = ticks(low, high),
    box = plotBox(width, height, yTicks, yText);
  const x0 = linear(first, last, box.left + 10, box.right - 10),
    x = (value) => x0(place(value));
  const y = linear(low, high, box.bottom, box.top);
  const xTicks = log || xs ? apart(values, x) : ticks(first, last, 7);
  axes(made, { x, y, xTicks, yTicks, xTitle, yTitle, box, yText });
  if (reference !== null) made.append(line(box.left, y(reference), box.right, y(reference), { class: "reference" }));
  series.forEach((each, i) => {
    const ink = each.ink ?? color(i),
      known = each.points.filter((p) => Number.isFinite(p.y));
    if (each.band) {
      const edge = [
        ...known.map((p) => `${x(p.x)},${y(Math.min(p.high, high))}`),
        ...known.toReversed().map((p) => `${x(p.x)},${y(Math.max(p.low, low))}`),
      ];
      made.append(svg("polygon", { points: edge.join(" "), fill: ink, "fill-opacity": 0.15 }));
    }
    const through = known.map((p) => `${x(p.x)},${y(p.y)}`).join(" "),
      look = { fill: "none", stroke: ink, "stroke-width": 2, "stroke-dasharray": each.dash };
    made.append(svg("polyline", { points: through, "stroke-linejoin": "round", ...look }));
    const shift = each.band ? 0 : (i - (series.length - 1) / 2) * 2;
    for (const p of known) {
      const group = svg("g", { "data-tip": p.tip ?? `${each.name}\n${shown(p.x)}: ${fixed(p.y)}` });
      const at = x(p.x) + shift,
        whisker = `M${at} ${y(p.low)}V${y(p.high)}m-3 0h6M${at - 3} ${y(p.low)}h6`;
      if (!each.band && Number.isFinite(p.low)) group.append(svg("path", { d: whisker, stroke: ink, fill: "none" }));
      group.append(svg("circle", { cx: at, cy: y(p.y), r: known.length > 40 ? 2 : 3.4, fill: ink }));
      group.append(svg("circle", { cx: at, cy: y(p.y), r: 9, fill: "transparent" }));
      made.append(group);
    }
  });
  return made;
}

// groups: [{ink, points: [{x, y, tip, href}]}], with the diagonal as reference; a click opens href.
export function scatter({ groups, xTitle, yTitle }, width) {
  const height = 340,
    made = frame(width, height);
  const all = groups.flatMap((g) => g.points);
  const span = (values) => {
    // without outliers
    const sorted = values.toSorted((a, b) => a - b),
      at = (q) => sorted[Math.floor(q * (sorted.length - 1))];
    return extent([at(0.005), at(0.995), 1], 0.08);
  };
  const [xl, xh] = span(all.map((p) => p.x)),
    [yl, yh] = span(all.map((p) => p.y));
  const yTicks = ticks(yl, yh),
    box = plotBox(width, height, yTicks);
  const x = linear(xl, xh, box.left, box.right),
    y = linear(yl, yh, box.bottom, box.top);
  axes(made, { x, y, xTicks: ticks(xl, xh, 6), yTicks, xTitle, yTitle, box });
  const low = Math.max(xl, yl),
    high = Math.min(xh, yh);
  if (high > low) made.append(line(x(low), y(low), x(high), y(high), { class: "reference" }));
  const inside = (value, least, most) => Math.max(least, Math.min(value, most));
  for (const group of groups) {
    for (const p of group.points) {
      const place = { cx: x(inside(p.x, xl, xh)), cy: y(inside(p.y, yl, yh)), r: 3.3 };
      const dot = svg("circle", { ...place, fill: group.ink, "fill-opacity": 0.65, class: "link", "data-tip": p.tip });
      dot.addEventListener("click", () => location.assign(rooted(p.href)));
      made.append(dot);
    }
  }
  return made;
}

// sets: [{name, ink, values}] over the same xs, side by side or stacked.
export function bars({ xs, sets, xTitle, yTitle, height = 260, stacked = false, tip = null, xText = shown }, width) {
  const made = frame(width, height);
  const sums = xs.map((_, i) => sets.reduce((sum, s) => (stacked ? sum + s.values[i] : Math.max(sum, s.values[i])), 0));
  const high = Math.max(...sums, 1e-12) * 1.06,
    yTicks = ticks(0, high),
    box = plotBox(width, height, yTicks);
  const y = linear(0, high, box.bottom, box.top),
    step = (box.right - box.left) / xs.length;
  const x = (i) => box.left + (i + 0.5) * step;
  const every = Math.max(1, Math.ceil((xs.length * 34) / (box.right - box.left)));
  const xTicks = xs.map((_, i) => i).filter((i) => i % every === 0);
  axes(made, { x, y, xTicks, yTicks, xTitle, yTitle, box, xText: (i) => xText(xs[i]) });
  const thick = Math.min(step * 0.76, 46),
    each = stacked ? thick : thick / sets.length;
  xs.forEach((at, i) => {
    let below = 0;
    sets.forEach((set, s) => {
      const value = set.values[i],
        left = x(i) - thick / 2 + (stacked ? 0 : s * each);
      const words = tip ? tip(i, s) : `${set.name}\n${xText(at)}: ${fixed(value)}`;
      const look = { fill: set.ink, rx: 1.5, "data-tip": words };
      made.append(rect(left, y(below + value), each - (stacked ? 0 : 1), y(below) - y(below + value), look));
      if (stacked) below += value;
    });
  });
  return made;
}

// rows: [{name, value, low?, high?, strong?, tip}]: one bar per share, with its interval, beside its name or, in a
// narrow chart, below it. The axis ends at the share `to`.
export function intervals(rows, width, { to = 1 } = {}) {
  const narrow = width < 420,
    left = narrow ? 0 : Math.min(Math.max(...rows.map((row) => wide(row.name))) + 12, width / 2),
    above = narrow ? 16 : 0,
    step = above + 26,
    end = rows.length * step + 4;
  const made = frame(width, end + 20),
    x = linear(0, to, left, width - 46);
  for (const share of narrow ? [0, 0.5, 1] : [0, 0.25, 0.5, 0.75, 1]) {
    const at = share * to;
    made.append(line(x(at), 0, x(at), end));
    made.append(text(x(at), end + 15, `${shown(100 * at)} %`, { "text-anchor": x(at) ? "middle" : "start" }));
  }
  rows.forEach((row, i) => {
    const y = i * step + above + 4,
      group = svg("g", { "data-tip": row.tip }),
      [at, below, most, anchor] = narrow ? [0, y - 4, width, "start"] : [left - 8, y + 14, left - 8, "end"];
    made.append(group);
    group.append(text(at, below, fit(row.name, most), { "text-anchor": anchor, class: "strong" }));
    if (row.value === null) return group.append(text(left + 6, y + 14, "not known"));
    const [low, high] = [x(row.low ?? row.value), x(row.high ?? row.value)];
    const ink = row.strong ? "var(--accent)" : "var(--mark)";
    group.append(rect(left, y + 1, x(row.value) - left, 17, { rx: 3, fill: ink }));
    const whisker = `M${low} ${y + 9.5}H${high}M${low} ${y + 5}v9M${high} ${y + 5}v9`;
    if (high > low) group.append(svg("path", { d: whisker, stroke: "var(--ink)", "stroke-width": 1.4, fill: "none" }));
    group.append(text(high + 6, y + 14, percent(row.value, to < 0.5 ? 1 : 0), { class: "strong" }));
  });
  return made;
}
