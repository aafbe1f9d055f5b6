// Charts as SVG: lines with bands and error bars, scatters, bars, parts of a whole.

import { fixed, rooted } from "./base.js";
import { color, svg, text } from "./figure.js";
import { clip, extent, frame, linear, shown, ticks } from "./scales.js";

function axes(made, { x, y, xTicks, yTicks, xTitle, yTitle, box, xText = shown }) {
  const { left, right, top, bottom } = box;
  for (const at of yTicks) {
    made.append(svg("line", { class: "axis", x1: left, x2: right, y1: y(at), y2: y(at) }));
    made.append(text(left - 8, y(at) + 4, shown(at), { "text-anchor": "end" }));
  }
  for (const at of xTicks) {
    made.append(svg("line", { class: "axis", x1: x(at), x2: x(at), y1: bottom, y2: bottom + 4 }));
    made.append(text(x(at), bottom + 18, xText(at), { "text-anchor": "middle" }));
  }
  made.append(svg("line", { class: "axis", x1: left, x2: right, y1: bottom, y2: bottom }));
  if (xTitle) made.append(text((left + right) / 2, bottom + 35, xTitle, { "text-anchor": "middle" }));
  if (yTitle) made.append(text(0, top - 8, yTitle));
}

const room = (width, height) => ({ left: 48, right: width - 12, top: 26, bottom: height - 42 });

// series: [{name, ink?, points: [{x, y, low?, high?, tip?}], dash?, band?, line?}]
export function lines(
  {
    series,
    xTitle,
    yTitle,
    xs = null,
    log = false,
    reference = null,
    height = 290,
    yFrom = null,
    yTo = null,
  },
  width,
) {
  const made = frame(width, height),
    box = room(width, height);
  const points = series.flatMap((s) => s.points);
  const place = (value) => (log ? Math.log(value) : value);
  const values = xs ?? [...new Set(points.map((p) => p.x))].sort((a, b) => a - b);
  const [first, last] = xs || log ? [place(values[0] ?? 0), place(values.at(-1) ?? 1)] : extent(values, 0.02);
  const x0 = linear(first, last, box.left + 10, box.right - 10),
    x = (value) => x0(place(value));
  let [low, high] = extent([...points.flatMap((p) => [p.y, p.low, p.high]), reference ?? NaN], 0.08);
  low = yFrom ?? low;
  high = yTo ?? high;
  const y = linear(low, high, box.bottom, box.top);
  let xTicks = log || xs ? values : ticks(first, last, 7);
  if (log || xs) {
    // those that do not touch
    const kept = [];
    const apart = (a, b) => x(b) - x(a) > 5 * (shown(a).length + shown(b).length) + 6;
    for (const at of xTicks) if (!kept.length || apart(kept.at(-1), at)) kept.push(at);
    const end = xTicks.at(-1); // the last is there, whatever must go for it
    if (end !== undefined && kept.at(-1) !== end) {
      while (kept.length && !apart(kept.at(-1), end)) kept.pop();
      kept.push(end);
    }
    xTicks = kept;
  }
  axes(made, { x, y, xTicks, yTicks: ticks(low, high), xTitle, yTitle, box });
  if (reference !== null)
    made.append(
      svg("line", { class: "reference", x1: box.left, x2: box.right, y1: y(reference), y2: y(reference) }),
    );
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
    if (each.line !== false)
      made.append(
        svg("polyline", {
          points: known.map((p) => `${x(p.x)},${y(p.y)}`).join(" "),
          fill: "none",
          stroke: ink,
          "stroke-width": 2,
          "stroke-dasharray": each.dash ?? null,
          "stroke-linejoin": "round",
        }),
      );
    const shift = each.band ? 0 : (i - (series.length - 1) / 2) * 2;
    for (const p of known) {
      const group = svg("g", { "data-tip": p.tip ?? `${each.name}\n${shown(p.x)}: ${fixed(p.y)}` });
      if (!each.band && Number.isFinite(p.low))
        group.append(
          svg("path", {
            d: `M${x(p.x) + shift} ${y(p.low)}V${y(p.high)}m-3 0h6M${x(p.x) + shift - 3} ${y(p.low)}h6`,
            stroke: ink,
            "stroke-width": 1.3,
            fill: "none",
          }),
        );
      group.append(
        svg("circle", { cx: x(p.x) + shift, cy: y(p.y), r: known.length > 40 ? 2 : 3.4, fill: ink }),
      );
      group.append(svg("circle", { cx: x(p.x) + shift, cy: y(p.y), r: 9, fill: "transparent" }));
      made.append(group);
    }
  });
  return made;
}

// groups: [{name, ink, points: [{x, y, tip, href?}]}], with the diagonal as reference.
export function scatter({ groups, xTitle, yTitle, height = 340 }, width) {
  const made = frame(width, height),
    box = room(width, height);
  const all = groups.flatMap((g) => g.points);
  const span = (values) => {
    // outliers do not squeeze the rest
    const sorted = values.toSorted((a, b) => a - b),
      at = (q) => sorted[Math.floor(q * (sorted.length - 1))];
    return extent([at(0.005), at(0.995), 1], 0.08);
  };
  const [xl, xh] = span(all.map((p) => p.x)),
    [yl, yh] = span(all.map((p) => p.y));
  const x = linear(xl, xh, box.left, box.right),
    y = linear(yl, yh, box.bottom, box.top);
  axes(made, { x, y, xTicks: ticks(xl, xh, 6), yTicks: ticks(yl, yh), xTitle, yTitle, box });
  const low = Math.max(xl, yl),
    high = Math.min(xh, yh);
  if (high > low)
    made.append(svg("line", { class: "reference", x1: x(low), y1: y(low), x2: x(high), y2: y(high) }));
  for (const group of groups) {
    for (const p of group.points) {
      const inside = (v, a, b) => Math.max(a, Math.min(v, b));
      const dot = svg("circle", {
        cx: x(inside(p.x, xl, xh)),
        cy: y(inside(p.y, yl, yh)),
        r: 3.3,
        fill: group.ink,
        "fill-opacity": 0.65,
        "data-tip": p.tip,
      });
      made.append(p.href ? svg("a", { href: rooted(p.href), tabindex: -1 }, dot) : dot);
    }
  }
  return made;
}

// sets: [{name, ink, values}] over the same xs, side by side; stacked puts them on each other.
export function bars(
  {
    xs,
    sets,
    xTitle,
    yTitle,
    height = 260,
    stacked = false,
    reference = null,
    yTo = null,
    tip = null,
    xText = shown,
  },
  width,
) {
  const made = frame(width, height),
    box = room(width, height);
  const sums = xs.map((_, i) =>
    stacked ? sets.reduce((sum, s) => sum + s.values[i], 0) : Math.max(...sets.map((s) => s.values[i])),
  );
  const high = yTo ?? Math.max(...sums, reference ?? 0, 1e-12) * 1.06;
  const y = linear(0, high, box.bottom, box.top),
    step = (box.right - box.left) / xs.length;
  const x = (i) => box.left + (i + 0.5) * step;
  const every = Math.max(1, Math.ceil((xs.length * 34) / (box.right - box.left)));
  axes(made, {
    x,
    y,
    xTicks: xs.map((_, i) => i).filter((i) => i % every === 0),
    yTicks: ticks(0, high),
    xTitle,
    yTitle,
    box,
    xText: (i) => xText(xs[i]),
  });
  const thick = Math.min(step * 0.76, 46),
    each = stacked ? thick : thick / sets.length;
  xs.forEach((at, i) => {
    let below = 0;
    sets.forEach((set, s) => {
      const value = set.values[i];
      const left = x(i) - thick / 2 + (stacked ? 0 : s * each);
      const box_ = svg("rect", {
        x: left,
        y: y(below + value),
        width: Math.max(each - (stacked ? 0 : 1), 0.8),
        height: Math.max(y(below) - y(below + value), 0),
        fill: set.ink,
        rx: 1.5,
        "data-tip": tip ? tip(i, s) : `${set.name}\n${xText(at)}: ${fixed(value)}`,
      });
      made.append(box_);
      if (stacked) below += value;
    });
  });
  if (reference !== null)
    made.append(
      svg("line", { class: "reference", x1: box.left, x2: box.right, y1: y(reference), y2: y(reference) }),
    );
  return made;
}

// rows: [{name, parts: [{name, value, ink}]}]: parts of a whole, beside each other.
export function shares(rows, width) {
  const left = Math.min(110, width * 0.3),
    line = 36,
    made = frame(width, rows.length * line + 6);
  const most = Math.max(
    ...rows.map((row) => row.parts.reduce((sum, p) => sum + Math.max(p.value, 0), 0)),
    1e-12,
  );
  const x = linear(0, most, left, width - 60);
  rows.forEach((row, i) => {
    let at = 0;
    const y = i * line + 6;
    made.append(text(left - 10, y + 17, clip(row.name, 16), { "text-anchor": "end", class: "strong" }));
    for (const part of row.parts) {
      const value = Math.max(part.value, 0);
      made.append(
        svg("rect", {
          x: x(at),
          y,
          width: Math.max(x(at + value) - x(at) - 1, 0.5),
          height: 24,
          rx: 3,
          fill: part.ink,
          "data-tip": `${row.name}\n${part.name}: ${fixed(part.value)}`,
        }),
      );
      at += value;
    }
    made.append(
      text(x(at) + 8, y + 17, fixed(row.parts.reduce((sum, p) => sum + p.value, 0)), { class: "strong" }),
    );
  });
  return made;
}

// rows: [{name, value, low?, high?, strong?, tip}]: a bar for each share, with its interval.
export function intervals(rows, width) {
  const left = Math.min(230, width * 0.42),
    line = 26,
    made = frame(width, rows.length * line + 24);
  const x = linear(0, 1, left, width - 46);
  for (const at of [0, 0.25, 0.5, 0.75, 1]) {
    made.append(svg("line", { class: "axis", x1: x(at), x2: x(at), y1: 0, y2: rows.length * line + 4 }));
    made.append(text(x(at), rows.length * line + 19, `${100 * at} %`, { "text-anchor": "middle" }));
  }
  rows.forEach((row, i) => {
    const y = i * line + 4,
      group = svg("g", { "data-tip": row.tip });
    group.append(
      text(left - 8, y + 14, clip(row.name, Math.floor(left / 6.2)), {
        "text-anchor": "end",
        class: "strong",
        "font-weight": row.strong ? 700 : null,
      }),
    );
    if (row.value === null) group.append(text(left + 6, y + 14, "not known"));
    else {
      const ink = row.strong ? "var(--accent)" : "var(--mark)";
      group.append(svg("rect", { x: left, y: y + 1, width: x(row.value) - left, height: 17, rx: 3, fill: ink }));
      if (Number.isFinite(row.low ?? NaN))
        group.append(
          svg("path", {
            d: `M${x(row.low)} ${y + 9.5}H${x(row.high)}M${x(row.low)} ${y + 5}v9M${x(row.high)} ${y + 5}v9`,
            stroke: "var(--ink)",
            "stroke-width": 1.4,
            fill: "none",
          }),
        );
      group.append(
        text(Math.max(x(row.value), x(row.high ?? 0)) + 6, y + 14, `${Math.round(100 * row.value)} %`, { class: "strong" }),
      );
    }
    made.append(group);
  });
  return made;
}
