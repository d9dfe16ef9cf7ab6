// Find within the document that is shown: matches are highlighted, Enter goes to the next, Shift and Enter back.

import { byId, element } from "./elements.js";
import { counted } from "./text.js";

const MOST = 1000; // matches that are highlighted

const input = byId("find");
const count = byId("found");
const text = byId("document-text");

let matches = [];
let current = -1;

/** When another document is shown. */
export function reset() {
  input.value = "";
  matches = [];
  show(-1);
}

function search() {
  for (const match of matches) match.replaceWith(...match.childNodes);
  text.normalize();
  const wanted = input.value.trim().toLowerCase();
  matches = wanted ? textNodes().flatMap((node) => highlighted(node, wanted)).slice(0, MOST) : [];
  show(matches.length ? 0 : -1);
}

function textNodes() {
  const walker = document.createTreeWalker(text, NodeFilter.SHOW_TEXT);
  const nodes = [];
  while (walker.nextNode()) nodes.push(walker.currentNode);
  return nodes;
}

function highlighted(node, wanted) {
  const whole = node.data.toLowerCase();
  if (whole.length !== node.data.length) return []; // offsets would differ, as with the Turkish İ
  const places = [];
  for (let at = whole.indexOf(wanted); at !== -1 && places.length < MOST; at = whole.indexOf(wanted, at + wanted.length)) places.push(at);
  return places.reverse().map((at) => {
    const found = node.splitText(at);
    found.splitText(wanted.length);
    const match = element("span", { class: "match" });
    found.replaceWith(match);
    match.append(found);
    return match;
  }).reverse();
}

function show(place) {
  matches[current]?.classList.remove("current");
  current = place;
  matches[current]?.classList.add("current");
  matches[current]?.scrollIntoView({ block: "center" });
  const many = matches.length === MOST ? `${MOST} or more` : counted(matches.length, "match", "matches");
  count.textContent = !input.value.trim() ? "" : current < 0 ? "Not found" : `${current + 1} of ${many}`;
}

input.addEventListener("input", search);
input.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !matches.length) return;
  event.preventDefault();
  show((current + (event.shiftKey ? matches.length - 1 : 1)) % matches.length);
});
