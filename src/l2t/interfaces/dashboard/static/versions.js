// The versions of the agent's function: which took over from which, and the way back.

import { api, badge, el, fixed, main, moment, post, sentence, table, whole } from "./base.js";

const ORIGINS = {
  given: "what it began with",
  learned: "learned from its runs",
  refined: "its forecast refined by few runs",
};

// changed(version, words) is called when a version was taken into use again.
export async function versions(changed, words = null) {
  const all = await api("/api/versions");
  const readOnly = main.dataset.readOnly === "true";
  const status = el("p", { role: "status" }, words ?? "");
  const use = async (number, button) => {
    button.disabled = true;
    try {
      const again = await post(`/api/versions/${number}/use`, {});
      await changed(again, `Version ${number} is in use again, as version ${again.number}.`);
    } catch (error) {
      status.className = "trouble";
      status.textContent = sentence(error);
      button.disabled = false;
    }
  };
  const button = (v) => {
    const made = el(
      "button",
      {
        type: "button",
        class: "small",
        "aria-label": `Take version ${v.number} into use again`,
        click: () => use(v.number, made),
      },
      "take this version into use again",
    );
    return made;
  };
  return [
    el("h2", {}, "Versions of the agent"),
    el(
      "p",
      { class: "quiet" },
      "The agent learns from reported outcomes. A new version takes over only when it predicts held-out runs better; the error is the mean of |log(predicted / measured)|.",
    ),
    status,
    table(
      [
        {
          title: "version",
          number: true,
          value: (v) => el("a", { href: `/learned?${new URLSearchParams({ name: v.name })}` }, String(v.number)),
        },
        { title: "from", number: true, value: (v) => (v.parent === null ? "–" : String(v.parent)) },
        { title: "origin", value: (v) => ORIGINS[v.origin] ?? `version ${v.parent}, used again` },
        { title: "runs", number: true, value: (v) => whole(v.runs) },
        { title: "judged on", number: true, value: (v) => (v.judged_on ? whole(v.judged_on) : "–") },
        {
          title: "error",
          number: true,
          class: (v) => (v.error === null ? "" : v.error < v.incumbent_error ? "better" : "worse"),
          value: (v) => fixed(v.error, 4),
        },
        { title: "in use before", number: true, value: (v) => fixed(v.incumbent_error, 4) },
        { title: "took over", value: (v) => (v.took_over ? "yes" : "no") },
        { title: "when", class: "when", value: (v) => moment(v.created_at) },
        { title: "", value: (v) => (v.in_use ? badge("in use", "good") : readOnly ? "" : button(v)) },
      ],
      [...all].reverse(),
      {
        label: "Versions of the agent",
        empty: "No agent has worked on this store yet; ask it above, or by l2t ask.",
      },
    ),
  ];
}
