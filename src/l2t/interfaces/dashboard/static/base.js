// What all pages share: fetching, elements, numbers, tables.

// The path that a proxy serves the dashboard under, put before the paths of pages and routes.
const ROOT = new URL("..", import.meta.url).pathname.slice(0, -1);
export const rooted = (path) => (path.startsWith("/") ? ROOT + path : path);

export async function api(path, options = {}) {
  let answer;
  try {
    answer = await fetch(rooted(path), options);
  } catch {
    throw new Error("the server does not answer; is it still running?");
  }
  if (answer.status === 204) return null;
  let content;
  try {
    content = await answer.json();
  } catch {
    throw new Error(`the server answered with status ${answer.status}`);
  }
  if (!answer.ok) throw new Error(content.error ?? `the server answered with status ${answer.status}`);
  return content;
}

export const post = (path, content) =>
  api(path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(content),
  });

// el("p", {class: "quiet"}, "text", child ...): values become properties of functions, attributes of the rest.
export function el(name, given = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(given)) {
    if (typeof value === "function") made.addEventListener(key, value);
    else if (value === true) made.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined)
      made.setAttribute(key, key === "href" ? rooted(value) : value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return made;
}

export const byId = (id) => document.getElementById(id);
export const main = byId("main");

// Shows what a promise gives, "loading" before, and a sentence where it fails.
export async function fill(place, make) {
  if (!place.childElementCount) place.replaceChildren(el("p", { class: "quiet" }, "loading …"));
  try {
    const made = await make();
    place.replaceChildren(...[made].flat().filter(Boolean));
  } catch (error) {
    place.replaceChildren(el("p", { class: "trouble", role: "alert" }, sentence(error)));
  }
}

// The name of a parameter at its beginning stays as it is.
export const sentence = (error) =>
  error.message.replace(/^[a-z](?!\w*_)/, (first) => first.toUpperCase()) + (error.message.endsWith(".") ? "" : ".");

const missing = (value) => value === null || value === undefined || Number.isNaN(value);
export const fixed = (value, digits = 3) => (missing(value) ? "–" : value.toFixed(digits));
export const whole = (value) => (missing(value) ? "–" : Math.round(value).toLocaleString("en"));
export const percent = (value, digits = 0) => (missing(value) ? "–" : `${(100 * value).toFixed(digits)} %`);
export const plural = (count, one, many = `${one}s`) => `${whole(count)} ${count === 1 ? one : many}`;

export function duration(seconds) {
  if (missing(seconds)) return "–";
  if (seconds < 1) return `${Math.round(1000 * seconds)} ms`;
  if (seconds < 90) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  return `${(seconds / 3600).toFixed(1)} h`;
}

export function moment(text) {
  if (!text) return "–";
  const at = new Date(text);
  const two = (n) => String(n).padStart(2, "0");
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${two(at.getHours())}:${two(at.getMinutes())}`;
}

// "+8.2 %": what a ratio of accuracies adds.
export function gain(ratio) {
  if (missing(ratio)) return "–";
  const size = Math.abs(100 * (ratio - 1)).toFixed(1);
  return `${size === "0.0" ? "" : ratio > 1 ? "+" : "−"}${size} %`;
}

// A ratio within two standard errors of 1 has no colour, nor has one whose error is not known.
export const ratioClass = (ratio, error = null) =>
  missing(ratio) || missing(error) || Math.abs(ratio - 1) <= 2 * error ? "" : ratio > 1 ? "better" : "worse";

// columns: [{title, value(row), number?, class?}]; value gives text or an element, class is text or of a row.
const of = (given, row) => (typeof given === "function" ? given(row) : given);
export function table(columns, rows, { empty = "nothing here", label = "" } = {}) {
  if (!rows.length) return el("p", { class: "empty" }, empty);
  const head = el(
    "tr",
    {},
    columns.map((c) =>
      el(
        "th",
        { class: c.number ? "number" : null, scope: "col", "aria-sort": c.sort },
        c.title || el("span", { class: "unseen" }, "more"),
      ),
    ),
  );
  const body = rows.map((row) =>
    el(
      "tr",
      {},
      columns.map((c) =>
        el("td", { class: `${c.number ? "number" : ""} ${of(c.class, row) ?? ""}`.trim() || null }, c.value(row)),
      ),
    ),
  );
  const made = el("table", {}, el("thead", {}, head), el("tbody", {}, body));
  return el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": label || "Table" }, made);
}

export function facts(pairs) {
  return el(
    "dl",
    { class: "facts" },
    pairs.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]),
  );
}

export const card = (...content) => el("div", { class: "card" }, ...content);

export const badge = (text, kind = "") => el("span", { class: `badge ${kind}` }, text);

export const runLink = (key, text) => el("a", { href: `/experiences/${key}` }, text);

// Buttons of which one is pressed: choices are [value, words], and pick(value) is called with another one.
export function toggle(label, choices, chosen, pick) {
  const buttons = choices.map(([value, words]) =>
    el(
      "button",
      {
        type: "button",
        "aria-pressed": String(value === chosen),
        click: (event) => {
          for (const each of buttons) each.setAttribute("aria-pressed", String(each === event.currentTarget));
          pick(value);
        },
      },
      words,
    ),
  );
  return el("div", { class: "controls", role: "group", "aria-label": label }, label.toLowerCase(), ...buttons);
}
