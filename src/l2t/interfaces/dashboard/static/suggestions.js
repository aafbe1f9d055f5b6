// Suggestions of the agent without an outcome, each with a form to report it.

import { api, badge, byId, el, fixed, main, moment, plural, post, sentence, table } from "./base.js";

const interval = (low, high) => (high ? `${fixed(low)} – ${fixed(high)}` : "unknown");

const place = byId("suggestions");
const readOnly = main.dataset.readOnly === "true";

// fresh: the id of a new suggestion, which is highlighted; message: shown above the table.
export async function suggestions({ fresh = null, message = "" } = {}) {
  const status = el("p", { role: "status" }, message);
  let open;
  try {
    open = await api("/api/suggestions");
  } catch (error) {
    place.replaceChildren(el("p", { class: "trouble", role: "alert" }, sentence(error)));
    return;
  }
  const showError = (text) => {
    status.className = "trouble";
    status.textContent = text;
  };
  const made = table(columns(showError), open.items, {
    label: "Open suggestions",
    empty: readOnly ? "No open suggestions." : "No open suggestions. Ask the agent above, or with l2t ask.",
  });
  const at = open.items.findIndex((each) => each.id === fresh);
  if (at >= 0) made.querySelectorAll("tbody tr")[at].classList.add("chosen");
  place.replaceChildren(
    el("h2", {}, "Open suggestions"),
    el(
      "p",
      { class: "quiet" },
      "Report the outcome of each suggestion that you tried, good or bad: the accuracy without and with the transfer on the same test rows, from 0 to 1.",
    ),
    status,
    made,
    open.total > open.items.length
      ? el("p", { class: "quiet" }, `The newest ${open.items.length} of ${open.total}.`)
      : "",
  );
}

function columns(showError) {
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
      title: "uses",
      value: (s) => {
        if (s.choice === "identity") return badge("nothing: do not transfer", "bad");
        return s.choice === "spectrum" ? badge("the target's own rows") : badge("the source", "good");
      },
    },
    { title: "when", class: "when", value: (s) => moment(s.created_at) },
  ];
  return readOnly ? all : [...all, { title: "outcome", value: (s) => outcome(s, showError) }];
}

function outcome(suggestion, showError) {
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
    { class: "outcome", novalidate: true },
    number("accuracy_before", "Accuracy before", "before"),
    number("accuracy_after", "Accuracy after", "after"),
    el("button", { "aria-label": `Report the outcome of ${id}` }, "Report"),
  );
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const missing = [...form.querySelectorAll("input")].find((input) => input.value === "");
    if (missing) {
      missing.focus();
      showError("Enter both accuracies, as numbers from 0 to 1.");
      return;
    }
    const button = form.querySelector("button");
    button.disabled = true;
    const accuracies = Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, Number(value)]));
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
  return form;
}
