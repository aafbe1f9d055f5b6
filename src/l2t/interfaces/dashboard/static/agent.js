import { api, byId, el, sentence } from "./base.js";
import { follow } from "./follow.js";
import { suggestions } from "./suggestions.js";

const form = byId("ask");
const STAGE_TEXT = {
  known: "collecting the known classes …",
  rehearsing: "rehearsing on the known classes …",
  fitting: "fitting the candidates to the target …",
  choosing: "choosing …",
};

async function choices() {
  const stored = await api("/api/domains");
  const empty = stored.length ? "choose …" : "the store has no data sets";
  const words = (d) => `${d.name} (${d.n_rows} × ${d.n_features})`;
  for (const name of ["source", "target"]) {
    const options = stored.map((d) => el("option", { value: d.id }, words(d)));
    form[name].replaceChildren(el("option", { value: "" }, empty), ...options);
  }
}

async function ask(event) {
  event.preventDefault();
  const status = byId("status"),
    button = form.querySelector("button");
  button.disabled = true;
  status.className = "quiet";
  try {
    const request = {
      source: form.source.value,
      target: form.target.value,
      n_labels: Number(form.n_labels.value) || null,
    };
    const job = await follow("/api/suggestions", request, (stage) => {
      status.textContent = STAGE_TEXT[stage.name] ?? "";
    });
    status.textContent = `Suggestion ${job.result.suggestion} is listed below; report its outcome there.`;
    await suggestions({ fresh: job.result.suggestion });
  } catch (error) {
    status.className = "trouble";
    status.textContent = sentence(error);
  }
  button.disabled = false;
}

if (form) {
  form.addEventListener("submit", ask);
  choices().catch((error) => {
    byId("status").textContent = sentence(error);
  });
}
suggestions();
