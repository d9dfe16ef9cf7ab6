// Calls to the service, by relative addresses, so that page and service may be below any path.

const KEY = "densephrases-key";
const UNREACHABLE = "unreachable";

/** An error, with the problem details of the service if it sent any. */
export class Problem extends Error {
  constructor({ status = 0, code = UNREACHABLE, detail = "", request_id: requestId = "" }, retryAfter = null) {
    super(detail);
    Object.assign(this, { status, code, detail, requestId, retryAfter });
  }

  get isUnreachable() {
    return this.code === UNREACHABLE;
  }
}

/** The API key, kept in this tab until it is closed. */
export const key = {
  get: () => sessionStorage.getItem(KEY),
  set: (value) => sessionStorage.setItem(KEY, value),
  forget: () => sessionStorage.removeItem(KEY),
};

export const info = (signal) => call("v1/info", { signal });

export const examples = (signal) => call("v1/examples", { signal });

export function documentText({ id, start, end }, signal) {
  const place = end === null ? "" : `?start=${start}&end=${end}`;
  return call(`v1/documents/${encodeURIComponent(id)}${place}`, { signal });
}

/** The page of a PDF file with a span of its text, and the boxes of the span there. */
export function pageOf({ id, start, end }, signal) {
  return call(`v1/pages/${encodeURIComponent(id)}?start=${start}&end=${end}`, { signal });
}

/** A picture of a page. It needs the key, so that it cannot be the address of an image. */
export function pageImage(id, page, width, signal) {
  return call(`v1/page-images/${encodeURIComponent(id)}?page=${page}&width=${width}`, { signal, read: (response) => response.blob() });
}

/** Answers to one question; without a task, the service uses its default. */
export async function answers(question, { k, unit, verify, where, task }, signal) {
  const named = task === undefined ? {} : { task: task || null };
  const began = performance.now();
  const found = await call("v1/answers", { sent: { question, k, unit, verify, where, ...named }, signal });
  return {
    answers: found.results[0].answers,
    complete: found.results[0].complete,
    milliseconds: found.milliseconds,
    roundTrip: performance.now() - began,
  };
}

async function call(path, { sent, signal, read = (response) => response.json() } = {}) {
  const headers = { Accept: "application/json" };
  if (sent) headers["Content-Type"] = "application/json";
  if (key.get()) headers.Authorization = `Bearer ${key.get()}`;
  const method = sent ? "POST" : "GET";
  let response;
  try {
    response = await fetch(path, { method, headers, signal, body: sent && JSON.stringify(sent), cache: "no-store" });
    if (response.ok) return await read(response);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem({});
  }
  throw await refusal(response);
}

/** From problem details, or from the status alone if a proxy answered. */
async function refusal(response) {
  const seconds = Number.parseInt(response.headers.get("Retry-After") ?? "", 10);
  const content = await response.json().catch(() => ({}));
  const { status } = response;
  const detail = content.detail ?? `The service answered with status ${status}.`;
  return new Problem({ code: "refused", ...content, status, detail }, Number.isNaN(seconds) ? null : seconds);
}
