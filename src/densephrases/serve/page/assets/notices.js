// Notices: what the page says in place of, or above, a list of answers.

import { element } from "./elements.js";
import { counted, percent } from "./text.js";

const paragraph = (...children) => element("p", {}, ...children);
const heading = (text) => element("h2", {}, text);

/** Example questions, else titles of documents; `linkTo` and `linkToDocument` give their addresses. */
export function welcome({ questions, documents }, linkTo, linkToDocument) {
  const told = element("p", { class: "quiet" },
    "Type a question. The answer is a phrase of these documents, shown in its context.");
  if (questions.length) return [heading("Questions these documents answer"), examples(questions.map((each) => [linkTo(each), each]))];
  if (!documents.length) return [told];
  return [told, heading("Some of these documents"), examples(documents.map(({ id, title }) => [linkToDocument(id), title]))];
}

const examples = (links) => element("ul", { class: "examples" },
  ...links.map(([href, text]) => element("li", {}, element("a", { href }, text))));

export const emptyIndex = () => [heading("There is nothing to ask yet"), paragraph("This index holds no documents.")];

export const noAnswer = () => [heading("No answer"), paragraph("The documents hold nothing that could answer this.")];

export const notSure = (share) => [
  heading("Not sure"),
  paragraph(`The first answer is right with a probability of about ${percent(share)}. Check it in its document.`),
];

export const badFilter = (wrong) => [
  heading("The filter is not complete"),
  paragraph(`“${wrong}” is no condition; write a name of the metadata and its value, such as lang=en.`),
];

export const nothingMatches = () => [heading("No answer"), paragraph("No document meets the filter.")];

export const unsure = () => [
  heading("No confident answer"),
  paragraph("These documents probably do not say. Here are the closest phrases."),
];

export const incomplete = () => [
  heading("Not all documents were searched"),
  paragraph("A part of the index did not answer in time. There may be better answers; ask again in a moment."),
];

export const tooLong = (length, most) => [
  heading("This question is too long"),
  paragraph(`It has ${counted(length, "character")}; the service takes at most ${most.toLocaleString("en")}.`),
];

export const stillWaiting = () => [paragraph("The service is taking its time…")];

/** An error with a button to try again; `seconds` until the page does so itself, or null. */
export function failure(problem, seconds, again) {
  const button = element("button", { type: "button", onclick: again }, "Try again now");
  const countdown = element("span", { id: "countdown" }, counted(seconds ?? 0, "second"));
  const next = seconds === null ? null : paragraph("Trying again in ", countdown, ".");
  return [...explained(problem), next, problem.status === 422 ? null : button].filter((each) => each !== null);
}

function explained(problem) {
  if (problem.isUnreachable) {
    return [heading("The service cannot be reached"),
      paragraph("It may have been stopped, or the connection is gone. Your question is kept.")];
  }
  if (problem.status === 503) return [heading("The service is busy"), paragraph("It gets more questions than it can answer now.")];
  if (problem.status === 422) return [heading("The service does not take this question"), paragraph(problem.detail)];
  const id = problem.requestId && element("p", { class: "quiet" }, `Request ${problem.requestId}`);
  return [heading("Something went wrong"), paragraph(problem.detail), id || null].filter((each) => each !== null);
}

/** Asks for a key; `wasRefused` says that the last one was wrong. */
export function keyForm(wasRefused, use) {
  const input = element("input", {
    id: "key", type: "password", autocomplete: "off", required: true, "aria-describedby": "key-note",
  });
  const form = element("form", { class: "key" },
    element("label", { for: "key" }, "Key"), input, element("button", {}, "Continue"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (input.value.trim()) use(input.value.trim());
  });
  return [
    heading("This service needs an API key"),
    wasRefused ? element("p", { role: "alert" }, "The service does not know this key.") : null,
    form,
    element("p", { id: "key-note", class: "quiet" }, "It is kept until this tab is closed, and nowhere else."),
  ].filter((each) => each !== null);
}
