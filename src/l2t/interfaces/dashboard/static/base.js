// Shared by all pages: requests, elements, formats of numbers, tables.

// The path under which a proxy serves the dashboard, as a prefix of all paths.
const ROOT = new URL("..", import.meta.url).pathname.slice(0, -1);
export const rooted = (path) => (path.startsWith("/") ? ROOT + path : path);

export async function api(path, options = {}) {
  let response;
  try {
    response = await fetch(rooted(path), options);
  } catch {
    throw new Error("the server does not respond; is it still running?");
  }
  if (response.status === 204) return null;
  let content;
  try {
    content = await response.json();
  } catch {
    throw new Error(`the server responded with status ${response.status}`);
  }
  if (!response.ok) throw new Error(content.error ?? `the server responded with status ${response.status}`);
  return content;
}

export const post = (path, content) =>
  api(path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(content),
  });

// el("p", {class: "quiet"}, "text", child ...): functions become event listeners, other values attributes.
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
// On a phone, the links to all pages are wider than the screen.
document.querySelector("nav [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });

// Shows the elements that make() resolves to, "loading" until then, and a message if it fails.
export async function fill(place, make) {
  if (!place.childElementCount) place.replaceChildren(el("p", { class: "quiet" }, "loading …"));
  try {
    const made = await make();
    place.replaceChildren(...[made].flat().filter(Boolean));
  } catch (error) {
    place.replaceChildren(el("p", { class: "trouble", role: "alert" }, sentence(error)));
  }
}

// The message as a sentence; the name of a parameter, a file or a domain at its start keeps its case.
export const sentence = (error) =>
  error.message.replace(/^[a-z](?=[a-z-]*[\s,;])(?![^:]*\.\w+:)/, (first) => first.toUpperCase()) +
  (/[.?!]$/.test(error.message) ? "" : ".");

const missing = (value) => value === null || value === undefined || Number.isNaN(value);
export const fixed = (value, digits = 3) => (missing(value) ? "–" : value.toFixed(digits));
export const whole = (value) => (missing(value) ? "–" : Math.round(value).toLocaleString("en"));
export const percent = (value, digits = 0) => (missing(value) ? "–" : `${(100 * value).toFixed(digits)}\u00a0%`);
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

// A ratio of accuracies as a change, such as "+8.2 %".
export function gain(ratio) {
  if (missing(ratio)) return "–";
  const size = Math.abs(100 * (ratio - 1)).toFixed(1);
  return `${size === "0.0" ? "" : ratio > 1 ? "+" : "−"}${size} %`;
}

// A ratio within two standard errors of 1, or of unknown error, has no colour.
export const ratioClass = (ratio, error = null) =>
  missing(ratio) || missing(error) || Math.abs(ratio - 1) <= 2 * error ? "" : ratio > 1 ? "better" : "worse";

// columns: [{title, value(row), number?, class?}]; value returns text or an element, class is text or a function of a row.
const of = (given, row) => (typeof given === "function" ? given(row) : given);
export function table(columns, rows, { empty = "no rows", label = "Table" } = {}) {
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
  return el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": label }, made);
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

// Buttons of which one is pressed: choices are [value, text]; pick(value) is called on a change.
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
