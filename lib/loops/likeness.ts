/**
 * Statements that are equal except for the buffers they mention, as those of equal layers: results of analysing or
 * rewriting one of them are reused for all. Invariant: such statements differ in nothing else, and their buffers
 * correspond one to one; buffers in corresponding places have the same type.
 */
import type { BufferId, Statement } from "./ir.ts";

type Body = readonly Statement[];

/** The common form of statements that are alike. */
export interface Likeness {
  /** One object shared by all such statements. */
  readonly kind: object;
  /** The buffers that they mention, in corresponding order. */
  readonly buffers: readonly BufferId[];
}

const known = new WeakMap<Body, Likeness>();

/** Returns the common form of statements, or undefined if it is not known. */
export const likenessOf = (body: Body): Likeness | undefined => known.get(body);

/** Announces statements like these. */
export function expectAlike(body: Body): void {
  if (known.has(body)) return;
  const buffers = new Set<BufferId>();
  overBuffers(body, (id) => (buffers.add(id), id));
  known.set(body, { kind: {}, buffers: [...buffers] });
}

/** The common forms of statements that have one buffer where a form has several, by that form and the merged places. */
const merged = new WeakMap<object, Map<string, object>>();

/** Records that statements equal others except for their buffers; null: a buffer has no counterpart. */
export function noteAlike(from: Body, to: Body, place: (id: BufferId) => BufferId | null): void {
  const like = known.get(from);
  if (!like) return;
  const places = like.buffers.map(place).filter((id) => id !== null), buffers = [...new Set(places)];
  if (places.length < like.buffers.length) return;
  known.set(to, {
    kind: buffers.length < places.length ? mergedKind(like.kind, places) : like.kind,
    buffers,
  });
}

/** For updates in place, which write the buffers they read. */
function mergedKind(kind: object, places: readonly BufferId[]): object {
  const kinds = merged.get(kind) ?? new Map<string, object>(),
    which = `${places.map((id) => places.indexOf(id))}`;
  merged.set(kind, kinds);
  const found = kinds.get(which) ?? {};
  kinds.set(which, found);
  return found;
}

/** Returns the statements over other buffers. */
export function overBuffers(body: Body, place: (id: BufferId) => BufferId): Statement[] {
  return body.map((s) => {
    switch (s.kind) {
      case "load":
      case "store":
        return { ...s, buffer: place(s.buffer) };
      case "masked":
        return { ...s, body: overBuffers(s.body, place) };
      case "loop": {
        const inner = overBuffers(s.body, place);
        if (!s.folds) return { ...s, body: inner };
        const folds = s.folds.map(({ values, positions, ...rest }) => ({
          ...rest,
          values: { ...values, buffer: place(values.buffer) },
          ...(positions ? { positions: { ...positions, buffer: place(positions.buffer) } } : {}),
        }));
        return { ...s, body: inner, folds };
      }
      default:
        return s;
    }
  });
}

/**
 * Returns a map from each buffer of the first to the buffer of the second in the same place; `other` maps buffers
 * that neither mentions.
 */
export function between(
  first: Likeness,
  second: Likeness,
  other: (id: BufferId) => BufferId,
): (id: BufferId) => BufferId {
  const places = new Map(first.buffers.map((id, at) => [id, second.buffers[at] ?? id]));
  return (id) => {
    const found = places.get(id) ?? other(id);
    places.set(id, found);
    return found;
  };
}

/** Rewrites statements, once for all that are alike. `another` creates a buffer like one that the rewriting created. */
export function rewriteAlike(
  rewrite: (body: Body) => Body,
  another: (id: BufferId) => BufferId = (id) => id,
): (body: Body) => Body {
  const firsts = new Map<object, { readonly like: Likeness; readonly from: Body; readonly to: Body }>();
  return (body) => {
    const like = known.get(body), first = like && firsts.get(like.kind);
    if (!like) return rewrite(body);
    if (!first) {
      const to = rewrite(body);
      firsts.set(like.kind, { like, from: body, to });
      if (to !== body) expectAlike(to);
      return to;
    }
    if (first.to === first.from) return body;
    const place = between(first.like, like, another), to = overBuffers(first.to, place);
    noteAlike(first.to, to, place);
    return to;
  };
}

/** Returns a cached version of an analysis of buffers: it runs once for statements that are alike. */
export function buffersOfAlike<T>(
  find: (body: Body) => ReadonlyMap<BufferId, T>,
): (body: Body) => ReadonlyMap<BufferId, T> {
  /** Results by the places of buffers in common forms. */
  const firsts = new WeakMap<object, readonly (readonly [at: number, id: BufferId, said: T])[]>();
  return (body) => {
    const like = known.get(body), first = like && firsts.get(like.kind);
    if (first) return new Map(first.map(([at, id, each]) => [like.buffers[at] ?? id, each]));
    const said = find(body);
    if (like) firsts.set(like.kind, [...said].map(([id, each]) => [like.buffers.indexOf(id), id, each]));
    return said;
  };
}

/**
 * Returns a cached version of an analysis that does not depend on buffers: it runs once for statements that are
 * alike.
 */
export function sameOfAlike<T>(find: (body: Body) => T): (body: Body) => T {
  const found = new WeakMap<object, { readonly value: T }>();
  return (body) => {
    const kind = known.get(body)?.kind, former = kind && found.get(kind);
    if (former) return former.value;
    const value = find(body);
    if (kind) found.set(kind, { value });
    return value;
  };
}
