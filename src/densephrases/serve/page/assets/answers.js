// Lists of answers: the phrase marked in its text, its document, and its confidence.

import { element } from "./elements.js";
import { citation, copyButton, pathShown, titleOf } from "./sources.js";
import { around, counted, firstOf, lastOf, ordinal, percent } from "./text.js";

/** Below this confidence the page says that the best answer is probably wrong, below `SURE` that it is not sure. */
export const UNSURE = 0.2;
export const SURE = 0.6;
const FOLDED = 0.05; // below it answers after the first are folded, and so are other phrases of their sentences
const CONTEXT = 300; // characters on either side of a phrase: a "sentence" may be a whole table
const PASSAGE_CONTEXT = 1500;

const isDoubtful = ({ confidence }) => confidence !== null && confidence < UNSURE;

export const isHalfSure = ([best]) => best !== undefined && best.confidence !== null && best.confidence >= UNSURE && best.confidence < SURE;

export const isUnsure = (answers) => answers.length > 0 && isDoubtful(answers[0]);

/** Answers of one sentence together, in the place of the best: [{ answer, others }]. */
export function grouped(answers) {
  const groups = [];
  for (const answer of answers) {
    const group = answer.unit === "phrase" && groups.find((each) => isSameSentence(each.answer, answer));
    if (group) group.others.push(answer);
    else groups.push({ answer, others: [] });
  }
  return groups;
}

const isHardlyRight = ({ confidence }) => confidence !== null && confidence < FOLDED;

const isSameSentence = (one, other) => one.document.id === other.document.id && one.sentence_start === other.sentence_start
  && one.sentence === other.sentence;

function overlap(one, other) {
  const [a, b] = [one.phrase, other.phrase];
  return one.document.id === other.document.id && a.start < b.end && b.start < a.end;
}

/**
 * One list for each task.
 * results: [{ name, answers }] of each task; the second is compared with the first.
 * view: { linkTo(answer), say(text) }: the address that shows the document of an answer, and an announcement.
 */
export function answerLists(results, view) {
  if (results.length === 1) return answerList(results[0].answers, view);
  const [before, after] = results;
  return [
    element("div", { class: "compared" },
      column(before.name, before.answers, view),
      column(after.name, after.answers, view, before.answers)),
  ];
}

function column(name, answers, view, before = null) {
  const list = answers.length ? answerList(answers, view, before) : [element("p", { class: "quiet" }, "No answer.")];
  return element("section", { "aria-label": `Task ${name}` }, element("h2", {}, name), ...list);
}

/** The answers, and those that are hardly ever right folded below them. */
function answerList(answers, view, before = null) {
  const items = grouped(answers).map(({ answer, others }, place) => ({
    isFolded: place > 0 && isHardlyRight(answer),
    shown: item(answer, others, place === 0, view, before && change(answer, answers.indexOf(answer), before)),
  }));
  const list = (folded) => element("ol", { class: "answers" }, ...items.filter((each) => each.isFolded === folded).map(({ shown }) => shown));
  const count = items.filter(({ isFolded }) => isFolded).length;
  if (!count) return [list(false)];
  return [list(false), element("details", { class: "folded" },
    element("summary", {}, `${counted(count, "answer")} below ${percent(FOLDED)}`), list(true))];
}

function item(answer, others, isFirst, view, changed) {
  const inWhole = answer.unit === "passage" || answer.unit === "document";
  const [text, begin] = inWhole ? [answer.passage, answer.passage_start] : [answer.sentence, answer.sentence_start];
  const [doubtful, first] = [isDoubtful(answer), isFirst && !isDoubtful(answer)];
  return element("li", { class: `answer${first ? " first" : ""}${doubtful ? " doubtful" : ""}` },
    headline(answer, first),
    element("p", { class: inWhole ? "text whole" : "text" },
      ...clipped(text, answer.phrase, begin, inWhole ? PASSAGE_CONTEXT : CONTEXT)),
    ...alsoInSentence(others, isFirst || !isHardlyRight(answer)),
    answer.items.length > 1 ? element("ul", { class: "items" }, ...answer.items.map(({ text }) => element("li", {}, text))) : null,
    element("p", { class: "source" },
      answer.unit === "document" ? null : element("span", { class: "title" }, titleOf(answer.document)),
      pathShown(answer.document),
      confidence(answer.confidence),
      answer.verified ? element("span", {}, "verified") : null,
      changed && element("span", { class: "change" }, changed),
      element("span", { class: "actions" },
        copyButton(citation(answer, view.linkTo(answer)), view.say),
        element("a", { href: view.linkTo(answer), class: "show" }, "Show in document",
          element("span", { class: "hidden" }, `: ${titleOf(answer.document)}, answer ${answer.phrase.text}`)))));
}

/** The phrase itself for the best answer; the title for documents. */
function headline(answer, isFirst) {
  if (answer.unit === "document") return element("h3", { class: "headline" }, titleOf(answer.document));
  return isFirst && answer.unit === "phrase" ? element("p", { class: "headline" }, answer.phrase.text) : null;
}

/** Other phrases of the sentence of an answer; `folds` says whether those that are hardly ever right are folded. */
function alsoInSentence(others, folds) {
  const folded = folds ? others.filter(isHardlyRight) : [];
  const shown = others.filter((each) => !folded.includes(each));
  const summary = element("summary", {}, `${counted(folded.length, "phrase")} of this sentence below ${percent(FOLDED)}`);
  return [
    shown.length ? element("p", { class: "others" }, "Also in this sentence: ", ...listed(shown)) : null,
    folded.length ? element("details", { class: "others" }, summary, element("p", {}, ...listed(folded))) : null,
  ];
}

/** Phrases with their confidences, separated by commas. */
function listed(others) {
  const shown = ({ phrase, confidence: share }) => [element("span", { class: "other" }, phrase.text), share === null ? "" : ` (${written(share)})`];
  return others.flatMap((each, place) => (place ? [", ", ...shown(each)] : shown(each)));
}

/** Like `marked`, with at most so many characters before and after the phrase. */
function clipped(text, phrase, begin, most) {
  const [before, mark, after] = marked(text, phrase, begin);
  return [lastOf(before, most), mark, firstOf(after, most)];
}

/** A text that begins at offset `begin` of its document, with a phrase of the document marked. */
export function marked(text, phrase, begin) {
  const [before, inside, after] = around(text, phrase.start - begin, phrase.end - begin);
  return [before, element("mark", {}, inside), after];
}

function confidence(share) {
  if (share === null) return null;
  const fill = element("span", { class: "fill" });
  fill.style.inlineSize = percent(share);
  return element("span", { class: "confidence" },
    element("span", { class: "bar", "aria-hidden": "true" }, fill), `${written(share)} sure`);
}

const written = (share) => (share < 0.005 ? "under 1%" : percent(share));

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
