// The first page: files, roles of their columns, what will be done, and the start of a prediction.

import { api, badge, byId, el, main, plural, post, rooted, sentence, table, whole } from "./base.js";

const SHOWN = 4; // features listed at first
const ROLES = { feature: "feature", label: "label", id: "id", ignore: "ignore", labeled: "marks labelled rows" };
const form = byId("form");
const files = { target: [], sources: [] };

const showStatus = (words, trouble = false) => {
  byId("status").textContent = words;
  byId("status").className = trouble ? "trouble" : "quiet";
};
const CHOSEN = "your choice";
const labelOf = (file) => file.columns.find((column) => column.role === "label");
const toFile = (upload) => ({
  ...upload,
  columns: upload.preview.columns.map((column) => ({ ...column })),
  all: false,
});

async function take(side, list) {
  const most = Number(main.dataset.maxUpload);
  for (const file of list) {
    if (file.size > most) {
      showStatus(
        `${file.name} has ${(file.size / 2 ** 20).toFixed(0)} MiB; the maximum is ${most / 2 ** 20} MiB.`,
        true,
      );
      return;
    }
    showStatus(`reading ${file.name} …`);
    reading += 1;
    outdated();
    const label = [...files.target, ...files.sources].map(labelOf).find(Boolean)?.name;
    const query = new URLSearchParams({ name: file.name, ...(label ? { label } : {}) });
    try {
      const upload = await api(`/api/uploads?${query}`, {
        method: "POST",
        headers: { "content-type": "application/octet-stream" },
        body: file,
      });
      if (side === "target") files.target = [];
      files[side].push(toFile(upload));
      if (side === "target") followTarget();
      showStatus("");
    } catch (error) {
      showStatus(sentence(error), true);
      return;
    } finally {
      reading -= 1;
      show();
    }
  }
}

// Sources that were read before the target have their labels in the same column, unless the user chose another.
function followTarget() {
  const label = labelOf(files.target[0]);
  for (const source of files.sources) {
    const column = source.columns.find((each) => each.name === label?.name);
    if (column && column.role !== "label" && labelOf(source)?.reason !== CHOSEN)
      setRole(source, column, "label", "the labels of the target");
  }
}

function remove(side, file) {
  files[side] = files[side].filter((each) => each !== file);
  show();
}

// One role per column; at most one column has labels, and one marks labelled rows.
function setRole(file, column, role, reason) {
  if (role === "label" || role === "labeled")
    for (const other of file.columns)
      if (other.role === role) Object.assign(other, { role: "ignore", reason: "another column was chosen" });
  Object.assign(column, { role, reason });
}

function preview(side, file) {
  const { columns } = file;
  const features = columns.filter((column) => column.role === "feature");
  const shown = file.all ? columns : columns.filter((c) => c.role !== "feature" || features.indexOf(c) < SHOWN);
  const facts = columns.length
    ? [plural(features.length, "feature")]
    : [plural(file.preview.n_features, "feature"), plural(file.preview.classes.length, "class", "classes")];
  const label = columns.find((column) => column.role === "label");
  if (label) facts.push(`labels in “${label.name}”: ${plural(file.preview.n_rows - label.n_missing, "row")}`);
  const select = (column) =>
    el(
      "select",
      {
        "aria-label": `Role of ${column.name} in ${file.name}`,
        change: (event) => {
          setRole(file, column, event.target.value, CHOSEN);
          show();
        },
      },
      Object.entries(ROLES).map(([role, words]) =>
        el(
          "option",
          { value: role, selected: role === column.role, disabled: role === "feature" && column.is_unusable },
          words,
        ),
      ),
    );
  return el(
    "div",
    { class: "taken" },
    el(
      "header",
      {},
      el("h3", {}, file.name),
      el("span", { class: "quiet" }, [plural(file.preview.n_rows, "row"), ...facts].join(", ")),
      el(
        "button",
        { type: "button", class: "small", "aria-label": `Remove ${file.name}`, click: () => remove(side, file) },
        "Remove",
      ),
    ),
    columns.length
      ? table(
          [
            { title: "column", class: "name", value: (c) => el("span", { title: c.name }, c.name) },
            { title: "role", value: select },
            { title: "why", value: (c) => el("span", { class: "quiet" }, c.reason) },
            {
              title: "values",
              class: "name",
              value: (c) => el("span", { title: c.examples.join(", ") }, c.examples.join(", ") || "–"),
            },
            { title: "distinct", number: true, value: (c) => whole(c.n_distinct) },
            { title: "missing", number: true, value: (c) => (c.n_missing ? whole(c.n_missing) : "–") },
          ],
          shown,
          { label: `Columns of ${file.name}` },
        )
      : null,
    columns.length > shown.length
      ? el(
          "button",
          {
            type: "button",
            class: "small",
            click: () => {
              file.all = true;
              show();
            },
          },
          `Show all ${columns.length} columns`,
        )
      : null,
  );
}

const wantedFile = (file) => {
  const having = (role) => file.columns.filter((column) => column.role === role).map((column) => column.name);
  return {
    id: file.id,
    label: having("label")[0] ?? null,
    labeled: having("labeled")[0] ?? null,
    ids: having("id"),
    ignore: having("ignore"),
  };
};

function wanted() {
  return {
    target: wantedFile(files.target[0]),
    sources: files.sources.map(wantedFile),
    impute: byId("missing").hidden ? null : form.impute.value,
  };
}

// Missing cells of features, and why the median is proposed.
function proposeImputation() {
  const all = [...files.target, ...files.sources].flatMap((file) => file.columns);
  const gaps = all.filter((column) => column.role === "feature" && column.n_missing);
  const cells = gaps.reduce((sum, column) => sum + column.n_missing, 0);
  const texts = [...new Set([...files.target, ...files.sources].flatMap((file) => file.preview.missing))];
  byId("missing").hidden = !cells;
  byId("why-missing").textContent =
    `${plural(cells, "cell")} of ${plural(gaps.length, "feature")} ${cells === 1 ? "is" : "are"} missing` +
    (texts.length ? `, including ${texts.map((text) => `“${text}”`).join(", ")}` : "") +
    ". The median is proposed, because it is robust to outliers.";
}

let requests = 0,
  reading = 0, // files that are on their way
  waiting = null;
// Files or roles change: what was checked, or is being checked, is no longer what Predict would do.
function outdated() {
  requests += 1;
  clearTimeout(waiting);
  byId("go").disabled = true;
  byId("checked").replaceChildren(el("p", { class: "quiet" }, "checking …"));
}

function show() {
  outdated();
  for (const side of ["target", "sources"]) {
    byId(side)
      .querySelector(".preview")
      .replaceChildren(...files[side].map((file) => preview(side, file)));
    const none = side === "target" ? "Choose a file" : "Choose one or more files";
    const some = side === "target" ? "Choose another file" : "Choose further files";
    byId(side).querySelector(".pick span").textContent = files[side].length ? some : none;
  }
  byId("plan").hidden = !files.target.length;
  if (!files.target.length) return;
  proposeImputation();
  if (!reading) waiting = setTimeout(check, 400);
}

async function check() {
  const number = requests;
  try {
    const found = await post("/api/checks", wanted());
    if (number !== requests) return;
    byId("checked").replaceChildren(
      el(
        "ul",
        { class: "plan" },
        ...found.sentences.map((text) => el("li", {}, text)),
        ...found.warnings.map((text) => el("li", {}, badge("note", "bad"), ` ${text}`)),
        ...found.notes.map((text) => el("li", { class: "quiet" }, text)),
      ),
    );
    byId("go").disabled = false;
  } catch (error) {
    if (number === requests)
      byId("checked").replaceChildren(el("p", { class: "trouble", role: "alert" }, sentence(error)));
  }
}

async function predict(event) {
  event.preventDefault();
  byId("go").disabled = true;
  try {
    const job = await post("/api/predictions", wanted());
    location.assign(rooted(`/predictions/${job.id}`));
  } catch (error) {
    showStatus(sentence(error), true);
    show();
  }
}

async function example() {
  showStatus("creating the example …");
  reading += 1;
  outdated();
  byId("example").disabled = true;
  try {
    const [source, target] = await post("/api/examples", {});
    files.target = [toFile(target)];
    files.sources = [toFile(source)];
    showStatus("");
  } catch (error) {
    showStatus(sentence(error), true);
  }
  reading -= 1;
  show();
  byId("example").disabled = false;
}

async function offerStored() {
  const stored = await api("/api/domains").catch(() => []);
  const select = byId("stored").querySelector("select");
  byId("stored").hidden = !stored.length;
  select.append(...stored.map((d) => el("option", { value: d.id }, `${d.name} (${d.n_rows} × ${d.n_features})`)));
  select.addEventListener("change", () => {
    const found = stored.find((d) => d.id === select.value);
    if (!found) return;
    const seen = { n_rows: found.n_rows, n_features: found.n_features, columns: [], classes: [], missing: [] };
    files.sources.push(toFile({ id: found.id, name: found.name, preview: seen }));
    select.value = "";
    show();
  });
}

if (form) {
  for (const side of ["target", "sources"]) {
    const place = byId(side),
      input = place.querySelector("input[type=file]");
    input.addEventListener("change", async () => {
      await take(side, [...input.files]);
      input.value = "";
    });
    place.addEventListener("dragover", (event) => {
      event.preventDefault();
      place.classList.add("over");
    });
    place.addEventListener("dragleave", () => place.classList.remove("over"));
    place.addEventListener("drop", (event) => {
      event.preventDefault();
      place.classList.remove("over");
      take(side, [...event.dataTransfer.files].slice(0, side === "target" ? 1 : 12));
    });
  }
  form.addEventListener("submit", predict);
  form.impute.addEventListener("change", show);
  byId("example").addEventListener("click", example);
  offerStored();
}
