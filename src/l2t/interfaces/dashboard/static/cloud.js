// Both domains in two dimensions, and how they move from one W to the next.

import { el } from "./base.js";
import { color, figure, legend, svg } from "./figure.js";

const SIZE = 400;
const place = (value) => (SIZE / 2) * (1 + 0.94 * value);
const still = matchMedia("(prefers-reduced-motion: reduce)");

// Source rows are grey and hollow; target rows have the colour of their class, or one where it is not known.
export function cloud(scene, { title, caption = null, file = title }) {
  const drawn = svg("svg", { viewBox: `0 0 ${SIZE} ${SIZE}` });
  const dots = { source: [], target: [] };
  for (const side of ["source", "target"]) {
    for (const code of scene[side].codes) {
      const name = code < 0 ? "not labelled" : scene[side].classes[code];
      const look =
        side === "source"
          ? { r: 3, fill: "none", stroke: "var(--mark)", "stroke-width": 1.3 }
          : { r: 3.6, fill: code < 0 ? "var(--accent)" : color(code), "fill-opacity": 0.8 };
      const dot = svg("circle", {
        ...look,
        cx: SIZE / 2,
        cy: SIZE / 2,
        "data-tip": `${scene[side].name}: ${name}`,
      });
      dots[side].push(dot);
      drawn.append(dot);
    }
  }
  const classes = scene.target.codes.some((code) => code >= 0)
    ? scene.target.classes.map((name, i) => [name, color(i)])
    : [[scene.target.name, "var(--accent)"]];
  const told = el("span", {});
  const made = figure({
    title,
    file,
    draw: () => drawn,
    above: legend([[`source ${scene.source.name}`, "var(--mark)", true], ...classes]),
    caption: el("span", {}, told, caption ?? ""),
  });
  let now = null,
    moving = 0;
  const put = (points) => {
    for (const side of ["source", "target"]) {
      points[side].forEach(([a, b], i) => {
        dots[side][i].setAttribute("cx", place(a).toFixed(2));
        dots[side][i].setAttribute("cy", place(-b).toFixed(2));
      });
    }
  };
  made.say = (words) => {
    told.textContent = words;
  };
  made.move = (points, milliseconds = 350) => {
    cancelAnimationFrame(moving);
    const from = now;
    now = points;
    if (!from || still.matches || !milliseconds) {
      put(points);
      return;
    }
    const start = performance.now();
    const step = (time) => {
      const t = Math.min((time - start) / milliseconds, 1),
        s = t * t * (3 - 2 * t);
      const mix = (side) =>
        points[side].map(([a, b], i) => [
          from[side][i][0] + s * (a - from[side][i][0]),
          from[side][i][1] + s * (b - from[side][i][1]),
        ]);
      put({ source: mix("source"), target: mix("target") });
      if (t < 1) moving = requestAnimationFrame(step);
    };
    moving = requestAnimationFrame(step);
  };
  return made;
}
