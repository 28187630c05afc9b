"use strict";
// The page shows the snapshots that v1/events sends. All names are set as text.

const svgName = "http://www.w3.org/2000/svg";
const at = (id) => document.getElementById(id);

function make(name, text, className) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}

function bytes(n) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let unit = 0;
  while (n >= 1024 && unit < units.length - 1) { n /= 1024; unit++; }
  return (unit === 0 || n >= 100 ? Math.round(n) : n.toPrecision(3)) + " " + units[unit];
}

const count = (n) => n.toLocaleString("en");

function bar(part, whole, label, warn) {
  const share = whole > 0 ? Math.min(1, part / whole) : 0;
  const outer = make("span", undefined, "bar");
  outer.setAttribute("role", "img");
  outer.setAttribute("aria-label", label + ": " + Math.round(100 * share) + " %");
  const inner = make("span", undefined, warn && share > 0.9 ? "full" : "");
  inner.style.width = 100 * share + "%";
  outer.append(inner);
  return outer;
}

// percent is a share in words. A small one is not shown as nothing.
function percent(part, whole) {
  const share = whole > 0 ? 100 * part / whole : 0;
  return (share > 0 && share < 1 ? "< 1" : Math.round(share)) + " %";
}

function barAndShare(part, whole, label, warn) {
  const made = make("span", undefined, "share");
  const text = make("span", percent(part, whole), "quiet");
  text.setAttribute("aria-hidden", "true"); // the bar has it in its name
  made.append(bar(part, whole, label, warn), text);
  return made;
}

function span(from, to) {
  const seconds = Math.max(0, Math.round((Date.parse(to) - Date.parse(from)) / 1000));
  if (seconds < 120) return seconds + " s";
  return seconds < 7200 ? Math.round(seconds / 60) + " min" : Math.round(seconds / 3600) + " h";
}

const ago = (time, now) => span(time, now) + " ago";

function setText(id, text, bad) {
  const to = at(id);
  if (to.textContent !== text) to.textContent = text;
  to.classList.toggle("bad", Boolean(bad));
}

// minuteAgo returns the moment one minute before the last one, or the first.
function minuteAgo(history) {
  const last = Date.parse(history[history.length - 1].time);
  return history.findLast((p) => last - Date.parse(p.time) >= 60000) || history[0];
}

// showGlance answers the first questions of an operator.
function showGlance(s) {
  const use = s.managers.reduce((sum, m) => sum + m.in_use_bytes, 0);
  const budget = s.managers.reduce((sum, m) => sum + m.budget_bytes, 0);
  setText("glance-use", `${bytes(use)} of ${bytes(budget)}`, budget > 0 && use > 0.9 * budget);
  const tags = s.managers.flatMap((m) => m.tags).filter((t) => t.in_use_bytes > 0).sort((a, b) => b.in_use_bytes - a.in_use_bytes);
  const text = tags.slice(0, 3).map((t) => `${t.name || "(untagged)"} ${bytes(t.in_use_bytes)}`).join(", ");
  setText("glance-tags", tags.length ? text + (tags.length > 3 ? ` and ${count(tags.length - 3)} more` : "") : "Nothing is held.");
  if (s.history.length) {
    const before = minuteAgo(s.history);
    const change = use - before.in_use_bytes;
    setText("glance-change", (change > 0 ? "+" : change < 0 ? "\u2212" : "") + bytes(Math.abs(change)));
    const peak = Math.max(...s.history.map((p) => p.in_use_bytes));
    setText("glance-before", `${bytes(before.in_use_bytes)} were in use ${ago(before.time, s.time)}. The most in ${span(s.history[0].time, s.time)} was ${bytes(peak)}.`);
  }
  let failed = 0;
  for (const m of s.managers) failed += m.failures;
  setText("glance-failures", failed ? `${count(failed)} ${failed === 1 ? "request" : "requests"} failed` : "Nothing failed", failed > 0);
  const last = s.failures[0];
  setText("glance-failure", last ? `${ago(last.time, s.time)}: ${bytes(last.bytes)} for ${last.tag || "no tag"} in ${last.tenant || last.manager}; ` +
    (reasons[last.reason] || last.reason) + "." : "No request for memory has failed.");
  const waiting = s.queries.filter((q) => q.state === "waiting").length;
  const requests = s.managers.reduce((sum, m) => sum + m.waiting, 0);
  setText("glance-queries", `${count(s.queries.length - waiting)} running, ${count(waiting)} waiting`);
  const longest = s.queries.reduce((a, q) => !a || q.seconds > a.seconds ? q : a, undefined);
  setText("glance-query", (longest ? `The longest: ${longest.tag || "no tag"}, ${longest.seconds.toFixed(1)} s` +
    (longest.operation ? " in " + longest.operation : "") + "." : "No query runs.") +
    (requests ? ` ${count(requests)} requests wait for memory.` : ""));
  setText("updated", new Date(s.time).toLocaleTimeString());
}

// reasons are the reasons of failures in words.
const reasons = {
  budget: "the budget had no room", device: "the device had no room", cancelled: "it was cancelled while it waited",
};

// row makes a row of a table. Its cells have the names of their columns, which narrow windows show before them.
function row(table, cells) {
  const made = make("tr");
  const columns = at(table).tHead.rows[0].cells;
  cells.forEach((cell, i) => {
    const to = i === 0 ? make("th", undefined, "name") : make("td");
    if (i === 0) to.scope = "row";
    if (cell instanceof Node) to.append(cell);
    else to.textContent = cell;
    if (i === 0) to.title = cell;
    if (i > 1) to.className = "number";
    if (i > 0) to.dataset.column = columns[i].textContent;
    made.append(to);
  });
  return made;
}

function eachManager(managers, f, depth = 0) {
  for (const m of managers) {
    f(m, depth);
    eachManager(m.children, f, depth + 1);
  }
}

function showManagers(s) {
  const rows = [];
  eachManager(s.managers, (m, depth) => {
    const budget = m.budget_bytes;
    const name = "\u2003".repeat(depth) + (m.name || "(no name)") + (depth === 0 ? " on " + m.device : "");
    rows.push(row("managers", [
      name, barAndShare(m.in_use_bytes, budget, "part of the budget in use", true), bytes(m.in_use_bytes), bytes(budget), bytes(m.peak_bytes),
      m.cache ? bytes(m.cache.cached_bytes) : "", count(m.blocks), depth === 0 ? count(m.waiting) : "", count(m.failures), count(m.leaks),
    ]));
  });
  at("managers").tBodies[0].replaceChildren(...rows);
}

function showTags(s) {
  const rows = [];
  for (const m of s.managers) {
    for (const t of m.tags.slice(0, 50)) {
      rows.push(row("tags", [
        t.name || "(untagged)", barAndShare(t.in_use_bytes, m.in_use_bytes, "part of the memory in use"), bytes(t.in_use_bytes),
        bytes(t.peak_bytes), count(t.blocks), count(t.allocations),
      ]));
    }
  }
  at("tags").tBodies[0].replaceChildren(...rows);
}

function points(history, value, most) {
  const first = Date.parse(history[0].time);
  const span = Math.max(1, Date.parse(history[history.length - 1].time) - first);
  return history.map((p) => (600 * (Date.parse(p.time) - first) / span).toFixed(1) + "," + (138 - 134 * value(p) / most).toFixed(1));
}

function line(list, className) {
  const made = document.createElementNS(svgName, "polyline");
  made.setAttribute("class", className);
  made.setAttribute("points", list.join(" "));
  return made;
}

function showTime(s) {
  if (s.history.length === 0) return;
  const last = s.history[s.history.length - 1];
  const used = Math.max(1, ...s.history.map((p) => Math.max(p.in_use_bytes, p.reserved_bytes)));
  // A budget far above the lines would flatten them.
  const near = last.budget_bytes > 0 && last.budget_bytes < 3 * used;
  const most = near ? Math.max(used, last.budget_bytes) : used;
  const use = points(s.history, (p) => p.in_use_bytes, most);
  const lines = [line(["0,138", ...use, "600,138"], "area"), line(points(s.history, (p) => p.reserved_bytes, most), "reserved"), line(use, "use")];
  if (near) lines.unshift(line(points(s.history, (p) => p.budget_bytes, most), "limit"));
  at("time").replaceChildren(...lines);
  setText("time-most", bytes(most));
  setText("time-begin", ago(s.history[0].time, last.time));
  const seconds = Math.round((Date.parse(last.time) - Date.parse(s.history[0].time)) / 1000);
  setText("time-text", `In use ${bytes(last.in_use_bytes)}, between ` +
    `${bytes(Math.min(...s.history.map((p) => p.in_use_bytes)))} and ${bytes(Math.max(...s.history.map((p) => p.in_use_bytes)))} ` +
    `in ${seconds} s; reserved ${bytes(last.reserved_bytes)}; budget ${bytes(last.budget_bytes)}${near ? "" : ", above the picture"}.`);
}

// showOperations draws a bar for each operation that worked in the moments of the history.
function showOperations(s) {
  const all = s.operation_seconds;
  at("operations").hidden = all === 0;
  setText("operations-text", all > 0
    ? `An estimate: the operation of each query, sampled ${count(s.history.length)} times over the last ${span(s.history[0].time, s.time)}.`
    : "No query worked in the last minutes.");
  const others = all - s.operations.reduce((sum, o) => sum + o.seconds, 0);
  const list = others > 1e-6 * all ? [...s.operations, { name: "(others)", seconds: others }] : s.operations;
  at("operations").tBodies[0].replaceChildren(...list.map((o) => row("operations", [
    o.name, barAndShare(o.seconds, all, "part of the time of all operations"), o.seconds.toFixed(1),
  ])));
}

// duration is a number of seconds in words.
function duration(seconds) {
  return seconds < 1 ? Math.round(1000 * seconds) + " ms" : Math.round(seconds) + " s";
}

// showDurations draws the distribution of the durations of all queries that have ended.
function showDurations(s) {
  const sum = (name) => s.ended.reduce((all, e) => all + e[name], 0);
  const counts = [];
  for (const e of s.ended) e.durations.counts.forEach((n, i) => { counts[i] = (counts[i] || 0) + n; });
  const all = counts.reduce((a, b) => a + b, 0);
  at("durations-picture").hidden = all === 0;
  if (all === 0) {
    setText("durations-text", "No query has ended.");
    return;
  }
  const bounds = s.ended[0].durations.bounds;
  const label = (i) => i < bounds.length ? "up to " + duration(bounds[i]) : "above " + duration(bounds[bounds.length - 1]);
  // quantile is the range with which a part of the queries is reached.
  const quantile = (part) => {
    let below = 0;
    return label(counts.findIndex((n) => (below += n) >= part * all));
  };
  setText("durations-text", `${count(sum("completed"))} completed, ${count(sum("failed"))} failed, ${count(sum("cancelled"))} cancelled. ` +
    `Half of them took ${quantile(0.5)}, 95 % ${quantile(0.95)}. They waited ${sum("waited_seconds").toFixed(1)} s for memory.`);
  const first = counts.findIndex((n) => n > 0);
  const last = counts.findLastIndex((n) => n > 0);
  const most = Math.max(...counts);
  at("durations").setAttribute("viewBox", `0 0 ${10 * (last - first + 1)} 100`);
  at("durations").replaceChildren(...counts.slice(first, last + 1).map((n, i) => {
    const rect = document.createElementNS(svgName, "rect");
    rect.setAttribute("x", 10 * i + 0.5);
    rect.setAttribute("y", 100 - 96 * n / most);
    rect.setAttribute("width", 9);
    rect.setAttribute("height", 96 * n / most);
    const title = document.createElementNS(svgName, "title");
    title.textContent = `${label(first + i)}: ${count(n)} ${n === 1 ? "query" : "queries"}`;
    rect.append(title);
    return rect;
  }));
  setText("durations-most", `${count(most)} ${most === 1 ? "query" : "queries"}`);
  setText("durations-first", label(first));
  setText("durations-last", first < last ? label(last) : "");
}

// details makes a part that opens, and stays open when the list is made again.
const opened = new Set();
function details(key, title, text) {
  const made = make("details");
  made.open = opened.has(key);
  made.addEventListener("toggle", () => { if (made.open) opened.add(key); else opened.delete(key); });
  const body = make("pre", text);
  body.tabIndex = 0; // a long line is scrolled with the keyboard
  made.append(make("summary", title), body);
  return made;
}

// callerOf is the first line of a stack that is the program's and not of gpuframe, or the first one.
function callerOf(stack) {
  return stack.find((line) => /^github\.com\/gpuframe\/gpuframe[^ ]*_test\./.test(line) ||
    !/^(github\.com\/gpuframe\/gpuframe[./]|runtime\.|testing\.)/.test(line)) || stack[0];
}

// short is a line of a stack without the folders of the function and the file.
function short(text) {
  return text ? text.replace(/[^ (]*\//g, "") : "no stack";
}

async function cancel(q) {
  const answer = at("answer");
  try {
    const reply = await fetch(`v1/cancel?engine=${q.engine}&id=${q.id}`, {
      method: "POST", headers: { Authorization: "Bearer " + at("token").value },
    });
    answer.textContent = reply.ok ? `Query ${q.id} is being cancelled.` : await reply.text();
  } catch (error) {
    answer.textContent = "The query could not be cancelled: " + error.message;
  }
}

// items keeps the focus on a button of the list that is made again.
function items(list, made, empty) {
  const focus = document.activeElement && document.activeElement.dataset ? document.activeElement.dataset.key : undefined;
  const summary = list.contains(document.activeElement) && document.activeElement.closest("li");
  const index = summary ? [...list.children].indexOf(summary) : -1;
  const wasSummary = document.activeElement && document.activeElement.tagName === "SUMMARY";
  list.replaceChildren(...(made.length ? made : [make("li", empty, "quiet")]));
  if (focus && index >= 0) {
    const again = [...list.querySelectorAll("[data-key]")].find((e) => e.dataset.key === focus);
    if (again) again.focus();
  } else if (wasSummary && index >= 0 && list.children[index]) {
    const again = list.children[index].querySelector("summary");
    if (again) again.focus();
  }
}

function showQueries(s) {
  at("token-row").hidden = !s.can_cancel;
  items(at("queries"), s.queries.map((q) => {
    const made = make("li");
    const rows = q.of_rows > 0 ? `${count(q.rows)} of ${count(q.of_rows)} rows` : `${count(q.rows)} rows`;
    made.append(make("p", `${q.tag} (${q.manager})`),
      make("p", `${q.state} ${q.operation ? "in " + q.operation + " " : ""}for ${q.seconds.toFixed(1)} s, ${rows} read, ` +
        `${bytes(q.in_use_bytes)} in use, needs ${bytes(q.needed_bytes)}`, "quiet"),
      details("query " + q.engine + " " + q.id, "Plan", q.plan));
    if (s.can_cancel) {
      const button = make("button", "Cancel");
      button.type = "button";
      button.dataset.key = "cancel " + q.engine + " " + q.id;
      button.setAttribute("aria-label", "Cancel query " + q.id + ", " + q.tag);
      button.addEventListener("click", () => cancel(q));
      made.append(button);
    }
    return made;
  }), "No query runs.");
}

function showSites(s) {
  at("sites-text").textContent = s.sample_bytes > 0
    ? `Estimates from samples, one in about ${bytes(s.sample_bytes)}.` : "Sampling is off: set Options.SampleBytes.";
  const held = s.sites.filter((site) => site.in_use_bytes > 0).slice(0, 20);
  items(at("sites"), held.map((site, i) => {
    const made = make("li");
    made.append(make("p", `${bytes(site.in_use_bytes)} in ${count(site.blocks)} ${site.blocks === 1 ? "block" : "blocks"}` +
      (site.tag ? ", tag " + site.tag : "") + (site.tenant ? ", tenant " + site.tenant : "")),
      details("site " + site.tenant + "\n" + site.tag + "\n" + site.stack.join("\n"), short(callerOf(site.stack)), site.stack.join("\n")));
    return made;
  }), "Nothing is held.");
}

function showFailures(s) {
  items(at("failures"), s.failures.slice(0, 20).map((f) => {
    const made = make("li");
    const when = make("time", new Date(f.time).toLocaleTimeString());
    when.dateTime = f.time;
    const head = make("p");
    head.append(when, ` ${bytes(f.bytes)} for ${f.tag || "no tag"} in ${f.tenant || f.manager}: ${reasons[f.reason] || f.reason}`);
    made.append(head, make("p", f.error, "quiet"));
    return made;
  }), "None.");
}

// mostRects is the number of rectangles of a segment: smaller blocks share one.
const mostRects = 1000;

// segmentPicture draws the blocks of a segment. A click chooses a block.
function segmentPicture(segment, label, choose) {
  const picture = document.createElementNS(svgName, "svg");
  picture.setAttribute("viewBox", "0 0 1000 10");
  picture.setAttribute("preserveAspectRatio", "none");
  picture.setAttribute("role", "img");
  picture.setAttribute("aria-label", label);
  const scale = 1000 / segment.bytes;
  let open;
  for (const block of segment.blocks) {
    if (block.state === "free") { open = undefined; continue; }
    const from = (block.address - segment.address) * scale;
    const to = from + block.bytes * scale;
    if (open && open.state === block.state && to - open.from < 1000 / mostRects) {
      open.rect.setAttribute("width", to - open.from);
      continue;
    }
    const rect = document.createElementNS(svgName, "rect");
    rect.setAttribute("x", from);
    rect.setAttribute("y", 0);
    rect.setAttribute("width", to - from);
    rect.setAttribute("height", 10);
    if (block.state === "held") rect.setAttribute("class", "held");
    const title = document.createElementNS(svgName, "title");
    title.textContent = bytes(block.bytes) + (block.tag ? ", tag " + block.tag : "") + (block.tenant ? ", tenant " + block.tenant : "");
    rect.append(title);
    rect.addEventListener("click", () => choose(block, rect));
    picture.append(rect);
    open = { state: block.state, from, rect };
  }
  return picture;
}

function blockItem(m, block) {
  const made = make("li");
  const size = block.requested_bytes ? `${bytes(block.requested_bytes)} (${bytes(block.bytes)})` : bytes(block.bytes);
  made.append(make("p", `${size} at 0x${block.address.toString(16)}, ${block.state}` + (block.tag ? ", tag " + block.tag : "") +
    (block.tenant ? ", tenant " + block.tenant : "") + (block.since ? ", since " + new Date(block.since).toLocaleTimeString() : "")));
  const stack = block.stack ? m.stacks[block.stack - 1].map((f) => `${f.function} (${f.file}:${f.line})`) : [];
  if (stack.length) made.append(details("block " + block.address, short(callerOf(stack)), stack.join("\n")));
  else made.append(make("p", "The stack was not sampled.", "quiet"));
  return made;
}

function showMap(m) {
  const parts = [];
  const blocks = [];
  let free = 0, largest = 0, segments = 0;
  const choose = (block, rect) => {
    for (const chosen of document.querySelectorAll("#map .chosen")) chosen.classList.remove("chosen");
    rect.classList.add("chosen");
    const item = blockItem(m, block);
    for (const part of item.querySelectorAll("details")) part.open = true;
    at("map-blocks").replaceChildren(item);
  };
  for (const manager of m.managers) {
    for (const segment of manager.segments) {
      const unused = segment.bytes - segment.in_use_bytes - segment.held_bytes;
      segments++;
      free += unused;
      largest = Math.max(largest, segment.largest_free_bytes);
      blocks.push(...segment.blocks.filter((b) => b.state !== "free"));
      if (parts.length >= 200) continue;
      const text = `${manager.manager}: ${bytes(segment.bytes)} at 0x${segment.address.toString(16)}, ${bytes(segment.in_use_bytes)} in use, ` +
        `${bytes(segment.held_bytes)} held, ${bytes(unused)} free, the longest free piece ${bytes(segment.largest_free_bytes)}`;
      const part = make("div", undefined, "segment");
      part.append(make("p", text, "quiet"), segmentPicture(segment, text, choose));
      parts.push(part);
    }
  }
  const legend = make("p");
  legend.append(make("span", "in use ", "legend"), make("span", "freed, still used by a stream ", "legend held"), make("span", "free", "legend free"));
  at("map").replaceChildren(legend, ...parts);
  blocks.sort((a, b) => b.bytes - a.bytes);
  at("map-blocks").replaceChildren(...blocks.slice(0, 20).map((b) => blockItem(m, b)));
  const fragmentation = free > 0 ? Math.round(100 * (1 - largest / free)) : 0;
  at("map-text").textContent = `${count(segments)} ${segments === 1 ? "segment" : "segments"}, ${count(blocks.length)} ` +
    `${blocks.length === 1 ? "block" : "blocks"} in use or held. ${bytes(free)} free, the longest piece ${bytes(largest)}: fragmentation ${fragmentation} %. ` +
    `Below are the largest blocks; a click on the map shows another one.`;
}

async function readMap() {
  try {
    const reply = await fetch("v1/memory");
    if (!reply.ok) throw new Error(await reply.text());
    showMap(await reply.json());
  } catch (error) {
    at("map-text").textContent = "The blocks could not be read: " + error.message;
  }
}
at("map-read").addEventListener("click", readMap);

// readChart draws a chart in the width of its place.
async function readChart(place, number) {
  const [picture, note] = place.querySelectorAll("div, p");
  const width = place.clientWidth;
  place.dataset.width = width;
  place.dataset.reading = "yes";
  try {
    const reply = await fetch(`v1/charts/${number}?width=${width}`);
    const text = await reply.text();
    if (!reply.ok) throw new Error(text);
    picture.replaceChildren(document.importNode(new DOMParser().parseFromString(text, "image/svg+xml").documentElement, true));
    const link = make("a", "Vega-Lite");
    link.href = `v1/charts/${number}/vega-lite`;
    note.replaceChildren(`Read at ${new Date().toLocaleTimeString()}. `, link);
    note.classList.remove("bad");
  } catch (error) {
    picture.replaceChildren();
    note.textContent = error.message;
    note.classList.add("bad");
  }
  delete place.dataset.reading;
}

// showCharts reads each chart once in its interval, and again if its place has another width.
function showCharts(s) {
  const list = at("charts-list");
  at("charts").hidden = s.charts.length === 0;
  if (list.children.length !== s.charts.length) {
    list.replaceChildren(...s.charts.map((c) => {
      const place = make("div", undefined, "chart");
      place.append(make("h3", c.title), make("div"), make("p", "", "quiet"));
      return place;
    }));
  }
  s.charts.forEach((c, number) => {
    const place = list.children[number];
    const isOld = !(Date.parse(s.time) - Number(place.dataset.asked) < 1000 * c.seconds);
    if (place.dataset.reading || !isOld && Number(place.dataset.width) === place.clientWidth) return;
    if (isOld) place.dataset.asked = Date.parse(s.time);
    readChart(place, number);
  });
}

let paused = false;
let last = 0;

function show(s) {
  showGlance(s);
  showManagers(s);
  showTime(s);
  showQueries(s);
  showOperations(s);
  showDurations(s);
  showTags(s);
  showSites(s);
  showFailures(s);
  showCharts(s);
  document.body.dataset.updates = String(++last);
}

function state(text, bad) {
  const to = at("state");
  if (to.textContent !== text) to.textContent = text;
  to.classList.toggle("bad", Boolean(bad));
  to.classList.toggle("live", text === "live");
}

at("pause").addEventListener("click", () => {
  paused = !paused;
  at("pause").setAttribute("aria-pressed", String(paused));
  state(paused ? "paused" : "live");
});

const events = new EventSource("v1/events");
events.addEventListener("snapshot", (event) => {
  if (paused) return;
  state("live");
  show(JSON.parse(event.data));
});
events.addEventListener("error", () => state("not connected, trying again", true));
