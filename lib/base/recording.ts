/**
 * Passes intermediate results of compilation to recorders: trace files, debug folders, tests.
 *
 * These are texts by name, phases, and the beginning and end of compilations. Invariant: without an active recorder
 * nothing is built, timed or stored, and recorders never change what is compiled. Texts that stages log by `logs.emit`
 * arrive here too, under the name of the log artifact.
 */

/** One compilation of a function, or of the rest of a function after a graph break. */
export interface CompileRecord {
  /** Frame and version, both from 0, as PyTorch's `[0/1]`. */
  readonly id: string;
  /** The function's name, empty if it has none. */
  readonly name: string;
  /** The user's source position. */
  readonly place: { readonly file: string; readonly line: number } | null;
  /** The original function, if this is the rest of one after a graph break. */
  readonly root?: Pick<CompileRecord, "name" | "place">;
  /** Guards of earlier versions that failed; empty for the first version. */
  readonly reasons: readonly string[];
}

/** A value that JSON can hold. */
export type Plain = string | number | boolean | null | readonly Plain[] | { readonly [key: string]: Plain };

/** A named text. */
export interface ArtifactRecord {
  /** The name of the artifact: `fx_graph_readable`, `ir_post_fusion`, `output_code`, `guards`, … */
  readonly name: string;
  /** The graph of the compilation that it belongs to: captured, joint, inference, forward, backward. */
  readonly part?: string;
  /** The logged text. */
  readonly text: string;
  /** More about it, in the artifact's own terms. */
  readonly meta?: Readonly<Record<string, Plain>>;
}

/** A span of work. */
export interface PhaseRecord {
  readonly name: string;
  /** Microseconds since 1970. */
  readonly start: number;
  /** Microseconds. */
  readonly duration: number;
  readonly meta?: Readonly<Record<string, Plain>>;
}

/** Stores records. `compile` is null for work outside of any compilation. */
export interface Recorder {
  /** Returns whether it is recording at the moment. */
  active(): boolean;
  /** Returns whether it would record an artifact of this name. */
  wants(artifact: string): boolean;
  /** Called even if the recorder is not active, because settings of one function apply in between. */
  begin(compile: CompileRecord): void;
  /** `error` is why the compilation failed; null if it succeeded. */
  end(compile: CompileRecord, error: string | null): void;
  artifact(artifact: ArtifactRecord, compile: CompileRecord | null): void;
  phase(phase: PhaseRecord, compile: CompileRecord | null): void;
}

const recorders = new Set<Recorder>();
let current: CompileRecord | null = null;

/** Versions compiled so far, by the unit that they are versions of. */
const versions = new WeakMap<object, { readonly frame: number; count: number }>();
let frames = 0;

const microseconds = (): number => (performance.timeOrigin + performance.now()) * 1000;

/** Details at the beginning of a compilation. */
export interface Compilation {
  readonly name: string;
  readonly place: () => CompileRecord["place"];
  /** The original function, if this is the rest of one after a graph break. */
  readonly root?: { readonly name: string; readonly place: () => CompileRecord["place"] };
  readonly reasons: readonly string[];
}

/** The interface for stages. */
interface Recording {
  /** Returns whether any recorder is active. */
  active(): boolean;
  /** Returns whether any recorder wants an artifact of one of these names. */
  wants(artifacts: readonly string[]): boolean;
  /** Records a text; pass a function if building it is expensive. */
  artifact(name: string, text: string | (() => string), more?: Omit<ArtifactRecord, "name" | "text">): void;
  /** Times `body`. */
  phase<T>(name: string, body: () => T, meta?: Readonly<Record<string, Plain>>): T;
  /** Runs `body` as one compilation of `unit`: what is recorded meanwhile belongs to it. */
  compile<T>(unit: object, about: Compilation, body: () => T): T;
  /** The innermost compilation in progress, or null. */
  current(): CompileRecord | null;
  /** Adds a recorder; the returned function removes it. */
  add(recorder: Recorder): () => void;
}

/** A function whose place is looked up on demand, because that reads its module. */
function located(
  { name, place }: Pick<Compilation, "name" | "place">,
): Pick<CompileRecord, "name" | "place"> {
  let found: { readonly place: CompileRecord["place"] } | null = null;
  return {
    name,
    get place() {
      found ??= { place: place() };
      return found.place;
    },
  };
}

/** The recording interface of this process. */
export const recording: Recording = {
  active() {
    for (const recorder of recorders) if (recorder.active()) return true;
    return false;
  },

  wants(artifacts) {
    for (const recorder of recorders) {
      if (recorder.active() && artifacts.some((name) => recorder.wants(name))) return true;
    }
    return false;
  },

  artifact(name, text, more) {
    let record: ArtifactRecord | undefined;
    for (const recorder of recorders) {
      if (!recorder.active() || !recorder.wants(name)) continue;
      record ??= { name, text: typeof text === "string" ? text : text(), ...more };
      recorder.artifact(record, current);
    }
  },

  phase(name, body, meta) {
    if (!recording.active()) return body();
    const start = microseconds();
    try {
      return body();
    } finally {
      const record = { name, start, duration: microseconds() - start, ...(meta ? { meta } : {}) };
      for (const recorder of recorders) if (recorder.active()) recorder.phase(record, current);
    }
  },

  compile(unit, { name, place, root, reasons }, body) {
    let known = versions.get(unit);
    if (!known) versions.set(unit, known = { frame: frames++, count: 0 });
    const id = `${known.frame}/${known.count++}`;
    const told = [...recorders];
    if (told.length === 0) return body();
    const record: CompileRecord = Object.assign(located({ name, place }), {
      id,
      reasons,
      ...(root ? { root: located(root) } : {}),
    });
    const former = current;
    current = record;
    for (const recorder of told) recorder.begin(record);
    let error: string | null = null;
    try {
      return recording.phase("compile", body);
    } catch (thrown) {
      error = thrown instanceof Error ? thrown.message : String(thrown);
      throw thrown;
    } finally {
      for (const recorder of told) recorder.end(record, error);
      current = former;
    }
  },

  current: () => current,

  add(recorder) {
    recorders.add(recorder);
    return () => void recorders.delete(recorder);
  },
};
