// Every page works without this script. It updates filtered lists without a reload,
// makes sliders of weights, adds buttons to copy texts, marks the current section in the table of contents,
// and keeps the tools that are ticked for a comparison from page to page.
"use strict";

(() => {
  const form = document.querySelector("form[data-live]");
  if (!form) return;
  let pending = null; // AbortController of the request in flight
  let timer = 0;
  let shown = location.href.split("#")[0];

  // The URL of the filters in the form, without empty ones. Numbers are normalized:
  // a decimal point, and none while the decimals are still missing.
  const wanted = () => {
    const url = new URL(form.action);
    for (const [name, text] of new FormData(form)) {
      let value = text.trim();
      if (form.elements[name].inputMode === "decimal") value = value.replace(",", ".").replace(/(\d)\.$/, "$1");
      if (value) url.searchParams.append(name, value);
    }
    return url.href;
  };

  // fill updates the form from a page, except the field that is being edited.
  const fill = (page, typed) => {
    for (const control of page.querySelectorAll("form[data-live] [name]")) {
      const mine = form.elements[control.name];
      if (!mine || mine === typed) continue;
      if (mine.tagName === "SELECT") mine.replaceChildren(...control.cloneNode(true).children);
      mine.value = control.value;
      mine.write?.();
    }
  };

  // show fetches a page and shows its results. mode is for the history: "push", "replace", or "".
  const show = async (href, mode, { typed = null, focus = false } = {}) => {
    clearTimeout(timer);
    pending?.abort();
    pending = new AbortController();
    const mine = pending, asked = href;
    const results = document.querySelector("[data-results]");
    results.setAttribute("aria-busy", "true");
    let page;
    try {
      const answer = await fetch(href, { signal: mine.signal });
      href = answer.url; // the weights of a form have an address of their own
      page = new DOMParser().parseFromString(await answer.text(), "text/html");
      if (!page.querySelector("[data-results]")) throw new Error("no results");
    } catch {
      if (mine === pending) location.assign(href); // the browser shows the error
      return;
    }
    if (mine !== pending) return;
    shown = href;
    if (mode === "push") history.pushState(null, "", href);
    if (mode === "replace") history.replaceState(null, "", href);
    document.title = page.title;
    const heading = page.querySelector("h1");
    if (heading) document.querySelector("h1").textContent = heading.textContent;
    const fresh = document.adoptNode(page.querySelector("[data-results]"));
    results.replaceWith(fresh);
    document.dispatchEvent(new Event("results")); // new boxes to tick
    document.querySelector("[data-tally]").textContent = page.querySelector("[data-tally]").textContent;
    document.querySelector("[data-clear]").hidden = page.querySelector("[data-clear]").hidden;
    for (const part of page.querySelectorAll("[data-also]")) { // elsewhere
      document.querySelector(`[data-also=${part.dataset.also}]`)?.replaceWith(document.adoptNode(part));
    }
    const alert = page.querySelector(".problem");
    document.querySelector(".problem")?.remove();
    if (alert) form.parentElement.before(document.adoptNode(alert));
    if (!typed || wanted() === asked) fill(page, typed); // or a newer choice is lost
    if (focus) {
      const first = fresh.querySelector("h2");
      first.tabIndex = -1;
      first.focus({ preventScroll: true });
      document.querySelector("[data-tally]").scrollIntoView({ block: "start" });
    }
  };

  // The last choice wins: one that is shown drops a request.
  const choose = (href, mode, options) => {
    if (href !== shown) {
      show(href, mode, options);
      return;
    }
    clearTimeout(timer);
    pending?.abort();
    pending = null;
    document.querySelector("[data-results]").removeAttribute("aria-busy");
  };
  const changed = (mode) => choose(wanted(), mode, { typed: document.activeElement });

  // Weights are sliders, whose values are written beside them.
  for (const input of form.querySelectorAll("[name^=poids-]")) {
    const value = document.createElement("output");
    input.type = "range";
    input.step = input.value % 1 ? "any" : 1;
    input.before(value);
    (input.write = () => value.textContent = input.value.replace(".", ","))();
  }
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    changed("push");
  });
  form.addEventListener("input", (event) => {
    if (event.target.tagName === "SELECT") return; // "change" follows
    event.target.write?.();
    clearTimeout(timer);
    // Typing in one field is one history entry: going back must not undo single letters.
    timer = setTimeout(() => changed(new URL(shown).searchParams.has(event.target.name.split("-")[0]) ? "replace" : "push"), 180);
  });
  form.addEventListener("change", (event) => {
    if (event.target.tagName === "SELECT") changed("push");
  });
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("[data-pager] a, a[data-clear]");
    if (!link || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    if (link.matches("[data-clear]")) form.querySelector("[name]").focus();
    show(link.href, "push", { focus: !link.matches("[data-clear]") });
  });
  addEventListener("popstate", () => {
    choose(location.href.split("#")[0], "");
  });
})();

(() => {
  const buttons = document.querySelectorAll("button[data-copy]");
  if (!navigator.clipboard || !buttons.length) return;
  const status = document.createElement("p"); // announces the change to screen readers
  status.className = "sr";
  status.setAttribute("role", "status");
  document.body.append(status);
  for (const button of buttons) {
    button.hidden = false;
    const label = button.firstChild; // the rest is for screen readers
    const word = label.data;
    let busy = false;
    button.addEventListener("click", async () => {
      if (busy) return;
      busy = true;
      let outcome = "Copié";
      try {
        await navigator.clipboard.writeText(document.getElementById(button.dataset.copy)?.textContent ?? location.href);
      } catch {
        outcome = "Copie refusée";
      }
      button.style.minWidth = `${button.getBoundingClientRect().width}px`;
      label.data = status.textContent = outcome;
      setTimeout(() => {
        label.data = word;
        status.textContent = button.style.minWidth = "";
        busy = false;
      }, 1500);
    });
  }
})();

(() => {
  const links = new Map();
  for (const link of document.querySelectorAll(".toc a")) {
    const target = document.getElementById(decodeURIComponent(link.hash.slice(1)));
    const section = target?.closest("section");
    if (section) links.set(section, link);
  }
  if (!links.size) return;
  const visible = new Set();
  const observer = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) visible[isIntersecting ? "add" : "delete"](target);
    let current = null;
    for (const [section, link] of links) {
      if (!current && visible.has(section)) current = link;
      link.removeAttribute("aria-current");
    }
    current?.setAttribute("aria-current", "true");
  }, { rootMargin: "-10% 0px -60%" });
  for (const section of links.keys()) observer.observe(section);
})();

(() => {
  const key = "comparer", least = 2, most = 4;
  const shown = document.querySelector(".compared"); // a comparison shows a choice of its own
  let chosen = []; // [slug, name]

  // The choice lasts as long as the tab. Where storage is refused, as long as the page.
  const load = () => {
    try {
      const stored = JSON.parse(sessionStorage.getItem(key) ?? "[]");
      chosen = stored.filter((one) => Array.isArray(one) && one.length === 2 && one.every((s) => typeof s === "string")).slice(0, most);
    } catch {}
  };
  const save = () => {
    try {
      sessionStorage.setItem(key, JSON.stringify(chosen));
    } catch {}
  };
  const has = (slug) => chosen.some(([one]) => one === slug);
  const boxes = () => document.querySelectorAll(".tick input");
  const href = () => `/comparer?outils=${chosen.map(([slug]) => encodeURIComponent(slug)).join(",")}`;
  const make = (tag, properties, ...children) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };

  const status = make("p", { className: "sr" });
  status.setAttribute("role", "status");
  const list = make("ul", {});
  const go = make("div", { className: "tray-go" });
  const tray = make("aside", { className: "tray", hidden: true }, make("div", { className: "tray-in" }, list, go));
  tray.setAttribute("aria-label", "Comparaison");
  document.body.append(status, tray);
  const near = make("a", { className: "button near", rel: "nofollow" }); // follows the last ticked box: the tray is far for the keyboard

  // The tray must not hide what has the focus: the page scrolls as if it ended above it.
  const root = document.documentElement;
  const measure = () => root.style.setProperty("--tray", `${tray.offsetHeight}px`);
  new ResizeObserver(measure).observe(tray);

  const draw = () => {
    for (const box of boxes()) box.checked = has(box.value);
    list.replaceChildren(...chosen.map(([slug, name]) => {
      const button = make("button", { type: "button", textContent: "×", onclick: () => remove(slug, name) });
      button.setAttribute("aria-label", `Retirer ${name}`);
      return make("li", {}, make("span", { textContent: name }), button);
    }));
    const clear = make("button", { type: "button", className: "tray-clear", textContent: "Tout retirer", onclick: empty });
    go.replaceChildren(chosen.length < least
      ? make("span", { textContent: "Cochez encore un outil." })
      : make("a", { className: "button", href: href(), rel: "nofollow", textContent: `Comparer (${chosen.length})` }), clear);
    tray.hidden = !chosen.length || !!shown;
    root.classList.toggle("with-tray", !tray.hidden);
    near.href = go.querySelector("a")?.href ?? "";
    near.textContent = `Comparer (${chosen.length})`;
    if (chosen.length < least) near.remove();
    measure();
  };
  const change = (next, sentence) => {
    chosen = next;
    save();
    draw();
    status.textContent = sentence;
  };
  const count = (n) => `${n} outil${n > 1 ? "s" : ""} à comparer`;
  const remove = (slug, name) => {
    const at = chosen.findIndex(([one]) => one === slug);
    change(chosen.filter(([one]) => one !== slug), `${name} retiré, ${count(chosen.length - 1)}`);
    // The button is gone: the focus goes to the next one, or to the content.
    (list.querySelectorAll("button")[Math.min(at, chosen.length - 1)] ?? document.querySelector("main")).focus({ preventScroll: true });
  };
  const empty = () => {
    change([], "Plus aucun outil à comparer");
    document.querySelector("main").focus({ preventScroll: true });
  };

  document.addEventListener("change", (event) => {
    const box = event.target;
    if (!box.matches?.(".tick input")) return;
    const name = box.dataset.name;
    box.parentElement.after(near);
    if (!box.checked) {
      change(chosen.filter(([slug]) => slug !== box.value), `${name} retiré, ${count(chosen.length - 1)}`);
    } else if (chosen.length === most) {
      draw();
      status.textContent = "Quatre outils au plus : retirez-en un d’abord.";
      go.firstChild.before(make("span", { textContent: "Quatre au plus." }));
    } else {
      change([...chosen, [box.value, name]], `${name} ajouté, ${count(chosen.length + 1)}`);
    }
  });
  // A form compares what is chosen on all pages.
  document.addEventListener("submit", (event) => {
    if (!event.target.matches("form[data-ticks]")) return;
    event.preventDefault();
    location.assign(href());
  });
  // What a comparison no longer shows is no longer chosen.
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.(".without[data-slug]");
    if (!link) return;
    chosen = chosen.filter(([slug]) => slug !== link.dataset.slug);
    save();
  });
  document.addEventListener("results", draw);
  addEventListener("pageshow", () => { // also when the browser returns to a kept page
    load();
    draw();
  });
})();

// Where there is no pointer to rest on a mark of a map, a first tap shows its tools, and a second one
// follows the link.
document.addEventListener("click", (event) => {
  const mark = event.target.closest?.(".plot a");
  if (!mark || event.pointerType !== "touch" || mark.dataset.shown) return;
  event.preventDefault();
  document.querySelector(".plot [data-shown]")?.removeAttribute("data-shown");
  mark.dataset.shown = "yes";
  mark.focus();
});

// A tool of a map is found by its name.
(() => {
  const field = document.querySelector("[data-find]");
  if (!field) return;
  field.hidden = false;
  const [input, list] = field.querySelectorAll("input, datalist");
  const marks = () => [...document.querySelectorAll(".plot a")].filter((a) => a.checkVisibility());
  const names = (a) => (a.dataset.tools ?? a.ariaLabel.split(/, \d+,\d/)[0]).split("\n");
  input.onfocus = () => list.replaceChildren(...marks().flatMap(names).map((name) => new Option(name)));
  input.onchange = () => marks().some((a) => {
    const name = names(a).find((one) => one.toLowerCase() === input.value.trim().toLowerCase());
    if (!name) return;
    if (!a.textContent.includes(name)) a.lastChild.lastChild.textContent = name;
    a.focus();
    return name;
  });
})();
