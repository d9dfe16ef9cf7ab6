// One request at a time: a new one cancels the one before, so that a late answer never replaces a newer one.

import { Problem } from "./service.js";

const PAUSE = 160; // ms without a key before a question is asked
const SLOW = 400; // ms until the progress bar is shown
const VERY_SLOW = 4000; // ms until a notice is shown
const RETRIES = [1, 2, 4, 8, 15, 30]; // s, or longer if the service says so in Retry-After

export class Attempts {
  #controller = new AbortController();
  #timers = [];

  /** view: { slow(isSlow), verySlow(), failed(problem, seconds, again), countdown(seconds) } */
  constructor(view) {
    this.view = view;
  }

  /** After a moment without another request. */
  soon(work) {
    this.stop();
    this.#after(PAUSE, () => this.now(work));
  }

  /** work: takes an AbortSignal and resolves to a function that shows the result. */
  now(work) {
    this.stop();
    this.#try(work, 0);
  }

  stop() {
    this.#controller.abort();
    this.#clear();
  }

  async #try(work, attempt) {
    const controller = (this.#controller = new AbortController());
    this.#after(SLOW, () => this.view.slow(true));
    this.#after(VERY_SLOW, () => this.view.verySlow());
    try {
      const show = await work(controller.signal);
      if (!controller.signal.aborted) this.#clear();
      if (!controller.signal.aborted) show();
    } catch (error) {
      if (controller.signal.aborted) return;
      this.#clear();
      if (!(error instanceof Problem)) throw error;
      this.#failed(error, work, attempt);
    }
  }

  #failed(problem, work, attempt) {
    const again = () => this.now(work);
    const passes = problem.isUnreachable || problem.status === 503;
    if (!passes || attempt === RETRIES.length) return this.view.failed(problem, null, again);
    const seconds = Math.max(problem.retryAfter ?? 0, RETRIES[attempt]);
    this.view.failed(problem, seconds, again);
    for (let passed = 1; passed < seconds; passed++) {
      this.#after(1000 * passed, () => this.view.countdown(seconds - passed));
    }
    this.#after(1000 * seconds, () => {
      this.#clear();
      this.#try(work, attempt + 1);
    });
  }

  #after(milliseconds, act) {
    this.#timers.push(setTimeout(act, milliseconds));
  }

  #clear() {
    this.#timers.forEach(clearTimeout);
    this.#timers = [];
    this.view.slow(false);
  }
}
