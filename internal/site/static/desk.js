// The desk works without this script. While somebody writes, it saves the form, shows what is wrong in it
// and the page beside it, adds tools for Markdown, and takes pictures that are dropped or pasted.
"use strict";

(() => {
  const desk = document.querySelector("[data-desk]");
  const form = desk?.querySelector("form");
  if (!form) return;
  const status = form.querySelector("[data-status]");
  const frame = desk.querySelector("[data-page]");
  const text = form.elements["f.body"];
  const json = { Accept: "application/json" };
  const pause = 250; // milliseconds without typing after which the form is saved
  const most = 4000; // milliseconds after which it is saved while somebody types

  const say = (words, bad = false) => {
    status.textContent = words;
    status.toggleAttribute("data-bad", bad);
  };

  // Saving: one request at a time; what is written meanwhile is sent after it.
  let timer = 0;
  const outdated = "outdated" in form.dataset; // another text was saved meanwhile: nothing replaces it by itself
  let since = outdated ? Date.now() : 0; // when the first change that is not saved was made; 0 for none
  let busy = false;
  let stopped = outdated;
  let waiting = null; // the event of a form that was sent while a request was under way

  const changed = () => {
    since ||= Date.now();
    if (stopped) return;
    clearTimeout(timer);
    timer = setTimeout(save, Math.max(0, Math.min(pause, since + most - Date.now())));
  };

  const save = async () => {
    clearTimeout(timer);
    if (busy || !since || stopped) return;
    busy = true;
    const began = since;
    since = 0;
    say("Enregistrement…");
    try {
      const answer = await fetch(form.action, { method: "POST", headers: json, body: new URLSearchParams(new FormData(form)), keepalive: false });
      const body = await answer.json();
      if (answer.ok) {
        accept(body);
      } else {
        since ||= began;
        stopped = answer.status === 409 || answer.status === 403 || answer.status === 404;
        say(body.error, true);
        if (!stopped) timer = setTimeout(save, 5000);
      }
    } catch {
      since ||= began;
      say("Pas de connexion : ce que vous écrivez reste dans cette page, et sera enregistré dès que possible.", true);
      timer = setTimeout(save, 3000);
    }
    busy = false;
    if (waiting) form.requestSubmit(waiting.submitter);
    else if (since && !stopped && !status.hasAttribute("data-bad")) changed();
  };

  const accept = (saved) => {
    form.elements.revision.value = saved.revision;
    const wrong = Object.values(saved.problems).flat().length;
    const notes = [`Enregistré à ${saved.saved}`];
    if (wrong) notes.push(wrong === 1 ? "1 point à corriger" : `${wrong} points à corriger`);
    if (saved.others) notes.push("d’autres fiches du dossier sont à corriger");
    if (saved.with) notes.push(`${saved.with.join(", ")} y travaille aussi`);
    say(notes.join(" · "));
    for (const place of form.querySelectorAll("[data-wrong]")) {
      const list = saved.problems[place.dataset.wrong] || [];
      place.hidden = !list.length;
      place.replaceChildren(...list.map((sentence) => {
        const p = document.createElement("p");
        p.className = "wrong";
        p.textContent = sentence;
        return p;
      }));
      const input = document.getElementById(place.id.replace(/-faux$/, "")); // none for the whole form
      if (input && list.length) input.setAttribute("aria-invalid", "true");
      else input?.removeAttribute("aria-invalid");
      if (list.length) place.closest("details")?.setAttribute("open", "");
    }
    for (const part of desk.querySelectorAll("[data-shown], [data-page]")) part.hidden = !saved.shown;
    desk.querySelector("[data-hidden]").hidden = saved.shown;
    refresh();
    if (!isSorted) sort().catch(() => { isSorted = false; }); // the next save tries again
  };

  // The page beside the form keeps its place: only what is inside it changes. Whoever writes the text sees the
  // page that has it.
  const own = new URL(frame.dataset.page, location).href;
  let writing = false;
  let showing = null;
  const refresh = async () => {
    if (frame.hidden || !frame.offsetParent) return;
    const wanted = writing && text.value.trim() ? own.replace("/apercu/outils/", "/apercu/avis/") : own;
    if (frame.src !== wanted) {
      frame.src = wanted;
      return;
    }
    showing?.abort();
    showing = new AbortController();
    try {
      const inside = frame.contentDocument;
      const answer = await fetch(inside?.location?.pathname.startsWith("/") ? inside.location.href : frame.src, { signal: showing.signal });
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const main = page.querySelector("main");
      const old = inside?.querySelector("main");
      if (main && old) old.replaceWith(inside.adoptNode(main));
      else frame.src = frame.src;
    } catch { /* a newer one is on its way, or the next save tries again */ }
  };
  form.addEventListener("focusin", (event) => {
    if (event.target.form !== form || event.target.closest("[data-tools], .desk-bar")) return;
    const was = writing;
    writing = event.target === text;
    if (was !== writing) refresh();
  });

  // Another category has other criteria and usages to choose from.
  let isSorted = true;
  const sort = async () => {
    isSorted = true;
    const answer = await fetch(location.pathname);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const id of ["page.f-criteria", "page.f-usages"]) {
      const next = page.getElementById(id);
      if (next) document.getElementById(id)?.replaceWith(next);
    }
  };

  for (const kind of ["input", "change"]) {
    form.addEventListener(kind, (event) => {
      if (event.target.form !== form) return; // that of pictures
      if (event.target.name === "f.category") isSorted = false;
      changed();
    });
  }
  form.addEventListener("submit", (event) => {
    waiting = busy ? event : null;
    if (busy) event.preventDefault();
    since = 0;
    stopped = true;
    clearTimeout(timer);
  });
  addEventListener("pageshow", () => { stopped = outdated; });
  // Whoever leaves is saved on the way out: browsers send small beacons even then.
  addEventListener("pagehide", () => {
    if (since && !busy && !stopped) navigator.sendBeacon(form.action, new URLSearchParams(new FormData(form)));
  });
  addEventListener("beforeunload", (event) => {
    if (since || busy) { save(); event.preventDefault(); }
  });
  document.addEventListener("visibilitychange", () => { if (document.hidden) save(); });
  document.addEventListener("keydown", (event) => {
    if (event.key === "s" && (event.ctrlKey || event.metaKey) && !event.altKey) {
      event.preventDefault();
      since ||= Date.now();
      save();
    }
  });
  // Lists of rows grow: whoever fills the last row gets another.
  form.addEventListener("input", (event) => {
    const row = event.target.closest(".desk-row");
    if (!row || row.nextElementSibling?.matches(".desk-row")) return;
    const next = row.cloneNode(true);
    const key = row.dataset.row;
    const number = row.parentElement.querySelectorAll(":scope > .desk-row").length;
    const rename = (name) => key.replace(/\d+$/, number) + name.slice(key.length);
    next.ariaLabel &&= row.ariaLabel.replace(/\d+$/, number + 1);
    for (const other of next.querySelectorAll(".desk-row + .desk-row")) other.remove();
    for (const own of [next, ...next.querySelectorAll("[data-row]")]) own.dataset.row = rename(own.dataset.row);
    for (const input of next.querySelectorAll("[name]")) {
      input.name = rename(input.name);
      const id = `page.${input.name.replaceAll(".", "-")}`;
      next.querySelector(`label[for="${input.id}"]`)?.setAttribute("for", id);
      if (input.id) input.id = id;
      if (input.matches("select")) input.selectedIndex = 0;
      else if (input.type !== "hidden") input.value = "";
      input.removeAttribute("aria-describedby");
    }
    row.after(next);
  });

  if (!text) return;

  // insert puts something in the place of the selection, such that the browser can undo it.
  const insert = (words, from = text.selectionStart, to = text.selectionEnd) => {
    text.focus();
    text.setSelectionRange(from, to);
    if (!document.execCommand("insertText", false, words)) {
      text.setRangeText(words, from, to, "end");
      text.dispatchEvent(new Event("input", { bubbles: true }));
    }
  };
  const selected = () => text.value.slice(text.selectionStart, text.selectionEnd);
  const around = (mark, example) => {
    const from = text.selectionStart;
    const words = selected() || example;
    insert(mark + words + mark);
    text.setSelectionRange(from + mark.length, from + mark.length + words.length);
  };
  const before = (mark) => {
    const from = text.value.lastIndexOf("\n", text.selectionStart - 1) + 1;
    const lines = text.value.slice(from, text.selectionEnd).split("\n");
    insert(lines.map((line, i) => (typeof mark === "string" ? mark : mark(i)) + line).join("\n"), from, text.selectionEnd);
  };
  const outside = () => {
    const from = text.selectionStart;
    const words = selected() || "texte du lien";
    insert(`[${words}](https://)`);
    const at = from + words.length + 3;
    text.setSelectionRange(at, at + 8);
  };

  const tools = form.querySelector("[data-tools]");
  const button = (label, title, act) => {
    const b = document.createElement("button");
    b.type = "button";
    b.textContent = label;
    b.title = title;
    b.addEventListener("click", act);
    tools.append(b);
    return b;
  };
  tools.hidden = false;
  tools.setAttribute("role", "group");
  tools.setAttribute("aria-label", "Mise en forme");
  button("Titre", "Titre de section", () => before("## "));
  button("Gras", "Gras (Ctrl+B)", () => around("**", "texte"));
  button("Italique", "Italique (Ctrl+I)", () => around("*", "texte"));
  button("Liste", "Liste à puces", () => before("- "));
  button("Numéros", "Liste numérotée", () => before((i) => `${i + 1}. `));
  button("Citation", "Citation", () => before("> "));
  button("Tableau", "Tableau", () => {
    const lead = /(^|\n\n)$/.test(text.value.slice(0, text.selectionStart)) ? "" : "\n\n";
    insert(`${lead}| Colonne | Colonne |\n| --- | --- |\n| Texte | Texte |\n\n`);
  });
  button("Lien", "Lien vers un autre site (Ctrl+K)", outside);
  const opener = button("Lien vers une fiche", "Lien vers une fiche, par son nom", () => toggle(finder.hidden));
  button("Image", "Ajouter une image", () => picture.elements.image.click());
  text.addEventListener("keydown", (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
    const act = { b: () => around("**", "texte"), i: () => around("*", "texte"), k: outside }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });

  // A link to a record: its name is typed, and it is chosen among those that are found.
  const finder = document.createElement("div");
  finder.className = "desk-find";
  finder.hidden = true;
  const label = document.createElement("label");
  label.textContent = "Nom de la fiche";
  label.htmlFor = "page.trouver";
  const query = document.createElement("input");
  query.id = "page.trouver";
  query.type = "search";
  query.autocomplete = "off";
  const found = document.createElement("ul");
  const told = document.createElement("p");
  told.className = "sr";
  told.setAttribute("role", "status");
  finder.append(label, query, found, told);
  tools.append(finder);
  opener.setAttribute("aria-expanded", "false");
  const toggle = (open) => {
    finder.hidden = !open;
    opener.setAttribute("aria-expanded", String(open));
    if (open) { query.value = selected().split("\n")[0].slice(0, 100); query.focus(); look(); } else text.focus();
  };
  let asked = 0;
  const look = async () => {
    const mine = ++asked;
    let list = [];
    try {
      const answer = await fetch(`/redaction/fiches?q=${encodeURIComponent(query.value)}`, { headers: json });
      if (answer.ok) list = await answer.json();
    } catch { /* nothing is proposed */ }
    if (mine !== asked) return;
    told.textContent = list.length === 1 ? "1 fiche" : `${list.length} fiches`;
    found.replaceChildren(...list.map((record) => {
      const item = document.createElement("li");
      const b = document.createElement("button");
      b.type = "button";
      b.textContent = `${record.name} (${record.kind.toLowerCase()})`;
      b.addEventListener("click", () => {
        toggle(false);
        insert(`[${selected() || record.name}](${record.to})`);
      });
      item.append(b);
      return item;
    }));
  };
  let wait = 0;
  query.addEventListener("input", (event) => {
    event.stopPropagation(); // it is no part of the record
    clearTimeout(wait);
    wait = setTimeout(look, 120);
  });
  finder.addEventListener("keydown", (event) => {
    if (event.key === "Escape") toggle(false);
    if (event.key === "Enter" && event.target === query) {
      event.preventDefault();
      found.querySelector("button")?.click();
    }
  });

  // Pictures: dropped, pasted or chosen, they wait in the form below the text for their description.
  const picture = desk.querySelector("[data-picture]");
  for (const part of desk.querySelectorAll("[data-addition] input, [data-addition] button")) {
    part.setAttribute("form", picture.id); // without us, they go with the text
    part.removeAttribute("formaction");
    part.required = part.matches("input");
  }
  const wrong = desk.querySelector("[data-picture-wrong]");
  const offer = (files) => {
    const file = [...files].find((f) => f.type.startsWith("image/"));
    if (!file) return false;
    const one = new DataTransfer();
    one.items.add(file);
    picture.elements.image.files = one.files;
    picture.elements.alt.focus();
    return true;
  };
  picture.elements.image.addEventListener("change", () => picture.elements.alt.focus());
  const zone = text.closest(".field");
  text.addEventListener("dragover", (event) => {
    if (!event.dataTransfer.types.includes("Files")) return;
    event.preventDefault();
    zone.classList.add("desk-drop");
  });
  text.addEventListener("dragleave", () => zone.classList.remove("desk-drop"));
  text.addEventListener("drop", (event) => {
    zone.classList.remove("desk-drop");
    if (event.dataTransfer.files.length && offer(event.dataTransfer.files)) event.preventDefault();
  });
  text.addEventListener("paste", (event) => {
    if (event.clipboardData.files.length && offer(event.clipboardData.files)) event.preventDefault();
  });
  picture.addEventListener("submit", async (event) => {
    event.preventDefault();
    const p = document.createElement("p");
    p.className = "wrong";
    try {
      const answer = await fetch(picture.action, { method: "POST", headers: json, body: new FormData(picture) });
      const body = await answer.json();
      if (answer.ok) {
        wrong.hidden = true;
        picture.reset();
        if (body.revised) form.elements.revision.value++;
        const lead = /(^|\n\n)$/.test(text.value.slice(0, text.selectionStart)) ? "" : "\n\n";
        insert(`${lead}${body.markdown}\n\n`);
        return;
      }
      p.textContent = body.error;
    } catch {
      p.textContent = "L’image n’est pas arrivée : vérifiez la connexion, puis recommencez.";
    }
    wrong.hidden = false;
    wrong.replaceChildren(p);
  });
})();
