/**
 * Tests that a library's files declare by `describe` and `it`, as Mocha, Jest and Vitest have them. Invariant: while
 * tests are collected, only the code between them runs.
 */
type Action = (this: unknown, ...args: never[]) => unknown;

/** A test with its hooks. */
export interface LibraryTest {
  readonly name: string;
  readonly body: Action;
  readonly before: readonly Action[];
  readonly after: readonly Action[];
}

interface Group {
  readonly name: string;
  readonly before: Action[];
  readonly after: Action[];
}

/** The `this` of tests, with methods that some call. */
export const CONTEXT: object = { timeout() {}, slow() {}, retries() {} };

/** Declares tests, with the names of its methods as global variables. */
export class Collection {
  #tests: LibraryTest[] = [];
  readonly #groups: Group[] = [{ name: "", before: [], after: [] }];

  /** Returns the declared tests, and removes them. */
  take(): LibraryTest[] {
    const tests = this.#tests;
    this.#tests = [];
    return tests;
  }

  /** The global variables. */
  globals(): Record<string, unknown> {
    const describe = this.#declaration((name, body) => {
      this.#groups.push({ name, before: [], after: [] });
      try {
        Reflect.apply(body, CONTEXT, []);
      } finally {
        this.#groups.pop();
      }
    });
    const it = this.#declaration((name, body) => {
      this.#tests.push({
        name: [...this.#groups.map((group) => group.name), name].filter(Boolean).join(" > "),
        body,
        before: this.#groups.flatMap((group) => group.before),
        after: this.#groups.flatMap((group) => group.after).reverse(),
      });
    });
    const group = () => this.#groups[this.#groups.length - 1];
    const beforeEach = (action: Action) => void group()?.before.push(action);
    const afterEach = (action: Action) => void group()?.after.push(action);
    const beforeAll = (action: Action) => {
      let isDone = false;
      beforeEach(() => {
        if (isDone) return;
        isDone = true;
        return Reflect.apply(action, CONTEXT, []);
      });
    };
    const afterAll = () => {};
    return {
      ...{ describe, context: describe, it, test: it, specify: it },
      ...{ beforeEach, afterEach, beforeAll, before: beforeAll, afterAll, after: afterAll },
    };
  }

  /** `describe` or `it`, with its `skip` variants and tables of cases by `each`. */
  #declaration(declare: (name: string, body: Action) => void) {
    const declared = (name: string, body?: Action) => body && declare(String(name), body);
    const each = (rows: readonly unknown[]) => (name: string, body: (...row: unknown[]) => unknown) => {
      rows.forEach((row, i) => {
        const given = Array.isArray(row) ? row : [row];
        declared(`${name} (${i})`, () => body(...given));
      });
    };
    const nothing = () => {};
    return Object.assign(declared, {
      ...{ each, only: declared, concurrent: declared, skip: nothing, todo: nothing, fails: nothing },
      ...{ skipIf: () => nothing, runIf: () => nothing },
    });
  }
}
