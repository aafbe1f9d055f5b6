// Both domains in two dimensions.

import { color, figure, legend, svg } from "./figure.js";

const SIZE = 400;
const place = (value) => ((SIZE / 2) * (1 + 0.94 * value)).toFixed(2);

// Source rows are grey and hollow; target rows have the colour of their class, or one where it is not known.
export function cloud(scene, points, { title, caption, file = title }) {
  const drawn = svg("svg", { viewBox: `0 0 ${SIZE} ${SIZE}` });
  for (const side of ["source", "target"]) {
    scene[side].codes.forEach((code, i) => {
      const name = code < 0 ? "not labelled" : scene[side].classes[code];
      const look =
        side === "source"
          ? { r: 3, fill: "none", stroke: "var(--mark)", "stroke-width": 1.3 }
          : { r: 3.6, fill: code < 0 ? "var(--accent)" : color(code), "fill-opacity": 0.8 };
      const [x, y] = points[side][i];
      drawn.append(
        svg("circle", { ...look, cx: place(x), cy: place(-y), "data-tip": `${scene[side].name}: ${name}` }),
      );
    });
  }
  const classes = scene.target.codes.some((code) => code >= 0)
    ? scene.target.classes.map((name, i) => [name, color(i)])
    : [[scene.target.name, "var(--accent)"]];
  return figure({
    title,
    file,
    draw: () => drawn,
    above: legend([[`source ${scene.source.name}`, "var(--mark)", true], ...classes]),
    caption,
  });
}
