// All elements are created here. Text becomes text nodes, so that no text of a document can become markup.

/** An element with attributes and children; a child is an element or a string, null is skipped. */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === false) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

export const byId = (id) => document.getElementById(id);
