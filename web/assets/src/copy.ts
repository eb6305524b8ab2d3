// copyButtons lets every button with data-copy put the text of the element
// that it names ("#id"), or of its neighbour <pre>, on the clipboard.
export function copyButtons(): void {
  document.addEventListener("click", async (event) => {
    const button = (event.target as Element).closest<HTMLButtonElement>("button[data-copy]");
    if (!button) return;
    const source = button.dataset.copy
      ? document.querySelector(button.dataset.copy)
      : button.parentElement?.querySelector("pre, code");
    if (!source) return;
    const done = await write(source.textContent?.replace(/\n$/, "") ?? "");
    const label = button.querySelector<HTMLElement>("[data-label]");
    if (!label) return;
    const before = button.dataset.before ?? label.textContent ?? "";
    button.dataset.before = before;
    label.textContent = (done ? button.dataset.done : button.dataset.failed) ?? before;
    button.classList.toggle("is-done", done);
    window.setTimeout(() => {
      label.textContent = before;
      button.classList.remove("is-done");
    }, 1600);
  });
}

async function write(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false; // no permission: the text can still be selected
  }
}
