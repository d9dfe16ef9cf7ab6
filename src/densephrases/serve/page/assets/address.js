// The state of the page is in its address, so that it can be shared and the back button works. It follows the '#',
// which browsers do not send: questions never reach the log of a server or proxy this way.

export const UNITS = ["auto", "phrase", "sentence", "passage", "document"];

/**
 * task: whose query encoder is used; "" is the model's default, null the default of the service.
 * compared: another task to compare with, or null.
 * verify: whether the first passages are read again.
 * filter: conditions on metadata, as they are written.
 * opened: { id, start, end } of the document that is shown, or null.
 */
export function read(hash) {
  const values = new URLSearchParams(hash.replace(/^#/, ""));
  const unit = values.get("unit");
  return {
    question: values.get("q") ?? "",
    unit: UNITS.includes(unit) ? unit : UNITS[0],
    task: values.get("task"),
    compared: values.get("compare"),
    verify: values.has("verify"),
    filter: values.get("where") ?? "",
    opened: openedIn(values),
  };
}

function openedIn(values) {
  if (!values.has("document")) return null;
  const [start, end] = ["start", "end"].map((name) => Number.parseInt(values.get(name) ?? "", 10));
  return { id: values.get("document"), start: start >= 0 ? start : null, end: end >= start ? end : null };
}

export function written({ question, unit, task, compared, verify, filter, opened }) {
  const values = new URLSearchParams();
  if (question) values.set("q", question);
  if (unit !== UNITS[0]) values.set("unit", unit);
  if (task !== null) values.set("task", task);
  if (compared !== null) values.set("compare", compared);
  if (verify) values.set("verify", "1");
  if (filter) values.set("where", filter);
  if (opened) {
    values.set("document", opened.id);
    if (opened.end !== null) {
      values.set("start", opened.start);
      values.set("end", opened.end);
    }
  }
  return `#${values}`;
}
