// Keyboard control: / focuses the question, arrows move between question and answers, Escape goes back.

import { byId } from "./elements.js";

const question = byId("question");

const links = () => [...document.querySelectorAll("#results a:not(.path), #results button:not(.copy), #results .folded > summary")]
  .filter((each) => each.checkVisibility());

/** erase: clears the question. */
export function listen(erase) {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || byId("document").open) return;
    if (act(event, erase)) event.preventDefault();
  });
}

function act({ key, target }, erase) {
  const typing = target.matches("input:not([type=radio], [type=checkbox]), select");
  if (key === "/" && !typing) return focus(question);
  if (target === question) return inQuestion(key, erase);
  const place = links().indexOf(target);
  return place === -1 ? false : inResults(key, place);
}

function inQuestion(key, erase) {
  if (key === "ArrowDown") return focus(links()[0]);
  if (key !== "Escape" || !question.value) return false;
  erase();
  return true;
}

function inResults(key, place) {
  if (key === "ArrowDown") return focus(links()[place + 1]);
  if (key === "ArrowUp") return focus(links()[place - 1] ?? question);
  return key === "Escape" ? focus(question) : false;
}

function focus(element) {
  if (!element) return true;
  element.focus();
  if (element === question) question.select();
  else (element.closest("li") ?? element).scrollIntoView({ block: "nearest" });
  return true;
}
