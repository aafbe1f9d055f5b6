import {
  api,
  badge,
  byId,
  el,
  fill,
  fixed,
  main,
  moment,
  percent,
  plural,
  runLink,
  sentence,
  table,
  whole,
} from "./base.js";
import { bars, intervals, lines, scatter } from "./charts.js";
import { color, figure, legend } from "./figure.js";
import { follow } from "./follow.js";

const LEARNED_HERE = "this store";
const INKS = ["var(--c0)", "var(--c1)"];
const form = byId("choose");
const state = new URLSearchParams(location.search);
const totals = api("/api/totals");
const many = (all) => all.length > 1;

fill(byId("forecast"), async () => {
  const all = await api("/api/forecast");
  const same = Map.groupBy(Object.keys(all.prior), (name) => String(all.prior[name]));
  const candidates = [...same.values()].map((names) => names.join(", "));
  const prior = (name, at) => all.prior[name.split(", ")[0]][at];
  return [
    figure({
      title: "Coverage on kinds of data left out of learning",
      draw: (width) =>
        intervals(
          all.kinds.map((kind) => ({
            name: `${kind.name}, ${plural(kind.n_pairs, "pair")}`,
            value: kind.covered,
            strong: true,
            tip: `${kind.name}\n${percent(kind.covered)} of ${plural(kind.n_pairs, "pair")} inside the 90 % interval`,
          })),
          width,
        ),
      caption:
        "Share of measured ratios inside the 90 % interval, predicted by a forecast that was learned without this kind of data.",
      numbers: {
        rows: all.kinds,
        columns: [
          { title: "kind of data", value: (k) => k.name },
          { title: "pairs", number: true, value: (k) => whole(k.n_pairs) },
          { title: "inside the 90 % interval", number: true, value: (k) => percent(k.covered, 1) },
        ],
      },
    }),
    figure({
      title: "Gain of each candidate on other data",
      above: legend([...candidates.map((name, i) => [name, color(i)]), ["where neighbourhoods mislead", "var(--bad)"]]),
      draw: (width) =>
        lines(
          {
            xs: all.shots,
            log: true,
            reference: 0,
            xTitle: "labels per class",
            yTitle: "part of the possible gain",
            series: [
              ...candidates.map((name, i) => ({
                name,
                dash: i ? "6 5" : null,
                points: all.shots.map((x, at) => ({ x, y: prior(name, at) })),
              })),
              {
                name: "where neighbourhoods mislead",
                ink: "var(--bad)",
                points: all.shots.map((x, at) => ({ x, y: all.misled[at] })),
              },
            ],
          },
          width,
        ),
      caption:
        "Part of the possible gain that candidates reached on other data: the forecast before rehearsal, 0 for candidates that are not shown. The rehearsal on your source and your labelled rows then change it.",
      numbers: {
        rows: all.shots,
        columns: [
          { title: "labels per class", number: true, value: (n) => String(n) },
          ...candidates.map((name) => ({
            title: name,
            number: true,
            value: (n) => fixed(prior(name, all.shots.indexOf(n)), 2),
          })),
          { title: "misled", number: true, value: (n) => fixed(all.misled[all.shots.indexOf(n)], 2) },
        ],
      },
    }),
  ];
});

async function list() {
  const all = await api("/api/reflections");
  const names = all.map((each) => each.name);
  const before = form.name.value || state.get("name") || all.find((each) => each.latest).name;
  const other = form.other.value || state.get("other") || "";
  form.name.replaceChildren(...names.map((name) => el("option", {}, name)));
  form.other.replaceChildren(el("option", { value: "" }, "nothing"), ...names.map((name) => el("option", {}, name)));
  form.name.value = names.includes(before) ? before : names[0];
  form.other.value = names.includes(other) ? other : "";
}

function show() {
  const names = [...new Set([form.name.value, form.other.value])].filter(Boolean);
  history.replaceState(
    null,
    "",
    `?${new URLSearchParams({ name: names[0], ...(names[1] ? { other: names[1] } : {}) })}`,
  );
  const path = (name) => `/api/reflections/${encodeURIComponent(name)}`;
  const functions = Promise.all(names.map((name) => api(path(name))));
  // A function learned here, and what it is compared with, are assessed on held-out pairs.
  const pairs = names.includes(LEARNED_HERE) ? "held-out" : "all";
  const assessments = totals.then(({ runs, failed }) => {
    if (runs === failed) throw new Error("the store has no runs yet to assess it on");
    return Promise.all(names.map((name) => api(`${path(name)}/assessment?pairs=${pairs}`)));
  });
  assessments.catch(() => {});
  fill(byId("warnings"), async () => warnings(await functions, await assessments.catch(() => [])));
  fill(byId("assessed"), async () => {
    const all = await assessments;
    return [...all.map((each) => predicted(each, all)), families(all), calibration(all)].filter(Boolean);
  });
  fill(byId("weights"), async () => [kernels(await functions), weights(await functions)]);
}

function warnings(functions, all) {
  return functions.map((each, i) => {
    const { summary } = each,
      found = all[i];
    const learned = summary.experiences
      ? `learned from ${plural(summary.experiences, "experience")} of ${plural(summary.pairs, "pair")}`
      : "not learned";
    const when = summary.learned_at ? `, ${moment(summary.learned_at)}` : "";
    return el(
      "div",
      { class: "card described" },
      el(
        "p",
        {},
        el("b", {}, summary.name),
        ` (${summary.origin}), ${learned}${when}. `,
        found
          ? `On ${plural(found.n_runs, "run")} of ${plural(found.n_pairs, "pair")} of this store, its predictions have a rank correlation of ${fixed(found.rank_correlation, 2)} with the measured ratios.`
          : "",
      ),
      found?.perhaps_seen
        ? el("p", {}, badge("note"), " It may have been learned from these pairs; then the figures are too good.")
        : null,
      ...(found?.warnings ?? []).map((text) => el("p", {}, badge("warning", "bad"), ` ${text}`)),
    );
  });
}

function predicted(each, all) {
  const algorithms = [...new Set(each.points.map((p) => p.algorithm))].sort();
  return figure({
    title: `Predicted against measured change${many(all) ? `: ${each.name}` : ""}`,
    above: legend(algorithms.map((name, i) => [name, color(i)])),
    draw: (width) =>
      scatter(
        {
          xTitle: "predicted ratio",
          yTitle: "measured ratio, mean up to 30 labels",
          groups: algorithms.map((name, i) => ({
            ink: color(i),
            points: each.points
              .filter((p) => p.algorithm === name)
              .map((p) => ({
                x: p.predicted,
                y: p.actual,
                href: `/experiences/${p.run_key}`,
                tip: `${p.algorithm}: ${p.source_name} → ${p.target_name}\npredicted ${fixed(p.predicted)}, measured ${fixed(p.actual)}`,
              })),
          })),
        },
        width,
      ),
    caption: `${plural(each.n_runs, "run")} on ${plural(each.n_pairs, "pair")}${each.pairs === "held-out" ? " that were held out" : ""}.`,
    numbers: {
      rows: each.points,
      columns: [
        { title: "algorithm", value: (p) => runLink(p.run_key, p.algorithm) },
        { title: "source", value: (p) => p.source_name },
        { title: "target", value: (p) => p.target_name },
        { title: "predicted", number: true, value: (p) => fixed(p.predicted) },
        { title: "measured", number: true, value: (p) => fixed(p.actual) },
      ],
    },
  });
}

const families = (all) =>
  el(
    "div",
    { class: "card" },
    el("h2", {}, "By data set of the target"),
    table(
      [
        ...(many(all) ? [{ title: "function", value: (f) => f.name }] : []),
        { title: "data set", value: (f) => f.family },
        { title: "pairs", number: true, value: (f) => whole(f.n_pairs) },
        { title: "rank correlation", number: true, value: (f) => fixed(f.rank_correlation, 2) },
        { title: "error", number: true, value: (f) => fixed(f.rmse) },
        {
          title: "in 90 % intervals",
          number: true,
          class: (f) => (f.coverage !== null && f.coverage < 0.8 ? "worse" : ""),
          value: (f) => percent(f.coverage),
        },
      ],
      all.flatMap((each) => each.families.map((family) => ({ name: each.name, ...family }))),
      { label: "By data set" },
    ),
  );

function calibration(all) {
  const calibrated = all.filter((a) => a.reliability.length);
  if (!calibrated.length) return null;
  return figure({
    title: "Calibration",
    above: many(calibrated) ? legend(calibrated.map((a, i) => [a.name, INKS[i]])) : null,
    draw: (width) =>
      lines(
        {
          xTitle: "level of the interval",
          yTitle: "share of ratios inside",
          yFrom: 0,
          yTo: 1.02,
          series: [
            { name: "ideal", ink: "var(--mark)", dash: "4 4", points: [0.5, 0.95].map((v) => ({ x: v, y: v })) },
            ...calibrated.map((a, i) => ({
              name: a.name,
              ink: INKS[i],
              points: a.reliability.map((r) => ({
                x: r.level,
                y: r.share,
                tip: `${a.name}\n${percent(r.level)} intervals hold ${percent(r.share, 1)}`,
              })),
            })),
          ],
        },
        width,
      ),
    caption: "Above the dashed line intervals are wider than needed, below it too narrow.",
    numbers: {
      rows: calibrated[0].reliability.map((r) => r.level),
      columns: [
        { title: "level", number: true, value: (l) => percent(l) },
        ...calibrated.map((a) => ({
          title: a.name,
          number: true,
          value: (l) => percent(a.reliability.find((r) => r.level === l)?.share, 1),
        })),
      ],
    },
  });
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
    above: many(sets) ? legend(sets.map((s) => [s.name, s.ink])) : null,
    draw: (width) => bars({ xs, sets, xTitle: "p of the bandwidth 2^p η", yTitle: "beta / its sum" }, width),
    caption: "Weights of the kernels: a small p compares near rows, a large p the domains as a whole.",
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
    ["classifiers trained on", (f) => f.trained_on],
    [
      "held out in learning",
      (f) =>
        `rank correlation ${fixed(f.summary.held_out_rank_correlation, 2)}, error ${fixed(f.summary.held_out_rmse)}`,
    ],
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
        { title: el("span", { class: "unseen" }, "weight"), value: ([name]) => el("span", { class: "quiet" }, name) },
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
      "How the predictions improve with more pairs of this store to learn from. The pairs of a quarter of the targets are held out for testing; the last function is then listed above as “this store”.",
    ),
    main.dataset.readOnly === "true"
      ? el("p", { class: "quiet" }, "This dashboard is read-only, so no learning curve can be measured.")
      : el("p", {}, el("button", { type: "button", class: "primary", click: measure }, "Measure")),
    words ? el("p", { class: "trouble", role: "alert" }, words) : "",
  );
}

const CURVES = [
  ["rank_correlation", "rank correlation", "var(--c0)"],
  ["coverage", "share in 90 % intervals", "var(--c2)"],
  ["rmse", "error (rmse)", "var(--c1)"],
];
const learningCurve = (points) =>
  figure({
    title: "Learning curve",
    above: legend(CURVES.map(([, name, ink]) => [name, ink])),
    draw: (width) =>
      lines(
        {
          log: true,
          yFrom: 0,
          yTo: 1.02,
          xTitle: "experiences learned from",
          yTitle: "on pairs held out",
          series: CURVES.map(([key, name, ink]) => ({
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
        ...CURVES.map(([key, name]) => ({ title: name, number: true, value: (p) => fixed(p[key]) })),
      ],
    },
  });

async function measure() {
  const points = [];
  const status = el("p", { class: "quiet", role: "status" }, "learning …");
  curve.replaceChildren(el("h2", {}, "Learning curve"), status);
  try {
    const job = await follow("/api/learning-curves", {}, (event) => {
      points.push(event);
      const made = learningCurve(points);
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
  byId("warnings").replaceChildren(el("p", { class: "trouble", role: "alert" }, sentence(error)));
}
