/**
 * Collects lines of generated or printed text at a current indentation.
 *
 * The result ends in a newline unless it is empty. Invariant: an empty line carries no spaces.
 */

/** Writes indented lines; `block` is the usual way to open and close a level. */
export class TextWriter {
  readonly #lines: string[] = [];
  #level = 0;

  /** Adds lines at the current level; text with newlines is split and every part is indented. */
  line(...texts: readonly string[]): this {
    for (const text of texts) {
      if (text.includes("\n")) { for (const part of text.split("\n")) this.#add(part); }
      else this.#add(text);
    }
    return this;
  }

  #add(line: string): void {
    this.#lines.push(line === "" ? "" : "  ".repeat(this.#level) + line);
  }

  /** Adds an empty line, unless the text is empty or already ends in one. */
  gap(): this {
    if (this.#lines.length > 0 && this.#lines.at(-1) !== "") this.#lines.push("");
    return this;
  }

  /** Runs `body` one level deeper. */
  indent(body: () => void): this {
    this.#level++;
    try {
      body();
    } finally {
      this.#level--;
    }
    return this;
  }

  /** Writes `open`, the body one level deeper, and `close`. */
  block(open: string, body: () => void, close = "}"): this {
    return this.line(open).indent(body).line(close);
  }

  /** Everything written so far. */
  toString(): string {
    return this.#lines.length === 0 ? "" : this.#lines.join("\n") + "\n";
  }
}
