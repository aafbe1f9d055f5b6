// One prediction: its stages while it runs, then the result and the accuracy to expect.

import { api, badge, byId, card, el, facts, fixed, main, percent, plural, sentence, table, whole } from "./base.js";
import { bars, intervals } from "./charts.js";
import { targetMap } from "./cloud.js";
import { figure } from "./figure.js";
import { watch } from "./follow.js";
import { rowsSection } from "./rows.js";
import { statistics } from "./run.js";

const STAGES = ["reading", "rehearsing", "choosing", "predicting"];
const STAGE_TEXT = {
  reading: "reading the files",
  rehearsing: "rehearsing on the known classes",
  choosing: "choosing features and classifiers",
  predicting: "predicting every row",
};
const DOWNLOADS = {
  "predictions.csv": ["Predictions, csv", "your rows and columns, with predicted, probability and given"],
  "probabilities.csv": ["All probabilities, csv", "the same, with the probability of every class"],
  "model.l2t": ["Model", "for further rows: l2t apply model.l2t NEW.csv -o predictions.csv"],
  "report.html": ["Report, html", "this page as one file"],
};
const COLUMNS = 12; // in the chart of those that matter
const id = main.dataset.key;

function showStages(now) {
  const at = STAGES.indexOf(now);
  byId("progress").hidden = false;
  byId("progress").querySelector("progress").value = at + 0.5;
  byId("progress")
    .querySelector(".stages")
    .replaceChildren(
      ...STAGES.map((stage, i) =>
        el(
          "li",
          { class: i < at ? "done" : i === at ? "now" : null, "aria-current": i === at ? "step" : null },
          STAGE_TEXT[stage],
        ),
      ),
    );
}

function accuracies(found) {
  return figure({
    title: "Accuracy to expect",
    draw: (width) =>
      intervals(
        found.report.map((row) => ({
          name: row.name,
          value: row.expected,
          low: row.low,
          high: row.high,
          strong: row.used,
          tip: `${row.name}\nexpected ${percent(row.expected)}${row.low === null ? "" : `, 90 % interval ${percent(row.low)} to ${percent(row.high)}`}${row.measured === null ? "" : `\ncross-validated ${percent(row.measured)} ± ${percent(row.error)}`}`,
        })),
        width,
      ),
    caption:
      "Lines are 90 % intervals: the accuracy lies inside in nine of ten cases. The one that is used is blue; names without “on …” are without transfer.",
    numbers: {
      rows: found.report,
      columns: [
        { title: "classifier", value: (r) => (r.used ? el("b", {}, `${r.name} (used)`) : r.name) },
        { title: "expected", number: true, value: (r) => percent(r.expected, 1) },
        {
          title: "90 % interval",
          number: true,
          value: (r) => (r.low === null ? "–" : `${percent(r.low)} to ${percent(r.high)}`),
        },
        {
          title: "cross-validated",
          number: true,
          value: (r) => (r.measured === null ? "too few labels" : `${percent(r.measured, 1)} ± ${percent(r.error, 1)}`),
        },
      ],
    },
  });
}

// The columns that matter most.
function importance(found) {
  const columns = Object.entries(found.importance ?? {});
  if (!columns.length) return null;
  return figure({
    title: "Columns that matter",
    draw: (width) =>
      intervals(
        columns.slice(0, COLUMNS).map(([name, share]) => ({
          name,
          value: share,
          low: null,
          high: null,
          strong: true,
          tip: `${name}\n${percent(share, 1)} of the predictions change when its cells are shuffled`,
        })),
        width,
        { to: [0.1, 0.2, 0.5].find((share) => columns[0][1] <= share) },
      ),
    caption: "How many predictions change when the cells of the column are shuffled among the rows.",
    numbers: {
      rows: columns,
      columns: [
        { title: "column", value: ([name]) => name },
        { title: "predictions that change", number: true, value: ([, share]) => percent(share, 1) },
      ],
    },
  });
}

// The ids of a row, and its number counted from 1.
const named = (row) => (row.id ? `${row.id} (row ${row.row + 1})` : `row ${row.row + 1}`);
const sure = (name, share) => (name === null ? "–" : `${name}, ${percent(share)}`);

function rowsCard(title, text, rows, suspicious = false) {
  if (!rows.length) return null;
  return card(
    el("h2", {}, title),
    el("p", { class: "quiet" }, text),
    table(
      [
        { title: "row", class: "name", value: named },
        ...(suspicious ? [{ title: "your label", value: (r) => r.label }] : []),
        { title: "predicted", value: (r) => sure(r.predicted, r.probability) },
        ...(suspicious ? [] : [{ title: "or", value: (r) => sure(r.second, r.second_probability) }]),
      ],
      rows,
      { label: title },
    ),
  );
}

const ratio = (value) => (value === null ? "–" : `× ${fixed(value, 2)}`);
function candidates(found) {
  return el(
    "details",
    { class: "card" },
    el("summary", {}, "What was tried"),
    el(
      "p",
      {},
      "What each candidate changes for the nearest-neighbour classifier; the bars above are for all classifiers.",
    ),
    table(
      [
        { title: "candidate", value: (c) => (c.candidate === "identity" ? "no transfer" : c.candidate) },
        { title: "in rehearsal", number: true, value: (c) => ratio(c.rehearsed) },
        { title: "expected here", number: true, value: (c) => ratio(c.predicted) },
        {
          title: "90 % interval",
          number: true,
          value: (c) => (c.low === null ? "–" : `${fixed(c.low, 2)} to ${fixed(c.high, 2)}`),
        },
        {
          title: "same class nearer",
          value: (c) =>
            c.labelled_rows === null
              ? "–"
              : `${percent(c.same_class_nearer)}, without it ${percent(c.same_class_nearer_without)}`,
        },
        { title: "", value: (c) => c.reason || (c.candidate === found.choice ? badge("used", "good") : "") },
      ],
      found.candidates,
      { label: "Candidates" },
    ),
    el(
      "p",
      { class: "quiet" },
      "“× 1.10” means 1.10 times the accuracy without a transfer. “Same class nearer” is how often one of your labelled rows is nearer to a row of its own class than to one of another class.",
    ),
  );
}

// The paper's statistics of the first source and the target under W, and the weights of its function.
function kernels(found) {
  const seen = found.statistics;
  const run = {
    run: "",
    algorithm: found.choice,
    source: { name: found.sources[0] },
    target: { name: found.target },
    statistics: seen,
  };
  const beta = figure({
    title: "Beta over bandwidths",
    draw: (width) =>
      bars(
        {
          xs: seen.exponents,
          sets: [{ name: "beta", ink: "var(--accent)", values: seen.beta }],
          xTitle: "p of the bandwidth 2^p η",
          yTitle: "beta / its sum",
        },
        width,
      ),
    caption: "Weights of the kernels in the reflection function that ships.",
  });
  return [statistics([run], "d"), statistics([run], "tau"), beta];
}

function detailsCard(found, files) {
  const { details } = found;
  return el(
    "details",
    { class: "card" },
    el("summary", {}, "Details"),
    facts([
      ["files", [...found.sources, found.target].join(", ")],
      ["averaged", details.model],
      ["transfer matrix", details.W_shape.join(" × ")],
      ...(files.includes("W.npy")
        ? [["", el("a", { href: `/api/jobs/${id}/files/W.npy`, download: "W.npy" }, "download W.npy")]]
        : []),
      ["columns scaled", details.columns_scaled ? "divided by their standard deviation" : "no"],
      ["rehearsals of the features", details.n_plays === null ? "none" : String(details.n_plays)],
      ["temperature of probabilities", fixed(details.temperature)],
    ]),
    found.statistics ? el("div", { class: "grid" }, ...kernels(found)) : null,
    found.notes.length ? el("ul", {}, ...found.notes.map((note) => el("li", {}, note))) : null,
  );
}

function result(job) {
  const found = job.result;
  document.title = `Prediction of ${found.target} · L2T`;
  byId("progress").hidden = true;
  byId("name").textContent = found.target;
  byId("headline").textContent = found.headline;
  const canLabel = job.is_repeatable && main.dataset.readOnly !== "true";
  byId("downloads").replaceChildren(
    ...(canLabel ? [el("a", { class: "button", href: `/predictions/${id}/label` }, "Label rows")] : []),
    ...Object.entries(DOWNLOADS).map(([name, [text, title]], i) =>
      el(
        "a",
        { class: i ? "button" : "button primary", href: `/api/jobs/${id}/files/${name}`, download: name, title },
        text,
      ),
    ),
  );
  const why = card(
    el("h2", {}, "Why"),
    el("ul", { class: "plan" }, ...found.sentences.map((text) => el("li", {}, text))),
  );
  const classes = card(
    el("h2", {}, "Predicted classes"),
    table(
      [
        { title: "class", value: (c) => c[0] },
        { title: "rows", number: true, value: (c) => whole(c[1]) },
      ],
      found.classes.map((name, i) => [name, found.counts[i]]),
      { label: "Predicted classes" },
    ),
    el("p", { class: "quiet" }, `${plural(found.n_rows, "row")}, ${whole(found.n_given)} of them with your label.`),
  );
  const next = rowsCard(
    "Rows to label next",
    `Rows whose labels should help most${job.is_repeatable ? ": “Label rows” shows one after the other" : ""}.`,
    found.uncertain,
  );
  const suspicious = rowsCard(
    "Suspicious rows",
    "The model, trained on your labels, predicts another class for these rows.",
    found.suspicious,
    true,
  );
  byId("pictures").replaceChildren(el("div", { class: "stack" }, accuracies(found), why), targetMap(found));
  byId("rows").replaceChildren(...[importance(found), classes, next, suspicious].filter(Boolean));
  byId("more").replaceChildren(rowsSection(id, found), candidates(found), detailsCard(found, job.files));
}

byId("cancel").addEventListener("click", () => api(`/api/jobs/${id}`, { method: "DELETE" }).catch(() => {}));
try {
  showStages("reading");
  result(await watch(id, (event) => showStages(event.name)));
} catch (error) {
  byId("progress").hidden = true;
  byId("headline").textContent = "No prediction was made";
  byId("downloads").replaceChildren(
    el("p", { class: "trouble", role: "alert" }, sentence(error)),
    el("a", { class: "button", href: "/" }, "Try again"),
  );
}
