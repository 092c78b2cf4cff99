/** Generators that printed code iterates over. Invariant: no method that the program has replaced is called. */

const { apply } = Reflect, wellKnown = Symbol;
const { next }: Generator<unknown, unknown> = (function* () {})();

/** Wraps a generator so that it is advanced by the builtin `next`. */
export function stepped<T>(generator: Iterator<T, void>): IterableIterator<T> {
  return {
    next: () => apply(next, generator, []) as IteratorResult<T>,
    [wellKnown.iterator]() {
      return this;
    },
  };
}
