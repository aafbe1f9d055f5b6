// Suggestions of the agent with their outcomes, or a form to report one.

import { api, badge, byId, el, fixed, main, moment, plural, post, runLink, sentence, table } from "./base.js";

const interval = (low, high) => (high ? `${fixed(low)} – ${fixed(high)}` : "unknown");

const place = byId("suggestions");
const readOnly = main.dataset.readOnly === "true";

// fresh: the id of a new suggestion, which is highlighted; message: shown above the table.
export async function suggestions({ fresh = null, message = "" } = {}) {
  const status = el("p", { role: "status" }, message);
  let found;
  try {
    found = await api("/api/suggestions");
  } catch (error) {
    place.replaceChildren(el("p", { class: "trouble", role: "alert" }, sentence(error)));
    return;
  }
  const showError = (text) => {
    status.className = "trouble";
    status.textContent = text;
  };
  const made = table(columns(showError), found.items, {
    label: "Suggestions",
    empty: readOnly ? "No suggestions." : "No suggestions. Ask the agent above, or with l2t agent ask.",
  });
  const at = found.items.findIndex((suggestion) => suggestion.id === fresh);
  if (at >= 0) made.querySelectorAll("tbody tr")[at].classList.add("chosen");
  place.replaceChildren(
    el("h2", {}, "Suggestions"),
    el(
      "p",
      { class: "quiet" },
      "Report the outcome of each suggestion that you tried, good or bad: the accuracy without and with the transfer on the same test rows, from 0 to 1.",
    ),
    status,
    made,
    found.total > found.items.length
      ? el("p", { class: "quiet" }, `The first ${found.items.length} of ${found.total}.`)
      : "",
  );
}

function columns(showError) {
  return [
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
      title: "uses",
      value: (s) => {
        if (s.choice === "identity") return badge("nothing: do not transfer", "bad");
        return s.uses_source ? badge("the source", "good") : badge("the target's own rows");
      },
    },
    { title: "when", class: "when", value: (s) => moment(s.created_at) },
    { title: "outcome", value: (s) => (s.outcome ? measured(s) : readOnly ? "–" : form(s, showError)) },
  ];
}

function measured({ run, outcome }) {
  const accuracies = `${fixed(outcome.accuracy_before)} → ${fixed(outcome.accuracy_after)}`;
  return runLink(run, `${fixed(outcome.improvement_ratio)} (${accuracies})`);
}

function form(suggestion, showError) {
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
  const made = el(
    "form",
    { class: "outcome", novalidate: true },
    number("accuracy_before", "Accuracy before", "before"),
    number("accuracy_after", "Accuracy after", "after"),
    el("button", { "aria-label": `Report the outcome of ${id}` }, "Report"),
  );
  made.addEventListener("submit", async (event) => {
    event.preventDefault();
    const missing = [...made.querySelectorAll("input")].find((input) => input.value === "");
    if (missing) {
      missing.focus();
      showError("Enter both accuracies, as numbers from 0 to 1.");
      return;
    }
    const button = made.querySelector("button");
    button.disabled = true;
    const accuracies = Object.fromEntries([...new FormData(made)].map(([name, value]) => [name, Number(value)]));
    try {
      const score = await post(`/api/suggestions/${suggestion.id}/outcome`, accuracies);
      await suggestions({
        message: `Reported: an improvement ratio of ${fixed(score.improvement_ratio)} at ${plural(score.n_labels, "label")}; predicted was ${fixed(score.predicted)}.`,
      });
    } catch (error) {
      showError(sentence(error));
      button.disabled = false;
    }
  });
  return made;
}
