/**
 * Splits a stream of bytes into lines. Invariant: only \n ends a line: texts of programs may hold all other line
 * terminators.
 */

export class Lines {
  readonly #reader: ReadableStreamDefaultReader<string>;
  #rest = "";

  constructor(bytes: ReadableStream<Uint8Array<ArrayBuffer>>) {
    this.#reader = bytes.pipeThrough(new TextDecoderStream()).getReader();
  }

  /** The next line; null at the end. */
  async next(): Promise<string | null> {
    while (true) {
      const end = this.#rest.indexOf("\n");
      if (end >= 0) {
        const line = this.#rest.slice(0, end);
        this.#rest = this.#rest.slice(end + 1);
        return line;
      }
      const { value, done } = await this.#reader.read();
      if (done) return null;
      this.#rest += value;
    }
  }

  /** Stops reading. */
  async end(): Promise<void> {
    await this.#reader.cancel();
  }
}
