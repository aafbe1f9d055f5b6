import {
  api,
  badge,
  byId,
  duration,
  el,
  fill,
  fixed,
  moment,
  plural,
  ratioClass,
  runLink,
  table,
  whole,
} from "./base.js";

const SIZE = 50,
  MOST = 8;
const form = byId("filters");
const state = new URLSearchParams(location.search);
const chosen = new Set(JSON.parse(sessionStorage.getItem("l2t-chosen") ?? "[]"));
const keep = () => sessionStorage.setItem("l2t-chosen", JSON.stringify([...chosen]));
const names = ["algorithm", "n_labels", "domain", "status", "since"];

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
      `/api/experiences?${query}&order=${order}&descending=${descending}&limit=${SIZE}&offset=${(page - 1) * SIZE}`,
    );
    pager(found, page, query);
    const made = table(columns(), found.items, { empty: "No experience matches.", label: "Experiences" });
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

function columns() {
  const now = sorting();
  const sortable = (title, order, rest) => ({
    title: header(title, order),
    sort: now.order === order ? (now.descending === "true" ? "descending" : "ascending") : null,
    ...rest,
  });
  const spread = (mean, error) =>
    mean === null ? "–" : el("span", {}, fixed(mean), el("span", { class: "quiet" }, ` ± ${fixed(error)}`));
  return [
    {
      title: "",
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
            for (const row of byId("table").querySelectorAll("tbody tr")) {
              const box = row.querySelector("input");
              box.checked = chosen.has(box.dataset.run);
              mark(row, box.dataset.run);
            }
          },
          "data-run": r.run,
        }),
    },
    { title: "run", value: (r) => runLink(r.run, el("code", {}, r.run.slice(0, 8))) },
    sortable("algorithm", "algorithm", { value: (r) => r.algorithm }),
    { title: "source", class: "name", value: (r) => el("span", { title: r.source }, r.source) },
    { title: "target", class: "name", value: (r) => el("span", { title: r.target }, r.target) },
    sortable("labels", "n_labels", {
      number: true,
      value: (r) => (r.n_labels === null ? "–" : String(r.n_labels)),
    }),
    { title: "before", number: true, value: (r) => spread(r.accuracy_before, r.standard_error_before) },
    { title: "after", number: true, value: (r) => spread(r.accuracy_after, r.standard_error_after) },
    sortable("ratio", "improvement_ratio", {
      number: true,
      value: (r) =>
        r.status === "failed"
          ? el("span", { title: r.reason }, badge("failed", "bad"))
          : el("b", { class: ratioClass(r.improvement_ratio) }, fixed(r.improvement_ratio)),
    }),
    sortable("time", "duration", { number: true, value: (r) => duration(r.duration) }),
    sortable("made", "created_at", { number: true, value: (r) => moment(r.created_at) }),
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
      to === 1 && page > 2
        ? "« first"
        : to === pages && page < pages - 1
          ? "last »"
          : to < page
            ? "‹ back"
            : "next ›",
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
  const steps = [...new Set([1, page - 1, page + 1, pages])].filter(
    (to) => to >= 1 && to <= pages && to !== page,
  );
  byId("pager").replaceChildren(
    el("span", {}, plural(found.total, "experience")),
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
      : el("span", { class: "quiet" }, many ? `compare ${MOST} at most` : "select another to compare"),
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
