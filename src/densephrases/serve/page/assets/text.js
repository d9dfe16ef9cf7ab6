// The service counts Unicode code points, JavaScript counts UTF-16 units.

/** The UTF-16 offset of a code point. */
function unitsBefore(text, points) {
  let units = 0;
  for (let point = 0; point < points && units < text.length; point++) {
    units += text.codePointAt(units) > 0xffff ? 2 : 1;
  }
  return units;
}

/** The text before a span, in it and after it. */
export function around(text, start, end) {
  const begin = unitsBefore(text, start);
  const stop = begin + unitsBefore(text.slice(begin), end - start);
  return [text.slice(0, begin), text.slice(begin, stop), text.slice(stop)];
}

export const codePoints = (text) => Array.from(text).length;

export const percent = (share) => `${Math.round(100 * share)}%`;

export const counted = (count, noun, nouns = `${noun}s`) => `${count.toLocaleString("en")} ${count === 1 ? noun : nouns}`;

/** The end of a text, and its beginning, cut at a space where they are longer. */
export const lastOf = (text, most) => (text.length <= most ? text : `… ${text.slice(-most).replace(/^\S*\s/, "")}`);
export const firstOf = (text, most) => (text.length <= most ? text : `${text.slice(0, most).replace(/\s\S*$/, "")} …`);

export function bytes(count) {
  const units = ["bytes", "kB", "MB", "GB", "TB"];
  const power = Math.min(Math.floor(Math.log10(Math.max(count, 1)) / 3), units.length - 1);
  const value = count / 1000 ** power;
  return `${value < 10 && power ? value.toFixed(1) : Math.round(value)} ${units[power]}`;
}

const ENDINGS = { one: "st", two: "nd", few: "rd", other: "th" };

export const ordinal = (number) => number + ENDINGS[new Intl.PluralRules("en", { type: "ordinal" }).select(number)];
