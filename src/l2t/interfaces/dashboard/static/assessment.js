// How good functions are on pairs of the store: predictions, coverage and terms.

import { fixed, percent, plural } from "./base.js";
import { bars, lines, scatter, shares } from "./charts.js";
import { color, figure, legend } from "./figure.js";

export const INKS = ["var(--c0)", "var(--c1)"];
const TERMS = [
  ["mmd", "distance of the domains (β′d)", "var(--c0)"],
  ["variance", "its uncertainty (λ β′Qβ)", "var(--c3)"],
  ["discriminant", "poor separation (μ / β′τ)", "var(--c2)"],
  ["bias", "what every transfer starts from (b)", "var(--mark)"],
];

export function assessed(all, pairs) {
  const where = pairs === "held-out" ? "pairs of this store that were held out" : "pairs of this store";
  const seen = all.filter((a) => a.perhaps_seen).map((a) => a.name);
  const pictures = [];
  for (const each of all) {
    const algorithms = [...new Set(each.points.map((p) => p.algorithm))].sort();
    pictures.push(
      figure({
        title: `Predicted against actual ratio${all.length > 1 ? `: ${each.name}` : ""}`,
        above: legend(algorithms.map((name, i) => [name, color(i)])),
        draw: (width) =>
          scatter(
            {
              xTitle: "predicted",
              yTitle: "actual, mean up to 30 labels",
              groups: algorithms.map((name, i) => ({
                name,
                ink: color(i),
                points: each.points
                  .filter((p) => p.algorithm === name)
                  .map((p) => ({
                    x: p.predicted,
                    y: p.actual,
                    href: `/experiences/${p.run_key}`,
                    tip: `${p.algorithm}: ${p.source_name} → ${p.target_name}\npredicted ${fixed(p.predicted)}, actual ${fixed(p.actual)}`,
                  })),
              })),
            },
            width,
          ),
        caption: `${plural(each.n_runs, "run")} on ${plural(each.n_pairs, "pair")} (${where}); rank correlation ${fixed(each.rank_correlation, 2)}, error ${fixed(each.rmse)}.${seen.includes(each.name) ? " It may have been learned from these very pairs." : ""}`,
        numbers: {
          rows: each.points,
          columns: [
            { title: "algorithm", value: (p) => p.algorithm },
            { title: "source", value: (p) => p.source_name },
            { title: "target", value: (p) => p.target_name },
            { title: "predicted", number: true, value: (p) => fixed(p.predicted) },
            { title: "actual", number: true, value: (p) => fixed(p.actual) },
          ],
        },
      }),
    );
  }
  const calibrated = all.filter((a) => a.coverage.length);
  if (calibrated.length) {
    const counts = [...new Set(calibrated.flatMap((a) => a.coverage.map((c) => c.n_labels)))].sort(
      (a, b) => a - b,
    );
    const share = (a, n) => a.coverage.find((c) => c.n_labels === n)?.share ?? 0;
    pictures.push(
      figure({
        title: "Coverage of 90 % intervals by number of labels",
        above: calibrated.length > 1 ? legend(calibrated.map((a, i) => [a.name, INKS[i]])) : null,
        draw: (width) =>
          bars(
            {
              xs: counts,
              yTo: 1.02,
              reference: 0.9,
              xTitle: "labels",
              yTitle: "share of ratios inside",
              sets: calibrated.map((a, i) => ({
                name: a.name,
                ink: INKS[i],
                values: counts.map((n) => share(a, n)),
              })),
              tip: (i, s) =>
                `${calibrated[s].name}, ${counts[i]} labels\n${percent(share(calibrated[s], counts[i]), 1)} inside`,
            },
            width,
          ),
        caption: "The dashed line is what is promised.",
        numbers: {
          rows: counts,
          columns: [
            { title: "labels", number: true, value: (n) => String(n) },
            ...calibrated.map((a) => ({
              title: a.name,
              number: true,
              value: (n) => percent(share(a, n), 1),
            })),
          ],
        },
      }),
      figure({
        title: "Coverage by level",
        above: calibrated.length > 1 ? legend(calibrated.map((a, i) => [a.name, INKS[i]])) : null,
        draw: (width) =>
          lines(
            {
              xTitle: "level of the interval",
              yTitle: "share of ratios inside",
              yFrom: 0,
              yTo: 1.02,
              series: [
                {
                  name: "promised",
                  ink: "var(--mark)",
                  dash: "4 4",
                  points: [0.5, 0.95].map((v) => ({ x: v, y: v })),
                },
                ...calibrated.map((a, i) => ({
                  name: a.name,
                  ink: INKS[i],
                  points: a.reliability.map((r) => ({
                    x: r.level,
                    y: r.share,
                    tip: `${a.name}\n${percent(r.level)} intervals cover ${percent(r.share, 1)}`,
                  })),
                })),
              ],
            },
            width,
          ),
        caption: "Above the dashed line intervals are wider than needed, below they promise too much.",
        numbers: {
          rows: calibrated[0].reliability.map((r) => r.level),
          columns: [
            { title: "level", number: true, value: (l) => percent(l) },
            ...calibrated.map((a) => ({
              title: a.name,
              number: true,
              value: (l) => percent(a.reliability.find((r) => r.level === l)?.share, 1),
            })),
          ],
        },
      }),
    );
  }
  pictures.push(
    figure({
      title: "The terms of 1/f, on average",
      above: legend(TERMS.map(([, name, ink]) => [name, ink])),
      draw: (width) =>
        shares(
          all.map((a) => ({
            name: a.name,
            parts: TERMS.map(([key, name, ink]) => ({ name, ink, value: a.terms[key] })),
          })),
          width,
        ),
      caption: `Means over the runs above: what 1/f is made of. A smaller sum is a better prediction.`,
      numbers: {
        rows: TERMS,
        columns: [
          { title: "term", value: ([, name]) => name },
          ...all.map((a) => ({ title: a.name, number: true, value: ([key]) => fixed(a.terms[key]) })),
        ],
      },
    }),
  );
  if (pictures.length % 2) pictures.at(-1).classList.add("whole");
  return pictures;
}
