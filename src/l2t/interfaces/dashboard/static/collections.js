import {
  api,
  badge,
  byId,
  duration,
  el,
  fill,
  fixed,
  moment,
  percent,
  plural,
  sentence,
  table,
  whole,
} from "./base.js";
import { bars } from "./charts.js";
import { figure } from "./figure.js";

const EVERY = 2000;
const KINDS = { running: "good", finished: "", stopped: "bad", silent: "bad" };
const clock = (text) => moment(text).slice(11);
const rate = (value) => (value > 10 ? whole(value) : fixed(value, 1));
let seen = "";

function running(each, now) {
  const through = each.done + each.failed + each.already_there;
  const ago = (new Date(now) - new Date(each.updated_at)) / 1000;
  return el(
    "div",
    { class: "card run" },
    el(
      "header",
      {},
      el("h2", {}, `Collecting on ${each.host}`),
      badge(each.state, KINDS[each.state]),
      el(
        "span",
        { class: "quiet" },
        `process ${each.pid}, since ${moment(each.started_at)}, last update ${duration(Math.max(ago, 0))} ago`,
      ),
    ),
    each.total ? el("progress", { max: each.total, value: through, "aria-label": "Progress" }) : null,
    el(
      "p",
      {},
      each.total
        ? `${whole(through)} of ${plural(each.total, "run")} (${percent(through / each.total)})`
        : plural(through, "run"),
      ` · ${rate(each.per_minute)} per minute`,
      each.seconds_left === null ? "" : ` · ${duration(each.seconds_left)} left`,
      el("span", { class: each.failed ? "failed" : "quiet" }, ` · ${whole(each.failed)} failed`),
      each.already_there ? el("span", { class: "quiet" }, ` · ${whole(each.already_there)} already stored`) : "",
    ),
    each.latest ? el("p", { class: "quiet" }, `last: ${each.latest}`) : null,
  );
}

function minutes(rows, now) {
  // Every minute of the hour, with or without runs.
  const by = new Map(rows.map((row) => [Math.floor(new Date(row.minute) / 60000), row]));
  const end = Math.floor(new Date(now) / 60000);
  const all = Array.from({ length: 60 }, (_, i) => end - 59 + i);
  const value = (key) => all.map((minute) => by.get(minute)?.[key] ?? 0);
  const text = (minute) => clock(new Date(minute * 60000).toISOString());
  return figure({
    title: "Runs per minute, last hour",
    draw: (width) =>
      bars(
        {
          xs: all,
          stacked: true,
          height: 240,
          yTitle: "runs",
          xText: text,
          sets: [
            { name: "done", ink: "var(--accent)", values: value("done") },
            { name: "failed", ink: "var(--fail)", values: value("failed") },
          ],
          tip: (i) => `${text(all[i])}\n${whole(value("done")[i])} done, ${whole(value("failed")[i])} failed`,
        },
        width,
      ),
    caption: rows.length
      ? `${plural(
          rows.reduce((sum, row) => sum + row.done + row.failed, 0),
          "run",
        )} in the last hour.`
      : "No runs in the last hour.",
    numbers: {
      rows,
      columns: [
        { title: "minute", value: (r) => moment(r.minute) },
        { title: "done", number: true, value: (r) => whole(r.done) },
        { title: "failed", number: true, value: (r) => whole(r.failed) },
      ],
    },
  });
}

async function show() {
  let status;
  try {
    status = await api("/api/collections");
  } catch (error) {
    byId("running").replaceChildren(el("p", { class: "card trouble", role: "alert" }, sentence(error)));
    seen = "";
    return;
  }
  const now = JSON.stringify({ ...status, now: null });
  const busy = status.collections.filter((each) => each.state === "running");
  byId("running").replaceChildren(
    ...(busy.length
      ? busy.map((each) => running(each, status.now))
      : [
          el(
            "div",
            { class: "card empty" },
            "Nothing is being collected now.",
            el("br"),
            el("code", {}, "l2t collect source.csv target.csv --store experiences.db --jobs 2"),
          ),
        ]),
  );
  if (now === seen) return;
  seen = now;
  byId("minutes").replaceChildren(minutes(status.minutes, status.now));
  fill(byId("failures"), () => [
    el("h2", {}, "Why runs failed"),
    table(
      [
        {
          title: "algorithm",
          value: (f) =>
            el("a", { href: `/experiences?status=failed&algorithm=${encodeURIComponent(f.algorithm)}` }, f.algorithm),
        },
        { title: "reason", value: (f) => f.reason },
        { title: "runs", number: true, value: (f) => whole(f.count) },
        { title: "last", number: true, value: (f) => moment(f.last) },
      ],
      status.failures,
      { empty: "No run has failed.", label: "Failures" },
    ),
  ]);
  const ended = status.collections.filter((each) => each.state !== "running");
  fill(byId("ended"), () =>
    ended.length
      ? el(
          "div",
          { class: "card" },
          el("h2", {}, "Earlier collections"),
          table(
            [
              { title: "started", value: (c) => moment(c.started_at) },
              { title: "on", value: (c) => c.host },
              {
                title: "state",
                value: (c) =>
                  el(
                    "span",
                    {},
                    badge(c.state, KINDS[c.state]),
                    c.state === "stopped"
                      ? ` ${c.outcome}`
                      : c.state === "silent"
                        ? " without an update; run the same command again to resume"
                        : "",
                  ),
              },
              { title: "done", number: true, value: (c) => whole(c.done) },
              { title: "failed", number: true, value: (c) => whole(c.failed) },
              { title: "already stored", number: true, value: (c) => whole(c.already_there) },
              { title: "per minute", number: true, value: (c) => rate(c.per_minute) },
              {
                title: "took",
                number: true,
                value: (c) => duration((new Date(c.ended_at ?? c.updated_at) - new Date(c.started_at)) / 1000),
              },
            ],
            ended,
            { label: "Earlier collections" },
          ),
        )
      : null,
  );
}

show();
setInterval(() => {
  if (!document.hidden) show();
}, EVERY);
