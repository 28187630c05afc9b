"use strict";
// The page shows the snapshots that v1/events sends. All names are set as text.

const at = (id) => document.getElementById(id);

function make(name, text, className) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}

function bytes(n) {
  const units = ["B", "kB", "MB", "GB", "TB", "PB"];
  let unit = 0;
  while (n >= 1000 && unit < units.length - 1) { n /= 1000; unit++; }
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

function row(cells) {
  const made = make("tr");
  cells.forEach((cell, i) => {
    const to = i === 0 ? make("th", undefined, "name") : make("td");
    if (i === 0) to.scope = "row";
    if (cell instanceof Node) to.append(cell);
    else to.textContent = cell;
    if (i === 0) to.title = cell;
    if (i > 1) to.className = "number";
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
    rows.push(row([
      name, bar(m.in_use_bytes, budget, "part of the budget in use", true), bytes(m.in_use_bytes), bytes(budget), bytes(m.peak_bytes),
      m.cache ? bytes(m.cache.cached_bytes) : "", count(m.blocks), depth === 0 ? count(m.waiting) : "", count(m.failures), count(m.leaks),
    ]));
  });
  at("managers").tBodies[0].replaceChildren(...rows);
}

function showTags(s) {
  const rows = [];
  for (const m of s.managers) {
    for (const t of m.tags.slice(0, 50)) {
      rows.push(row([
        t.name || "(untagged)", bar(t.in_use_bytes, m.in_use_bytes, "part of the memory in use"), bytes(t.in_use_bytes),
        bytes(t.peak_bytes), count(t.blocks), count(t.allocations),
      ]));
    }
  }
  at("tags").tBodies[0].replaceChildren(...rows);
}

function line(history, field, most, className) {
  const first = Date.parse(history[0].time);
  const span = Math.max(1, Date.parse(history[history.length - 1].time) - first);
  const made = document.createElementNS("http://www.w3.org/2000/svg", "polyline");
  made.setAttribute("class", className);
  made.setAttribute("points", history.map((p) =>
    (600 * (Date.parse(p.time) - first) / span).toFixed(1) + "," + (136 - 132 * p[field] / most).toFixed(1)).join(" "));
  return made;
}

function showTime(s) {
  if (s.history.length === 0) return;
  const most = Math.max(1, ...s.history.map((p) => Math.max(p.in_use_bytes, p.reserved_bytes)));
  at("time").replaceChildren(line(s.history, "reserved_bytes", most, "reserved"), line(s.history, "in_use_bytes", most, "use"));
  const last = s.history[s.history.length - 1];
  const seconds = Math.round((Date.parse(last.time) - Date.parse(s.history[0].time)) / 1000);
  at("time-text").textContent = `In use (line) ${bytes(last.in_use_bytes)}, between ` +
    `${bytes(Math.min(...s.history.map((p) => p.in_use_bytes)))} and ${bytes(Math.max(...s.history.map((p) => p.in_use_bytes)))} ` +
    `in ${seconds} s; reserved (dashed) ${bytes(last.reserved_bytes)}.`;
}

// details makes a part that opens, and stays open when the list is made again.
const opened = new Set();
function details(key, title, text) {
  const made = make("details");
  made.open = opened.has(key);
  made.addEventListener("toggle", () => { if (made.open) opened.add(key); else opened.delete(key); });
  made.append(make("summary", title), make("pre", text));
  return made;
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
      details("site " + site.tenant + "\n" + site.tag + "\n" + site.stack.join("\n"), site.stack[0] || "no stack", site.stack.join("\n")));
    return made;
  }), "Nothing is held.");
}

function showFailures(s) {
  items(at("failures"), s.failures.slice(0, 20).map((f) => {
    const made = make("li");
    const when = make("time", new Date(f.time).toLocaleTimeString());
    when.dateTime = f.time;
    const head = make("p");
    head.append(when, ` ${bytes(f.bytes)} for ${f.tag || "no tag"} in ${f.tenant || f.manager}: ${f.reason}`);
    made.append(head, make("p", f.error, "quiet"));
    return made;
  }), "None.");
}

let paused = false;
let last = 0;

function show(s) {
  showManagers(s);
  showTime(s);
  showQueries(s);
  showTags(s);
  showSites(s);
  showFailures(s);
  document.body.dataset.updates = String(++last);
}

function state(text, bad) {
  const to = at("state");
  if (to.textContent !== text) to.textContent = text;
  to.classList.toggle("bad", Boolean(bad));
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
