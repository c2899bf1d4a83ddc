// An aligner that lives in a worker, so that the page never waits for it.

export class LocalAligner {
  constructor(worker) {
    this.worker = worker;
    this.waiting = new Map();
    this.asked = 0;
    this.ready = new Promise((resolve) => (this.loaded = resolve));
    worker.addEventListener("message", ({ data }) => this.#heard(data));
    worker.addEventListener("error", (event) => this.#failed(event.message));
  }

  align(model, pair, options, signal) {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const number = ++this.asked;
      this.waiting.set(number, { resolve, reject });
      // A newer sentence takes the place of one that is not begun yet.
      signal?.addEventListener("abort", () => {
        if (!this.waiting.delete(number)) return;
        this.worker.postMessage({ forget: number });
        reject(signal.reason);
      });
      this.worker.postMessage({ number, model, pair, options });
    });
  }

  #heard({ ready, number, alignment, problem }) {
    if (ready) return this.loaded();
    const asker = this.waiting.get(number);
    this.waiting.delete(number);
    if (problem !== undefined) asker?.reject(new Error(problem));
    else asker?.resolve(alignment);
  }

  #failed(message) {
    for (const { reject } of this.waiting.values()) reject(new Error(message ?? "the model could not be loaded."));
    this.waiting.clear();
  }
}
