// Finished predictions: open, rename and delete them.

import { api, byId, el, fill, main, moment, percent, plural, post, rooted, sentence, table, whole } from "./base.js";

const isReadOnly = main.dataset.readOnly === "true";
const megabytes = (bytes) => `${(bytes / 2 ** 20).toFixed(bytes < 2 ** 20 ? 2 : 0)} MiB`;

const say = (text, trouble = false) => {
  byId("status").textContent = text;
  byId("status").className = trouble ? "trouble" : "quiet";
};

async function change(prediction, options, done) {
  try {
    await api(`/api/predictions/${prediction.id}`, options);
    await show();
    say(done);
  } catch (error) {
    say(sentence(error), true);
  }
}

function rename(prediction, place) {
  const name = el("input", {
    name: "name",
    value: prediction.name,
    maxlength: 200,
    required: true,
    "aria-label": "Name",
  });
  const form = el("form", { class: "outcome" }, name, el("button", {}, "Save"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const body = JSON.stringify({ name: name.value });
    const options = { method: "PATCH", headers: { "content-type": "application/json" }, body };
    change(prediction, options, `renamed to ${name.value}`);
  });
  place.replaceChildren(form);
  name.select();
}

// The first press asks for a second one.
function deletion(prediction) {
  const button = el("button", { type: "button", class: "small", "aria-label": `Delete ${prediction.name}` }, "Delete");
  button.addEventListener("click", () => {
    if (button.textContent === "Delete") button.textContent = "Delete for good?";
    else change(prediction, { method: "DELETE" }, `${prediction.name} is deleted`);
  });
  return button;
}

async function again(prediction) {
  try {
    const job = await post(`/api/predictions/${prediction.id}/again`, {});
    location.assign(rooted(`/predictions/${job.id}`));
  } catch (error) {
    say(sentence(error), true);
  }
}

// With the same files and settings, and the labels given since.
function repetition(prediction) {
  if (!prediction.is_repeatable) return null;
  const { name } = prediction;
  const label = `Predict again ${name}`;
  return [
    el(
      "a",
      { class: "button small", "aria-label": `Label ${name}`, href: `/predictions/${prediction.id}/label` },
      "Label",
    ),
    el(
      "button",
      { type: "button", class: "small", "aria-label": label, click: () => again(prediction) },
      "Predict again",
    ),
  ];
}

function named(prediction) {
  return el("span", {}, el("a", { href: `/predictions/${prediction.id}` }, prediction.name));
}

function actions(prediction) {
  const click = (event) => rename(prediction, event.target.closest("tr").querySelector("td"));
  const label = `Rename ${prediction.name}`;
  return el(
    "span",
    { class: "outcome" },
    repetition(prediction),
    el("button", { type: "button", class: "small", "aria-label": label, click }, "Rename"),
    deletion(prediction),
  );
}

const columns = [
  { title: "name", value: named },
  { title: "when", class: "when", value: (p) => moment(p.created_at) },
  { title: "target", class: "name", value: (p) => el("span", { title: p.target }, p.target) },
  {
    title: "sources",
    class: "name",
    value: (p) => el("span", { title: p.sources.join(", ") }, p.sources.join(", ") || "none"),
  },
  { title: "rows", number: true, value: (p) => whole(p.n_rows) },
  { title: "labelled", number: true, value: (p) => whole(p.n_given) },
  { title: "expected accuracy", number: true, value: (p) => percent(p.expected) },
  ...(isReadOnly ? [] : [{ title: "", value: actions }]),
];

const show = () =>
  fill(byId("table"), async () => {
    const found = await api("/api/predictions");
    byId("bound").textContent =
      `${plural(found.items.length, "prediction")} of at most ${whole(found.most)}, ${megabytes(found.bytes)} of at most ` +
      `${megabytes(found.most_bytes)}; the oldest are deleted first. ` +
      (found.is_kept
        ? "They are kept when the dashboard stops."
        : "They are deleted when the dashboard stops; start it with --history FOLDER to keep them.");
    return table(columns, found.items, { empty: "No predictions yet.", label: "Predictions" });
  });

show();
