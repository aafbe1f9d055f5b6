import {
  api,
  badge,
  byId,
  card,
  duration,
  el,
  facts,
  fill,
  fixed,
  gain,
  main,
  moment,
  plural,
  ratioClass,
  table,
} from "./base.js";
import { lines } from "./charts.js";
import { cloud } from "./cloud.js";
import { figure } from "./figure.js";
import { accuracies, statistics, title } from "./run.js";

const key = main.dataset.key;

fill(byId("facts"), async () => {
  const run = await api(`/api/runs/${key}`);
  byId("title").textContent = title(run);
  const side = (domain) =>
    el(
      "span",
      {},
      el(
        "a",
        { href: `/experiences?domain=${encodeURIComponent(domain.name)}`, title: "all experiences with it" },
        domain.name,
      ),
      el("span", { class: "quiet" }, ` ${plural(domain.n_rows, "row")}, ${plural(domain.n_features, "feature")}`),
    );
  rest(run);
  return el(
    "div",
    { class: "grid" },
    card(
      facts([
        ["status", run.status === "done" ? badge("done", "good") : badge("failed", "bad")],
        ...(run.reason ? [["because", el("span", { class: "failed" }, run.reason)]] : []),
        ["source", side(run.source)],
        ["target", side(run.target)],
        [
          "matrix",
          run.W_shape
            ? el(
                "span",
                {},
                `${run.W_shape[0]} × ${run.W_shape[1]} `,
                el("a", { href: `/api/runs/${key}/W.npy`, download: true }, "download"),
              )
            : "–",
        ],
      ]),
    ),
    card(
      facts([
        ["parameters", settings(run.params)],
        ["seed", String(run.random_state)],
        ["took", duration(run.duration)],
        ["stored", `${moment(run.created_at)} on ${run.host || "?"}, version ${run.version || "?"}`],
        ["protocol", settings(run.protocol)],
        ["key", el("code", {}, run.run)],
      ]),
    ),
  );
});

const settings = (given) =>
  Object.entries(given)
    .map(
      ([name, value]) => `${name} ${typeof value === "object" ? JSON.stringify(value).replaceAll(",", ", ") : value}`,
    )
    .join(" · ") || "–";

function rest(run) {
  if (run.status !== "done") {
    byId("accuracy").replaceChildren(
      el("p", { class: "card whole empty" }, "The run failed, so there are no accuracies."),
    );
    return;
  }
  const counts = run.scores.map((score) => score.n_labels);
  byId("accuracy").replaceChildren(
    accuracies(
      [
        { name: "without transfer", ink: "var(--quiet)", side: "before", run, dash: "5 4" },
        { name: `with ${run.algorithm}`, ink: "var(--accent)", side: "after", run },
      ],
      counts,
    ),
    figure({
      title: "Improvement ratio by number of labels",
      draw: (width) =>
        lines(
          {
            xs: counts,
            log: true,
            reference: 1,
            xTitle: "labels",
            yTitle: "accuracy with transfer / without",
            series: [
              {
                name: "ratio",
                ink: "var(--accent)",
                points: run.scores.map((s) => ({
                  x: s.n_labels,
                  y: s.improvement_ratio,
                  tip: `${s.n_labels} labels\nratio ${fixed(s.improvement_ratio)}`,
                })),
              },
            ],
          },
          width,
        ),
      caption: "Above the dashed line the transfer helps.",
      numbers: {
        rows: run.scores,
        columns: [
          { title: "labels", number: true, value: (s) => String(s.n_labels) },
          { title: "ratio", number: true, value: (s) => fixed(s.improvement_ratio) },
        ],
      },
    }),
  );
  byId("statistics").replaceChildren(...["d", "tau"].map((what) => statistics([run], what)).filter(Boolean));
  const spread = (mean, error) => el("span", {}, fixed(mean), el("span", { class: "quiet" }, ` ± ${fixed(error)}`));
  byId("details").replaceChildren(
    el(
      "div",
      { class: "card flush" },
      table(
        [
          { title: "labels", number: true, value: (s) => String(s.n_labels) },
          ...(run.other_scores.length ? [{ title: "trained on", value: (s) => s.trained_on }] : []),
          {
            title: "accuracy without transfer",
            number: true,
            value: (s) => spread(s.accuracy_before, s.standard_error_before),
          },
          {
            title: "accuracy with transfer",
            number: true,
            value: (s) => spread(s.accuracy_after, s.standard_error_after),
          },
          {
            title: "change",
            number: true,
            value: (s) => el("b", { class: ratioClass(s.improvement_ratio, s.ratio_error) }, gain(s.improvement_ratio)),
          },
        ],
        [...run.scores, ...run.other_scores],
        { label: "Accuracies" },
      ),
    ),
  );
  fill(byId("pictures"), async () => {
    const picture = await api(`/api/runs/${key}/picture`);
    const caption = "Two principal components of both domains together.";
    return [
      cloud(picture, picture.before, { title: "Original features", caption, file: "before" }),
      cloud(picture, picture.after, { title: `With ${run.algorithm}`, caption, file: "after" }),
    ];
  });
}
