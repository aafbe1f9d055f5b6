import { api, byId, el, fill, fixed, gain, main, plural, sentence, table } from "./base.js";
import { figure } from "./figure.js";
import { follow } from "./follow.js";
import { matrix } from "./ratios.js";

const form = byId("choose"),
  MOST_SOURCES = 12;

function options(select, values, chosen) {
  select.replaceChildren(...values.map((value) => el("option", { selected: value === chosen }, String(value))));
  select.disabled = !values.length;
}

function describeCell(cell) {
  if (!cell) return "not tried";
  const error = cell.error === null ? "" : ` ± ${(100 * cell.error).toFixed(1)}`;
  return `${gain(cell.mean)}${error} in ${plural(cell.count, "task")}${cell.clear ? "" : ", not clear"}`;
}

function show() {
  fill(byId("gains"), async () => {
    const query = new URLSearchParams({ by: form.by.value });
    for (const name of ["n_labels", "algorithm"]) if (form[name].value) query.set(name, form[name].value);
    const all = await api(`/api/gains?${query}`);
    options(form.n_labels, all.label_counts, all.n_labels);
    options(form.algorithm, all.algorithms, all.algorithm);
    if (!all.sources.length)
      return el(
        "div",
        { class: "card empty" },
        "The store has no runs yet. Collect some, and open the dashboard with their store:",
        el("br"),
        el("code", {}, "l2t collect source.csv target.csv --store experiences.db"),
      );
    return figure({
      title: "What each source adds",
      draw: (width) =>
        matrix(
          {
            rows: all.sources,
            columns: all.targets,
            cells: all.cells.map((row) =>
              row.map(
                (cell) =>
                  cell && { value: cell.mean, text: gain(cell.mean), below: `n = ${cell.count}`, clear: cell.clear },
              ),
            ),
            xTitle: "target",
            yTitle: "source",
            tip: (i, j) => `${all.sources[i]} → ${all.targets[j]}\n${describeCell(all.cells[i][j])}`,
          },
          width,
        ),
      caption: `Change of the accuracy of 1-NN with ${all.algorithm} and ${plural(all.n_labels, "label")}, compared with no transfer; n is the number of tasks. No colour: within two standard errors of no change, or fewer than three tasks.${all.left_out ? ` ${plural(all.left_out, "data set")} with the fewest tasks left out.` : ""}`,
      numbers: {
        rows: all.sources.flatMap((source, i) =>
          all.targets.map((target, j) => ({ source, target, cell: all.cells[i][j] })),
        ),
        columns: [
          { title: "source", value: (r) => r.source },
          { title: "target", value: (r) => r.target },
          { title: "adds", value: (r) => describeCell(r.cell) },
        ],
      },
    });
  });
}

async function offer() {
  const stored = await api("/api/domains");
  const describe = (d) => `${d.name} (${d.n_rows} × ${d.n_features})`;
  byId("rank").target.replaceChildren(
    el("option", { value: "" }, stored.length ? "choose …" : "the store has no data sets"),
    ...stored.map((d) => el("option", { value: d.id }, describe(d))),
  );
  byId("offered").replaceChildren(
    ...stored.map((d) =>
      el("label", { title: describe(d) }, el("input", { type: "checkbox", value: d.id }), el("span", {}, describe(d))),
    ),
  );
}

async function rank(event) {
  event.preventDefault();
  const asked = byId("rank"),
    status = byId("status");
  const sources = [...byId("offered").querySelectorAll("input:checked")].map((box) => box.value);
  status.className = "quiet";
  if (!sources.length || sources.length > MOST_SOURCES) {
    status.textContent = `Choose one to ${MOST_SOURCES} sources.`;
    return;
  }
  const rows = [];
  const shown = () =>
    byId("ranked").replaceChildren(
      table(
        [
          { title: "source", value: (r) => r.source },
          { title: "adds", number: true, value: (r) => (r.adds === null ? "–" : gain(r.adds)) },
          { title: "candidate", value: (r) => (r.choice === "identity" ? "no transfer" : (r.choice ?? "–")) },
          {
            title: "90 % interval",
            number: true,
            value: (r) => (r.interval ? r.interval.map((each) => fixed(each, 2)).join(" to ") : "–"),
          },
          { title: "because", value: (r) => r.reason },
        ],
        rows,
        { label: "Ranking" },
      ),
    );
  status.textContent = "ranking …";
  try {
    const request = { sources, target: asked.target.value, n_labels: Number(asked.n_labels.value) || null };
    const job = await follow("/api/rankings", request, (found) => {
      rows.push(found);
      rows.sort((a, b) => (b.adds ?? -1) - (a.adds ?? -1));
      shown();
    });
    status.textContent = `Ranked in ${job.seconds.toFixed(1)} s, the best first.`;
  } catch (error) {
    status.textContent = sentence(error);
    status.className = "trouble";
  }
}

form.addEventListener("change", show);
show();
if (main.dataset.readOnly !== "true") {
  byId("rank").addEventListener("submit", rank);
  offer().catch((error) => {
    byId("status").textContent = sentence(error);
  });
}
