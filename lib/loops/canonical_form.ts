/**
 * Statements that are equivalent, that is equal up to the names of their buffers, as those of equal layers: results of
 * analysing or rewriting one of them are reused for all. Invariant: equivalent statements differ in nothing else, and
 * their buffers correspond one to one; corresponding buffers have the same type.
 */
import type { BufferId, Statement } from "./ir.ts";
import { renameBuffers } from "./moved_buffers.ts";

type Body = readonly Statement[];

/** The canonical form of equivalent statements. */
export interface CanonicalForm {
  /** One object shared by all such statements. */
  readonly kind: object;
  /** The buffers that they mention, in corresponding order. */
  readonly buffers: readonly BufferId[];
}

const known = new WeakMap<Body, CanonicalForm>();

/** Returns the canonical form of statements, or undefined if it is not known. */
export const canonicalFormOf = (body: Body): CanonicalForm | undefined => known.get(body);

/** Starts a class of equivalent statements, whose first member these are. */
export function expectEquivalent(body: Body): void {
  if (known.has(body)) return;
  const buffers = new Set<BufferId>();
  renameBuffers(body, (id) => (buffers.add(id), id));
  known.set(body, { kind: {}, buffers: [...buffers] });
}

/** Canonical forms in which several buffers of another form are one, by that form and the merged places. */
const merged = new WeakMap<object, Map<string, object>>();

/** Records that statements are equivalent; `place` maps buffers of the first, to null if one has no counterpart. */
export function recordEquivalent(from: Body, to: Body, place: (id: BufferId) => BufferId | null): void {
  const canonical = known.get(from);
  if (!canonical) return;
  const { kind } = canonical, places: BufferId[] = [];
  let isMerged = false;
  for (const id of canonical.buffers) {
    const placed = place(id);
    if (placed === null) return;
    isMerged ||= places.includes(placed);
    places.push(placed);
  }
  known.set(
    to,
    isMerged ? { kind: mergedKind(kind, places), buffers: [...new Set(places)] } : { kind, buffers: places },
  );
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

/**
 * Returns a map from each buffer of the first to the buffer of the second in the same place; `other` maps buffers
 * that neither mentions.
 */
export function bufferMapping(
  first: CanonicalForm,
  second: CanonicalForm,
  other: (id: BufferId) => BufferId,
): (id: BufferId) => BufferId {
  const places = new Map<BufferId, BufferId>();
  first.buffers.forEach((id, at) => places.set(id, second.buffers[at] ?? id));
  return (id) => {
    const found = places.get(id) ?? other(id);
    places.set(id, found);
    return found;
  };
}

/** Rewrites statements, once for all that are equivalent. `another` duplicates a buffer that the rewriting created. */
export function cachedRewrite(
  rewrite: (body: Body) => Body,
  another: (id: BufferId) => BufferId = (id) => id,
): (body: Body) => Body {
  const firsts = new Map<
    object,
    { readonly canonical: CanonicalForm; readonly from: Body; readonly to: Body }
  >();
  return (body) => {
    const canonical = known.get(body), first = canonical && firsts.get(canonical.kind);
    if (!canonical) return rewrite(body);
    if (!first) {
      const to = rewrite(body);
      firsts.set(canonical.kind, { canonical, from: body, to });
      if (to !== body) expectEquivalent(to);
      return to;
    }
    if (first.to === first.from) return body;
    const place = bufferMapping(first.canonical, canonical, another), to = renameBuffers(first.to, place);
    recordEquivalent(first.to, to, place);
    return to;
  };
}

/**
 * Returns a cached version of an analysis of buffers: it runs once for equivalent statements. The result is passed to
 * `visit`, buffer by buffer.
 */
export function cachedBufferAnalysis<T>(
  find: (body: Body) => ReadonlyMap<BufferId, T>,
): (body: Body, visit: (id: BufferId, result: T) => void) => void {
  /** Results by the places of buffers in canonical forms. */
  const firsts = new WeakMap<object, readonly PlacedResult<T>[]>();
  return (body, visit) => {
    const canonical = known.get(body), first = canonical && firsts.get(canonical.kind);
    if (first) {
      for (let k = 0; k < first.length; k++) {
        const placed = first[k];
        if (placed) visit(canonical.buffers[placed.at] ?? placed.id, placed.result);
      }
      return;
    }
    const found = find(body);
    if (canonical) {
      const placed = Array.from(found, ([id, result]) => ({ at: canonical.buffers.indexOf(id), id, result }));
      firsts.set(canonical.kind, placed);
    }
    for (const [id, result] of found) visit(id, result);
  };
}

/** The result of an analysis for one buffer, and the buffer's place in the canonical form. */
interface PlacedResult<T> {
  readonly at: number;
  readonly id: BufferId;
  readonly result: T;
}

/** The same for an analysis that does not depend on buffers. */
export function cachedAnalysis<T>(find: (body: Body) => T): (body: Body) => T {
  const found = new WeakMap<object, { readonly value: T }>();
  return (body) => {
    const kind = known.get(body)?.kind, cached = kind && found.get(kind);
    if (cached) return cached.value;
    const value = find(body);
    if (kind) found.set(kind, { value });
    return value;
  };
}
