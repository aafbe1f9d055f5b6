import { api, byId, el, fill, fixed, main, moment, percent, plural, sentence, table, tile, whole } from "./base.js";
import { bars, lines, scatter, shares } from "./charts.js";
import { color, figure, legend } from "./figure.js";
import { follow } from "./follow.js";

const LEARNED_HERE = "this store";
const form = byId("choose");
const state = new URLSearchParams(location.search);
const INKS = ["var(--c0)", "var(--c1)"];
const TERMS = [["mmd", "distance of the domains (β′d)", "var(--c0)"], ["variance", "its uncertainty (λ β′Qβ)", "var(--c3)"], ["discriminant", "poor separation (μ / β′τ)", "var(--c2)"], ["bias", "what every transfer starts from (b)", "var(--mark)"]];

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

function chosen() {
  const names = [form.name.value];
  if (form.other.value && form.other.value !== form.name.value) names.push(form.other.value);
  return names;
}

async function show() {
  const names = chosen();
  history.replaceState(null, "", `?${new URLSearchParams({ name: names[0], ...(names[1] ? { other: names[1] } : {}) })}`);
  const path = (name) => `/api/reflections/${encodeURIComponent(name)}`;
  const functions = Promise.all(names.map((name) => api(path(name))));
  // A function that was learned here is fairly judged on pairs that it has not seen, and so is its rival.
  const pairs = names.includes(LEARNED_HERE) ? "held-out" : "all";
  const assessments = Promise.all(names.map((name) => api(`${path(name)}/assessment?pairs=${pairs}`)));
  assessments.catch(() => {});
  fill(byId("facts"), async () => (await functions).map(summary));
  fill(byId("learned"), async () => [kernels(await functions), plans(await functions)]);
  fill(byId("assessed"), async () => assessed(await assessments, pairs));
}

function summary(each) {
  const told = each.summary;
  return el("section", { class: "tiles", "aria-label": told.name },
    tile(told.name, told.origin),
    tile(told.experiences ? whole(told.experiences) : "–", told.pairs ? `experiences of ${plural(told.pairs, "pair")}` : "experiences"),
    tile(fixed(told.held_out_rank_correlation, 2), "rank correlation, held out in learning"),
    tile(fixed(told.held_out_rmse), "error (rmse), held out in learning"),
    tile(each.calibrated_on ? whole(each.calibrated_on) : "–", "pairs behind the intervals"),
    tile(told.learned_at ? moment(told.learned_at) : `version ${told.version ?? "?"}`, "learned"));
}

function kernels(functions) {
  const xs = functions[0].exponents;
  const sets = functions.filter((f) => String(f.exponents) === String(xs)).map((f, i) => {
    const sum = f.beta.reduce((a, b) => a + b, 0) || 1;
    return { name: f.summary.name, ink: INKS[i], values: f.beta.map((b) => b / sum) };
  });
  return figure({
    title: "Beta over bandwidths",
    above: sets.length > 1 ? legend(sets.map((s) => [s.name, s.ink])) : null,
    draw: (width) => bars({ xs, sets, xTitle: "p of the bandwidth 2^p η", yTitle: "beta / its sum" }, width),
    caption: "Which kernels the function looks through: small p sees details, large p the whole.",
    numbers: { rows: xs, columns: [{ title: "p", number: true, value: (p) => String(p) }, ...sets.map((s) => ({ title: s.name, number: true, value: (p) => fixed(s.values[xs.indexOf(p)]) }))] },
  });
}

function plans(functions) {
  const list_ = (f) => f.plans.map((p) => `${p.n_labels} labels: ${p.constraint}, ${plural(p.n_iter, "step")}${p.n_components ? `, ${p.n_components} columns` : ""}`).join(" · ");
  const rows = [
    ["λ, variance", (f) => whole(f.lambda_)],
    ["μ, discriminant", (f) => fixed(f.mu)],
    ["b, bias", (f) => fixed(f.b)],
    ["Σ β", (f) => fixed(f.beta.reduce((a, b) => a + b, 0), 5)],
    ["neighbours of τ", (f) => String(f.n_neighbors)],
    ["learned for", (f) => `${f.label_range[0]} to ${f.label_range[1]} labels`],
    ["search of W", list_],
    ["transfer if predicted", (f) => `at least ${f.rule.least_predicted}; where labelled rows vote, a gain above ${percent(f.rule.margin)} (${percent(f.rule.doubtful_margin)} in doubt)`],
    ["learned from", (f) => Object.entries(f.algorithms).map(([name, n]) => `${name} ${n}`).join(" · ") || "–"],
  ];
  return el("div", { class: "card" }, el("h2", {}, "Weights and rules"), table([
    { title: "", value: ([name]) => el("span", { class: "quiet" }, name) },
    ...functions.map((f) => ({ title: f.summary.name, value: ([, value]) => value(f) })),
  ], rows, { label: "Weights and rules" }));
}

function assessed(all, pairs) {
  const where = pairs === "held-out" ? "pairs of this store that were held out" : "pairs of this store";
  const seen = all.filter((a) => a.perhaps_seen).map((a) => a.name);
  const pictures = [];
  for (const each of all) {
    const algorithms = [...new Set(each.points.map((p) => p.algorithm))].sort();
    pictures.push(figure({
      title: `Predicted against actual ratio${all.length > 1 ? `: ${each.name}` : ""}`,
      above: legend(algorithms.map((name, i) => [name, color(i)])),
      draw: (width) => scatter({
        xTitle: "predicted", yTitle: "actual, mean up to 30 labels",
        groups: algorithms.map((name, i) => ({ name, ink: color(i), points: each.points.filter((p) => p.algorithm === name).map((p) => ({ x: p.predicted, y: p.actual, href: `/experiences/${p.run_key}`, tip: `${p.algorithm}: ${p.source_name} → ${p.target_name}\npredicted ${fixed(p.predicted)}, actual ${fixed(p.actual)}` })) })),
      }, width),
      caption: `${plural(each.n_runs, "run")} on ${plural(each.n_pairs, "pair")} (${where}); rank correlation ${fixed(each.rank_correlation, 2)}, error ${fixed(each.rmse)}.${seen.includes(each.name) ? " It may have been learned from these very pairs." : ""}`,
      numbers: { rows: each.points, columns: [{ title: "algorithm", value: (p) => p.algorithm }, { title: "source", value: (p) => p.source_name }, { title: "target", value: (p) => p.target_name }, { title: "predicted", number: true, value: (p) => fixed(p.predicted) }, { title: "actual", number: true, value: (p) => fixed(p.actual) }] },
    }));
  }
  const calibrated = all.filter((a) => a.coverage.length);
  const others = all.filter((a) => a.calibrated_for === "searched W").map((a) => a.name);
  const searched = others.length ? ` The intervals of ${others.join(" and ")} are for the W that a search finds, where predictions err in another way; the runs of a store are of base algorithms, so that this tells little about them.` : "";
  if (calibrated.length) {
    const counts = [...new Set(calibrated.flatMap((a) => a.coverage.map((c) => c.n_labels)))].sort((a, b) => a - b);
    const share = (a, n) => a.coverage.find((c) => c.n_labels === n)?.share ?? 0;
    pictures.push(
      figure({
        title: "Coverage of 90 % intervals by number of labels",
        above: calibrated.length > 1 ? legend(calibrated.map((a, i) => [a.name, INKS[i]])) : null,
        draw: (width) => bars({ xs: counts, yTo: 1.02, reference: 0.9, xTitle: "labels", yTitle: "share of ratios inside", sets: calibrated.map((a, i) => ({ name: a.name, ink: INKS[i], values: counts.map((n) => share(a, n)) })), tip: (i, s) => `${calibrated[s].name}, ${counts[i]} labels\n${percent(share(calibrated[s], counts[i]), 1)} inside` }, width),
        caption: `The dashed line is what is promised.${searched}`,
        numbers: { rows: counts, columns: [{ title: "labels", number: true, value: (n) => String(n) }, ...calibrated.map((a) => ({ title: a.name, number: true, value: (n) => percent(share(a, n), 1) }))] },
      }),
      figure({
        title: "Coverage by level",
        above: calibrated.length > 1 ? legend(calibrated.map((a, i) => [a.name, INKS[i]])) : null,
        draw: (width) => lines({ xTitle: "level of the interval", yTitle: "share of ratios inside", yFrom: 0, yTo: 1.02, series: [{ name: "promised", ink: "var(--mark)", dash: "4 4", points: [0.5, 0.95].map((v) => ({ x: v, y: v })) }, ...calibrated.map((a, i) => ({ name: a.name, ink: INKS[i], points: a.reliability.map((r) => ({ x: r.level, y: r.share, tip: `${a.name}\n${percent(r.level)} intervals cover ${percent(r.share, 1)}` })) }))] }, width),
        caption: "Above the dashed line intervals are wider than needed, below they promise too much.",
        numbers: { rows: calibrated[0].reliability.map((r) => r.level), columns: [{ title: "level", number: true, value: (l) => percent(l) }, ...calibrated.map((a) => ({ title: a.name, number: true, value: (l) => percent(a.reliability.find((r) => r.level === l)?.share, 1) }))] },
      }));
  }
  pictures.push(figure({
    title: "The terms of 1/f, on average",
    above: legend(TERMS.map(([, name, ink]) => [name, ink])),
    draw: (width) => shares(all.map((a) => ({ name: a.name, parts: TERMS.map(([key, name, ink]) => ({ name, ink, value: a.terms[key] })) })), width),
    caption: `Means over the runs above: what 1/f is made of. A smaller sum is a better prediction.`,
    numbers: { rows: TERMS, columns: [{ title: "term", value: ([, name]) => name }, ...all.map((a) => ({ title: a.name, number: true, value: ([key]) => fixed(a.terms[key]) }))] },
  }));
  if (pictures.length % 2) pictures.at(-1).classList.add("whole");
  return pictures;
}

const curve = byId("curve");
function invite(words = null) {
  curve.replaceChildren(
    el("h2", {}, "Learning curve"),
    el("p", { class: "quiet" }, "How good does a function become that learns from more and more pairs of this store? A third of the pairs is held out and predicted; the last function is then listed above as “this store”."),
    main.dataset.readOnly === "true" ? el("p", { class: "quiet" }, "This dashboard is read-only, so it cannot be measured here.") : el("p", {}, el("button", { type: "button", class: "primary", click: measure }, "Measure")),
    words ? el("p", { class: "trouble", role: "alert" }, words) : "");
}

async function measure() {
  const points = [];
  const status = el("p", { class: "quiet", role: "status" }, "learning …");
  const draw = () => figure({
    title: "Learning curve",
    above: legend([["rank correlation", "var(--c0)"], ["coverage of 90 % intervals", "var(--c2)"], ["error (rmse)", "var(--c1)"]]),
    draw: (width) => lines({
      log: true, yFrom: 0, yTo: 1.02, xTitle: "experiences learned from", yTitle: "on pairs held out",
      series: [["rank_correlation", "rank correlation", "var(--c0)"], ["coverage", "coverage", "var(--c2)"], ["rmse", "error", "var(--c1)"]].map(([key, name, ink]) => ({ name, ink, points: points.map((p) => ({ x: p.n_experiences, y: p[key] ?? NaN, tip: `${whole(p.n_experiences)} experiences of ${plural(p.n_pairs, "pair")}\n${name} ${fixed(p[key])}` })) })),
    }, width),
    numbers: { rows: points, columns: [{ title: "experiences", number: true, value: (p) => whole(p.n_experiences) }, { title: "pairs", number: true, value: (p) => whole(p.n_pairs) }, { title: "rank correlation", number: true, value: (p) => fixed(p.rank_correlation) }, { title: "error", number: true, value: (p) => fixed(p.rmse) }, { title: "coverage", number: true, value: (p) => percent(p.coverage, 1) }] },
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
