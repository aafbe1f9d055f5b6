// Scatter plots of rows: both domains of a run, and the target of a prediction.

import { el, percent, toggle } from "./base.js";
import { color, figure, legend, svg } from "./figure.js";

const SIZE = 400;
const place = (value) => ((SIZE / 2) * (1 + 0.94 * value)).toFixed(2);
const square = () => svg("svg", { viewBox: `0 0 ${SIZE} ${SIZE}` });
const dot = ([x, y], tip, look) => svg("circle", { ...look, cx: place(x), cy: place(-y), "data-tip": tip });

// Source rows are grey and hollow; target rows have the colour of their class.
export function cloud(picture, points, { title, caption, file = title }) {
  const drawn = square();
  for (const side of ["source", "target"]) {
    picture[side].codes.forEach((code, i) => {
      const name = code < 0 ? "not labelled" : picture[side].classes[code];
      const look =
        side === "source"
          ? { r: 3, fill: "none", stroke: "var(--mark)", "stroke-width": 1.3 }
          : { r: 3.6, fill: code < 0 ? "var(--accent)" : color(code), "fill-opacity": 0.8 };
      drawn.append(dot(points[side][i], `${picture[side].name}: ${name}`, look));
    });
  }
  const classes = picture.target.codes.some((code) => code >= 0)
    ? picture.target.classes.map((name, i) => [name, color(i)])
    : [[picture.target.name, "var(--accent)"]];
  return figure({
    title,
    file,
    draw: () => drawn,
    above: legend([[`source ${picture.source.name}`, "var(--mark)", true], ...classes]),
    caption,
  });
}

// Unlabelled rows grey, given labels solid, predictions pale; with a switch between before and after.
export function targetMap(found) {
  const { map, classes } = found;
  let after = true;
  const draw = () => {
    const drawn = square();
    const order = map.rows.map((_, i) => i).sort((a, b) => (map.given[a] >= 0) - (map.given[b] >= 0));
    for (const i of order) {
      const given = map.given[i],
        code = given >= 0 ? given : map.predicted[i],
        shown = given >= 0 || after;
      const size = given >= 0 ? { r: 5, stroke: "var(--card)" } : { r: 3.2, "fill-opacity": after ? 0.45 : 0.7 };
      const name = classes[code] ?? "another class";
      const words = given >= 0 ? `your label ${name}` : after ? `predicted ${name}` : "no label";
      const look = { fill: shown ? color(code) : "var(--mark)", ...size };
      drawn.append(dot(map[after ? "after" : "before"][i], `row ${map.rows[i] + 1}: ${words}`, look));
    }
    return drawn;
  };
  const switched = toggle(
    "Show",
    [
      [false, "before"],
      [true, "after"],
    ],
    after,
    (value) => {
      after = value;
      made.redraw();
    },
  );
  const named = legend([...classes.slice(0, 10).map((name, i) => [name, color(i)]), ["no label", "var(--mark)"]]);
  const part = map.n_left_out ? `; ${percent(map.rows.length / found.n_rows)} of the rows` : "";
  const made = figure({
    title: "The target, row by row",
    file: "target",
    draw,
    above: el("div", {}, switched, named),
    caption: `Solid: your labels. Pale: predicted. Grey: no label. Two principal components${part}.`,
  });
  return made;
}
