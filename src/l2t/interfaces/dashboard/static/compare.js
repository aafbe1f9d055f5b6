import { api, byId, duration, el, fill, fixed, gain, plural, ratioClass, runLink, sentence, table } from "./base.js";
import { lines } from "./charts.js";
import { cloud } from "./cloud.js";
import { color, figure, legend } from "./figure.js";
import { accuracies, short, statistics, title } from "./run.js";

const MOST = 8;
const keys = [...new Set(new URLSearchParams(location.search).getAll("run"))].slice(0, MOST);

fill(byId("table"), async () => {
  if (keys.length < 2)
    return el(
      "p",
      { class: "empty" },
      "Select two or more runs in the ",
      el("a", { href: "/experiences" }, "table of experiences"),
      " to compare them.",
    );
  const runs = await Promise.all(keys.map((key) => api(`/api/runs/${key}`)));
  const counts = [...new Set(runs.flatMap((run) => run.scores.map((s) => s.n_labels)))].sort((a, b) => a - b);
  charts(
    runs.filter((run) => run.status === "done"),
    counts,
  );
  const at = (run, n) => run.scores.find((s) => s.n_labels === n);
  const dot = (i) => {
    const made = el("i", { class: "dot" });
    made.style.background = color(i);
    return made;
  };
  return table(
    [
      { title: "", value: (run) => dot(runs.indexOf(run)) },
      { title: "run", value: (run) => runLink(run.run, el("code", {}, run.run.slice(0, 8))) },
      { title: "algorithm", value: (run) => run.algorithm },
      {
        title: "source",
        class: "name",
        value: (run) => el("span", { title: run.source.name }, run.source.name),
      },
      {
        title: "target",
        class: "name",
        value: (run) => el("span", { title: run.target.name }, run.target.name),
      },
      { title: "matrix", number: true, value: (run) => (run.W_shape ? run.W_shape.join(" × ") : "failed") },
      ...counts.map((n) => ({
        title: n === counts[0] ? `change at ${plural(n, "label")}` : String(n),
        number: true,
        value: (run) =>
          el(
            "span",
            { class: ratioClass(at(run, n)?.improvement_ratio, at(run, n)?.ratio_error) },
            gain(at(run, n)?.improvement_ratio),
          ),
      })),
      { title: "time", number: true, value: (run) => duration(run.duration) },
    ],
    runs,
    { label: "Runs" },
  );
});

function charts(runs, counts) {
  if (!runs.length) return;
  const series = runs.map((run, i) => ({ name: short(run), ink: color(i), run, side: "after" }));
  byId("charts").replaceChildren(
    ...[
      figure({
        title: "Improvement ratio by number of labels",
        above: legend(series.map((s) => [s.name, s.ink])),
        draw: (width) =>
          lines(
            {
              xs: counts,
              log: true,
              reference: 1,
              xTitle: "labels",
              yTitle: "ratio",
              series: series.map((s) => ({
                name: s.name,
                ink: s.ink,
                points: s.run.scores.map((p) => ({
                  x: p.n_labels,
                  y: p.improvement_ratio,
                  tip: `${s.name}, ${p.n_labels} labels\nratio ${fixed(p.improvement_ratio)}`,
                })),
              })),
            },
            width,
          ),
        numbers: {
          rows: counts,
          columns: [
            { title: "labels", number: true, value: (n) => String(n) },
            ...series.map((s) => ({
              title: s.name,
              number: true,
              value: (n) => fixed(s.run.scores.find((p) => p.n_labels === n)?.improvement_ratio),
            })),
          ],
        },
      }),
      accuracies(series, counts, "Accuracy with transfer by number of labels"),
      statistics(runs, "d"),
      statistics(runs, "tau"),
    ].filter(Boolean),
  );
  runs.forEach(async (run) => {
    const place = el("div", {});
    byId("pictures").append(place);
    try {
      const picture = await api(`/api/runs/${run.run}/picture`);
      const options = { title: `With ${short(run)}`, file: `with-${short(run)}`, caption: title(run) };
      place.append(cloud(picture, picture.after, options));
    } catch (error) {
      place.append(el("p", { class: "card trouble" }, sentence(error)));
    }
  });
}
