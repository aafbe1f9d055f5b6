// The labelling page: one row at a time, one key per class, and what the labels bring.
//
// A key labels the row that is shown, and the next row is shown at once; requests are sent one after the other. A row
// whose label was not saved is shown again.

import { api, byId, el, facts, main, percent, plural, post, rooted, sentence, whole } from "./base.js";
import { lines } from "./charts.js";
import { figure } from "./figure.js";

const RESERVED = new Set(["n", "s", "u", "p"]);
const KEYS = [..."1234567890abcdefghijklmopqrstuvwxyz"].filter((key) => !RESERVED.has(key));
const LONG = 80; // characters from which a text has a paragraph of its own
const NUMBERS = 12; // numbers that are listed at first

const key = main.dataset.key;
// The address of a route of this session: that of the command, or of a prediction.
const at = (path, query = {}) => {
  const all = new URLSearchParams({ ...query, ...(key ? { of: key } : {}) }).toString();
  return `/api/labelling${path}${all ? `?${all}` : ""}`;
};
const isReadOnly = main.dataset.readOnly === "true";

let state = null;
let cards = []; // rows to label next, the first one is shown
const pending = new Set(); // rows whose labels are on their way
let queue = Promise.resolve();
let drawn = ""; // what the chart shows

const say = (text, trouble = false) => {
  byId("status").textContent = text;
  byId("status").className = trouble ? "trouble" : "quiet";
};
const rowName = (card) => `row ${card.row + 1}`;
const textOf = (value) => (value === null ? "–" : String(value));

// Short texts and the first numbers, and a list to unfold of the other numbers.
function columnsOf(texts, numbers) {
  const listed = (some) => facts(some.map(([name, value]) => [name, textOf(value)]));
  const rest = numbers.slice(NUMBERS);
  return [
    listed([...texts, ...numbers.slice(0, NUMBERS)]),
    rest.length ? el("details", {}, el("summary", {}, `${plural(rest.length, "more number")}`), listed(rest)) : null,
  ];
}

function contentOf(card) {
  const entries = Object.entries(card.cells).filter(([name]) => !card.images.includes(name));
  const isLong = ([, value]) => typeof value === "string" && value.length > LONG;
  const isNumber = ([, value]) => typeof value === "number";
  const short = entries.filter((entry) => !isLong(entry) && !isNumber(entry));
  const left = card.n_cells - Object.keys(card.cells).length;
  return [
    ...card.images.map((name) => {
      const alt = `${name}: ${card.cells[name] ?? ""}`;
      return el("img", { src: rooted(at("/image", { row: card.row, column: name })), alt, class: "picture" });
    }),
    ...entries
      .filter(isLong)
      .map(([name, value]) => el("div", { class: "long" }, el("h3", {}, name), el("p", {}, value))),
    ...columnsOf(short, entries.filter(isNumber)),
    left > 0 ? el("p", { class: "quiet" }, `${plural(left, "further column")} not shown`) : null,
  ].filter(Boolean);
}

function classButtons() {
  return state.classes.map((name, i) =>
    el(
      "button",
      { type: "button", class: "choice", "data-class": name, click: () => act("label", name) },
      KEYS[i] ? el("kbd", {}, KEYS[i]) : "",
      ` ${name}`,
    ),
  );
}

function showCard() {
  const card = cards[0];
  for (const id of ["add", "skip"]) byId(id).disabled = !card || isReadOnly;
  byId("undo").disabled = isReadOnly;
  if (!card) {
    byId("row-title").textContent = pending.size ? "loading …" : "Every row has a label";
    byId("content").replaceChildren();
    byId("classes").replaceChildren();
    return;
  }
  byId("row-title").textContent = `Row ${card.row + 1}`;
  byId("content").replaceChildren(...contentOf(card));
  const names = JSON.stringify(state.classes);
  if (byId("classes").dataset.names !== names || !byId("classes").childElementCount) {
    byId("classes").replaceChildren(...classButtons());
    byId("classes").dataset.names = names;
    if (!state.classes.length)
      byId("classes").append(el("p", { class: "quiet" }, "There is no class yet: press n to name the first one."));
  }
  for (const button of byId("classes").querySelectorAll("button")) button.disabled = isReadOnly;
}

const range = (point) => (point.low === null ? "" : `, 90 % interval ${percent(point.low)} to ${percent(point.high)}`);

function showCurve() {
  const points = state.curve.filter((point) => point.expected !== null);
  const shown = JSON.stringify(points);
  if (shown === drawn) return;
  drawn = shown;
  if (!points.length) return byId("curve").replaceChildren();
  const series = {
    name: "expected accuracy",
    ink: "var(--accent)",
    band: points.length > 1,
    points: points.map((point) => ({
      x: point.n_labels,
      y: point.expected,
      low: point.low ?? point.expected,
      high: point.high ?? point.expected,
      tip: `${plural(point.n_labels, "label")}\nexpected ${percent(point.expected)}${range(point)}`,
    })),
  };
  byId("curve").replaceChildren(
    figure({
      title: "Accuracy to expect",
      draw: (width) =>
        lines(
          {
            series: [series],
            xs: points.map((point) => point.n_labels),
            xTitle: "rows with a label",
            yTitle: "accuracy",
            yTo: 1,
            yText: (share) => percent(share),
          },
          width,
        ),
      caption: `The ${points.length > 1 ? "band" : "line"} is the 90 % interval.`,
      numbers: {
        rows: points,
        columns: [
          { title: "labels", number: true, value: (point) => whole(point.n_labels) },
          { title: "expected", number: true, value: (point) => percent(point.expected, 1) },
          {
            title: "90 % interval",
            number: true,
            value: (point) => (point.low === null ? "–" : `${percent(point.low)} to ${percent(point.high)}`),
          },
        ],
      },
    }),
  );
}

function show() {
  const where = key ? "with this prediction" : `in ${state.file}`;
  const until =
    main.dataset.isKept === "true" ? "" : " until the dashboard stops (start it with --history FOLDER to keep them)";
  byId("saved").textContent =
    `The labels are those of column “${state.column}”. Each one is saved at once ${where}${until}; ${state.target} itself is not changed.`;
  byId("counts").textContent = `${whole(state.n_labels)} of ${plural(state.n_rows, "row")} labelled`;
  byId("sentence").textContent = state.sentence;
  byId("advice").textContent = state.advice;
  byId("renewing").textContent = state.renewing ? "predicting with the labels so far …" : "";
  byId("renew").disabled = state.renewing || isReadOnly;
  byId("strategy").value = state.strategy;
  byId("strategy").disabled = state.renewing || isReadOnly;
  const link = byId("result");
  if (state.prediction && link?.dataset.id !== state.prediction) {
    link?.remove();
    const made = el("a", { class: "button", href: `/predictions/${state.prediction}` }, "Prediction of all rows");
    made.id = "result";
    made.dataset.id = state.prediction;
    byId("downloads").append(made);
  }
  showCard();
  showCurve();
}

// Takes what the server knows, without rows whose labels are on their way. With `keep`, the row that is shown stays, so
// that no key labels a row that was not read.
function take(found, { keep = true } = {}) {
  const shown = keep ? cards[0] : undefined;
  state = found;
  const others = found.cards.filter((card) => !pending.has(card.row) && card.row !== shown?.row);
  cards = shown ? [shown, ...others] : others;
  show();
}

// Asks the server again while it predicts, or until it responds again. A message that a row was not saved stays.
let polling = null;
let isAway = false;
function poll() {
  clearTimeout(polling);
  if (!state?.renewing && !isAway) return;
  polling = setTimeout(async () => {
    try {
      take(await api(at("")));
      if (isAway) say("The server responds again.");
      isAway = false;
    } catch (error) {
      if (!isAway && byId("status").className !== "trouble") say(sentence(error), true);
      isAway = true;
    }
    poll();
  }, 1000);
}

// Labels or skips the row that is shown.
function act(kind, name) {
  const card = cards.shift();
  if (!card) return;
  pending.add(card.row);
  showCard();
  say(kind === "label" ? `${rowName(card)}: ${name}` : `${rowName(card)} skipped`);
  const path = at(kind === "label" ? "/labels" : "/skips");
  const request = kind === "label" ? { row: card.row, label: name } : { row: card.row };
  queue = queue.then(async () => {
    try {
      const found = await post(path, request);
      pending.delete(card.row);
      take(found);
    } catch (error) {
      pending.delete(card.row);
      cards.unshift(card);
      showCard();
      say(`${rowName(card)} was not saved: ${sentence(error)}`, true);
    }
    poll();
  });
}

function undo() {
  queue = queue.then(async () => {
    try {
      take(await post(at("/undo"), {}), { keep: false });
      say(`undone: ${rowName(cards[0])} is shown again`);
    } catch (error) {
      say(sentence(error), true);
    }
  });
}

async function ask(path, request) {
  try {
    take(await post(path, request), { keep: false });
  } catch (error) {
    say(sentence(error), true);
  }
  poll();
}
const renew = () => ask(at("/predictions"), {});

function openForm(isOpen) {
  byId("adding").hidden = !isOpen;
  if (isOpen) byId("adding").elements.name.focus();
  else byId("add").focus();
}

byId("add").addEventListener("click", () => openForm(true));
byId("dismiss").addEventListener("click", () => openForm(false));
byId("adding").addEventListener("submit", (event) => {
  event.preventDefault();
  const name = byId("adding").elements.name.value.trim();
  if (!name) return;
  byId("adding").reset();
  openForm(false);
  act("label", name);
});
byId("skip").addEventListener("click", () => act("skip"));
byId("undo").addEventListener("click", undo);
byId("renew").addEventListener("click", renew);
byId("strategy").addEventListener("change", (event) => ask(at("/strategy"), { strategy: event.target.value }));

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !byId("adding").hidden) return openForm(false);
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || !state) return;
  if (event.target.closest("input, select, textarea") || isReadOnly) return;
  const pressed = event.key.toLowerCase();
  const code = KEYS.indexOf(pressed);
  if (pressed === "n" && cards.length) openForm(true);
  else if (pressed === "s") act("skip");
  else if (pressed === "u") undo();
  else if (pressed === "p") renew();
  else if (code >= 0 && code < state.classes.length) act("label", state.classes[code]);
  else return;
  event.preventDefault();
});

try {
  take(await api(at("")));
  poll();
} catch (error) {
  byId("row-title").textContent = "No rows";
  say(sentence(error), true);
}
