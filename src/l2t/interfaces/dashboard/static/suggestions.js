// Suggestions of the agent whose outcome is open, each with a form to report it.

import { api, badge, byId, el, fixed, main, moment, plural, post, sentence, table } from "./base.js";

const interval = (low, high) => (high ? `${fixed(low)} – ${fixed(high)}` : "unknown");

const place = byId("suggestions");
const readOnly = main.dataset.readOnly === "true";

// fresh: the id of a suggestion that was just made; it is marked, and words are said above the table.
export async function suggestions({ fresh = null, words = "" } = {}) {
  const status = el("p", { role: "status" }, words);
  let told;
  try {
    told = await api("/api/suggestions");
  } catch (error) {
    place.replaceChildren(el("p", { class: "trouble", role: "alert" }, sentence(error)));
    return;
  }
  const say = (text) => {
    status.className = "trouble";
    status.textContent = text;
  };
  const made = table(columns(say), told.items, {
    label: "Open suggestions",
    empty: readOnly ? "None is open." : "None is open. Ask the agent above, or by l2t ask.",
  });
  const at = told.items.findIndex((each) => each.id === fresh);
  if (at >= 0) made.querySelectorAll("tbody tr")[at].classList.add("chosen");
  place.replaceChildren(
    el("h2", {}, "Open suggestions"),
    el(
      "p",
      { class: "quiet" },
      "Report the outcome of each, good or bad: the accuracy on the same test rows before and after the transfer, from 0 to 1. Where you never tried it there is nothing to report.",
    ),
    status,
    made,
    told.total > told.items.length
      ? el("p", { class: "quiet" }, `The newest ${told.items.length} of ${told.total}.`)
      : "",
  );
}

function columns(say) {
  const all = [
    { title: "id", value: (s) => el("code", {}, s.id) },
    { title: "source", class: "name", value: (s) => el("span", { title: s.source }, s.source) },
    { title: "target", class: "name", value: (s) => el("span", { title: s.target }, s.target) },
    { title: "choice", value: (s) => s.choice },
    { title: "labels", number: true, value: (s) => String(s.n_labels) },
    {
      title: "predicted",
      number: true,
      value: (s) => el("span", { title: `90 %: ${interval(...(s.interval ?? []))}` }, fixed(s.predicted)),
    },
    {
      title: "verdict",
      value: (s) => (s.verdict === "transfer" ? badge("transfer", "good") : badge("do not transfer", "bad")),
    },
    { title: "when", class: "when", value: (s) => moment(s.created_at) },
  ];
  return readOnly ? all : [...all, { title: "outcome", value: (s) => outcome(s, say) }];
}

function outcome(suggestion, say) {
  const id = suggestion.id;
  const number = (name, what, hint) =>
    el("input", {
      type: "number",
      name,
      step: "any",
      required: true,
      placeholder: hint,
      "aria-label": `${what} of ${id}`,
    });
  const form = el(
    "form",
    { class: "tell", novalidate: true },
    number("accuracy_before", "Accuracy before", "before"),
    number("accuracy_after", "Accuracy after", "after"),
    el("button", { "aria-label": `Report the outcome of ${id}` }, "Report"),
  );
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const missing = [...form.querySelectorAll("input")].find((input) => input.value === "");
    if (missing) {
      missing.focus();
      say("Enter both accuracies, as numbers from 0 to 1.");
      return;
    }
    const button = form.querySelector("button");
    button.disabled = true;
    const said = Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, Number(value)]));
    try {
      const told = await post(`/api/suggestions/${suggestion.id}/outcome`, said);
      const expected = `, where ${fixed(told.predicted)} was predicted`;
      await suggestions({
        words: `Reported: an improvement ratio of ${fixed(told.improvement_ratio)} at ${plural(told.n_labels, "label")}${expected}.`,
      });
    } catch (error) {
      say(sentence(error));
      button.disabled = false;
    }
  });
  return form;
}
