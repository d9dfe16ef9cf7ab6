// The page: keeps the state in the address, asks the service, and shows what it answers.

import { read, written } from "./address.js";
import { answerLists, grouped, isHalfSure, isUnsure, summary } from "./answers.js";
import { Attempts } from "./attempts.js";
import * as documentView from "./document.js";
import { byId, element } from "./elements.js";
import * as filter from "./filter.js";
import * as keyboard from "./keyboard.js";
import * as notices from "./notices.js";
import * as service from "./service.js";
import { bytes, codePoints, counted } from "./text.js";

const FEW = 5;
const MANY = 20;
const PER_SENTENCE = 2; // times as many phrases are requested as sentences are shown, since some share one
const READ = 3; // passages, if answers are verified
const SETTLED = 1500; // ms until a typed question becomes an entry in the history
const SPOKEN = 700; // ms until answers are announced; those to unfinished questions are not

const question = byId("question");
const notice = byId("notice");
const results = byId("results");
const where = byId("where");

let state = read(location.hash);
let shownQuestion = null; // the question whose results are shown
let info = null; // of the service, from /v1/info
let examples = null;
let wanted = FEW;
let settled = true;

const attempts = new Attempts({
  slow: (isSlow) => {
    byId("progress").classList.toggle("active", isSlow);
    results.classList.toggle("stale", isSlow);
    results.setAttribute("aria-busy", isSlow);
  },
  verySlow: () => say(notices.stillWaiting()),
  failed: (problem, seconds, again) => (problem.status === 401 ? askForKey() : fail(problem, seconds, again)),
  countdown: (seconds) => {
    const place = byId("countdown");
    if (place) place.textContent = counted(seconds, "second");
  },
});

// --- what is shown -------------------------------------------------------------------------------------------------

/** Show a state; `load` says when the service is asked: "now" or "soon". */
function show(next, load = "now") {
  const before = state;
  state = next;
  if (question.value !== state.question) question.value = state.question;
  document.title = state.question ? `${state.question} – DensePhrases` : "DensePhrases";
  for (const radio of document.querySelectorAll("[name=unit]")) radio.checked = radio.value === state.unit;
  byId("verify").checked = state.verify;
  if (where.value.trim() !== state.filter) where.value = state.filter;
  selectTasks();
  const asksTheSame = ["question", "unit", "task", "compared", "verify", "filter"].every((name) => before[name] === state[name]);
  if (!asksTheSame) wanted = FEW;
  if (!asksTheSame || shownQuestion === null) attempts[load](content);
  if (state.opened) documentView.show(state.opened);
  else documentView.hide();
}

async function content(signal) {
  if (info === null) showInfo(await service.info(signal));
  const asked = state.question.trim();
  if (info.index.documents === 0) return () => put([], notices.emptyIndex());
  if (!asked) return welcome(signal);
  const length = codePoints(state.question);
  const most = info.limits.question_characters;
  if (length > most) return () => put([], notices.tooLong(length, most));
  const { where: conditions, wrong } = filter.parsed(state.filter);
  where.setAttribute("aria-invalid", wrong !== null);
  if (wrong !== null) return () => put([], notices.badFilter(wrong));
  const tasks = selectedTasks();
  const verify = state.verify && info.reads ? Math.min(READ, info.limits.verify) : undefined;
  const options = { k: Math.min(PER_SENTENCE * wanted, info.limits.k), unit: state.unit, verify, where: conditions };
  const found = await Promise.all(tasks.map(({ task }) => service.answers(asked, { ...options, task }, signal)));
  return () => showAnswers(tasks.map(({ name }, place) => ({ ...found[place], name, answers: few(found[place].answers) })));
}

/** As many sentences as are wanted, with all their phrases. */
const few = (answers) => grouped(answers).slice(0, wanted).flatMap(({ answer, others }) => [answer, ...others]);

async function welcome(signal) {
  const nothing = { questions: [], documents: [] };
  const greet = (found) => put(notices.welcome(found, linkToQuestion, linkToWhole), null);
  if (examples === null) greet(nothing);
  examples ??= await service.examples(signal).catch((error) => {
    if (error instanceof service.Problem && error.status !== 401) return nothing;
    throw error;
  });
  return () => greet(examples);
}

function showAnswers(found) {
  const longest = Math.max(...found.map(({ answers }) => grouped(answers).length));
  const one = found.length === 1 ? found[0].answers : null;
  const nothing = () => (state.filter ? notices.nothingMatches() : notices.noAnswer());
  const partial = found.some(({ complete }) => complete === false);
  const said = partial ? notices.incomplete() : longest === 0 ? nothing() : one && isUnsure(one) ? notices.unsure() : one && isHalfSure(one) ? notices.notSure(one[0].confidence) : null;
  const more = longest === wanted && wanted < MANY && element("button", { type: "button", class: "plain more", onclick: showMore }, "More answers");
  put(longest ? [...answerLists(found, { linkTo: linkToDocument, say: announce }), ...(more ? [more] : [])] : [], said);
  suggestConditions(found);
  showLatency(found);
  announce(summary(found));
  settle(SETTLED);
}

function put(content, said) {
  shownQuestion = state.question;
  results.replaceChildren(...content);
  say(said);
  byId("latency").textContent = "";
  document.body.classList.toggle("comparing", content.some((each) => each.classList.contains("compared")));
}

function say(said) {
  notice.hidden = !said;
  notice.replaceChildren(...(said ?? []));
  if (said) announce(notice.querySelector("h2, p").textContent);
}

function fail(problem, seconds, again) {
  put([], notices.failure(problem, seconds, again));
  shownQuestion = null;
}

function askForKey(wasRefused = service.key.get() !== null) {
  forgetKey();
  put([], notices.keyForm(wasRefused, useKey));
  shownQuestion = null;
  byId("key").focus();
}

function useKey(key) {
  if (!/^[\x21-\x7e]+$/.test(key)) return askForKey(true); // not a valid header value
  service.key.set(key);
  byId("forget").hidden = false;
  attempts.now(content);
  question.focus();
}

function forgetKey() {
  service.key.forget();
  byId("forget").hidden = true;
  info = examples = null;
  byId("size").textContent = "";
}

function showMore() {
  const place = results.querySelectorAll("li").length;
  wanted = MANY;
  attempts.now(async (signal) => {
    const render = await content(signal);
    return () => {
      render();
      results.querySelectorAll("li")[place]?.querySelector(".show").focus();
    };
  });
}

function showLatency(found) {
  const slowest = found.reduce((one, other) => (one.milliseconds > other.milliseconds ? one : other));
  const milliseconds = (value) => `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`;
  byId("latency").textContent = `Answered in ${milliseconds(slowest.milliseconds)}`;
  byId("latency").title = `${milliseconds(slowest.roundTrip)} including the network`;
}

function suggestConditions(found) {
  const documents = found.flatMap(({ answers }) => answers.map((answer) => answer.document));
  byId("conditions").replaceChildren(...filter.suggestions(documents).map((value) => element("option", { value })));
}

let speaking = 0;

function announce(text) {
  clearTimeout(speaking);
  speaking = setTimeout(() => (byId("announcement").textContent = text), SPOKEN);
}

// --- the service and its tasks ------------------------------------------------------------------------------------------

function showInfo(found) {
  info = found;
  byId("size").textContent = `${counted(found.index.documents, "document")} · ${bytes(found.index.bytes)}`;
  byId("size").title = `${counted(found.index.passages, "passage")}, ${counted(found.index.vectors, "vector")}`;
  byId("forget").hidden = service.key.get() === null;
  byId("verifying").hidden = !found.reads;
  byId("tasks").hidden = found.tasks.length === 0;
  const names = ["", ...found.tasks].map((task) => element("option", { value: task }, taskName(task)));
  byId("task").replaceChildren(...names);
  byId("compared").replaceChildren(element("option", { value: "none" }, "nothing else"), ...names.map((each) => each.cloneNode(true)));
  selectTasks();
}

const taskName = (task) => task || "default";

/** The task in the address, else the default of the service. */
const selectedTask = () => state.task ?? info?.task ?? "";

function selectTasks() {
  byId("task").value = selectedTask();
  byId("compared").value = state.compared ?? "none";
}

function selectedTasks() {
  if (info.tasks.length === 0) return [{ name: "", task: undefined }];
  const tasks = state.compared === null ? [selectedTask()] : [selectedTask(), state.compared];
  return tasks.map((task) => ({ name: taskName(task), task }));
}

// --- where the page is ---------------------------------------------------------------------------------------------

const linkToQuestion = (text) => written({ ...state, question: text, opened: null });

const linkToWhole = (id) => written({ ...state, opened: { id, start: null, end: null } });

function linkToDocument({ document: { id }, phrase: { start, end } }) {
  return written({ ...state, opened: { id, start, end } });
}

/** Change the state; `step` adds an entry to the history, else the current one is replaced. */
function goTo(changes, { load = "now", step = true, from = "page" } = {}) {
  const next = { ...state, ...changes };
  history[step ? "pushState" : "replaceState"]({ from }, "", written(next));
  show(next, load);
}

let settling = 0;

function settle(milliseconds) {
  clearTimeout(settling);
  settling = setTimeout(() => (settled = true), milliseconds);
}

function typed() {
  goTo({ question: question.value }, { load: "soon", step: settled });
  settled = false;
  clearTimeout(settling);
}

function erase() {
  goTo({ question: "" });
  settled = true;
}

function closeDocument() {
  if (history.state?.from === "answers") history.back();
  else goTo({ opened: null }, { step: false });
}

function followed(event) {
  const link = event.target.closest("a[href^='#']");
  if (!link || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  settled = true;
  const next = read(link.hash);
  goTo(next, { from: next.opened ? "answers" : "page" });
  if (!next.opened) question.focus();
}

byId("asking").addEventListener("submit", (event) => {
  event.preventDefault();
  settled = true;
  attempts.now(content);
});
question.addEventListener("input", typed);
byId("units").addEventListener("change", (event) => goTo({ unit: event.target.value }));
where.addEventListener("input", () => goTo({ filter: where.value.trim() }, { load: "soon", step: false }));
byId("verify").addEventListener("change", (event) => goTo({ verify: event.target.checked }));
byId("task").addEventListener("change", (event) => goTo({ task: event.target.value }));
byId("compared").addEventListener("change", ({ target }) => goTo({ compared: target.value === "none" ? null : target.value }));
byId("forget").addEventListener("click", () => {
  forgetKey();
  attempts.now(content);
});
document.addEventListener("click", followed);
addEventListener("popstate", () => show(read(location.hash)));
documentView.onClose(closeDocument);
keyboard.listen(erase);
show(state);
