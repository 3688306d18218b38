// The item page without page loads: verdicts sent in the background, the next items fetched ahead, passages
// revealed while a key is held. Without this file every form and link does the same by loading a page.
"use strict";

(() => {
  const ahead = new Map(); // address without what was just done -> promise of the page's text
  const MOST_AHEAD = 6;
  let revealing = null; // the passage whose real text is asked for or shown, with its masked content
  let purpose = ""; // what texts are revealed for; a page that was fetched ahead may not know it yet
  let shownUrl = window.location.href;

  const itemPage = () => document.querySelector("[data-item]");
  const keysOff = () => document.documentElement.classList.contains("keys-off");
  const isTyping = (target) => target instanceof Element
    && target.closest("input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable], dialog[open]") !== null;

  // The same item in the same list, whatever notice is shown above it.
  function addressOf(url) {
    const address = new URL(url, window.location.href);
    for (const name of ["done", "said"]) address.searchParams.delete(name);
    return address.pathname + address.search;
  }

  async function fetchPage(url) {
    const answer = await fetch(url, { credentials: "same-origin", headers: { Accept: "text/html" } });
    if (!answer.ok || answer.redirected) throw new Error("not a page to be shown");
    return answer.text();
  }

  function fetchAhead() {
    const page = itemPage();
    if (!page || !page.dataset.next) return;
    for (const url of page.dataset.next.split(" ")) {
      const address = addressOf(url);
      if (ahead.has(address)) continue;
      const promise = fetchPage(url);
      promise.catch(() => ahead.delete(address));
      ahead.set(address, promise);
    }
    while (ahead.size > MOST_AHEAD) ahead.delete(ahead.keys().next().value);
  }

  function parse(text) {
    return new DOMParser().parseFromString(text, "text/html");
  }

  function put(parsed, url, push) {
    const main = document.getElementById("main");
    mask();
    main.replaceChildren(...parsed.getElementById("main").childNodes);
    document.title = parsed.title;
    if (push) window.history.pushState({ item: true }, "", url);
    shownUrl = url;
    window.scrollTo(0, 0);
    document.dispatchEvent(new Event("desk:shown"));
    main.focus({ preventScroll: true });
    dressItem();
  }

  // Figures and list of a page that was fetched before the last verdict are those of that moment: bring the new ones.
  async function freshen(url) {
    try {
      const address = new URL(url, window.location.href);
      address.searchParams.set("prose", "0");
      const parsed = parse(await fetchPage(address));
      if (shownUrl !== url) return;
      for (const id of ["position", "pane", "status", "flash", "undo-last"]) {
        const here = document.getElementById(id);
        const there = parsed.getElementById(id);
        if (here && there) here.replaceWith(there);
      }
      const there = parsed.querySelector("[data-item]");
      if (there && itemPage()) itemPage().dataset.next = there.dataset.next || "";
      document.dispatchEvent(new Event("desk:shown"));
      fetchAhead();
    } catch { /* the figures stay as they were; the next page has new ones */ }
  }

  async function show(url, push = true) {
    const address = addressOf(url);
    const promise = ahead.get(address);
    ahead.delete(address);
    if (!new URL(url, window.location.href).pathname.startsWith("/items/")) {
      window.location.assign(url);
      return;
    }
    if (promise) {
      try {
        put(parse(await promise), url, push);
        freshen(url);
        return;
      } catch { /* fetch it now */ }
    }
    try {
      const parsed = parse(await fetchPage(url));
      if (!parsed.querySelector("[data-item]")) throw new Error("another page");
      put(parsed, url, push);
    } catch {
      window.location.assign(url);
    }
  }

  async function send(form, submitter) {
    const body = new URLSearchParams(new FormData(form));
    if (submitter && submitter.name) body.set(submitter.name, submitter.value);
    form.dataset.sent = "1";
    try {
      const answer = await fetch(form.action, {
        method: "POST", body, credentials: "same-origin", headers: { Accept: "application/json" },
      });
      if (answer.ok && (answer.headers.get("content-type") || "").startsWith("application/json")) {
        const { url } = await answer.json();
        await show(url);
        return;
      }
      const parsed = answer.status === 409 && !answer.redirected ? parse(await answer.text()) : null;
      if (parsed && parsed.querySelector("[data-item]")) {
        put(parsed, shownUrl, false); // the same item with the form as it was filled in
        return;
      }
      fail(form, answer.status === 401 || answer.redirected
        ? _("Not recorded: you are signed out. Sign in in another tab, then press the button again.")
        : _("Not recorded: the server refused it. What you wrote is still here; reload the page to try again."));
    } catch {
      fail(form, _("Not recorded: the server did not answer. What you wrote is still here; press the button again."));
    }
  }

  function fail(form, words) {
    delete form.dataset.sent;
    let alert = form.querySelector("[role=alert]");
    if (!alert) {
      alert = document.createElement("p");
      alert.setAttribute("role", "alert");
      alert.className = "note warn small";
      form.append(alert);
    }
    alert.textContent = words;
  }

  function onSubmit(event) {
    const form = event.target;
    // Not form.action: a field of the form may have this name.
    const action = new URL(form.getAttribute("action") || "", window.location.href).pathname;
    if (!itemPage() || form.dataset.sent || !/^\/items\/\d+\/(decide|skip|undo|redo)$|^\/(undo|redo)$/.test(action)) return;
    event.preventDefault();
    event.stopPropagation();
    send(form, event.submitter);
  }

  // Passages

  const passages = () => [...document.querySelectorAll(".passage")];
  const current = () => document.querySelector(".passage.current") || passages()[0] || null;

  function goTo(passage) {
    for (const one of passages()) one.classList.toggle("current", one === passage);
    const fold = passage.closest("details");
    if (fold) fold.open = true;
    passage.scrollIntoView({ block: "nearest" });
  }

  function stepThrough(step) {
    const all = passages();
    if (!all.length) return false;
    goTo(all[Math.min(all.length - 1, Math.max(0, all.indexOf(current()) + step))]);
    return true;
  }

  async function reveal(passage) {
    const page = itemPage();
    const chosen = document.getElementById("purpose");
    const wanted = (chosen && chosen.value) || purpose;
    if (!wanted) {
      if (chosen) chosen.focus();
      return;
    }
    const prose = passage.querySelector("[data-passage]");
    const asked = { passage, prose, masked: [...prose.childNodes] };
    revealing = asked;
    const body = new URLSearchParams({ start: passage.dataset.start, end: passage.dataset.end, purpose: wanted });
    try {
      const answer = await fetch(`/items/${page.dataset.item}/passages/reveal`, {
        method: "POST", body, credentials: "same-origin", redirect: "error",
      });
      const text = await answer.text();
      if (revealing !== asked) return; // released meanwhile: nothing is shown
      if (!answer.ok) {
        prose.textContent = text.slice(0, 200);
        return;
      }
      purpose = wanted;
      passage.classList.add("open");
      prose.replaceChildren(...parse(text).body.childNodes);
    } catch {
      if (revealing === asked) prose.textContent = _("Not shown: the server did not answer.");
    }
  }

  function mask() {
    if (!revealing) return;
    const { passage, prose, masked } = revealing;
    revealing = null;
    prose.replaceChildren(...masked);
    passage.classList.remove("open");
  }

  function onKey(event) {
    if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing || keysOff() || isTyping(event.target)) return;
    if (!itemPage() || document.querySelector("dialog[open]")) return;
    if (event.key === "[" || event.key === "]") {
      if (stepThrough(event.key === "]" ? 1 : -1)) event.preventDefault();
    } else if (event.key === "r" && current() && document.getElementById("purpose")) {
      event.preventDefault();
      if (!event.repeat && !revealing) reveal(current());
    }
  }

  // Links to other items of the list

  function onClick(event) {
    if (!itemPage() || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    const link = event.target instanceof Element ? event.target.closest("#pane a, .crumb a[rel]") : null;
    if (!link || link.rel) return; // next and previous lead on by a redirect
    event.preventDefault();
    show(link.href);
  }

  async function fetchPassages() {
    for (const wanted of document.querySelectorAll("[data-fetch]")) {
      const from = wanted.dataset.fetch;
      delete wanted.dataset.fetch;
      try {
        wanted.replaceChildren(...parse(await fetchPage(from)).body.childNodes);
        dressPassages();
      } catch { /* the link stays */ }
    }
  }

  function dressPassages() {
    const first = passages()[0];
    if (first) first.classList.add("current");
    for (const passage of passages()) {
      passage.addEventListener("click", () => goTo(passage));
    }
  }

  function dressItem() {
    fetchPassages();
    if (!itemPage()) return;
    purpose = purpose || itemPage().dataset.purpose;
    const chosen = document.getElementById("purpose");
    if (chosen && !chosen.value) chosen.value = purpose;
    dressPassages();
    fetchAhead();
  }

  document.addEventListener("keydown", onKey, true);
  document.addEventListener("keyup", (event) => { if (event.key === "r") mask(); });
  window.addEventListener("blur", mask);
  document.addEventListener("visibilitychange", () => { if (document.hidden) mask(); });
  document.addEventListener("submit", onSubmit, true);
  document.addEventListener("click", onClick);
  window.addEventListener("popstate", () => {
    if (/^\/items\/\d+$/.test(window.location.pathname) && itemPage()) show(window.location.href, false);
    else window.location.reload();
  });
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", dressItem);
  else dressItem();
})();
