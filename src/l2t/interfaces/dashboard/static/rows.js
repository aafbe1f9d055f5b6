// The predicted rows of a prediction: search, filters, order and pages.

import { api, el, fill, percent, plural, table, whole } from "./base.js";

const ORDERS = [
  ["row", "order of the file"],
  ["probability", "least certain first"],
  ["-probability", "most certain first"],
];
const WAIT = 200; // milliseconds after a key

// found: the result of the prediction `id`.
export function rowsSection(id, found) {
  const place = el("div", { class: "card flush" });
  const pager = el("div", { class: "pager" });
  const search = el("input", {
    name: "search",
    type: "search",
    placeholder: "any text",
    maxlength: 200,
    autocomplete: "off",
  });
  const classes = el(
    "select",
    { name: "predicted" },
    el("option", { value: "" }, "all"),
    found.classes.map((name) => el("option", { value: name }, name)),
  );
  const order = el(
    "select",
    { name: "order" },
    ORDERS.map(([value, text]) => el("option", { value }, text)),
  );
  const disagrees = el("input", { type: "checkbox", name: "disagrees" });
  const form = el(
    "form",
    { class: "filters", "aria-label": "Filters of rows" },
    el("label", { class: "wide" }, "Search", search),
    el("label", {}, "Predicted class", classes),
    el("label", { class: "order" }, "Order", order),
    found.n_given ? el("label", { class: "check" }, disagrees, " disagrees with your label") : null,
  );
  form.addEventListener("submit", (event) => event.preventDefault());
  let page = 1;
  let last = 0;
  let timer = null;

  const show = () =>
    fill(place, async () => {
      const number = (last += 1);
      const query = new URLSearchParams({ search: search.value, order: order.value, page });
      if (classes.value) query.set("predicted", classes.value);
      if (disagrees.checked) query.set("disagrees", "true");
      const rows = await api(`/api/predictions/${id}/rows?${query}`);
      if (number !== last) return [...place.children]; // another request was sent since
      showPager(rows);
      return table(columns(rows), rows.items, { empty: "No row matches.", label: "Rows" });
    });
  const go = (to) => {
    page = to;
    show();
  };

  function showPager({ total, page_size: size }) {
    const pages = Math.max(1, Math.ceil(total / size));
    const button = (text, to) =>
      el("button", { type: "button", disabled: to < 1 || to > pages, click: () => go(to) }, text);
    pager.replaceChildren(
      el("span", {}, plural(total, "row")),
      el("span", { class: "spring" }),
      button("‹ back", page - 1),
      el("span", {}, `page ${whole(page)} of ${whole(pages)}`),
      button("next ›", page + 1),
    );
  }

  search.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => go(1), WAIT);
  });
  for (const control of [classes, order, disagrees]) control.addEventListener("change", () => go(1));
  show();
  return el(
    "section",
    { "aria-label": "All rows", class: "all-rows" },
    el("h2", { class: "apart" }, "All rows"),
    form,
    place,
    pager,
  );
}

function columns(found) {
  const cell = (text) => el("span", { title: text }, text || "–");
  const isWrong = (row) => (row.disagrees ? "worse" : "");
  return [
    { title: "row", number: true, value: (row) => whole(row.row + 1) },
    { title: "predicted", class: isWrong, value: (row) => row.predicted },
    { title: "probability", number: true, value: (row) => percent(row.probability) },
    { title: "or", value: (row) => (row.second === null ? "–" : `${row.second}, ${percent(row.second_probability)}`) },
    { title: "your label", class: isWrong, value: (row) => row.label ?? "–" },
    { title: "nearest labels (rows)", class: "name", value: (row) => cell(row.nearest) },
    ...found.columns.map((title, i) => ({ title, class: "name", value: (row) => cell(row.cells[i]) })),
  ];
}
