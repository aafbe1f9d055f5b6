// Rows in two dimensions: both domains of a run, and the target of a prediction.

import { el, percent } from "./base.js";
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

// Grey without a label, solid where one is given, pale where it is predicted; a switch between before and after.
export function targetMap(found) {
  const { map, classes } = found;
  let after = true;
  const draw = () => {
    const drawn = svg("svg", { viewBox: `0 0 ${SIZE} ${SIZE}` });
    const order = map.rows.map((_, i) => i).sort((a, b) => (map.given[a] >= 0) - (map.given[b] >= 0));
    for (const i of order) {
      const given = map.given[i],
        name = classes[map.predicted[i]] ?? "another class";
      const [x, y] = map[after ? "after" : "before"][i];
      const look =
        given >= 0
          ? { r: 5, fill: color(given), stroke: "var(--card)" }
          : after
            ? { r: 3.2, fill: color(map.predicted[i]), "fill-opacity": 0.45 }
            : { r: 3.2, fill: "var(--mark)", "fill-opacity": 0.7 };
      const words = given >= 0 ? `your label ${classes[given] ?? "another class"}` : after ? `predicted ${name}` : "no label";
      drawn.append(svg("circle", { ...look, cx: place(x), cy: place(-y), "data-tip": `row ${map.rows[i] + 1}: ${words}` }));
    }
    return drawn;
  };
  const button = (words, value) =>
    el(
      "button",
      {
        type: "button",
        "aria-pressed": String(after === value),
        click: () => {
          after = value;
          for (const each of made.querySelectorAll(".controls button"))
            each.setAttribute("aria-pressed", String((each.textContent === "after") === after));
          made.redraw();
        },
      },
      words,
    );
  const made = figure({
    title: "The target, row by row",
    file: "target",
    draw,
    above: el(
      "div",
      {},
      el("div", { class: "controls", role: "group", "aria-label": "Before or after" }, button("before", false), button("after", true)),
      legend([...classes.slice(0, 10).map((name, i) => [name, color(i)]), ["no label", "var(--mark)"]]),
    ),
    caption: `Solid: your labels. Pale: predicted. Grey: not labelled. Two principal components${map.n_left_out ? `; ${percent(map.rows.length / found.n_rows)} of the rows` : ""}.`,
  });
  return made;
}
