// live keeps the rows of checks as the cluster is now. The server sends
// everything at each connect, then only what changed. The sign beside the
// title says whether that works.

// A server that says nothing for so long is gone; it beats every 10 s.
const silence = 25_000;
const retry = 2_000;

let source: EventSource | undefined;
let timer = 0;

export function live(): void {
  connect();
  // A browser opens few connections to one server: hidden tabs need none.
  document.addEventListener("visibilitychange", connect);
  window.addEventListener("pagehide", disconnect);
  window.addEventListener("pageshow", connect);
  // Rows that were drawn before a grading must not cover what it found: the
  // stream ends before the swap and begins anew, with everything, after it.
  document.addEventListener("htmx:beforeSwap", (event) => {
    if ((event.target as Element).id === "checks") disconnect();
  });
  document.addEventListener("htmx:afterRequest", () => {
    if (!source) connect();
  });
  // A part of the page that came by another way may know less or more.
  document.addEventListener("htmx:afterSettle", (event) => {
    const target = event.target as Element;
    if (target.id === "checks" || target.id === "main") connect();
  });
}

function disconnect(): void {
  window.clearTimeout(timer);
  source?.close();
  source = undefined;
}

function connect(): void {
  disconnect();
  const address = sign()?.dataset.live;
  if (!address || document.hidden) return;
  const stream = new EventSource(address);
  source = stream;
  const alive = () => {
    window.clearTimeout(timer);
    timer = window.setTimeout(lost, silence);
  };
  alive();
  stream.addEventListener("open", alive);
  stream.addEventListener("beat", alive);
  stream.addEventListener("rows", (event) => {
    alive();
    replaceRows(event.data as string);
  });
  stream.addEventListener("state", (event) => {
    alive();
    say(event.data === "on" ? "on" : "away");
  });
  stream.addEventListener("error", lost);
}

function lost(): void {
  disconnect();
  say("lost");
  timer = window.setTimeout(connect, retry);
}

function sign(): HTMLElement | null {
  return document.getElementById("live");
}

function say(state: "on" | "away" | "lost"): void {
  const it = sign();
  if (!it) return;
  it.hidden = false;
  it.dataset.state = state;
  const text = it.dataset[state] ?? "";
  if (it.textContent !== text) it.textContent = text;
}

// replaceRows puts each row in the place of the one with its id, and keeps what
// the learner has opened or focused in it.
function replaceRows(html: string): void {
  const parsed = new DOMParser().parseFromString(`<ul>${html}</ul>`, "text/html");
  const said: string[] = [];
  for (const row of parsed.querySelectorAll("li[id]")) {
    const old = document.getElementById(row.id);
    if (!old || old.outerHTML === row.outerHTML) continue;
    const open = old.querySelector("details[open]") !== null;
    const focused = old.contains(document.activeElement) ? document.activeElement?.tagName : undefined;
    old.replaceWith(document.adoptNode(row));
    if (open) row.querySelector("details")?.setAttribute("open", "");
    said.push([".check-line h3", ".check-reason strong"].map((part) => row.querySelector(part)?.textContent?.trim()).join(": "));
    if (focused) row.querySelector<HTMLElement>(focused)?.focus();
  }
  const announce = document.getElementById("announce");
  if (announce && said.length > 0) announce.textContent = said.join(". ");
}
