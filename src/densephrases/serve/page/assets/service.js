// The service's addresses, relative to the page's, so that both may stand below any path.

const KEY = "densephrases-key";
const UNREACHABLE = "unreachable";

/** What went wrong, in the words of the service where it gave any. */
export class Problem extends Error {
  constructor({ status = 0, code = UNREACHABLE, detail = "", request_id: requestId = "" }, retryAfter = null) {
    super(detail);
    Object.assign(this, { status, code, detail, requestId, retryAfter });
  }

  get isUnreachable() {
    return this.code === UNREACHABLE;
  }
}

/** Kept until the tab is closed, and in no other place. */
export const key = {
  get: () => sessionStorage.getItem(KEY),
  set: (value) => sessionStorage.setItem(KEY, value),
  forget: () => sessionStorage.removeItem(KEY),
};

export const info = (signal) => call("v1/info", { signal });

export const examples = async (signal) => (await call("v1/examples", { signal })).questions;

export function documentText({ id, start, end }, signal) {
  const place = end === null ? "" : `?start=${start}&end=${end}`;
  return call(`v1/documents/${encodeURIComponent(id)}${place}`, { signal });
}

/** Answers to one question; a side that is undefined leaves the choice to the service. */
export async function answers(question, { k, unit, side }, signal) {
  const task = side === undefined ? {} : { task: side || null };
  const began = performance.now();
  const found = await call("v1/answers", { sent: { question, k, unit, ...task }, signal });
  return {
    answers: found.results[0].answers,
    milliseconds: found.milliseconds,
    roundTrip: performance.now() - began,
  };
}

async function call(path, { sent, signal } = {}) {
  const headers = { Accept: "application/json" };
  if (sent) headers["Content-Type"] = "application/json";
  if (key.get()) headers.Authorization = `Bearer ${key.get()}`;
  const method = sent ? "POST" : "GET";
  let response;
  try {
    response = await fetch(path, { method, headers, signal, body: sent && JSON.stringify(sent), cache: "no-store" });
    if (response.ok) return await response.json();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem({});
  }
  throw await refusal(response);
}

/** Problem details, or what a proxy says in its own way. */
async function refusal(response) {
  const seconds = Number.parseInt(response.headers.get("Retry-After") ?? "", 10);
  const content = await response.json().catch(() => ({}));
  const { status } = response;
  const detail = content.detail ?? `The service answered with status ${status}.`;
  return new Problem({ code: "refused", ...content, status, detail }, Number.isNaN(seconds) ? null : seconds);
}
