// The desk's comforts: single keys, a clock on what is revealed, picking text to correct.
// Every page works without this file; nothing here decides anything that a form does not send.
"use strict";

document.documentElement.classList.add("js");

// A message in the language of the page; the page brings those that are not English.
let messages = null;

function _(message, n = "") {
  if (messages === null) {
    const brought = document.getElementById("messages");
    messages = brought ? JSON.parse(brought.textContent) : {};
  }
  return (messages[message] || message).replace("{n}", n);
}

const KEYS_OFF = "phiscan.keys-off"; // in localStorage: single-key shortcuts are switched off (WCAG 2.1.4)
const WARN_S = 20; // before what is revealed is masked again

function keysOff() {
  try {
    return localStorage.getItem(KEYS_OFF) === "1";
  } catch {
    return false; // no storage: shortcuts are on, and the switch lasts for this page
  }
}

function setKeys(on) {
  try {
    if (on) localStorage.removeItem(KEYS_OFF);
    else localStorage.setItem(KEYS_OFF, "1");
  } catch { /* no storage */ }
  document.documentElement.classList.toggle("keys-off", !on);
}

document.documentElement.classList.toggle("keys-off", keysOff());

function isTyping(target) {
  return target instanceof Element
    && target.closest("input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable], dialog[open]") !== null;
}

function moveRow(step) {
  const rows = [...document.querySelectorAll("[data-row]")];
  if (!rows.length) return false;
  const here = document.activeElement ? document.activeElement.closest("tr, li, .case") : null;
  const at = rows.findIndex((row) => here !== null && here.contains(row));
  const next = at < 0 ? (step > 0 ? 0 : rows.length - 1) : Math.min(rows.length - 1, Math.max(0, at + step));
  rows[next].focus();
  return true;
}

function openHelp() {
  const help = document.getElementById("keys");
  if (!help) return;
  if (help.open) help.close();
  else help.showModal();
}

function onKey(event) {
  if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return;
  if (event.key === "Escape" && isTyping(event.target) && !event.target.closest("dialog")) {
    event.target.blur(); // so that the keys work again
    return;
  }
  if (keysOff() || document.documentElement.classList.contains("keys-off") || isTyping(event.target)) return;
  if (event.key === "?") {
    event.preventDefault();
    openHelp();
    return;
  }
  if (event.repeat && !"jk".includes(event.key)) return; // a key held down decides once
  if (event.key === "j" && moveRow(1)) return;
  if (event.key === "k") {
    if (moveRow(-1)) return;
    if (!document.querySelector('[data-key="k"]')) {
      window.history.back();
      return;
    }
  }
  if (event.key === "o" && document.activeElement && document.activeElement.matches("[data-row]")) {
    document.activeElement.click();
    return;
  }
  if (event.key === "x") {
    const row = document.activeElement ? document.activeElement.closest("tr") : null;
    const tick = row ? row.querySelector("input[type=checkbox]") : null;
    if (tick) tick.click();
    return;
  }
  if (!/^[a-z/]$/.test(event.key)) return;
  if (event.defaultPrevented) return; // the item's own keys come first
  // Where several cases stand on one page, a key belongs to the one that has the focus, never to another.
  const cases = document.querySelectorAll(".case");
  const within = cases.length > 1 ? document.activeElement.closest(".case") : document;
  const wanted = within ? within.querySelector(`[data-key="${event.key}"]`) : null;
  if (!wanted) return;
  event.preventDefault();
  if (wanted.matches("input:not([type=checkbox]), select, textarea")) wanted.focus();
  else wanted.click();
}

// A form that is on its way is not sent a second time by an impatient finger.
function onSubmit(event) {
  const form = event.target;
  if (form.dataset.sent) {
    event.preventDefault();
    return;
  }
  if (form.dataset.stay !== undefined) {
    event.preventDefault();
    sendAndStay(form, event.submitter);
    return;
  }
  const stays = event.submitter && event.submitter.dataset.download !== undefined; // a file comes, no page
  if (form.method === "post" && !stays) form.dataset.sent = "1";
}

async function sendAndStay(form, submitter) {
  const status = document.getElementById(form.dataset.stay);
  const body = new URLSearchParams(new FormData(form));
  if (submitter && submitter.name) body.set(submitter.name, submitter.value);
  try {
    const answer = await fetch(form.action, { method: "POST", body, redirect: "manual", credentials: "same-origin" });
    const recorded = answer.type === "opaqueredirect" || answer.ok;
    status.textContent = recorded ? _("Recorded.") : _("Not recorded: the form was refused. Check type and positions.");
    if (recorded) markCorrected(form);
  } catch {
    status.textContent = _("Not recorded: the server did not answer.");
  }
}

function markCorrected(form) {
  const position = form.elements.position ? form.elements.position.value : "";
  const mark = position === "" ? null : document.getElementById(`f${position}`);
  if (mark) mark.classList.add("judged");
}

// What is revealed masks itself: at the end of its time, and at once when the page is left or hidden.
function startClock() {
  const revealed = document.querySelector("[data-seconds]");
  if (!revealed) return;
  const mask = () => window.location.replace(revealed.dataset.masked);
  const ends = performance.now() + 1000 * Number(revealed.dataset.seconds);
  const clock = document.getElementById("clock");
  const status = document.getElementById("clock-said");
  let warned = false;
  const tick = () => {
    const left = Math.max(0, Math.round((ends - performance.now()) / 1000));
    clock.textContent = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`;
    if (left <= WARN_S && !warned) {
      warned = true;
      status.textContent = _("The text is masked again in {n} seconds.", left);
    }
    if (left === 0) mask();
  };
  tick();
  setInterval(tick, 500);
  document.addEventListener("visibilitychange", () => { if (document.hidden) mask(); });
  window.addEventListener("pageshow", (event) => { if (event.persisted) mask(); });
}

// Positions are code points of the extracted text; the page shows one character for each of them.
function codePoints(text) {
  let n = 0;
  for (const one of text) n += 1; // eslint-disable-line no-unused-vars
  return n;
}

function offsetIn(node, offset) {
  const block = (node.nodeType === Node.TEXT_NODE ? node.parentElement : node).closest("[data-start]");
  if (!block) return null;
  const before = document.createRange();
  before.selectNodeContents(block);
  before.setEnd(node, offset);
  return Number(block.dataset.start) + codePoints(before.toString());
}

function pickMissed() {
  const selection = document.getSelection();
  const form = document.getElementById("missed");
  if (!form || !selection || selection.isCollapsed || !selection.rangeCount) return;
  const range = selection.getRangeAt(0);
  const start = offsetIn(range.startContainer, range.startOffset);
  const end = offsetIn(range.endContainer, range.endOffset);
  if (start === null || end === null || end <= start) return;
  form.elements.start.value = start;
  form.elements.end.value = end;
  document.getElementById("picked").textContent = _("{n} characters picked. Say of what type they are.", end - start);
}

function pickFinding(event) {
  const mark = event.target instanceof Element ? event.target.closest("mark[data-position]") : null;
  const form = document.getElementById("correct");
  if (!mark || !form || !document.getSelection().isCollapsed) return;
  form.elements.position.value = mark.dataset.position;
  fillFrom(form);
}

function fillFrom(form) {
  const chosen = form.elements.position.selectedOptions ? form.elements.position.selectedOptions[0] : null;
  if (!chosen || chosen.dataset.start === undefined) return;
  form.elements.start.value = chosen.dataset.start;
  form.elements.end.value = chosen.dataset.end;
  form.elements.entity_type.value = chosen.dataset.type;
}

function tickAll(event) {
  const form = event.target.form || document;
  for (const tick of form.querySelectorAll("input[name=file]")) tick.checked = event.target.checked;
  countTicked();
}

function countTicked() {
  const status = document.getElementById("ticked");
  if (!status) return;
  const n = document.querySelectorAll("input[name=file]:checked").length;
  status.textContent = n ? _("{n} chosen", n) : _("None chosen");
}

// What is done once for a window.
function onReady() {
  document.addEventListener("keydown", onKey);
  document.addEventListener("submit", onSubmit);
  document.addEventListener("desk:shown", dress); // another item was put into the page
  // Sent is sent for this visit of the page only: Back must find the form usable.
  window.addEventListener("pageshow", () => {
    for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
  });
  const keysOn = document.getElementById("keys-on");
  if (keysOn) {
    keysOn.checked = !keysOff();
    keysOn.addEventListener("change", () => setKeys(keysOn.checked));
  }
  document.addEventListener("change", (event) => {
    if (event.target.name === "file") countTicked();
    if (event.target.name === "position" && event.target.form.id === "correct") fillFrom(event.target.form);
  });
  for (const opener of document.querySelectorAll("[data-help]")) {
    opener.addEventListener("click", (event) => {
      event.preventDefault();
      openHelp();
    });
  }
  dress();
}

// What is done for each content of the page.
function dress() {
  // Screen readers speak what changes in a live region, not what was there when the page came.
  for (const flash of document.querySelectorAll("[role=status][data-say], [role=alert][data-say]")) {
    const words = flash.querySelector("p");
    const text = words.textContent;
    words.textContent = "";
    setTimeout(() => { words.textContent = text; }, 60);
  }
  const all = document.getElementById("tick-all");
  if (all) all.addEventListener("change", tickAll);
  countTicked();
  const reading = document.querySelector(".reading");
  if (reading) {
    reading.addEventListener("mouseup", () => setTimeout(pickMissed, 0));
    reading.addEventListener("keyup", pickMissed);
    reading.addEventListener("click", pickFinding);
    const correct = document.getElementById("correct");
    if (correct) fillFrom(correct);
  }
  startClock();
}

if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", onReady);
else onReady();
