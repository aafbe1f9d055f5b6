// What a transfer shows: the objective as it falls, the verdict, and why.

import { badge, card, el, fixed, percent, plural, table } from "./base.js";
import { bars, lines, shares } from "./charts.js";
import { figure, legend } from "./figure.js";

const TERMS = [
  ["mmd", "distance of the domains", "var(--c0)"],
  ["variance", "its uncertainty", "var(--c3)"],
  ["discriminant", "poor separation", "var(--c2)"],
  ["bias", "what every transfer starts from", "var(--mark)"],
];

export const caption = (frame) =>
  frame.value === null
    ? "As they are."
    : `${frame.iteration === null ? `Start ${frame.name}` : frame.iteration ? `Step ${frame.iteration} from ${frame.name}` : `From ${frame.name}`}: 1/f ${fixed(frame.value)}.`;

export function objective(frames) {
  return figure({
    title: "Objective 1/f, live",
    above: legend([
      ["starts", "var(--mark)"],
      ["the search", "var(--accent)"],
    ]),
    draw: (width) => {
      const starts = frames.filter((f) => f.value !== null && f.iteration === null),
        steps = frames.filter((f) => f.iteration !== null);
      const last = Math.max(steps.length - 1, 4);
      return lines(
        {
          height: Math.max(300, Math.min(width, 480)),
          xTitle: "step of conjugate gradient",
          yTitle: "1/f (lower is better)",
          xs: Array.from({ length: last + 1 }, (_, i) => i),
          series: [
            {
              name: "starts",
              ink: "var(--mark)",
              line: false,
              points: starts.map((f) => ({
                x: 0,
                y: f.value,
                tip: `start ${f.name}\n1/f ${fixed(f.value)}`,
              })),
            },
            {
              name: "search",
              ink: "var(--accent)",
              points: steps.map((f) => ({
                x: f.iteration,
                y: f.value,
                tip: `step ${f.iteration} from ${f.name}\n1/f ${fixed(f.value)}`,
              })),
            },
          ],
        },
        width,
      );
    },
    caption:
      "Each start is compared first; the search goes on from the best. Few steps are better than many.",
  });
}

export function player(frames, picture) {
  const told = el("span", {}, "replay");
  const slider = el("input", {
    type: "range",
    min: 0,
    max: frames.length - 1,
    value: frames.length - 1,
    "aria-label": "Frame of the picture",
    input: () => {
      const frame = frames[Number(slider.value)];
      picture.say(caption(frame));
      picture.move(frame.points, 150);
    },
  });
  return el("div", { class: "player" }, told, slider);
}

export function verdict(job) {
  const found = job.result,
    use = found.verdict === "transfer";
  const interval = found.interval
    ? `90 %: ${fixed(found.interval[0])} to ${fixed(found.interval[1])}`
    : "no interval: the function is not calibrated";
  const names = {
    "target_z.csv": "target, csv",
    "target_z.npz": "target, npz",
    "W.npy": "W, npy",
    "result.json": "numbers, json",
  };
  return el(
    "div",
    { class: "card verdict" },
    el(
      "div",
      {},
      el("div", { class: `value ${use ? "better" : "worse"}` }, fixed(found.predicted)),
      el("div", { class: "quiet" }, "predicted improvement ratio"),
      el("div", { class: "quiet" }, interval),
    ),
    el(
      "div",
      {},
      el(
        "p",
        {},
        badge(use ? "transfer" : "do not transfer", use ? "good" : "bad"),
        ` ${found.source} → ${found.target}`,
      ),
      el("p", {}, `${found.reason[0].toUpperCase()}${found.reason.slice(1)}.`),
      el(
        "p",
        { class: "quiet" },
        `W is ${found.W_shape[0]} × ${found.W_shape[1]}, from ${found.start}, ${plural(found.history.length - 1, "step")} (${found.plan.constraint}).${use ? "" : " The target below is unchanged."}`,
      ),
      found.suggestion
        ? el(
            "p",
            {},
            "Kept as suggestion ",
            el("code", {}, found.suggestion),
            ` of the agent, version ${found.version}. `,
            el("a", { href: "#suggestions" }, "Tell it the outcome"),
            ".",
          )
        : null,
      el(
        "div",
        { class: "downloads" },
        Object.keys(names)
          .filter((name) => job.files.includes(name))
          .map((name) =>
            el(
              "a",
              { class: "button", href: `/api/jobs/${job.id}/files/${name}`, download: name },
              names[name],
            ),
          ),
      ),
    ),
  );
}

export function why(found) {
  const terms = TERMS.map(([key, name, ink]) => ({ name, ink, value: found.terms[key] }));
  const used = found.exponents.map((p, i) => [p, i]).filter(([, i]) => found.weights[i] > 0);
  return [
    figure({
      title: "Why: the terms of 1/f",
      above: legend(TERMS.map(([, name, ink]) => [name, ink])),
      draw: (width) => shares([{ name: "1/f", parts: terms }], width),
      caption:
        "The smaller the sum, the better the prediction; what is left of the bias is what this pair adds.",
      numbers: {
        rows: terms,
        columns: [
          { title: "term", value: (t) => t.name },
          { title: "part of 1/f", number: true, value: (t) => fixed(t.value) },
        ],
      },
    }),
    figure({
      title: "Why: the kernels",
      above: legend(TERMS.slice(0, 3).map(([, name, ink]) => [name, ink])),
      draw: (width) =>
        bars(
          {
            xs: used.map(([p]) => p),
            stacked: true,
            height: 220,
            xTitle: "p of the bandwidth 2^p η",
            yTitle: "part of 1/f",
            sets: TERMS.slice(0, 3).map(([key, name, ink]) => ({
              name,
              ink,
              values: used.map(([, i]) => found.by_kernel[key][i]),
            })),
          },
          width,
        ),
      caption: "Kernels with a weight, and what each adds.",
      numbers: {
        rows: used,
        columns: [
          { title: "p", number: true, value: ([p]) => String(p) },
          { title: "beta share", number: true, value: ([, i]) => percent(found.weights[i], 1) },
          ...TERMS.slice(0, 3).map(([key, name]) => ({
            title: name,
            number: true,
            value: ([, i]) => fixed(found.by_kernel[key][i]),
          })),
        ],
      },
    }),
    card(
      el("h2", {}, "Starts"),
      table(
        [
          { title: "start", value: (c) => c.name },
          { title: "predicted ratio", number: true, value: (c) => fixed(c.predicted) },
          { title: "", value: (c) => c.reason || (c.name === found.start ? badge("taken", "good") : "") },
        ],
        found.candidates,
        { label: "Starts" },
      ),
    ),
    card(el("h2", {}, "In words"), el("pre", {}, found.explanation)),
  ];
}
