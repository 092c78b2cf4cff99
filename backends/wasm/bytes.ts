/**
 * A growing list of bytes in the encodings of WebAssembly binaries. Invariant: integers are LEB128, as in the core
 * specification.
 */

/** A growing list of bytes. */
export class Bytes {
  #buffer = new Uint8Array(256);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  byte(...values: readonly number[]): this {
    this.#reserve(values.length);
    for (const value of values) this.#buffer[this.#length++] = value;
    return this;
  }

  raw(bytes: Uint8Array): this {
    this.#reserve(bytes.length);
    this.#buffer.set(bytes, this.#length);
    this.#length += bytes.length;
    return this;
  }

  /** An unsigned integer in LEB128. */
  unsigned(value: number): this {
    let rest = value;
    do {
      const low = rest & 0x7f;
      rest = Math.floor(rest / 128);
      this.byte(rest > 0 ? low | 0x80 : low);
    } while (rest > 0);
    return this;
  }

  /** A signed integer in LEB128. */
  signed(value: bigint): this {
    let rest = value;
    for (;;) {
      const low = Number(rest & 0x7fn);
      rest >>= 7n;
      const done = (rest === 0n && (low & 0x40) === 0) || (rest === -1n && (low & 0x40) !== 0);
      this.byte(done ? low : low | 0x80);
      if (done) return this;
    }
  }

  text(value: string): this {
    const bytes = new TextEncoder().encode(value);
    return this.unsigned(bytes.length).raw(bytes);
  }

  done(): Uint8Array<ArrayBuffer> {
    return this.#buffer.slice(0, this.#length);
  }

  #reserve(count: number): void {
    if (this.#length + count <= this.#buffer.length) return;
    const larger = new Uint8Array(Math.max(this.#buffer.length * 2, this.#length + count));
    larger.set(this.#buffer);
    this.#buffer = larger;
  }
}
