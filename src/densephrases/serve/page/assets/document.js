// The dialog with a whole document, scrolled to the phrase; of a PDF file its page first, with the phrase in a box.

import { marked } from "./answers.js";
import { byId } from "./elements.js";
import * as find from "./find.js";
import { pageView } from "./pages.js";
import { documentText } from "./service.js";
import { pathShown, titleOf } from "./sources.js";

const dialog = byId("document");
const title = byId("document-title");
const path = byId("document-path");
const text = byId("document-text");

let reading = null;

/** Show a document. `onClose` listeners run when the reader closes it, not after `hide`. */
export async function show(opened) {
  reading?.abort();
  reading = new AbortController();
  title.textContent = "…";
  text.replaceChildren();
  path.replaceChildren();
  find.reset();
  if (!dialog.open) dialog.showModal();
  text.focus({ preventScroll: true });
  try {
    const found = await documentText(opened, reading.signal);
    put(found);
    if (found.shown && found.page !== null) await putPage(opened, found, reading.signal);
  } catch (error) {
    if (error.name === "AbortError") return;
    title.textContent = "The document cannot be shown";
    text.replaceChildren(error.status === 404 ? "It is no longer in the index." : error.detail || "The service cannot be reached.");
  }
}

function put(found) {
  title.textContent = titleOf(found);
  path.replaceChildren(...[pathShown(found)].filter((each) => each !== null));
  text.replaceChildren(...(found.phrase ? marked(found.text, found.phrase, 0) : [found.text]));
  text.scrollTop = 0;
  text.querySelector("mark")?.scrollIntoView({ block: "center" });
}

/** Without a picture the text is all that is shown. */
async function putPage(opened, found, signal) {
  const view = await pageView(opened, text.clientWidth, signal).catch((error) => {
    if (error.name === "AbortError") throw error;
    return null;
  });
  if (!view) return;
  text.prepend(view);
  text.scrollTop = 0;
  view.querySelector(".box")?.scrollIntoView({ block: "center" });
}

export function hide() {
  reading?.abort();
  if (dialog.open) dialog.close();
}

export function onClose(close) {
  dialog.addEventListener("cancel", (event) => {
    event.preventDefault();
    close();
  });
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) close(); // on the backdrop
  });
  byId("close").addEventListener("click", close);
}
