/** A quantity and the most that it was. */

/** Starts at nothing. */
export class Gauge {
  #now = 0;
  #most = 0;

  get now(): number {
    return this.#now;
  }

  get most(): number {
    return this.#most;
  }

  add(amount: number): void {
    this.#now += amount;
    if (this.#now > this.#most) this.#most = this.#now;
  }

  /** Forgets what was before. */
  reset(): void {
    this.#most = this.#now;
  }
}
