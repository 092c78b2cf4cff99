/**
 * Sorting with a comparator in JavaScript, so that the tracer steps through it. Invariant: the comparator is called
 * with the same pairs in the same order as by V8's builtin, even if it is inconsistent.
 *
 * V8's order: https://v8.dev/blog/array-sort (Tim Peters's sort: runs, made longer by binary insertion, are merged)
 */

const { apply } = Reflect;

type Comparator = (a: unknown, b: unknown) => unknown;

/** Longer lists are sorted outside of graphs: each comparison is traced. */
export const LONGEST_SORTED = 256;
/** A sort of a longer list breaks the graph before the sort rather than inside it. */
export const LONGEST_RESUMED = 63;
/** From this many elements on V8 looks for presorted runs. */
const LOOKED_AT_FIRST = 16;
/** From this many elements on V8 merges shorter runs. */
const MERGED = 64;
/** Number of consecutive wins of one run after which a merge gallops. */
const LEAST_GALLOP = 7;

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

/** Array.prototype.sort without a comparator */
export function sortByText(this: unknown[]): unknown[] {
  return apply(sortBy, this, [compareTexts]);
}

/** Array.prototype.toSorted without a comparator */
export function toSortedByText(this: unknown[]): unknown[] {
  return apply(toSortedBy, this, [compareTexts]);
}

/** The default comparison, which converts both sides each time. */
function compareTexts(a: unknown, b: unknown): number {
  const x = `${a}`, y = `${b}`;
  return x < y ? -1 : x > y ? 1 : 0;
}

/**
 * The indices of a list in the order of a comparator of two of them. V8's builtin is not asked: once optimised, it
 * compares small integers in another order than all other numbers.
 */
export function sortedPlaces(length: number, comparator: (i: number, j: number) => number): number[] {
  const places: number[] = [];
  for (let i = 0; i < length; i++) places[i] = i;
  sortItems(places, comparator as Comparator);
  return places;
}

/** sort of a typed array with a comparator */
export function sortNumbersBy(this: unknown[], comparator: Comparator): unknown[] {
  const { length } = this, source: unknown[] = [], target: unknown[] = [];
  for (let i = 0; i < length; i++) source[i] = target[i] = this[i];
  if (length > 1) mergeHalves([source, target], comparator, 0, length);
  for (let i = 0; i < length; i++) this[i] = target[i];
  return this;
}

/** Sorts the items of `source` into `target`, which contains the same ones. */
function mergeHalves(
  lists: readonly [source: unknown[], target: unknown[]],
  comparator: Comparator,
  ...[low, high]: readonly [low: number, high: number]
): void {
  const [source, target] = lists, middle = low + ((high - low) >> 1), swapped = [target, source] as const;
  if (middle - low > 1) mergeHalves(swapped, comparator, low, middle);
  if (high - middle > 1) mergeHalves(swapped, comparator, middle, high);
  let left = low, right = middle;
  for (let i = low; i < high; i++) {
    const isRight = left === middle ||
      (right < high && decided(+(apply(comparator, undefined, [source[left], source[right]]) as number) > 0));
    target[i] = isRight ? source[right++] : source[left++];
  }
}

interface Range {
  readonly base: number;
  readonly length: number;
}

/** A sorted range, and the depth of the border after it in the tree of merges. */
interface Run extends Range {
  readonly power: number;
}

/** The state of a sort. */
interface Sort {
  readonly items: unknown[];
  readonly comparator: Comparator;
  /** Runs yet to be merged, two neighbours at a time. */
  readonly runs: Run[];
  gallop: number;
}

function sortItems(items: unknown[], comparator: Comparator): void {
  const { length } = items;
  if (length < LOOKED_AT_FIRST) return insertFrom(items, comparator, { low: 0, start: 1, high: length });
  let shift = 0, share = 0;
  while (length >> shift >= MERGED) shift++;
  const sort: Sort = { items, comparator, runs: [], gallop: LEAST_GALLOP };
  for (let low = 0; low < length;) {
    let high = low + runLength(items, comparator, low);
    share += length;
    const least = share >> shift;
    share &= (1 << shift) - 1;
    if (high - low < least) {
      const start = high;
      high = low + least < length ? low + least : length;
      insertFrom(items, comparator, { low, start, high });
    }
    mergeFormer(sort, high - low);
    sort.runs[sort.runs.length] = { base: low, length: high - low, power: 0 };
    low = high;
  }
  while (sort.runs.length > 1) {
    const n = sort.runs.length - 2;
    mergeAt(sort, n > 0 && lengthAt(sort, n - 1) < lengthAt(sort, n + 1) ? n - 1 : n);
  }
}

/** Inserts the unsorted items, from `start` on. */
function insertFrom(
  items: unknown[],
  comparator: Comparator,
  range: { readonly low: number; readonly start: number; readonly high: number },
): void {
  for (let start = range.start; start < range.high; start++) {
    const pivot = items[start];
    let left = range.low, right = start;
    while (left < right) {
      const middle = left + ((right - left) >> 1);
      if (isBefore(pivot, items[middle], comparator)) right = middle;
      else left = middle + 1;
    }
    for (let i = start; i > left; i--) items[i] = items[i - 1];
    items[left] = pivot;
  }
}

/** The length of the sorted run from `low` on; a descending one is reversed. */
function runLength(items: unknown[], comparator: Comparator, low: number): number {
  const { length } = items;
  if (low + 1 === length) return 1;
  const descends = isBefore(items[low + 1], items[low], comparator);
  let end = low + 2;
  while (end < length && isBefore(items[end], items[end - 1], comparator) === descends) end++;
  if (descends) {
    for (let left = low, right = end - 1; left < right; left++, right--) {
      const item = items[left];
      items[left] = items[right];
      items[right] = item;
    }
  }
  return end - low;
}

function lengthAt({ runs }: Sort, n: number): number {
  const run = runs[n];
  return run === undefined ? 0 : run.length;
}

function powerAt({ runs }: Sort, n: number): number {
  const run = runs[n];
  return run === undefined ? 0 : run.power;
}

/** Merges runs deeper in the tree of merges than the border between the last run and the next. */
function mergeFormer(sort: Sort, next: number): void {
  const { runs } = sort, last = runs[runs.length - 1];
  if (last === undefined) return;
  const power = powerOf(last, next, sort.items.length);
  for (let n = runs.length - 2; n >= 0 && powerAt(sort, n) > power; n--) mergeAt(sort, n);
  const joined = runs[runs.length - 1];
  if (joined !== undefined) runs[runs.length - 1] = { base: joined.base, length: joined.length, power };
}

/** The depth of a border: the first binary digit in which the midpoints of the adjacent runs differ. */
function powerOf({ base, length }: Run, next: number, whole: number): number {
  let power = 1, a = 2 * base + length, b = a + length + next;
  while (a >= whole || b < whole) {
    if (a >= whole) {
      a -= whole;
      b -= whole;
    }
    a *= 2;
    b *= 2;
    power++;
  }
  return power;
}

/** Merges a run with the next one; items that are already in place are skipped. */
function mergeAt(sort: Sort, n: number): void {
  const { items, comparator, runs } = sort, a = runs[n], b = runs[n + 1], behind = runs[n + 2];
  if (a === undefined || b === undefined) return;
  runs[n] = { base: a.base, length: a.length + b.length, power: a.power };
  if (behind !== undefined) runs[n + 1] = behind;
  runs.length--;
  const first = places(items, comparator, {
    key: items[b.base],
    base: a.base,
    length: a.length,
    hint: 0,
    after: true,
  });
  const base = a.base + first, length = a.length - first;
  if (length === 0) return;
  const key = items[base + length - 1];
  const others = places(items, comparator, {
    key,
    base: b.base,
    length: b.length,
    hint: b.length - 1,
    after: false,
  });
  if (others === 0) return;
  mergeRuns(sort, { base, length }, { base: b.base, length: others });
}

/** Counts the items of a run that precede a key; `after` includes those equal to it. */
function places(
  items: unknown[],
  comparator: Comparator,
  { key, base, length, hint, after }: Range & {
    readonly key: unknown;
    readonly hint: number;
    readonly after: boolean;
  },
): number {
  const comesBefore = (at: number): boolean =>
    after ? !isBefore(key, items[base + at], comparator) : isBefore(items[base + at], key, comparator);
  let last = 0, offset = 1;
  if (comesBefore(hint)) {
    const most = length - hint;
    while (offset < most && comesBefore(hint + offset)) {
      last = offset;
      offset = (offset << 1) + 1;
    }
    if (offset > most) offset = most;
    last += hint;
    offset += hint;
  } else {
    const most = hint + 1;
    while (offset < most && !comesBefore(hint - offset)) {
      last = offset;
      offset = (offset << 1) + 1;
    }
    if (offset > most) offset = most;
    const near = last;
    last = hint - offset;
    offset = hint - near;
  }
  last++;
  while (last < offset) {
    const middle = last + ((offset - last) >> 1);
    if (comesBefore(middle)) last = middle + 1;
    else offset = middle;
  }
  return offset;
}

/** A run that is being merged: its remaining items, from `at` on in the direction of the merge. */
interface Side {
  readonly from: unknown[];
  at: number;
  left: number;
}

/** A merge: the shorter run is copied, and the longer one is in place; the result overwrites it from there. */
interface Merge {
  readonly items: unknown[];
  readonly step: 1 | -1;
  readonly copied: Side;
  readonly inPlace: Side;
  to: number;
}

function take(merge: Merge, side: Side, count: number): void {
  for (; count > 0; count--) {
    merge.items[merge.to] = side.from[side.at];
    merge.to += merge.step;
    side.at += merge.step;
    side.left--;
  }
}

/** Returns whether nothing is left to compare; only an inconsistent comparator exhausts the copied run. */
function isOver({ inPlace, copied }: Merge): boolean {
  return inPlace.left === 0 || copied.left <= 1;
}

/** Counts the items of a side that come first in the direction of the merge, before a key of the other side. */
function wins(
  { step }: Merge,
  side: Side,
  comparator: Comparator,
  key: { readonly of: unknown; readonly after: boolean },
): number {
  const { from, at, left } = side, isUp = step === 1;
  const range = { key: key.of, base: isUp ? at : at - left + 1, length: left, hint: isUp ? 0 : left - 1 };
  const before = places(from, comparator, { ...range, after: key.after });
  return isUp ? before : left - before;
}

/** Merges two neighbours: upwards with a copy of the first, or downwards with one of the second. */
function mergeRuns(sort: Sort, first: Range, second: Range): void {
  const { items } = sort, isUp = first.length <= second.length;
  const { base, length } = isUp ? first : second, copy: unknown[] = [];
  for (let i = 0; i < length; i++) copy[i] = items[base + i];
  const copied: Side = { from: copy, at: isUp ? 0 : length - 1, left: length };
  const inPlace: Side = isUp
    ? { from: items, at: second.base, left: second.length }
    : { from: items, at: first.base + first.length - 1, left: first.length };
  const merge: Merge = { items, step: isUp ? 1 : -1, copied, inPlace, to: isUp ? base : base + length - 1 };
  const a = isUp ? copied : inPlace, b = isUp ? inPlace : copied;
  take(merge, inPlace, 1);
  while (!isOver(merge)) gallopAfterSteps(sort, merge, { a, b });
  if (copied.left === 1) take(merge, inPlace, inPlace.left);
  take(merge, copied, copied.left);
}

/** Takes items one by one until one side wins repeatedly, then as many at a time as precede the other's next. */
function gallopAfterSteps(
  sort: Sort,
  merge: Merge,
  { a, b }: { readonly a: Side; readonly b: Side },
): void {
  const { comparator } = sort, { copied, inPlace } = merge;
  let winsA = 0, winsB = 0;
  while (winsA < sort.gallop && winsB < sort.gallop) {
    const side = isBefore(b.from[b.at], a.from[a.at], comparator) ? inPlace : copied;
    take(merge, side, 1);
    winsA = side === a ? winsA + 1 : 0;
    winsB = side === b ? winsB + 1 : 0;
    if (isOver(merge)) return;
  }
  sort.gallop++;
  do {
    if (sort.gallop > 1) sort.gallop--;
    winsA = wins(merge, a, comparator, { of: b.from[b.at], after: true });
    take(merge, a, winsA);
    if (isOver(merge)) return;
    take(merge, b, 1);
    if (isOver(merge)) return;
    winsB = wins(merge, b, comparator, { of: a.from[a.at], after: false });
    take(merge, b, winsB);
    if (isOver(merge)) return;
    take(merge, a, 1);
    if (isOver(merge)) return;
  } while (winsA >= LEAST_GALLOP || winsB >= LEAST_GALLOP);
  sort.gallop++;
}

function isBefore(a: unknown, b: unknown, comparator: Comparator): boolean {
  const order = apply(comparator, undefined, [a, b]);
  // Converted to a number, which throws for a bigint; NaN means that neither comes first.
  return decided(+(order as number) < 0);
}

/** A truth value that is known from here on, since the places of all items depend on it. */
export function decided(value: boolean): boolean {
  return value;
}
