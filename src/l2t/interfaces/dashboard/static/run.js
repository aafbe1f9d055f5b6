// Charts of runs, for one experience and for the comparison.

import { fixed, percent } from "./base.js";
import { lines } from "./charts.js";
import { color, figure, legend } from "./figure.js";

export const short = (run) => `${run.algorithm} ${run.run.slice(0, 4)}`;
export const title = (run) => `${run.algorithm}: ${run.source.name} → ${run.target.name}`;

// series: [{name, ink, run, side}]
export function accuracies(series, counts, name = "Accuracy by number of labels") {
  return figure({
    title: name,
    above: legend(series.map((each) => [each.name, each.ink])),
    draw: (width) =>
      lines(
        {
          xs: counts,
          log: true,
          xTitle: "labels",
          yTitle: "accuracy of 1-NN on the target",
          series: series.map((each) => ({
            name: each.name,
            ink: each.ink,
            dash: each.dash,
            points: each.run.scores.map((s) => {
              const y = s[`accuracy_${each.side}`],
                e = s[`standard_error_${each.side}`];
              return {
                x: s.n_labels,
                y,
                low: y - e,
                high: y + e,
                tip: `${each.name}, ${s.n_labels} labels\naccuracy ${percent(y, 1)} ± ${percent(e, 1)}`,
              };
            }),
          })),
        },
        width,
      ),
    caption: "Mean over the draws, with standard errors.",
    numbers: {
      rows: counts,
      columns: [
        { title: "labels", number: true, value: (n) => String(n) },
        ...series.map((each) => ({
          title: each.name,
          number: true,
          value: (n) => {
            const s = each.run.scores.find((score) => score.n_labels === n);
            return s ? `${fixed(s[`accuracy_${each.side}`])} ± ${fixed(s[`standard_error_${each.side}`])}` : "–";
          },
        })),
      ],
    },
  });
}

const WHAT = {
  d: ["Distance of the domains over bandwidths", "d: squared MMD after the transfer, ± its standard deviation.", "d"],
  tau: [
    "Separation of the target over bandwidths",
    "tau: how well the transfer keeps near rows together and far rows apart.",
    "tau",
  ],
};

export function statistics(runs, what) {
  const [name, caption, y] = WHAT[what];
  const known = runs.filter((run) => run.statistics);
  if (!known.length) return null;
  return figure({
    title: name,
    above: known.length > 1 ? legend(known.map((run) => [short(run), color(runs.indexOf(run))])) : null,
    draw: (width) =>
      lines(
        {
          xTitle: "p of the bandwidth 2^p η",
          yTitle: y,
          series: known.map((run) => ({
            name: title(run),
            ink: color(runs.indexOf(run)),
            band: what === "d" && known.length === 1,
            points: run.statistics.exponents.map((p, i) => {
              const value = run.statistics[what][i],
                e = run.statistics.deviation[i];
              return {
                x: p,
                y: value,
                ...(what === "d" && known.length === 1 ? { low: Math.max(value - e, 0), high: value + e } : {}),
                tip: `2^${p} η\n${y} ${value.toPrecision(4)}${what === "d" ? ` ± ${e.toPrecision(2)}` : ""}`,
              };
            }),
          })),
        },
        width,
      ),
    caption,
    numbers: {
      rows: known[0].statistics.exponents,
      columns: [
        { title: "p", number: true, value: (p) => String(p) },
        ...known.map((run) => ({
          title: run.algorithm,
          number: true,
          value: (p) => {
            const at = run.statistics.exponents.indexOf(p);
            return at < 0 ? "–" : run.statistics[what][at].toPrecision(4);
          },
        })),
      ],
    },
  });
}
