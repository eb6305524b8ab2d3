// grading keeps the learner informed while a check runs, which can take half a
// minute, and says when the server could not be reached at all.
export function grading(): void {
  let ticking = 0;
  document.addEventListener("htmx:beforeRequest", (event) => {
    const form = event.target as HTMLElement;
    const clock = form.closest(".checks")?.querySelector<HTMLElement>("[data-clock]");
    if (!clock || !form.matches(".check-form")) return;
    const announce = document.getElementById("announce");
    if (announce) announce.textContent = form.dataset.announce ?? "";
    const started = performance.now();
    const show = () => (clock.textContent = `${Math.floor((performance.now() - started) / 1000)} s`);
    show();
    window.clearInterval(ticking);
    ticking = window.setInterval(show, 1000);
  });
  document.addEventListener("htmx:afterRequest", () => window.clearInterval(ticking));

  for (const failure of ["htmx:sendError", "htmx:timeout"]) {
    document.addEventListener(failure, () => toggleOffline(true));
  }
  document.addEventListener("htmx:afterOnLoad", () => toggleOffline(false));
}

function toggleOffline(offline: boolean): void {
  const notice = document.getElementById("offline");
  if (notice) notice.hidden = !offline;
}
