// The reference can be read without this script. It adds forms to try calls, and
// shows the language chosen in one sample in all of them.
"use strict";

(() => {
  const root = document.querySelector(".reference");
  root.classList.add("scripted");
  let key = ""; // kept in memory only

  const quoted = (text) => "'" + text.replaceAll("'", "'\\''") + "'";

  // callOf returns the path and the headers, except the key, of the call in a form.
  const callOf = (form) => {
    let path = form.dataset.try;
    const query = new URLSearchParams();
    const headers = [];
    for (const control of form.querySelectorAll("[name]")) {
      let value = control.value.trim();
      if (control.inputMode === "decimal") value = value.replace(",", "."); // the French decimal separator
      if (control.dataset.in === "path") path = path.replace(`{${control.name}}`, encodeURIComponent(value));
      else if (!value) continue;
      else if (control.dataset.in === "query") query.set(control.name, value);
      else headers.push([control.name, value]);
    }
    return { path: query.size ? `${path}?${query}` : path, headers };
  };

  const curl = ({ path, headers }) => {
    const words = ["curl -i"];
    // The line will be copied, so it names the variable instead of the key.
    if (key) words.push('-H "Authorization: Bearer $PALMARES_KEY"');
    for (const [name, value] of headers) words.push("-H " + quoted(`${name}: ${value}`));
    words.push(quoted(location.origin + path));
    return words.join(" \\\n  ");
  };

  // show puts JSON into an element, highlighted like the examples.
  const show = (element, text) => {
    let pretty;
    try {
      pretty = JSON.stringify(JSON.parse(text), null, 2);
    } catch {
      element.textContent = text;
      return;
    }
    const parts = [];
    let done = 0;
    for (const found of pretty.matchAll(/("(?:\\.|[^"\\])*")(:)?|-?\d[\d.eE+-]*|true|false|null/g)) {
      if (found[1] && !found[2]) continue;
      const marked = document.createElement("span");
      marked.className = found[1] ? "k" : "v";
      marked.textContent = found[1] || found[0];
      parts.push(pretty.slice(done, found.index), marked);
      done = found.index + marked.textContent.length;
    }
    element.replaceChildren(...parts, pretty.slice(done));
  };

  const send = async (form) => {
    const place = form.parentElement;
    const part = (name) => place.querySelector(`[data-${name}]`);
    const call = callOf(form);
    const headers = new Headers(call.headers);
    if (key) headers.set("Authorization", `Bearer ${key}`);
    part("status").textContent = "Envoi…";
    part("curl").textContent = curl(call);
    const start = performance.now();
    let answer, text;
    try {
      answer = await fetch(call.path, { headers, credentials: "omit", cache: "no-store" });
      text = await answer.text();
    } catch {
      part("status").textContent = "Aucune réponse : le service est injoignable, ou la clé contient un caractère qu’un en-tête ne peut pas porter.";
      part("result").hidden = true;
      return;
    }
    const length = Math.round(performance.now() - start);
    const moved = answer.redirected ? `, après un renvoi vers ${new URL(answer.url).pathname}` : "";
    part("status").textContent = `${answer.status} ${answer.statusText} en ${length} ms${moved}`;
    part("headers").textContent = [...answer.headers].map(([name, value]) => `${name}: ${value}`).join("\n");
    part("body").parentElement.hidden = !text;
    show(part("body"), text);
    part("result").hidden = false;
  };

  for (const form of root.querySelectorAll("form[data-try]")) {
    form.hidden = false;
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      send(form);
    });
  }
  root.addEventListener("input", (event) => {
    if (!event.target.matches("[data-key]")) return;
    key = event.target.value.trim();
    for (const other of root.querySelectorAll("[data-key]")) if (other !== event.target) other.value = event.target.value;
  });

  // The table of contents may be longer than the screen: keep the current entry visible.
  const contents = document.querySelector(".toc ol");
  new MutationObserver(() => {
    const link = contents.querySelector("[aria-current]");
    if (!link || contents.scrollHeight <= contents.clientHeight) return;
    const place = link.getBoundingClientRect();
    const frame = contents.getBoundingClientRect();
    if (place.top < frame.top) contents.scrollTop += place.top - frame.top - 40;
    if (place.bottom > frame.bottom) contents.scrollTop += place.bottom - frame.bottom + 40;
  }).observe(contents, { attributes: true, attributeFilter: ["aria-current"], subtree: true });

  // Choosing a language in one place chooses it everywhere, without moving the page.
  root.addEventListener("click", (event) => {
    const summary = event.target.closest("[data-samples] summary");
    if (!summary) return;
    if (summary.parentElement.open) {
      event.preventDefault(); // one always stays open
      return;
    }
    const before = summary.getBoundingClientRect().top;
    for (const other of root.querySelectorAll("[data-samples] summary")) {
      if (other !== summary && other.textContent === summary.textContent) other.parentElement.open = true;
    }
    scrollBy({ top: summary.getBoundingClientRect().top - before, behavior: "instant" });
  });
})();
