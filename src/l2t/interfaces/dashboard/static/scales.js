// Scales of axes, ticks, and the format of their numbers.

import { svg } from "./figure.js";

export const frame = (width, height) => svg("svg", { viewBox: `0 0 ${width} ${height}` });

export const linear = (low, high, from, to) => {
  const span = high - low || 1;
  return (value) => from + ((value - low) / span) * (to - from);
};

export function ticks(low, high, count = 5) {
  const rough = (high - low) / count || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((m) => m * power >= rough * 0.999);
  const found = [];
  for (let at = Math.ceil(low / step - 1e-9) * step; at <= high + step * 1e-9; at += step)
    found.push(Math.abs(at) < step * 1e-9 ? 0 : at);
  return found;
}

export const shown = (value) => String(Number(value.toPrecision(6)));

// The width of a text in a chart, by its font in the browser.
const pen = document.createElement("canvas").getContext?.("2d");
export function wide(text) {
  if (!pen) return 7 * text.length;
  pen.font = `12px ${getComputedStyle(document.body).fontFamily}`;
  return pen.measureText(text).width;
}

// A text cut to a width.
export function fit(text, most) {
  let kept = text;
  while (kept && wide(kept === text ? text : `${kept}…`) > most) kept = kept.slice(0, -1);
  return kept === text ? text : `${kept}…`;
}

export function extent(values, pad = 0.05) {
  let low = Infinity,
    high = -Infinity;
  for (const value of values)
    if (Number.isFinite(value)) {
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
  if (!Number.isFinite(low)) return [0, 1];
  const span = high - low,
    least = 1e-6 * Math.max(Math.abs(high), Math.abs(low)); // less is rounding error
  const room = (span > least ? span : Math.abs(high) || 1) * pad;
  return [low - room, high + room];
}
