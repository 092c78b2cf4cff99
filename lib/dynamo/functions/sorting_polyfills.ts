/**
 * Sorting with a comparator in JavaScript, so that the tracer steps through it. Invariant: the comparator is called
 * with the same pairs in the same order as by V8, even if it is inconsistent; that holds for fewer than
 * `SORTED_IN_ONE_RUN` elements, which V8 sorts by insertion.
 *
 * V8's order: https://v8.dev/blog/array-sort (one run, made longer by binary insertion)
 */

const { apply } = Reflect;

type Comparator = (a: unknown, b: unknown) => unknown;

/** From this many elements on V8 merges runs. */
export const SORTED_IN_ONE_RUN = 64;
/** From this many elements on V8 looks for what is in order already. */
const LOOKED_AT_FIRST = 16;

/** Array.prototype.sort with a comparator */
export function sortBy(this: unknown[], comparator: Comparator): unknown[] {
  const length = this.length;
  const items: unknown[] = [];
  let absent = 0;
  for (let i = 0; i < length; i++) {
    if (!(i in this)) continue;
    const value = this[i];
    if (value === undefined) absent++;
    else items[items.length] = value;
  }
  sortItems(items, comparator);
  let end = 0;
  for (; end < items.length; end++) this[end] = items[end];
  for (; absent > 0; absent--) this[end++] = undefined;
  for (; end < length; end++) delete this[end];
  return this;
}

/** Array.prototype.toSorted with a comparator */
export function toSortedBy(this: unknown[], comparator: Comparator): unknown[] {
  const items: unknown[] = [];
  let absent = 0;
  const length = this.length;
  for (let i = 0; i < length; i++) {
    const value = this[i];
    if (value === undefined) absent++;
    else items[items.length] = value;
  }
  sortItems(items, comparator);
  for (; absent > 0; absent--) items[items.length] = undefined;
  return items;
}

function sortItems(items: unknown[], comparator: Comparator): void {
  const { length } = items;
  for (let start = length < LOOKED_AT_FIRST ? 1 : firstRun(items, comparator); start < length; start++) {
    const pivot = items[start];
    let left = 0, right = start;
    while (left < right) {
      const middle = left + ((right - left) >> 1);
      if (isBefore(pivot, items[middle], comparator)) right = middle;
      else left = middle + 1;
    }
    for (let i = start; i > left; i--) items[i] = items[i - 1];
    items[left] = pivot;
  }
}

/** The length of what is in order at the beginning; what descends is turned round. */
function firstRun(items: unknown[], comparator: Comparator): number {
  const { length } = items;
  const descends = isBefore(items[1], items[0], comparator);
  let end = 2;
  while (end < length && isBefore(items[end], items[end - 1], comparator) === descends) end++;
  if (descends) {
    for (let low = 0, high = end - 1; low < high; low++, high--) {
      const item = items[low];
      items[low] = items[high];
      items[high] = item;
    }
  }
  return end;
}

function isBefore(a: unknown, b: unknown, comparator: Comparator): boolean {
  const order = apply(comparator, undefined, [a, b]);
  // Converted to a number, which throws for a bigint; NaN means that neither comes first.
  return +(order as number) < 0;
}
