// The filter on metadata: `key=value` pairs as a person writes them.

const PAIR = /([^\s=,]+)=(?:"([^"]*)"|([^\s,]+))/g;

/** { where, wrong }: values by key, or the first part that is no pair. Several values of a key: any of them. */
export function parsed(text) {
  const where = {};
  const rest = text.replace(PAIR, (_, key, quoted, plain) => {
    (where[key] ??= []).push(quoted ?? plain);
    return " ";
  });
  const wrong = rest.replace(/[\s,]+/g, " ").trim();
  return { where: Object.keys(where).length ? where : undefined, wrong: wrong || null };
}

/** A pair for the filter; values with spaces stand in quotes. */
export const written = (key, value) => (/[\s,"]/.test(value) ? `${key}="${String(value).replaceAll('"', "")}"` : `${key}=${value}`);

/** The pairs that some documents have, to be suggested. */
export function suggestions(documents) {
  const pairs = documents.flatMap(({ metadata }) => Object.entries(metadata ?? {})
    .filter(([key, value]) => !/[\s=,]/.test(key) && ["string", "number", "boolean"].includes(typeof value) && String(value).length <= 60)
    .map(([key, value]) => written(key, value)));
  return [...new Set(pairs)].slice(0, 30);
}
