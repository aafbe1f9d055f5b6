// What a transfer shows: the choice, what to expect of it, all candidates, and the target before and after.

import { badge, card, el, fixed, percent, plural, ratioClass, table } from "./base.js";
import { cloud } from "./cloud.js";

export const STAGES = {
  known: "collecting the known classes …",
  rehearsing: "rehearsing the candidates on the known classes …",
  fitting: "fitting the candidates to your target …",
  choosing: "choosing …",
};

const DOWNLOADS = {
  "target_z.csv": "target, csv",
  "target_z.npz": "target, npz",
  "W.npy": "linear map, npy",
  "result.json": "numbers, json",
};

export const interval = (low, high) => (high ? `${fixed(low)} – ${fixed(high)}` : "unknown");

export const verdictBadge = (verdict) =>
  verdict === "transfer" ? badge("transfer", "good") : badge("do not transfer", "bad");

const sentence = (reason) => `${reason[0].toUpperCase()}${reason.slice(1)}.`;

export function verdict(job) {
  const found = job.result,
    use = found.verdict === "transfer";
  return el(
    "div",
    { class: "card verdict" },
    el(
      "div",
      {},
      el("div", { class: `value ${ratioClass(found.predicted)}` }, fixed(found.predicted)),
      el("div", { class: "quiet" }, "predicted improvement ratio"),
      use ? el("div", { class: "quiet" }, `90 %: ${interval(...(found.interval ?? []))}`) : null,
    ),
    el(
      "div",
      {},
      el("p", {}, verdictBadge(found.verdict), ` ${found.source} → ${found.target}`),
      el("p", {}, sentence(found.reason)),
      el(
        "p",
        { class: "quiet" },
        `For ${plural(found.n_labels, "label")} of ${plural(found.n_classes, "class", "classes")}. `,
        use ? `The transformed target has ${plural(found.W_shape[1], "column")}.` : "The target is unchanged.",
      ),
      found.suggestion
        ? el(
            "p",
            {},
            "Kept as suggestion ",
            el("code", {}, found.suggestion),
            " of the agent. ",
            el("a", { href: "#suggestions" }, "Report the outcome"),
            ".",
          )
        : null,
      el(
        "div",
        { class: "downloads" },
        Object.keys(DOWNLOADS)
          .filter((name) => job.files.includes(name))
          .map((name) =>
            el(
              "a",
              { class: "button", href: `/api/jobs/${job.id}/files/${name}`, download: name },
              DOWNLOADS[name],
            ),
          ),
      ),
    ),
  );
}

export function candidates(found) {
  const ratio = (value) => el("span", { class: ratioClass(value) }, fixed(value));
  return card(
    el("h2", {}, "Candidates"),
    table(
      [
        { title: "candidate", value: (c) => c.candidate },
        { title: "rehearsed", number: true, value: (c) => ratio(c.rehearsed) },
        { title: "predicted", number: true, value: (c) => ratio(c.predicted) },
        { title: "90 % interval", number: true, value: (c) => interval(c.low, c.high) },
        { title: "same class nearer", value: evidence },
        { title: "", value: (c) => c.reason || (c.chosen ? badge("chosen", "good") : "") },
      ],
      found.candidates,
      { label: "Candidates" },
    ),
    el(
      "p",
      { class: "quiet" },
      "Improvement ratios: rehearsed on the known classes, and predicted for your target with the evidence of its labelled rows. “Same class nearer” is how often a labelled row is nearer to one of its class than to one of another. Identity means not to transfer.",
    ),
  );
}

const evidence = (c) =>
  c.labelled_rows === null
    ? "–"
    : `${percent(c.same_class_nearer, 1)}, without ${percent(c.same_class_nearer_without, 1)}, on ${plural(c.labelled_rows, "labelled row")}`;

export function pictures(found) {
  const seen = found.picture;
  const caption = "Two principal components of both domains together.";
  const made = [cloud(seen, seen.before, { title: "As they are", caption, file: "before" })];
  if (seen.after)
    made.push(cloud(seen, seen.after, { title: `Transformed by ${found.choice}`, caption, file: "after" }));
  return made;
}
