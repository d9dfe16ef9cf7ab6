// Where an answer comes from: the path or address of its document, and a citation to copy.

import { element } from "./elements.js";

const COPIED = 1600; // ms that a button says so

export const titleOf = (source) => source.title || source.id;

const isAddress = (text) => /^https?:\/\//i.test(text);

/** The path or address that a document was read from, else its id. */
function pathOf({ id, metadata }) {
  const named = ["path", "url"].map((key) => metadata?.[key]).find((value) => typeof value === "string" && value);
  return named ?? id;
}

/** The address on the web, if there is one. */
function addressOf({ id, metadata }) {
  return [metadata?.url, metadata?.path, id].find((value) => typeof value === "string" && isAddress(value)) ?? null;
}

/** The path beside a title that does not say it: a link if it is an address. */
export function pathShown(source) {
  const [path, address] = [pathOf(source), addressOf(source)];
  if (address) return element("a", { class: "path", href: address, rel: "noopener noreferrer", target: "_blank" }, shortened(path));
  return path === titleOf(source) ? null : element("span", { class: "path" }, path);
}

const shortened = (path) => path.replace(/^https?:\/\/(?:www\.)?/i, "");

/** A sentence with its source, and the address of this page that shows it. */
export function citation(answer, link) {
  const quoted = answer.sentence.trim().split(/\s+/).join(" ");
  const path = pathOf(answer.document);
  const page = Number.isInteger(answer.page) ? `, page ${answer.page}` : "";
  const source = path === titleOf(answer.document) ? path : `${titleOf(answer.document)}, ${path}`;
  return `“${quoted}” (${source}${page}) ${new URL(link, location.href)}`;
}

/** A button that copies a text; `say` announces it. */
export function copyButton(text, say) {
  const button = element("button", { type: "button", class: "plain copy" }, "Copy citation");
  button.addEventListener("click", async () => {
    const done = await copied(text);
    button.textContent = done ? "Copied" : "Cannot copy";
    say(done ? "Citation copied." : "The citation cannot be copied.");
    setTimeout(() => (button.textContent = "Copy citation"), COPIED);
  });
  return button;
}

/** Without a secure connection browsers have no clipboard but that of a selection. */
async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copiedBySelection(text);
  }
}

function copiedBySelection(text) {
  const focused = document.activeElement;
  const area = element("textarea", { class: "hidden", "aria-hidden": "true" });
  area.value = text;
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  focused?.focus();
  return done;
}
