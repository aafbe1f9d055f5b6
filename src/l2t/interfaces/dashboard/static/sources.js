import { api, byId, el, facts, fill, fixed, moment, percent, plural, table, tile, whole } from "./base.js";
import { figure } from "./figure.js";
import { distributions, matrix } from "./ratios.js";

fill(byId("totals"), async () => {
  const all = await api("/api/totals");
  return [
    tile(whole(all.experiences), "experiences"),
    tile(whole(all.runs), all.failed ? `runs, ${whole(all.failed)} failed` : "runs"),
    tile(whole(all.pairs), "pairs of domains"),
    tile(whole(all.algorithms), "algorithms"),
    tile(whole(all.domains), "domains"),
    tile(moment(all.last), "last addition"),
  ];
});

fill(byId("ratios"), async () => {
  const all = await api("/api/distributions");
  if (!all.length)
    return el(
      "div",
      { class: "card whole empty" },
      "No experiences yet. Collect some:",
      el("br"),
      el("code", {}, "l2t collect source.csv target.csv --store experiences.db"),
    );
  const counts = [...new Set(all.map((each) => each.n_labels))].sort((a, b) => a - b);
  const algorithms = [...new Set(all.map((each) => each.algorithm))];
  const at = (algorithm, count) =>
    all.find((each) => each.algorithm === algorithm && each.n_labels === count);
  const median = (each) => each?.quantiles[2] ?? null;
  // The best first, by the mean of their medians.
  const level = (name) => {
    const found = counts.map((n) => median(at(name, n))).filter((v) => v !== null);
    return found.reduce((a, b) => a + b, 0) / found.length;
  };
  algorithms.sort((a, b) => level(b) - level(a));
  let chosen = counts.includes(15) ? 15 : counts[0];

  const spread = el("div", {});
  const numbers = (rows) => ({
    rows,
    columns: [
      { title: "algorithm", value: (r) => r.algorithm },
      { title: "experiences", number: true, value: (r) => whole(r.count) },
      ...["5 %", "25 %", "median", "75 %", "95 %"].map((title, i) => ({
        title,
        number: true,
        value: (r) => fixed(r.quantiles[i]),
      })),
      { title: "mean", number: true, value: (r) => fixed(r.mean) },
      { title: "above 1", number: true, value: (r) => percent(r.better) },
    ],
  });
  const show = (count) => {
    chosen = count;
    const rows = algorithms.map((name) => at(name, count)).filter(Boolean);
    const buttons = counts.map((n) =>
      el("button", { type: "button", "aria-pressed": String(n === count), click: () => show(n) }, String(n)),
    );
    spread.replaceChildren(
      figure({
        title: "Improvement ratio by algorithm",
        file: `ratios-at-${count}-labels`,
        above: el(
          "div",
          { class: "controls", role: "group", "aria-label": "Number of labels" },
          "labels",
          ...buttons,
        ),
        draw: (width) =>
          distributions(
            rows.map((r) => ({ ...r, name: r.algorithm })),
            width,
          ),
        caption:
          "Box: the middle half, line: median (also at the right), whiskers: 5 to 95 %, shape: histogram.",
        numbers: numbers(rows),
      }),
    );
    medians.redraw();
  };
  const medians = figure({
    title: "Median ratio by number of labels",
    draw: (width) =>
      matrix(
        {
          rows: algorithms,
          columns: counts.map(String),
          xTitle: "labels",
          chosen: counts.indexOf(chosen),
          reach: 0.2,
          values: algorithms.map((name) => counts.map((n) => median(at(name, n)))),
          tip: (i, j) => {
            const each = at(algorithms[i], counts[j]);
            return each
              ? `${each.algorithm}, ${plural(each.n_labels, "label")}\nmedian ${fixed(median(each))}, above 1: ${percent(each.better)}\n${plural(each.count, "experience")}`
              : "none";
          },
          pick: (_, j) => show(counts[j]),
        },
        width,
      ),
    caption: "Blue helps, orange hurts. A column chooses the number of labels beside.",
    numbers: {
      rows: algorithms,
      columns: [
        { title: "algorithm", value: (name) => name },
        ...counts.map((n) => ({
          title: String(n),
          number: true,
          value: (name) => fixed(median(at(name, n))),
        })),
      ],
    },
  });
  show(chosen);
  return [spread, medians];
});

let by = "family";
function gains() {
  fill(byId("gains"), async () => {
    const all = await api(`/api/gains?by=${by}`);
    const switcher = el(
      "div",
      { class: "controls", role: "group", "aria-label": "Group domains" },
      "by",
      ...[
        ["family", "data set"],
        ["name", "domain"],
      ].map(([key, title]) =>
        el(
          "button",
          {
            type: "button",
            "aria-pressed": String(key === by),
            click: () => {
              by = key;
              gains();
            },
          },
          title,
        ),
      ),
    );
    if (!all.sources.length)
      return [el("h2", {}, "Gain from source to target"), el("p", { class: "empty" }, "No pairs yet.")];
    const made = figure({
      title: "Gain from source to target",
      above: switcher,
      draw: (width) =>
        matrix(
          {
            rows: all.sources,
            columns: all.targets,
            values: all.mean,
            xTitle: "target",
            yTitle: "source",
            reach: 0.2,
            tip: (i, j) =>
              all.count[i][j]
                ? `${all.sources[i]} → ${all.targets[j]}\nmean ratio ${fixed(all.mean[i][j])} of ${plural(all.count[i][j], "experience")}`
                : `${all.sources[i]} → ${all.targets[j]}\nnever tried`,
          },
          width,
        ),
      caption: `Mean improvement ratio over all algorithms and numbers of labels.${all.left_out ? ` ${plural(all.left_out, "domain")} with the fewest experiences left out.` : ""}`,
      numbers: {
        rows: all.sources,
        columns: [
          { title: "source", value: (s) => s },
          ...all.targets.map((t, j) => ({
            title: t,
            number: true,
            value: (s) => fixed(all.mean[all.sources.indexOf(s)][j]),
          })),
        ],
      },
    });
    made.classList.remove("card");
    return made;
  });
}
gains();

fill(byId("learned"), async () => {
  const all = await api("/api/reflections");
  const last = all.find((each) => each.latest);
  const path = `/api/reflections/${encodeURIComponent(last.name)}`;
  const here = await api(`${path}/assessment`).catch(() => null);
  const covered = here?.reliability.find((each) => each.level === 0.9)?.share;
  return [
    el("h2", {}, "What was learned last"),
    facts([
      [
        "function",
        el(
          "span",
          {},
          el("a", { href: `/reflection?name=${encodeURIComponent(last.name)}` }, last.name),
          ` (${last.origin})`,
        ),
      ],
      ["learned", last.learned_at ? moment(last.learned_at) : "with the package"],
      [
        "from",
        last.experiences
          ? `${plural(last.experiences, "experience")} of ${plural(last.pairs, "pair")}`
          : "written by hand",
      ],
      [
        "held-out pairs in learning",
        `rank correlation ${fixed(last.held_out_rank_correlation, 2)}, error ${fixed(last.held_out_rmse)}`,
      ],
      ...(here
        ? [
            [
              "pairs of this store",
              `rank correlation ${fixed(here.rank_correlation, 2)}, error ${fixed(here.rmse)}`,
            ],
            [
              "90 % intervals",
              here.coverage.length ? `cover ${percent(covered)} of the ratios measured here` : "none",
            ],
          ]
        : []),
    ]),
    el("h2", {}, "All functions"),
    table(
      [
        {
          title: "name",
          value: (r) => el("a", { href: `/reflection?name=${encodeURIComponent(r.name)}` }, r.name),
        },
        { title: "from", value: (r) => r.origin },
        { title: "experiences", number: true, value: (r) => whole(r.experiences) },
        { title: "rank correlation", number: true, value: (r) => fixed(r.held_out_rank_correlation, 2) },
      ],
      all,
      { label: "Reflection functions" },
    ),
  ];
});
