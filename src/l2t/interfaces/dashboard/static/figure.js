// A figure: a title, an SVG that is redrawn on resizing, buttons to save it, tooltips, and its numbers as a table.

import { el, table } from "./base.js";

const NAMESPACE = "http://www.w3.org/2000/svg";

export function svg(name, given = {}, ...children) {
  const made = document.createElementNS(NAMESPACE, name);
  for (const [key, value] of Object.entries(given))
    if (value !== null && value !== undefined) made.setAttribute(key, value);
  made.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return made;
}

export const text = (x, y, content, given = {}) => svg("text", { x, y, ...given }, String(content));
export const rect = (x, y, width, height, given = {}) =>
  svg("rect", { x, y, width: Math.max(width, 0.8), height: Math.max(height, 0), ...given });
export const line = (x1, y1, x2, y2, given = { class: "axis" }) => svg("line", { x1, y1, x2, y2, ...given });
export const color = (index) => `var(--c${index % 10})`;

// draw(width) returns an SVG element; numbers is {columns, rows} of `table`.
export function figure({ title, draw, caption = null, numbers = null, above = null, file = title }) {
  const place = el("div", {});
  const name = file
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");
  const saver = (kind, save) => {
    const click = () => place.firstChild && save(standalone(place.firstChild), name);
    return el("button", { type: "button", class: "save", "aria-label": `Save "${title}" as ${kind}`, click }, kind);
  };
  const made = el(
    "figure",
    { class: "card" },
    el("header", {}, el("h2", {}, title), saver("SVG", saveSvg), saver("PNG", savePng)),
    above,
    place,
    caption ? el("figcaption", {}, caption) : null,
    numbers ? el("details", {}, el("summary", {}, "numbers"), numbersTable(title, numbers)) : null,
  );
  let width = 0;
  const redraw = () => {
    const drawn = draw(width);
    drawn.setAttribute("role", "img");
    drawn.setAttribute("aria-label", title);
    place.replaceChildren(drawn);
  };
  new ResizeObserver(() => {
    const now = Math.round(place.clientWidth);
    if (now && now !== width) {
      width = now;
      redraw();
    }
  }).observe(place);
  tips(place);
  made.redraw = () => {
    if (width) redraw();
  };
  return made;
}

const numbersTable = (title, { columns, rows }) => table(columns, rows, { label: `Numbers of ${title}` });

let tip = null;
function tips(place) {
  const show = (event) => {
    const marked = event.target.closest?.("[data-tip]");
    if (!marked) return hide();
    if (!tip) {
      tip = el("div", { class: "tip", role: "tooltip" });
      document.body.append(tip);
    }
    tip.textContent = marked.dataset.tip;
    tip.hidden = false;
    const box = marked.getBoundingClientRect();
    const x = event.clientX ?? box.x + box.width / 2,
      y = event.clientY ?? box.y;
    const size = tip.getBoundingClientRect();
    tip.style.left = `${Math.max(4, Math.min(x + 12, innerWidth - size.width - 8))}px`;
    tip.style.top = `${y > size.height + 20 ? y - size.height - 12 : y + 16}px`;
  };
  const hide = () => {
    if (tip) tip.hidden = true;
  };
  place.addEventListener("pointermove", show);
  place.addEventListener("pointerleave", hide);
  place.addEventListener("focusin", show);
  place.addEventListener("focusout", hide);
}

const STYLES =
  "fill fill-opacity stroke stroke-width stroke-opacity stroke-dasharray opacity font-family font-size font-weight text-anchor dominant-baseline".split(
    " ",
  );

// The SVG with its computed styles inlined, for a file of its own.
function standalone(drawn) {
  const copy = drawn.cloneNode(true);
  const from = [drawn, ...drawn.querySelectorAll("*")],
    to = [copy, ...copy.querySelectorAll("*")];
  from.forEach((each, i) => {
    const computed = getComputedStyle(each);
    for (const style of STYLES) to[i].setAttribute(style, computed.getPropertyValue(style));
    for (const name of ["class", "style", "tabindex"]) to[i].removeAttribute(name);
  });
  const [, , width, height] = drawn.getAttribute("viewBox").split(" ");
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  const ground = getComputedStyle(document.documentElement).getPropertyValue("--card").trim();
  copy.prepend(svg("rect", { width, height, fill: ground }));
  return { source: new XMLSerializer().serializeToString(copy), width: Number(width), height: Number(height) };
}

function download(blob, name) {
  const link = el("a", { href: URL.createObjectURL(blob), download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

const svgBlob = (source) => new Blob([source], { type: "image/svg+xml" });
const saveSvg = ({ source }, name) => download(svgBlob(source), `${name}.svg`);

function savePng({ source, width, height }, name) {
  const image = new Image();
  image.addEventListener("load", () => {
    const canvas = el("canvas", { width: 2 * width, height: 2 * height });
    const context = canvas.getContext("2d");
    context.scale(2, 2);
    context.drawImage(image, 0, 0);
    URL.revokeObjectURL(image.src);
    canvas.toBlob((blob) => download(blob, `${name}.png`), "image/png");
  });
  image.src = URL.createObjectURL(svgBlob(source));
}

export function legend(entries) {
  return el(
    "div",
    { class: "legend" },
    entries.map(([name, ink, hollow]) => {
      const dot = el("i", {});
      if (hollow) dot.style.border = `2px solid ${ink}`;
      else dot.style.background = ink;
      return el("span", {}, dot, name);
    }),
  );
}
