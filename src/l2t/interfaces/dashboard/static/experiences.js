import {
  api,
  badge,
  byId,
  duration,
  el,
  fill,
  fixed,
  gain,
  moment,
  percent,
  plural,
  ratioClass,
  runLink,
  table,
  toggle,
  whole,
} from "./base.js";
import { figure } from "./figure.js";
import { distributions } from "./ratios.js";

const SIZE = 30,
  MOST = 8;
const form = byId("filters");
const state = new URLSearchParams(location.search);
const chosen = new Set(JSON.parse(sessionStorage.getItem("l2t-chosen") ?? "[]"));
const keep = () => sessionStorage.setItem("l2t-chosen", JSON.stringify([...chosen]));
const names = ["algorithm", "n_labels", "trained_on", "domain", "status", "since"];

const facets = await api("/api/facets").catch(() => ({ algorithms: [], label_counts: [], names: [] }));
for (const each of facets.algorithms) form.algorithm.append(el("option", {}, each));
for (const each of facets.label_counts) form.n_labels.append(el("option", {}, String(each)));
byId("names").append(...facets.names.map((name) => el("option", { value: name })));
for (const name of names) if (state.has(name)) form[name].value = state.get(name);

function filters() {
  const query = new URLSearchParams();
  for (const name of names) if (form[name].value) query.set(name, form[name].value);
  return query;
}

function sorting() {
  return { order: state.get("order") ?? "created_at", descending: state.get("descending") ?? "true" };
}

function show(page = Number(state.get("page") ?? 1)) {
  const query = filters();
  const { order, descending } = sorting();
  for (const name of names) state.delete(name);
  for (const [name, value] of query) state.set(name, value);
  state.set("page", page);
  history.replaceState(null, "", `?${state}`);
  fill(byId("table"), async () => {
    const found = await api(
      `/api/runs?${query}&order=${order}&descending=${descending}&limit=${SIZE}&offset=${(page - 1) * SIZE}`,
    );
    pager(found, page, query);
    const made = table(columns(), found.items, { empty: "No run matches.", label: "Runs" });
    made.querySelectorAll("tbody tr").forEach((row, i) => mark(row, found.items[i].run));
    return made;
  });
  selection();
}

function mark(row, key) {
  row.classList.toggle("chosen", chosen.has(key));
}

function header(title, order) {
  const now = sorting();
  const mine = now.order === order;
  const arrow = mine ? (now.descending === "true" ? " ↓" : " ↑") : "";
  return el(
    "button",
    {
      type: "button",
      click: () => {
        state.set("order", order);
        state.set("descending", String(!(mine && now.descending === "true")));
        show(1);
      },
    },
    title + arrow,
  );
}

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
const isOther = (score) => score.trained_on !== "target";

// The scores of classifiers trained on the target or, without any, all scores.
function own(run) {
  const found = run.scores.filter((score) => !isOther(score));
  return found.length ? found : run.scores;
}

// The mean over numbers of labels, with the mean error: the draws are not independent.
function overall(run) {
  if (run.status === "failed") return el("span", { title: run.reason }, badge("failed", "bad"));
  const errors = own(run).map((score) => score.ratio_error);
  const error = errors.every((each) => each !== null) ? mean(errors) : null;
  const value = mean(own(run).map((score) => score.improvement_ratio));
  return el("b", { class: ratioClass(value, error) }, gain(value));
}

function unfold(run, button) {
  const row = button.closest("tr"),
    open = button.getAttribute("aria-expanded") === "true";
  button.setAttribute("aria-expanded", String(!open));
  if (open) {
    row.nextElementSibling.remove();
    return;
  }
  const spread = (value, error) => `${percent(value, 1)} ± ${percent(error, 1)}`;
  row.after(
    el(
      "tr",
      { class: "unfolded" },
      el(
        "td",
        { colspan: row.childElementCount },
        table(
          [
            { title: "labels", number: true, value: (s) => String(s.n_labels) },
            ...(run.scores.some(isOther) ? [{ title: "trained on", value: (s) => s.trained_on }] : []),
            {
              title: "without transfer",
              number: true,
              value: (s) => spread(s.accuracy_before, s.standard_error_before),
            },
            { title: "with it", number: true, value: (s) => spread(s.accuracy_after, s.standard_error_after) },
            {
              title: "change",
              number: true,
              value: (s) =>
                el(
                  "span",
                  { class: ratioClass(s.improvement_ratio, s.ratio_error) },
                  `${gain(s.improvement_ratio)} ± ${s.ratio_error === null ? "?" : (100 * s.ratio_error).toFixed(1)}`,
                ),
            },
          ],
          run.scores,
          { label: `Scores of run ${run.run.slice(0, 8)}`, empty: run.reason },
        ),
      ),
    ),
  );
}

function columns() {
  const now = sorting();
  const sortable = (title, order, rest) => ({
    title: header(title, order),
    sort: now.order === order ? (now.descending === "true" ? "descending" : "ascending") : null,
    ...rest,
  });
  return [
    {
      title: el("span", { class: "unseen" }, "select"),
      value: (r) =>
        el("input", {
          type: "checkbox",
          "aria-label": `Select run ${r.run.slice(0, 12)}`,
          checked: chosen.has(r.run),
          change: (event) => {
            if (event.target.checked) chosen.add(r.run);
            else chosen.delete(r.run);
            keep();
            selection();
            mark(event.target.closest("tr"), r.run);
          },
          "data-run": r.run,
        }),
    },
    { title: "run", value: (r) => runLink(r.run, el("code", {}, r.run.slice(0, 8))) },
    sortable("algorithm", "algorithm", { value: (r) => r.algorithm }),
    { title: "source", class: "name", value: (r) => el("span", { title: r.source }, r.source) },
    { title: "target", class: "name", value: (r) => el("span", { title: r.target }, r.target) },
    {
      title: "labels",
      value: (r) => {
        const counts = own(r).map((score) => score.n_labels);
        if (!counts.length) return "–";
        const words = counts.length > 1 ? `${counts[0]} to ${counts.at(-1)}` : String(counts[0]);
        const button = el(
          "button",
          { type: "button", class: "small fold", "aria-expanded": "false", click: () => unfold(r, button) },
          words,
        );
        return button;
      },
    },
    sortable("change", "improvement_ratio", { number: true, value: overall }),
    sortable("time", "duration", { number: true, value: (r) => duration(r.duration) }),
    sortable("stored", "created_at", { number: true, value: (r) => moment(r.created_at) }),
  ];
}

function pager(found, page, query) {
  const pages = Math.max(1, Math.ceil(found.total / SIZE));
  const go = (to) =>
    el(
      "button",
      {
        type: "button",
        disabled: to < 1 || to > pages || to === page,
        click: () => show(to),
        "aria-label": `Page ${to}`,
      },
      to === 1 && page > 2 ? "« first" : to === pages && page < pages - 1 ? "last »" : to < page ? "‹ back" : "next ›",
    );
  const jump = el("input", {
    type: "number",
    min: 1,
    max: pages,
    value: page,
    "aria-label": "Page",
    change: (event) => show(Math.min(pages, Math.max(1, Number(event.target.value) || 1))),
  });
  const { order, descending } = sorting();
  const steps = [...new Set([1, page - 1, page + 1, pages])].filter((to) => to >= 1 && to <= pages && to !== page);
  byId("pager").replaceChildren(
    el("span", {}, plural(found.total, "run")),
    el(
      "a",
      {
        class: "button",
        href: `/api/experiences.csv?${query}&order=${order}&descending=${descending}`,
        download: "experiences.csv",
      },
      "Export all as csv",
    ),
    el("span", { class: "spring" }),
    ...steps.filter((to) => to < page).map(go),
    el("span", {}, "page"),
    jump,
    el("span", {}, `of ${whole(pages)}`),
    ...steps.filter((to) => to > page).map(go),
  );
}

function selection() {
  const keys = [...chosen],
    query = keys
      .slice(0, 200)
      .map((key) => `run=${key}`)
      .join("&");
  const many = keys.length > MOST;
  byId("selection").hidden = !keys.length;
  byId("selection").replaceChildren(
    el("b", {}, `${plural(keys.length, "run")} selected`),
    keys.length > 1 && !many
      ? el("a", { class: "button", href: `/experiences/compare?${query}` }, "Compare")
      : el("span", { class: "quiet" }, many ? `at most ${MOST} can be compared` : "select another to compare"),
    el(
      "a",
      { class: "button", href: `/api/experiences.csv?${query}`, download: "selection.csv" },
      "Export selection as csv",
    ),
    el(
      "button",
      {
        type: "button",
        click: () => {
          chosen.clear();
          keep();
          show();
        },
      },
      "Clear selection",
    ),
  );
}

form.addEventListener("change", () => show(1));
form.addEventListener("submit", (event) => {
  event.preventDefault();
  show(1);
});
form.addEventListener("reset", () => setTimeout(() => show(1)));
show();

api("/api/totals")
  .then((all) => {
    byId("totals").textContent = all.runs
      ? `${plural(all.runs, "run")} of ${plural(all.algorithms, "algorithm")} on ${plural(all.pairs, "pair")} of ${plural(all.domains, "data set")}${all.failed ? `, ${whole(all.failed)} of them failed` : ""}; ${plural(all.experiences, "experience")} in all, the last of ${moment(all.last)}.`
      : "The store has no runs yet: l2t collect source.csv target.csv --store experiences.db";
  })
  .catch(() => {});

fill(byId("ratios"), async () => {
  const all = await api("/api/distributions");
  if (!all.length) return null;
  const counts = [...new Set(all.map((each) => each.n_labels))].sort((a, b) => a - b);
  const place = el("div", {});
  const showCount = (count) => {
    const rows = all.filter((each) => each.n_labels === count).sort((a, b) => b.quantiles[2] - a.quantiles[2]);
    place.replaceChildren(
      figure({
        title: "Change of accuracy by algorithm",
        file: `ratios-at-${count}-labels`,
        above: toggle(
          "Labels",
          counts.map((n) => [n, String(n)]),
          count,
          showCount,
        ),
        draw: (width) =>
          distributions(
            rows.map((r) => ({ ...r, name: r.algorithm })),
            width,
          ),
        caption:
          "Line: median. Box: the middle half. Whiskers: 5 to 95 %. Shape: histogram, from five tasks on. n: tasks.",
        numbers: {
          rows,
          columns: [
            { title: "algorithm", value: (r) => r.algorithm },
            { title: "tasks", number: true, value: (r) => whole(r.count) },
            ...["5 %", "25 %", "median", "75 %", "95 %"].map((title, i) => ({
              title,
              number: true,
              value: (r) => fixed(r.quantiles[i]),
            })),
            { title: "mean", number: true, value: (r) => fixed(r.mean) },
            { title: "above 1", number: true, value: (r) => percent(r.better) },
          ],
        },
      }),
    );
  };
  showCount(counts.includes(15) ? 15 : counts[0]);
  return place;
});
