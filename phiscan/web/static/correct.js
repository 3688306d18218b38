// Corrections in place: press a finding or a word, then a digit for its type; move the ends with Shift and the
// arrow keys, or by the handles. Everything is sent by the same form address that the page's own forms use.
"use strict";

(() => {
  const WORD = /[\p{L}\p{N}'’_-]/u;
  let chosen = null; // { pill, position, start, end, first, last, type }; start and end only in a revealed text

  const bar = () => document.getElementById("corrector");
  const reading = () => document.querySelector(".reading");
  const isTyping = (target) => target instanceof Element
    && target.closest("input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable], dialog[open]") !== null;

  // The text nodes of the revealed text, each with the code point that it begins at.
  function textNodes() {
    const nodes = [];
    for (const block of document.querySelectorAll(".reading [data-start]")) {
      let at = Number(block.dataset.start);
      const walker = document.createTreeWalker(block, NodeFilter.SHOW_TEXT);
      while (walker.nextNode()) {
        const length = codePoints(walker.currentNode.data);
        nodes.push({ node: walker.currentNode, block, start: at, end: at + length });
        at += length;
      }
    }
    return nodes;
  }

  // Where a code point is in a text node; "isEnd": the end of what comes before it, not the beginning of the next.
  function placeOf(nodes, offset, isEnd) {
    const found = nodes.find((one) => (isEnd ? one.start < offset && offset <= one.end : one.start <= offset && offset < one.end));
    if (!found) return null;
    let units = 0;
    for (const char of [...found.node.data].slice(0, offset - found.start)) units += char.length;
    return { node: found.node, units, block: found.block };
  }

  function rangeOf(start, end) {
    const nodes = textNodes();
    const [from, to] = [placeOf(nodes, start, false), placeOf(nodes, end, true)];
    if (!from || !to) return null;
    const range = document.createRange();
    range.setStart(from.node, from.units);
    range.setEnd(to.node, to.units);
    return range;
  }

  function place(target) {
    if (target.position !== "" && reading()) {
      const option = document.querySelector(`#correct option[value="${target.position}"]`);
      if (option) return { ...target, start: Number(option.dataset.start), end: Number(option.dataset.end), type: option.dataset.type };
    }
    return target;
  }

  function choose(target) {
    clear();
    const form = bar();
    if (!form) return;
    chosen = place(target);
    chosen.first = chosen.start;
    chosen.last = chosen.end;
    const home = chosen.pill ? chosen.pill.closest(".passage") : document.getElementById("text");
    if (home && form.parentElement !== home) home.append(form);
    form.hidden = false;
    for (const name of ["right", "spurious", "withdrawn"]) {
      form.querySelector(`[data-act=${name}]`).hidden = chosen.position === "" && name !== "withdrawn";
    }
    form.querySelector("[data-act=withdrawn]").hidden = !isJudged();
    form.querySelector("[data-extent]").hidden = chosen.start === undefined;
    form.querySelector("[data-said]").textContent = "";
    show();
  }

  function isJudged() {
    const mark = chosen.pill || document.getElementById(`f${chosen.position}`);
    return mark ? mark.classList.contains("judged") : false;
  }

  function show() {
    if (chosen.pill) {
      chosen.pill.classList.add("chosen");
      return;
    }
    const range = rangeOf(chosen.start, chosen.end);
    if (!range) return;
    const selection = document.getSelection();
    selection.removeAllRanges();
    selection.addRange(range);
    putHandles(range);
    for (const form of [document.getElementById("missed"), document.getElementById("correct")]) {
      if (!form) continue;
      form.elements.start.value = chosen.start;
      form.elements.end.value = chosen.end;
    }
    const select = document.getElementById("correct");
    if (select && chosen.position !== "") {
      select.elements.position.value = chosen.position;
      if (chosen.type) select.elements.entity_type.value = chosen.type;
    }
  }

  function clear() {
    for (const one of document.querySelectorAll(".chosen")) one.classList.remove("chosen");
    for (const one of document.querySelectorAll(".handle")) one.remove();
    chosen = null;
    const form = bar();
    if (form) form.hidden = true;
  }

  // Handles: one at each end, to be dragged; the arrow keys move the one that has the focus.

  function putHandles(range) {
    const home = reading();
    const rects = [...range.getClientRects()].filter((one) => one.width > 0);
    if (!home || !rects.length) return;
    const base = home.getBoundingClientRect();
    const [first, last] = [rects[0], rects[rects.length - 1]];
    for (const [which, x, y] of [["start", first.left, first.bottom], ["end", last.right, last.bottom]]) {
      let handle = home.querySelector(`.handle[data-end=${which}]`);
      if (!handle) {
        handle = document.createElement("button");
        handle.type = "button";
        handle.className = "handle";
        handle.dataset.end = which;
        handle.setAttribute("aria-label", which === "start" ? _("Beginning of the selection") : _("End of the selection"));
        handle.addEventListener("pointerdown", drag);
        home.append(handle);
      }
      handle.style.left = `${x - base.left + home.scrollLeft}px`;
      handle.style.top = `${y - base.top + home.scrollTop}px`;
    }
  }

  function offsetAt(x, y) {
    if (document.caretPositionFromPoint) {
      const at = document.caretPositionFromPoint(x, y);
      return at ? offsetIn(at.offsetNode, at.offset) : null;
    }
    const at = document.caretRangeFromPoint(x, y);
    return at ? offsetIn(at.startContainer, at.startOffset) : null;
  }

  function drag(event) {
    event.preventDefault();
    const handle = event.target;
    handle.setPointerCapture(event.pointerId);
    const move = (moved) => {
      handle.style.pointerEvents = "none"; // what is under it is asked for
      const offset = offsetAt(moved.clientX, moved.clientY - 8);
      handle.style.pointerEvents = "";
      if (offset !== null) moveTo(handle.dataset.end, offset);
    };
    handle.addEventListener("pointermove", move);
    handle.addEventListener("pointerup", () => handle.removeEventListener("pointermove", move), { once: true });
    handle.focus();
  }

  function moveTo(which, offset) {
    if (!chosen) return;
    const start = which === "start" ? offset : chosen.start;
    const end = which === "end" ? offset : chosen.end;
    if (start >= end || !rangeOf(start, end)) return;
    chosen.start = start;
    chosen.end = end;
    show();
  }

  // Pressing

  function wordAt(x, y) {
    const offset = offsetAt(x, y);
    if (offset === null) return null;
    const found = textNodes().find((one) => one.start <= offset && offset <= one.end);
    if (!found) return null;
    const chars = [...found.node.data];
    let start = offset - found.start;
    if (!WORD.test(chars[start] || "") && !WORD.test(chars[start - 1] || "")) return null;
    let end = start;
    while (start > 0 && WORD.test(chars[start - 1])) start -= 1;
    while (end < chars.length && WORD.test(chars[end])) end += 1;
    return { position: "", start: found.start + start, end: found.start + end };
  }

  function onClick(event) {
    if (!(event.target instanceof Element) || !bar() || event.button || event.ctrlKey || event.metaKey) return;
    const pill = event.target.closest("a.pill[data-position]");
    if (pill) {
      event.preventDefault();
      choose({ pill, position: pill.dataset.position, type: pill.dataset.type });
      pill.focus();
      return;
    }
    const box = event.target.closest(".picture a[data-position]");
    if (box) {
      event.preventDefault();
      choose({ position: box.dataset.position });
      const shown = document.getElementById(`f${box.dataset.position}`);
      if (shown) shown.scrollIntoView({ block: "center" });
      return;
    }
    const act = event.target.closest("#corrector [data-digit], #corrector [data-act]");
    if (act) {
      if (act.dataset.digit) setType(act.dataset.type);
      else doAct(act.dataset.act);
      return;
    }
    const home = event.target.closest(".reading");
    if (!home || event.target.closest(".handle")) return;
    const selection = document.getSelection();
    if (!selection.isCollapsed && selection.rangeCount) { // dragged over
      const range = selection.getRangeAt(0);
      const [start, end] = [offsetIn(range.startContainer, range.startOffset), offsetIn(range.endContainer, range.endOffset)];
      if (start !== null && end !== null && start < end) choose({ position: "", start, end });
      return;
    }
    const mark = event.target.closest("mark[data-position]");
    const word = mark ? { position: mark.dataset.position } : wordAt(event.clientX, event.clientY);
    if (word) choose(word);
    else clear();
  }

  // In the revealed text, [ and ] go from finding to finding.
  function stepTo(step) {
    const marks = [...document.querySelectorAll(".reading mark[data-position]")];
    if (!marks.length) return;
    const at = chosen ? marks.findIndex((one) => one.dataset.position === String(chosen.position)) : -1;
    const next = marks[at < 0 ? (step > 0 ? 0 : marks.length - 1) : Math.min(marks.length - 1, Math.max(0, at + step))];
    choose({ position: next.dataset.position });
    next.scrollIntoView({ block: "nearest" });
  }

  function onKey(event) {
    if (!bar() || event.isComposing || event.ctrlKey || event.metaKey || isTyping(event.target)) return;
    if (document.documentElement.classList.contains("keys-off")) return;
    if (reading() && "[]".includes(event.key)) {
      stepTo(event.key === "]" ? 1 : -1);
      event.preventDefault();
      return;
    }
    if (!chosen) return;
    const inBar = event.target instanceof Element && event.target.closest("#corrector button");
    if (event.key === "Escape") clear();
    else if (/^[1-9]$/.test(event.key)) {
      const button = bar().querySelector(`[data-digit="${event.key}"]`);
      if (button) setType(button.dataset.type);
    } else if (event.key === "0" || event.key === "Delete") doAct("spurious");
    else if (event.key === "Enter" && !inBar) doAct("right");
    else if ((event.key === "ArrowLeft" || event.key === "ArrowRight") && chosen.start !== undefined
      && (event.shiftKey || (event.target instanceof Element && event.target.matches(".handle")))) {
      const step = event.key === "ArrowRight" ? 1 : -1;
      const held = event.target instanceof Element && event.target.matches(".handle") ? event.target.dataset.end : "";
      const which = held || (event.altKey ? "start" : "end");
      moveTo(which, (which === "start" ? chosen.start : chosen.end) + step);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  // Sending

  const isMoved = () => chosen.start !== undefined && (chosen.start !== chosen.first || chosen.end !== chosen.last);

  function setType(type) {
    if (!chosen) return;
    if (chosen.position === "") send("missed", type);
    else if (isMoved()) send("wrong_extent", type);
    else send(type === chosen.type ? "right" : "wrong_type", type);
  }

  function doAct(act) {
    if (!chosen) return;
    if (act === "close") clear();
    else if (chosen.position === "" && act !== "withdrawn") say(_("Press a digit for its type."));
    else if (act === "right" && isMoved()) send("wrong_extent", chosen.type);
    else send(act, chosen.type);
  }

  function say(words) {
    bar().querySelector("[data-said]").textContent = words;
  }

  async function send(mark, type) {
    const [form, sent] = [bar(), chosen];
    const values = { position: sent.position, mark, entity_type: type || "", start: sent.start ?? "", end: sent.end ?? "" };
    for (const [name, value] of Object.entries(values)) form.elements[name].value = value;
    try {
      const answer = await fetch(form.action, {
        method: "POST", body: new URLSearchParams(new FormData(form)), redirect: "manual", credentials: "same-origin",
      });
      if (answer.type !== "opaqueredirect" && !answer.ok) {
        say(answer.status === 401 ? _("Not recorded: you are signed out.") : _("Not recorded: the server refused it. Reload the page."));
        return;
      }
      if (chosen !== sent) return;
      mend(sent, mark, type);
      say({ right: _("Recorded: confirmed."), spurious: _("Recorded: false positive."), withdrawn: _("Withdrawn."), missed: _("Recorded: missed.") }[mark] || _("Recorded."));
      if (mark === "missed") sent.first = undefined;
    } catch {
      say(_("Not recorded: the server did not answer."));
    }
  }

  // Show what was recorded, as the page will show it when it is loaded again.
  function mend(sent, mark, type) {
    const known = bar().querySelector(`[data-type="${type}"], option[value="${type}"]`);
    const tone = known ? known.dataset.tone || (known.className.match(/t-\w+/) || ["t-id"])[0].slice(2) : "id";
    const label = known ? known.firstChild.data.trim() : "";
    let shown = sent.pill || document.getElementById(`f${sent.position}`);
    if (mark === "missed") {
      const range = rangeOf(sent.start, sent.end);
      if (!range || range.startContainer !== range.endContainer) return;
      shown = document.createElement("mark");
      range.surroundContents(shown);
    }
    if (!shown) return;
    shown.classList.toggle("judged", mark !== "withdrawn");
    shown.classList.toggle("rejected", mark === "spurious");
    if (!["wrong_type", "wrong_extent", "missed"].includes(mark)) return;
    for (const name of [...shown.classList]) if (/^t-/.test(name)) shown.classList.remove(name);
    shown.classList.add(`t-${tone}`);
    shown.title = label;
    if (sent.pill) shown.textContent = label;
    sent.type = type;
  }

  document.addEventListener("click", onClick);
  document.addEventListener("keydown", onKey, true);
  document.addEventListener("change", (event) => {
    if (event.target.matches("#corrector [data-types]") && event.target.value) {
      setType(event.target.value);
      event.target.value = "";
    }
  });
  document.addEventListener("desk:shown", () => { chosen = null; });
})();
