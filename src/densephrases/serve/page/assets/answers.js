// Lists of answers: the phrase marked in its text, its document, and its confidence.

import { element } from "./elements.js";
import { around, counted, ordinal, percent } from "./text.js";

/** Below this confidence the page says that the best answer is probably wrong. */
export const UNSURE = 0.2;

const isDoubtful = ({ confidence }) => confidence !== null && confidence < UNSURE;

export const isUnsure = (answers) => answers.length > 0 && isDoubtful(answers[0]);

function overlap(one, other) {
  const [a, b] = [one.phrase, other.phrase];
  return one.document.id === other.document.id && a.start < b.end && b.start < a.end;
}

/**
 * One list for each task.
 * results: [{ name, answers }] of each task; the second is compared with the first.
 * linkTo: gives the address that shows the document of an answer.
 */
export function answerLists(results, linkTo) {
  if (results.length === 1) return [answerList(results[0].answers, linkTo)];
  const [before, after] = results;
  return [
    element("div", { class: "compared" },
      column(before.name, before.answers, linkTo),
      column(after.name, after.answers, linkTo, before.answers)),
  ];
}

function column(name, answers, linkTo, before = null) {
  const list = answers.length ? answerList(answers, linkTo, before) : element("p", { class: "quiet" }, "No answer.");
  return element("section", { "aria-label": `Task ${name}` }, element("h2", {}, name), list);
}

function answerList(answers, linkTo, before = null) {
  return element("ol", { class: "answers" },
    ...answers.map((answer, place) => item(answer, place === 0, linkTo, before && change(answer, place, before))));
}

function item(answer, isFirst, linkTo, changed) {
  const inWhole = answer.unit === "passage" || answer.unit === "document";
  const [text, begin] = inWhole ? [answer.passage, answer.passage_start] : [answer.sentence, answer.sentence_start];
  const [doubtful, first] = [isDoubtful(answer), isFirst && !isDoubtful(answer)];
  return element("li", { class: `answer${first ? " first" : ""}${doubtful ? " doubtful" : ""}` },
    headline(answer, first),
    element("p", { class: inWhole ? "text whole" : "text" }, ...marked(text, answer.phrase, begin)),
    answer.items.length > 1 ? element("ul", { class: "items" }, ...answer.items.map(({ text }) => element("li", {}, text))) : null,
    element("p", { class: "source" },
      answer.unit === "document" ? null : element("span", { class: "title" }, titleOf(answer.document)),
      confidence(answer.confidence),
      answer.verified ? element("span", {}, "verified") : null,
      changed && element("span", { class: "change" }, changed),
      element("a", { href: linkTo(answer), class: "show" }, "Show in document",
        element("span", { class: "hidden" }, `: ${titleOf(answer.document)}, answer ${answer.phrase.text}`))));
}

/** The phrase itself for the best answer; the title for documents. */
function headline(answer, isFirst) {
  if (answer.unit === "document") return element("h3", { class: "headline" }, titleOf(answer.document));
  return isFirst && answer.unit === "phrase" ? element("p", { class: "headline" }, answer.phrase.text) : null;
}

/** A text that begins at offset `begin` of its document, with a phrase of the document marked. */
export function marked(text, phrase, begin) {
  const [before, inside, after] = around(text, phrase.start - begin, phrase.end - begin);
  return [before, element("mark", {}, inside), after];
}

export const titleOf = (source) => source.title || source.id;

function confidence(share) {
  if (share === null) return null;
  const fill = element("span", { class: "fill" });
  fill.style.inlineSize = percent(share);
  return element("span", { class: "confidence" },
    element("span", { class: "bar", "aria-hidden": "true" }, fill), `${share < 0.005 ? "under 1%" : percent(share)} sure`);
}

/** How the rank of an answer differs from its rank in the other list. */
function change(answer, place, before) {
  const was = before.findIndex((other) => overlap(other, answer));
  if (was === -1) return "new";
  return was === place ? "as before" : `was ${ordinal(was + 1)}`;
}

/** The results as a sentence, for screen readers. */
export function summary(results) {
  const told = ({ name, answers }) => {
    const whose = results.length > 1 ? `${name}: ` : "";
    if (!answers.length) return `${whose}No answer.`;
    if (isUnsure(answers)) return `${whose}No confident answer; the nearest is ${answers[0].phrase.text}.`;
    const [best] = answers;
    const sure = best.confidence === null ? "" : `, ${percent(best.confidence)} sure`;
    return `${whose}${counted(answers.length, "answer")}. Best: ${best.phrase.text}, from ${titleOf(best.document)}${sure}.`;
  };
  return results.map(told).join(" ");
}
