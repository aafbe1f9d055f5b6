import { api, badge, byId, card, el, fixed, main, percent, plural, sentence, table } from "./base.js";
import { bars, lines, shares } from "./charts.js";
import { cloud } from "./cloud.js";
import { figure, legend } from "./figure.js";
import { follow } from "./follow.js";

const form = byId("form"), MOST_SOURCES = 12;
const TERMS = [["mmd", "distance of the domains", "var(--c0)"], ["variance", "its uncertainty", "var(--c3)"], ["discriminant", "poor separation", "var(--c2)"], ["bias", "what every transfer starts from", "var(--mark)"]];
const say = (words, trouble = false) => { const place = byId("status"); place.textContent = words; place.className = trouble ? "trouble" : "quiet"; };
const wait = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

async function choices() {
  const [uploads, domains, functions] = await Promise.all([api("/api/uploads"), api("/api/domains"), api("/api/reflections")]);
  const told = (d) => `${d.name} (${d.n_rows} × ${d.n_features})`;
  const groups = () => [
    el("option", { value: "" }, uploads.length + domains.length ? "choose …" : "upload a file first"),
    uploads.length ? el("optgroup", { label: "Uploaded" }, uploads.map((d) => el("option", { value: d.id }, told(d)))) : null,
    domains.length ? el("optgroup", { label: "Of the store" }, domains.map((d) => el("option", { value: d.id }, told(d)))) : null,
  ].filter(Boolean);
  for (const name of ["source", "target"]) {
    const before = form[name].value || new URLSearchParams(location.search).get(name) || "";
    form[name].replaceChildren(...groups());
    form[name].value = [...form[name].options].some((o) => o.value === before) ? before : "";
  }
  if (!form.reflection.options.length) form.reflection.append(...functions.map((f) => el("option", {}, f.name)));
  const marked = new Set([...byId("sources").querySelectorAll("input:checked")].map((box) => box.value));
  byId("sources").replaceChildren(...[...uploads, ...domains].map((d) => el("label", { title: told(d) }, el("input", { type: "checkbox", value: d.id, checked: marked.has(d.id) }), el("span", {}, told(d)))));
}

async function upload(input, name) {
  const file = input.files[0];
  if (!file) return;
  const most = Number(main.dataset.maxUpload);
  if (file.size > most) { say(`${file.name} has ${(file.size / 2 ** 20).toFixed(0)} MiB, of ${most / 2 ** 20} at most.`, true); return; }
  say(`reading ${file.name} …`);
  byId("go").disabled = true;
  try {
    const query = new URLSearchParams({ name: file.name, ...(form.label.value ? { label: form.label.value } : {}), ...(form.labeled.value ? { labeled: form.labeled.value } : {}) });
    const taken = await api(`/api/uploads?${query}`, { method: "POST", headers: { "content-type": "application/octet-stream" }, body: file });
    await choices();
    form[name].value = taken.id;
    if (name === "target" && taken.n_labelled) form.n_labels.value = taken.n_labelled;
    say(`${taken.name}: ${plural(taken.n_rows, "row")}, ${plural(taken.n_features, "feature")}, ${taken.n_classes ? plural(taken.n_classes, "class", "classes") : "no labels"}${taken.n_labelled === null ? "" : `, ${plural(taken.n_labelled, "label")} known`}`);
  } catch (error) {
    say(sentence(error), true);
  }
  input.value = "";
  byId("go").disabled = false;
}

function wanted() {
  const number = (name) => (form[name].value === "" ? null : Number(form[name].value));
  return {
    target: form.target.value, n_labels: number("n_labels"), n_components: number("n_components"), n_iter: number("n_iter"),
    constraint: form.constraint.value || null, reflection: form.reflection.value, normalize: form.normalize.value,
  };
}

async function transfer(event) {
  event.preventDefault();
  for (const id of ["verdict", "live", "why"]) byId(id).replaceChildren();
  say("starting …");
  byId("go").disabled = true;
  const frames = [];
  let picture = null, chart = null;
  const see = async (told) => {
    if (told.event === "scene") {
      picture = cloud(told, { title: "Both domains", file: "both-domains", caption: " Two principal components of both together." });
      chart = objective(frames);
      byId("live").replaceChildren(chart, picture);
      return;
    }
    frames.push(told);
    picture.say(caption(told));
    picture.move(told.points, 220);
    chart.redraw();
    say(told.iteration === null ? "comparing starts …" : `step ${told.iteration}`);
    await wait(240);
  };
  try {
    const job = await follow("/api/transfers", { source: form.source.value, ...wanted() }, see, (begun) => {
      byId("cancel").hidden = false;
      byId("cancel").onclick = () => api(`/api/jobs/${begun.id}`, { method: "DELETE" }).catch(() => {});
    });
    say(`done in ${job.seconds.toFixed(1)} s`);
    byId("verdict").replaceChildren(verdict(job));
    byId("why").replaceChildren(...why(job.result));
    picture.append(player(frames, picture));
  } catch (error) {
    say(sentence(error), true);
  }
  byId("cancel").hidden = true;
  byId("go").disabled = false;
}

const caption = (frame) => (frame.value === null ? "As they are." : `${frame.iteration === null ? `Start ${frame.name}` : frame.iteration ? `Step ${frame.iteration} from ${frame.name}` : `From ${frame.name}`}: 1/f ${fixed(frame.value)}.`);

function objective(frames) {
  return figure({
    title: "Objective 1/f, live",
    above: legend([["starts", "var(--mark)"], ["the search", "var(--accent)"]]),
    draw: (width) => {
      const starts = frames.filter((f) => f.value !== null && f.iteration === null), steps = frames.filter((f) => f.iteration !== null);
      const last = Math.max(steps.length - 1, 4);
      return lines({
        height: Math.max(300, Math.min(width, 480)), xTitle: "step of conjugate gradient", yTitle: "1/f (lower is better)", xs: Array.from({ length: last + 1 }, (_, i) => i),
        series: [
          { name: "starts", ink: "var(--mark)", line: false, points: starts.map((f) => ({ x: 0, y: f.value, tip: `start ${f.name}\n1/f ${fixed(f.value)}` })) },
          { name: "search", ink: "var(--accent)", points: steps.map((f) => ({ x: f.iteration, y: f.value, tip: `step ${f.iteration} from ${f.name}\n1/f ${fixed(f.value)}` })) },
        ],
      }, width);
    },
    caption: "Each start is compared first; the search goes on from the best. Few steps are better than many.",
  });
}

function player(frames, picture) {
  const told = el("span", {}, "replay");
  const slider = el("input", { type: "range", min: 0, max: frames.length - 1, value: frames.length - 1, "aria-label": "Frame of the picture", input: () => {
    const frame = frames[Number(slider.value)];
    picture.say(caption(frame));
    picture.move(frame.points, 150);
  } });
  return el("div", { class: "player" }, told, slider);
}

function verdict(job) {
  const found = job.result, use = found.verdict === "transfer";
  const interval = found.interval ? `90 %: ${fixed(found.interval[0])} to ${fixed(found.interval[1])}` : "no interval: the function is not calibrated";
  const names = { "target_z.csv": "target, csv", "target_z.npz": "target, npz", "W.npy": "W, npy", "result.json": "numbers, json" };
  return el("div", { class: "card verdict" },
    el("div", {}, el("div", { class: `value ${use ? "better" : "worse"}` }, fixed(found.predicted)), el("div", { class: "quiet" }, "predicted improvement ratio"), el("div", { class: "quiet" }, interval)),
    el("div", {},
      el("p", {}, badge(use ? "transfer" : "do not transfer", use ? "good" : "bad"), ` ${found.source} → ${found.target}`),
      el("p", {}, `${found.reason[0].toUpperCase()}${found.reason.slice(1)}.`),
      el("p", { class: "quiet" }, `W is ${found.W_shape[0]} × ${found.W_shape[1]}, from ${found.start}, ${plural(found.history.length - 1, "step")} (${found.plan.constraint}).${use ? "" : " The target below is unchanged."}`),
      el("div", { class: "downloads" }, Object.keys(names).filter((name) => job.files.includes(name)).map((name) => el("a", { class: "button", href: `/api/jobs/${job.id}/files/${name}`, download: name }, names[name])))));
}

function why(found) {
  const terms = TERMS.map(([key, name, ink]) => ({ name, ink, value: found.terms[key] }));
  const used = found.exponents.map((p, i) => [p, i]).filter(([, i]) => found.weights[i] > 0);
  return [
    figure({
      title: "Why: the terms of 1/f",
      above: legend(TERMS.map(([, name, ink]) => [name, ink])),
      draw: (width) => shares([{ name: "1/f", parts: terms }], width),
      caption: "The smaller the sum, the better the prediction; what is left of the bias is what this pair adds.",
      numbers: { rows: terms, columns: [{ title: "term", value: (t) => t.name }, { title: "part of 1/f", number: true, value: (t) => fixed(t.value) }] },
    }),
    figure({
      title: "Why: the kernels",
      above: legend(TERMS.slice(0, 3).map(([, name, ink]) => [name, ink])),
      draw: (width) => bars({ xs: used.map(([p]) => p), stacked: true, height: 220, xTitle: "p of the bandwidth 2^p η", yTitle: "part of 1/f", sets: TERMS.slice(0, 3).map(([key, name, ink]) => ({ name, ink, values: used.map(([, i]) => found.by_kernel[key][i]) })) }, width),
      caption: "Kernels with a weight, and what each adds.",
      numbers: { rows: used, columns: [{ title: "p", number: true, value: ([p]) => String(p) }, { title: "beta share", number: true, value: ([, i]) => percent(found.weights[i], 1) }, ...TERMS.slice(0, 3).map(([key, name]) => ({ title: name, number: true, value: ([, i]) => fixed(found.by_kernel[key][i]) }))] },
    }),
    card(el("h2", {}, "Starts"), table([
      { title: "start", value: (c) => c.name },
      { title: "predicted ratio", number: true, value: (c) => fixed(c.predicted) },
      { title: "", value: (c) => c.reason || (c.name === found.start ? badge("taken", "good") : "") },
    ], found.candidates, { label: "Starts" })),
    card(el("h2", {}, "In words"), el("pre", {}, found.explanation)),
  ];
}

async function rank(event) {
  event.preventDefault();
  const status = byId("rank_status");
  const sources = [...byId("sources").querySelectorAll("input:checked")].map((box) => box.value);
  status.className = "quiet";
  if (!form.target.value || !sources.length || sources.length > MOST_SOURCES) {
    status.textContent = !form.target.value ? "Choose a target above first." : `Choose one to ${MOST_SOURCES} sources.`;
    return;
  }
  const rows = [];
  const show = () => byId("ranked").replaceChildren(el("div", { class: "card flush" }, table([
    { title: "source", value: (r) => r.source },
    { title: "predicted", number: true, value: (r) => fixed(r.predicted) },
    { title: "90 % interval", number: true, value: (r) => (r.interval ? `${fixed(r.interval[0])} – ${fixed(r.interval[1])}` : "–") },
    { title: "verdict", value: (r) => (r.verdict ? badge(r.verdict === "transfer" ? "transfer" : "do not transfer", r.verdict === "transfer" ? "good" : "bad") : "–") },
    { title: "because", value: (r) => r.reason },
  ], rows, { label: "Ranking" })));
  status.textContent = "ranking …";
  try {
    const job = await follow("/api/rankings", { sources, ...wanted() }, (told) => { rows.push(told); rows.sort((a, b) => (b.predicted ?? -1) - (a.predicted ?? -1)); show(); });
    status.textContent = `done in ${job.seconds.toFixed(1)} s, the best first`;
  } catch (error) {
    status.textContent = sentence(error);
    status.className = "trouble";
  }
}

if (form) {
  form.addEventListener("submit", transfer);
  form.source_file.addEventListener("change", () => upload(form.source_file, "source"));
  form.target_file.addEventListener("change", () => upload(form.target_file, "target"));
  form.constraint.addEventListener("change", () => { if (["grassmann", "sphere"].includes(form.constraint.value) && !form.n_iter.value) form.n_iter.value = 15; });
  byId("rank").addEventListener("submit", rank);
  choices().catch((error) => say(sentence(error), true));
}
