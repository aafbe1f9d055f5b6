// The colour scheme, set before anything is drawn: that chosen here, or else that of the system.
(() => {
  const root = document.documentElement;
  const chosen = () => {
    try {
      return localStorage.getItem("l2t-theme");
    } catch {
      return null;
    }
  };
  const system = matchMedia("(prefers-color-scheme: dark)");
  const apply = () => {
    root.dataset.theme = chosen() ?? (system.matches ? "dark" : "light");
  };
  apply();
  system.addEventListener("change", apply);
  addEventListener("DOMContentLoaded", () => {
    document.getElementById("theme").addEventListener("click", () => {
      const next = root.dataset.theme === "dark" ? "light" : "dark";
      try {
        localStorage.setItem("l2t-theme", next);
      } catch {
        /* a private window */
      }
      root.dataset.theme = next;
    });
  });
})();
