import {
  api,
  byId,
  el,
  fill,
  fixed,
  main,
  moment,
  percent,
  plural,
  sentence,
  table,
  tile,
  whole,
} from "./base.js";
import { INKS, assessed } from "./assessment.js";
import { bars, lines } from "./charts.js";
import { figure, legend } from "./figure.js";
import { follow } from "./follow.js";

const LEARNED_HERE = "this store";
const form = byId("choose");
const state = new URLSearchParams(location.search);

async function list() {
  const all = await api("/api/reflections");
  const names = all.map((each) => each.name);
  const before = form.name.value || state.get("name") || all.find((each) => each.latest).name;
  const other = form.other.value || state.get("other") || "";
  form.name.replaceChildren(...names.map((name) => el("option", {}, name)));
  form.other.replaceChildren(
    el("option", { value: "" }, "nothing"),
    ...names.map((name) => el("option", {}, name)),
  );
  form.name.value = names.includes(before) ? before : names[0];
  form.other.value = names.includes(other) ? other : "";
}

function chosen() {
  const names = [form.name.value];
  if (form.other.value && form.other.value !== form.name.value) names.push(form.other.value);
  return names;
}

async function show() {
  const names = chosen();
  history.replaceState(
    null,
    "",
    `?${new URLSearchParams({ name: names[0], ...(names[1] ? { other: names[1] } : {}) })}`,
  );
  const path = (name) => `/api/reflections/${encodeURIComponent(name)}`;
  const functions = Promise.all(names.map((name) => api(path(name))));
  // A function that was learned here is fairly judged on pairs that it has not seen, and so is its rival.
  const pairs = names.includes(LEARNED_HERE) ? "held-out" : "all";
  const assessments = Promise.all(names.map((name) => api(`${path(name)}/assessment?pairs=${pairs}`)));
  assessments.catch(() => {});
  fill(byId("facts"), async () => (await functions).map(summary));
  fill(byId("learned"), async () => [kernels(await functions), weights(await functions)]);
  fill(byId("assessed"), async () => assessed(await assessments, pairs));
}

function summary(each) {
  const told = each.summary;
  return el(
    "section",
    { class: "tiles", "aria-label": told.name },
    tile(told.name, told.origin),
    tile(
      told.experiences ? whole(told.experiences) : "–",
      told.pairs ? `experiences of ${plural(told.pairs, "pair")}` : "experiences",
    ),
    tile(fixed(told.held_out_rank_correlation, 2), "rank correlation, held out in learning"),
    tile(fixed(told.held_out_rmse), "error (rmse), held out in learning"),
    tile(each.calibrated_on ? whole(each.calibrated_on) : "–", "pairs behind the intervals"),
    tile(told.learned_at ? moment(told.learned_at) : `version ${told.version ?? "?"}`, "learned"),
  );
}

function kernels(functions) {
  const xs = functions[0].exponents;
  const sets = functions
    .filter((f) => String(f.exponents) === String(xs))
    .map((f, i) => {
      const sum = f.beta.reduce((a, b) => a + b, 0) || 1;
      return { name: f.summary.name, ink: INKS[i], values: f.beta.map((b) => b / sum) };
    });
  return figure({
    title: "Beta over bandwidths",
    above: sets.length > 1 ? legend(sets.map((s) => [s.name, s.ink])) : null,
    draw: (width) => bars({ xs, sets, xTitle: "p of the bandwidth 2^p η", yTitle: "beta / its sum" }, width),
    caption: "Which kernels the function looks through: small p sees details, large p the whole.",
    numbers: {
      rows: xs,
      columns: [
        { title: "p", number: true, value: (p) => String(p) },
        ...sets.map((s) => ({ title: s.name, number: true, value: (p) => fixed(s.values[xs.indexOf(p)]) })),
      ],
    },
  });
}

function weights(functions) {
  const rows = [
    ["λ, variance", (f) => whole(f.lambda_)],
    ["μ, discriminant", (f) => fixed(f.mu)],
    ["b, bias", (f) => fixed(f.b)],
    [
      "Σ β",
      (f) =>
        fixed(
          f.beta.reduce((a, b) => a + b, 0),
          5,
        ),
    ],
    ["neighbours of τ", (f) => String(f.n_neighbors)],
    ["learned for", (f) => `${f.label_range[0]} to ${f.label_range[1]} labels`],
    [
      "learned from",
      (f) =>
        Object.entries(f.algorithms)
          .map(([name, n]) => `${name} ${n}`)
          .join(" · ") || "–",
    ],
  ];
  return el(
    "div",
    { class: "card" },
    el("h2", {}, "Weights"),
    table(
      [
        { title: "", value: ([name]) => el("span", { class: "quiet" }, name) },
        ...functions.map((f) => ({ title: f.summary.name, value: ([, value]) => value(f) })),
      ],
      rows,
      { label: "Weights" },
    ),
  );
}

const curve = byId("curve");
function invite(words = null) {
  curve.replaceChildren(
    el("h2", {}, "Learning curve"),
    el(
      "p",
      { class: "quiet" },
      "How good does a function become that learns from more and more pairs of this store? The pairs of a quarter of the target domains are held out and predicted; the last function is then listed above as “this store”.",
    ),
    main.dataset.readOnly === "true"
      ? el("p", { class: "quiet" }, "This dashboard is read-only, so it cannot be measured here.")
      : el("p", {}, el("button", { type: "button", class: "primary", click: measure }, "Measure")),
    words ? el("p", { class: "trouble", role: "alert" }, words) : "",
  );
}

async function measure() {
  const points = [];
  const status = el("p", { class: "quiet", role: "status" }, "learning …");
  const draw = () =>
    figure({
      title: "Learning curve",
      above: legend([
        ["rank correlation", "var(--c0)"],
        ["coverage of 90 % intervals", "var(--c2)"],
        ["error (rmse)", "var(--c1)"],
      ]),
      draw: (width) =>
        lines(
          {
            log: true,
            yFrom: 0,
            yTo: 1.02,
            xTitle: "experiences learned from",
            yTitle: "on pairs held out",
            series: [
              ["rank_correlation", "rank correlation", "var(--c0)"],
              ["coverage", "coverage", "var(--c2)"],
              ["rmse", "error", "var(--c1)"],
            ].map(([key, name, ink]) => ({
              name,
              ink,
              points: points.map((p) => ({
                x: p.n_experiences,
                y: p[key] ?? NaN,
                tip: `${whole(p.n_experiences)} experiences of ${plural(p.n_pairs, "pair")}\n${name} ${fixed(p[key])}`,
              })),
            })),
          },
          width,
        ),
      numbers: {
        rows: points,
        columns: [
          { title: "experiences", number: true, value: (p) => whole(p.n_experiences) },
          { title: "pairs", number: true, value: (p) => whole(p.n_pairs) },
          { title: "rank correlation", number: true, value: (p) => fixed(p.rank_correlation) },
          { title: "error", number: true, value: (p) => fixed(p.rmse) },
          { title: "coverage", number: true, value: (p) => percent(p.coverage, 1) },
        ],
      },
    });
  curve.replaceChildren(el("h2", {}, "Learning curve"), status);
  try {
    const job = await follow("/api/learning-curves", {}, (event) => {
      points.push(event);
      const made = draw();
      made.classList.remove("card");
      curve.replaceChildren(made, status);
    });
    status.textContent = `Learned from ${plural(job.result.runs, "run")}; ${plural(job.result.held_out_pairs, "pair")} held out.`;
    await list();
    form.name.value = LEARNED_HERE;
    if (!form.other.value) form.other.value = "default";
    show();
  } catch (error) {
    invite(sentence(error));
  }
}

form.addEventListener("change", show);
invite();
try {
  await list();
  show();
} catch (error) {
  byId("facts").replaceChildren(el("p", { class: "trouble", role: "alert" }, sentence(error)));
}
