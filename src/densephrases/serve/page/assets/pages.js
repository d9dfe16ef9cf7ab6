// A page of a PDF file as a picture, with boxes around the phrase.

import { element } from "./elements.js";
import { pageImage, pageOf } from "./service.js";

const [NARROWEST, WIDEST] = [400, 2000];

/** A figure; it is complete when its picture has been read. */
export async function pageView(opened, width, signal) {
  const { page, pages, boxes } = await pageOf(opened, signal);
  const pixels = Math.min(Math.max(Math.round(width * devicePixelRatio), NARROWEST), WIDEST);
  const address = URL.createObjectURL(await pageImage(opened.id, page, pixels, signal));
  const picture = element("img", { src: address, alt: `Page ${page} of ${pages}; its text is below` });
  await picture.decode().finally(() => URL.revokeObjectURL(address));
  return element("figure", { class: "page" },
    element("div", { class: "sheet" }, picture, ...boxes.map(box)),
    element("figcaption", {}, `Page ${page} of ${pages}`));
}

function box({ left, top, right, bottom }) {
  const made = element("div", { class: "box", "aria-hidden": "true" });
  const share = (value) => `${100 * value}%`;
  made.style.left = share(left);
  made.style.top = share(top);
  made.style.width = share(right - left);
  made.style.height = share(bottom - top);
  return made;
}
