// menus closes an open menu (a <details data-menu>) on Escape, or when a click
// or the focus goes elsewhere.
export function menus(): void {
  const open = () => document.querySelectorAll<HTMLDetailsElement>("details[data-menu][open]");
  const closeOthers = (event: Event) => {
    for (const menu of open()) {
      if (!menu.contains(event.target as Node)) menu.open = false;
    }
  };
  document.addEventListener("click", closeOthers);
  document.addEventListener("focusin", closeOthers);
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    for (const menu of open()) {
      menu.open = false;
      menu.querySelector("summary")?.focus();
    }
  });
}
