// Unit tests of the drawing code, run by node's own test runner; test_charts.py calls it.

import assert from "node:assert/strict";
import { test } from "node:test";

// As much of a document as drawing needs.
class Element {
  constructor(name) {
    Object.assign(this, { name, attributes: {}, children: [], style: {}, dataset: {} });
  }
  setAttribute(key, value) {
    this.attributes[key] = value;
  }
  append(...children) {
    this.children.push(...children);
  }
  addEventListener() {}
  find(name, wanted = () => true) {
    const below = this.children.filter((child) => child instanceof Element);
    const mine = below.filter((child) => child.name === name && wanted(child.attributes));
    return [...mine, ...below.flatMap((child) => child.find(name, wanted))];
  }
  get words() {
    return this.find("text").map((each) => each.children[0]);
  }
}
globalThis.document = {
  createElementNS: (_, name) => new Element(name),
  createElement: (name) => new Element(name),
  getElementById: () => null,
  querySelector: () => null,
};

const { gain, ratioClass, rooted, sentence } = await import("./static/base.js");
const { bars, intervals, lines, scatter } = await import("./static/charts.js");
const { distributions, matrix, ratioInk } = await import("./static/ratios.js");
const { extent, fit, linear, ticks } = await import("./static/scales.js");

test("a scale maps its ends, and a span of zero does not divide by it", () => {
  const x = linear(2, 4, 10, 30);
  assert.deepEqual([x(2), x(3), x(4)], [10, 20, 30]);
  assert.ok(Number.isFinite(linear(1, 1, 0, 5)(1)));
});

test("ticks are round, inside their ends, and about as many as asked for", () => {
  for (const [low, high] of [
    [0, 1],
    [0.83, 1.21],
    [-3, 170],
    [0, 1e-4],
  ]) {
    const found = ticks(low, high);
    assert.ok(found.length >= 3 && found.length <= 7, String(found));
    assert.ok(found.every((at) => at >= low - 1e-9 && at <= high * (1 + 1e-9)));
  }
});

test("an extent ignores what is not finite, and has room around a single value", () => {
  assert.deepEqual(extent([NaN, 1, 3, Infinity], 0), [1, 3]);
  assert.deepEqual(extent([]), [0, 1]);
  const [low, high] = extent([2, 2]);
  assert.ok(low < 2 && high > 2);
});

test("long names are cut", () => {
  assert.equal(fit("abcdef", 28), "abc…");
  assert.equal(fit("abcd", 28), "abcd");
});

// Where a text begins and ends, at 7 units per letter as in `wide` without a browser.
function ends({ attributes, children }) {
  const length = 7 * children[0].length,
    angle = Number(/rotate\((\S+)/.exec(attributes.transform ?? "")?.[1] ?? 0),
    share = { end: 1, middle: 0.5 }[attributes["text-anchor"]] ?? 0;
  return [-share, 1 - share].map((part) => attributes.x + part * length * Math.cos((angle * Math.PI) / 180));
}

test("no text leaves its picture, however long the names and the numbers", () => {
  const long = ["label spreading on classes+spectrum, trained on source", "photographs of a museum [ant, bee]"];
  const cell = { value: 1.1, text: "+1 %", below: "n = 2", clear: true };
  for (const width of [310, 420, 900]) {
    const drawn = [
      intervals(
        long.map((name) => ({ name, value: 0.99, low: 0.9, high: 1 })),
        width,
      ),
      distributions([{ ...row(9), name: long[0] }], width),
      matrix(
        {
          rows: long,
          columns: long,
          cells: [
            [cell, cell],
            [cell, cell],
          ],
          tip: () => "",
        },
        width,
      ),
      lines(
        {
          series: [
            {
              name: "a",
              points: [
                { x: 1, y: 1e6 },
                { x: 2, y: 1.0004e6 },
              ],
            },
          ],
        },
        width,
      ),
    ];
    for (const each of drawn.flatMap((made) => made.find("text"))) {
      const [left, right] = ends(each);
      assert.ok(left >= 0 && right <= width, `${each.children[0]}: ${left} to ${right} of ${width}`);
    }
  }
});

test("a change has a sign, and a colour beyond two standard errors only", () => {
  assert.deepEqual([gain(1.082), gain(0.95), gain(1.0001), gain(null)], ["+8.2 %", "−5.0 %", "0.0 %", "–"]);
  assert.equal(ratioClass(1.1, 0.04), "better");
  assert.equal(ratioClass(0.9, 0.04), "worse");
  assert.equal(ratioClass(1.1, 0.06), "");
  assert.equal(ratioClass(1.1, null), "");
});

test("a message is a sentence that spells names as they are", () => {
  const as = (message) => sentence(new Error(message));
  assert.equal(as("the server does not respond"), "The server does not respond.");
  for (const name of ["broken.parquet: is", "my data.csv: is", "n_labels must be", "photos[0] has no"])
    assert.equal(as(`${name} wrong`), `${name} wrong.`);
});

test("paths begin at the root that the scripts came from", () => {
  assert.ok(rooted("/api/totals").endsWith("/api/totals"));
  assert.equal(rooted("#part"), "#part");
});

test("shares have a bar each, and a whisker where there is an interval", () => {
  const rows = [
    { name: "used", value: 0.9, low: 0.8, high: 1, strong: true, tip: "a" },
    { name: "plain", value: 0.5, tip: "b" },
    { name: "unknown", value: null, tip: "c" },
  ];
  const drawn = intervals(rows, 600);
  assert.equal(drawn.find("rect").length, 2);
  assert.equal(drawn.find("path").length, 1);
  const [first, second] = drawn.find("rect").map((each) => each.attributes.width);
  assert.ok(Math.abs(first / second - 1.8) < 1e-9);
  for (const words of ["90\u00a0%", "50 %", "not known"]) assert.ok(drawn.words.includes(words), words);
});

const row = (count) => ({
  name: "gfk",
  quantiles: [0.9, 0.95, 1, 1.05, 1.1],
  mean: 1,
  bins: [0.95, 1, 1.05],
  counts: [1, count - 2, 1],
  count,
  better: 0.5,
});

test("no shape is drawn from fewer than five values, and their number is shown", () => {
  assert.equal(distributions([row(4)], 600).find("polygon").length, 0);
  const drawn = distributions([row(5)], 600);
  assert.equal(drawn.find("polygon").length, 1);
  assert.ok(drawn.words.includes("n = 5"));
});

test("what is not clear has no colour", () => {
  assert.equal(ratioInk(1.2, false), "var(--soft)");
  assert.match(ratioInk(1.2), /--good/);
  assert.match(ratioInk(0.8), /--bad/);
  const cell = { value: 1.1, text: "+10.0 %", below: "n = 2", clear: false };
  const drawn = matrix({ rows: ["a"], columns: ["b", "c"], cells: [[cell, null]], tip: () => "x" }, 600);
  assert.deepEqual(
    drawn.find("rect").map((each) => each.attributes.fill),
    ["var(--soft)", "var(--soft)"],
  );
  assert.ok(drawn.words.includes("n = 2"));
});

test("lines leave out what is not known, and draw whiskers", () => {
  const points = [
    { x: 1, y: 0.5, low: 0.4, high: 0.6 },
    { x: 10, y: NaN },
    { x: 100, y: 0.8 },
  ];
  const drawn = lines({ series: [{ name: "a", points }], log: true, reference: 1 }, 600);
  assert.equal(drawn.find("g").length, 2);
  assert.equal(drawn.find("path").length, 1);
  assert.equal(drawn.find("line", (given) => given.class === "reference").length, 1);
  assert.equal(drawn.find("polyline")[0].attributes.points.split(" ").length, 2);
});

test("labels of an axis do not touch, and the last one stays", () => {
  const points = Array.from({ length: 60 }, (_, i) => ({ x: i + 1, y: 1 }));
  const drawn = lines({ series: [{ name: "a", points }], xs: points.map((p) => p.x) }, 300);
  const below = drawn.find("text", (given) => given["text-anchor"] === "middle").map((each) => each.attributes.x);
  assert.ok(drawn.words.includes("60"));
  for (let i = 1; i < below.length; i++) assert.ok(below[i] - below[i - 1] > 16);
});

test("stacked bars stand on each other", () => {
  const sets = [
    { name: "a", ink: "red", values: [2] },
    { name: "b", ink: "blue", values: [1] },
  ];
  const [first, second] = bars({ xs: ["x"], sets, stacked: true, xText: String }, 300)
    .find("rect")
    .map((each) => each.attributes);
  assert.ok(Math.abs(second.y + second.height - first.y) < 1e-9);
  assert.ok(Math.abs(first.height / second.height - 2) < 1e-9);
});

test("outliers stay inside the picture", () => {
  const points = Array.from({ length: 300 }, (_, i) => ({ x: 1 + i / 300, y: 1 + i / 300, tip: "" }));
  const drawn = scatter({ groups: [{ ink: "red", points: [...points, { x: 50, y: -50, tip: "" }] }] }, 400);
  for (const each of drawn.find("circle")) {
    assert.ok(each.attributes.cx >= 0 && each.attributes.cx <= 400);
    assert.ok(each.attributes.cy >= 0 && each.attributes.cy <= 340);
  }
});
