// The versions of the agent's function, with a button to use an earlier one again.

import { api, badge, el, fixed, main, moment, post, sentence, table, whole } from "./base.js";

const ORIGINS = {
  given: "initial function",
  learned: "learned from the runs of the store",
  refined: "forecast refined with few runs",
};

// changed(message) is called when a version is used again.
export async function versions(changed, message = null) {
  const all = await api("/api/versions");
  const readOnly = main.dataset.readOnly === "true";
  const status = el("p", { role: "status" }, message ?? "");
  const use = async (number, button) => {
    button.disabled = true;
    try {
      const again = await post(`/api/versions/${number}/use`, {});
      await changed(`Version ${number} is in use again, as version ${again.number}.`);
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
        "aria-label": `Use version ${v.number} again`,
        click: () => use(v.number, made),
      },
      "use again",
    );
    return made;
  };
  return [
    el("h2", {}, "Versions of the agent"),
    el(
      "p",
      { class: "quiet" },
      "The agent learns from reported outcomes. A new version is used only if it predicts held-out runs better; the error is the mean of |log(predicted / measured)|.",
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
        { title: "held-out runs", number: true, value: (v) => (v.judged_on ? whole(v.judged_on) : "–") },
        {
          title: "error",
          number: true,
          class: (v) => (v.error === null ? "" : v.error < v.incumbent_error ? "better" : "worse"),
          value: (v) => fixed(v.error, 4),
        },
        { title: "error of the previous", number: true, value: (v) => fixed(v.incumbent_error, 4) },
        { title: "accepted", value: (v) => (v.took_over ? "yes" : "no") },
        { title: "when", class: "when", value: (v) => moment(v.created_at) },
        { title: "", value: (v) => (v.in_use ? badge("in use", "good") : readOnly ? "" : button(v)) },
      ],
      [...all].reverse(),
      {
        label: "Versions of the agent",
        empty: "The agent has not been used on this store yet; ask it above, or with l2t ask.",
      },
    ),
  ];
}
