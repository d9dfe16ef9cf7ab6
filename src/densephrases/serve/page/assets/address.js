// What the page shows stands in its address, so that it can be shared and the back button works. It stands after the
// '#', which browsers keep to themselves: questions do not end in the log of a server or a proxy.

export const UNITS = ["phrase", "sentence", "passage", "document"];

/**
 * side: whose question side asks: a task, "" the model's default one, null the service's own.
 * beside: another one to compare it with; null compares nothing.
 * opened: { id, start, end } of a document that is shown, or null.
 */
export function read(hash) {
  const values = new URLSearchParams(hash.replace(/^#/, ""));
  const unit = values.get("unit");
  return {
    question: values.get("q") ?? "",
    unit: UNITS.includes(unit) ? unit : UNITS[0],
    side: values.get("side"),
    beside: values.get("beside"),
    opened: openedIn(values),
  };
}

function openedIn(values) {
  if (!values.has("document")) return null;
  const [start, end] = ["start", "end"].map((name) => Number.parseInt(values.get(name) ?? "", 10));
  return { id: values.get("document"), start: start >= 0 ? start : null, end: end >= start ? end : null };
}

export function written({ question, unit, side, beside, opened }) {
  const values = new URLSearchParams();
  if (question) values.set("q", question);
  if (unit !== UNITS[0]) values.set("unit", unit);
  if (side !== null) values.set("side", side);
  if (beside !== null) values.set("beside", beside);
  if (opened) {
    values.set("document", opened.id);
    if (opened.end !== null) {
      values.set("start", opened.start);
      values.set("end", opened.end);
    }
  }
  return `#${values}`;
}
