import { api, byId, el, fixed, main, plural, sentence, table } from "./base.js";
import { follow } from "./follow.js";
import { STAGES, candidates, interval, pictures, verdict, verdictBadge } from "./outcome.js";
import { suggestions } from "./suggestions.js";

const form = byId("form"),
  MOST_SOURCES = 12;
const say = (words, trouble = false) => {
  const place = byId("status");
  place.textContent = words;
  place.className = trouble ? "trouble" : "quiet";
};

async function choices() {
  const [uploads, domains] = await Promise.all([api("/api/uploads"), api("/api/domains")]);
  const told = (d) => `${d.name} (${d.n_rows} × ${d.n_features})`;
  const groups = () =>
    [
      el("option", { value: "" }, uploads.length + domains.length ? "choose …" : "upload a file first"),
      uploads.length
        ? el(
            "optgroup",
            { label: "Uploaded" },
            uploads.map((d) => el("option", { value: d.id }, told(d))),
          )
        : null,
      domains.length
        ? el(
            "optgroup",
            { label: "Of the store" },
            domains.map((d) => el("option", { value: d.id }, told(d))),
          )
        : null,
    ].filter(Boolean);
  for (const name of ["source", "target"]) {
    const before = form[name].value || new URLSearchParams(location.search).get(name) || "";
    form[name].replaceChildren(...groups());
    form[name].value = [...form[name].options].some((o) => o.value === before) ? before : "";
  }
  const marked = new Set([...byId("sources").querySelectorAll("input:checked")].map((box) => box.value));
  byId("sources").replaceChildren(
    ...[...uploads, ...domains].map((d) =>
      el(
        "label",
        { title: told(d) },
        el("input", { type: "checkbox", value: d.id, checked: marked.has(d.id) }),
        el("span", {}, told(d)),
      ),
    ),
  );
}

async function upload(input, name) {
  const file = input.files[0];
  if (!file) return;
  const most = Number(main.dataset.maxUpload);
  if (file.size > most) {
    say(`${file.name} has ${(file.size / 2 ** 20).toFixed(0)} MiB, of ${most / 2 ** 20} at most.`, true);
    return;
  }
  say(`reading ${file.name} …`);
  byId("go").disabled = true;
  try {
    const query = new URLSearchParams({
      name: file.name,
      ...(form.label.value ? { label: form.label.value } : {}),
      ...(form.labeled.value ? { labeled: form.labeled.value } : {}),
    });
    const taken = await api(`/api/uploads?${query}`, {
      method: "POST",
      headers: { "content-type": "application/octet-stream" },
      body: file,
    });
    await choices();
    form[name].value = taken.id;
    if (name === "target" && taken.n_labelled) form.n_labels.value = taken.n_labelled;
    say(
      `${taken.name}: ${plural(taken.n_rows, "row")}, ${plural(taken.n_features, "feature")}, ${taken.n_classes ? plural(taken.n_classes, "class", "classes") : "no labels"}${taken.n_labelled === null ? "" : `, ${plural(taken.n_labelled, "label")} known`}`,
    );
  } catch (error) {
    say(sentence(error), true);
  }
  input.value = "";
  byId("go").disabled = false;
}

function wanted() {
  const number = (name) => (form[name].value === "" ? null : Number(form[name].value));
  return {
    target: form.target.value,
    n_labels: number("n_labels"),
    n_classes: number("n_classes"),
    n_components: number("n_components"),
    normalize: form.normalize.value,
  };
}

async function transfer(event) {
  event.preventDefault();
  for (const id of ["verdict", "candidates", "pictures"]) byId(id).replaceChildren();
  say("starting …");
  byId("go").disabled = true;
  try {
    const keep = form.keep.checked;
    const { n_components, ...how } = wanted();
    const request = { source: form.source.value, ...how, ...(keep ? {} : { n_components }) };
    const see = (event) => say(STAGES[event.name]);
    const job = await follow(keep ? "/api/suggestions" : "/api/transfers", request, see, (begun) => {
      byId("cancel").hidden = false;
      byId("cancel").onclick = () => api(`/api/jobs/${begun.id}`, { method: "DELETE" }).catch(() => {});
    });
    say(`done in ${job.seconds.toFixed(1)} s`);
    byId("verdict").replaceChildren(verdict(job));
    byId("candidates").replaceChildren(candidates(job.result));
    byId("pictures").replaceChildren(...pictures(job.result));
    if (keep) await suggestions({ fresh: job.result.suggestion });
  } catch (error) {
    say(sentence(error), true);
  }
  byId("cancel").hidden = true;
  byId("go").disabled = false;
}

async function rank(event) {
  event.preventDefault();
  const status = byId("rank_status");
  const sources = [...byId("sources").querySelectorAll("input:checked")].map((box) => box.value);
  status.className = "quiet";
  if (!form.target.value || !sources.length || sources.length > MOST_SOURCES) {
    status.textContent = !form.target.value
      ? "Choose a target above first."
      : `Choose one to ${MOST_SOURCES} sources.`;
    return;
  }
  const rows = [];
  const show = () =>
    byId("ranked").replaceChildren(
      el(
        "div",
        { class: "card flush" },
        table(
          [
            { title: "source", value: (r) => r.source },
            { title: "adds", number: true, value: (r) => fixed(r.adds) },
            { title: "predicted", number: true, value: (r) => fixed(r.predicted) },
            { title: "90 % interval", number: true, value: (r) => interval(...(r.interval ?? [])) },
            { title: "choice", value: (r) => r.choice ?? "–" },
            { title: "verdict", value: (r) => (r.verdict ? verdictBadge(r.verdict) : "–") },
            { title: "because", value: (r) => r.reason },
          ],
          rows,
          { label: "Ranking" },
        ),
      ),
    );
  status.textContent = "ranking …";
  try {
    const job = await follow("/api/rankings", { sources, ...wanted() }, (told) => {
      rows.push(told);
      rows.sort((a, b) => (b.adds ?? -1) - (a.adds ?? -1));
      show();
    });
    status.textContent = `done in ${job.seconds.toFixed(1)} s, the best first; “adds” above 1: better than without this source`;
  } catch (error) {
    status.textContent = sentence(error);
    status.className = "trouble";
  }
}

if (form) {
  form.addEventListener("submit", transfer);
  form.source_file.addEventListener("change", () => upload(form.source_file, "source"));
  form.target_file.addEventListener("change", () => upload(form.target_file, "target"));
  form.keep.addEventListener("change", () => {
    form.n_components.disabled = form.keep.checked; // the agent keeps all columns
  });
  byId("rank").addEventListener("submit", rank);
  choices().catch((error) => say(sentence(error), true));
}
