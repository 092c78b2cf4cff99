/** A quantity and its maximum. */

/** Starts at zero. */
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

  /** Forgets the previous maximum. */
  reset(): void {
    this.#most = this.#now;
  }
}
