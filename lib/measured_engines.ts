/**
 * Measures which pieces of a graph an engine runs faster than the inductor's code. Invariants: without
 * `inductor.maxAutotune`, and where sizes change between calls, the engine takes all that it supports; measurements
 * are cached under the complete text of what was compared.
 */
import { partition } from "./aot/engines/partition.ts";
import { exampleOf } from "./aot/examples.ts";
import { config } from "./base/config.ts";
import { InternalError } from "./base/errors.ts";
import { cachedEntry, cacheEntry } from "./base/cached_entries.ts";
import { CLEARLY, leastTimes } from "./base/least_times.ts";
import { counters, logs } from "./base/logs.ts";
import { choiceDetails, type MeasuredChoice } from "./base/measured_choices.ts";
import { ownIdentity } from "./base/own_sources.ts";
import type { CompiledFunction } from "./graph/backend.ts";
import type { Engine } from "./graph/engines.ts";
import type { GraphModule } from "./graph/graph_module.ts";
import { type Graph, mapOperands, type Node } from "./graph/node.ts";
import { compileFunctional } from "./pipeline.ts";
import { type Codec, number, parsed, record } from "./sym/stored/codec.ts";
import { full } from "./tensor/generated_functions.ts";
import { noGrad } from "./tensor/modes.ts";
import { isTensor, type Tensor } from "./tensor/tensor.ts";

/**
 * Maximum overhead in microseconds of an engine's threads on an idle machine. If it is higher, the threads compete with
 * other programs, and measurements are discarded.
 */
const MOST_WAITING = 50;

/** Microseconds of a piece; `alone`: by the engine on one thread. */
interface Times {
  readonly engine: number;
  readonly alone: number;
  readonly inductor: number;
}

const timesCodec: Codec<Times> = record<Times>({ engine: number, alone: number, inductor: number });

/** Selects the nodes of a graph that the engine is to take. */
export function chosenNodes(engine: Engine, gm: GraphModule): (node: Node) => boolean {
  const { comparison, supports } = engine.code();
  if (!config.inductor.maxAutotune || !comparison) return supports;
  const pieces = comparison.pieces(gm.graph);
  const inPieces = new Set(pieces.flat()), chosen = new Set<Node>();
  for (const piece of pieces) if (isFaster(engine, gm, piece)) { for (const node of piece) chosen.add(node); }
  for (const node of [...gm.graph.nodes].reverse()) {
    const users = [...node.users.keys()];
    if (!inPieces.has(node) && supports(node) && users.every((user) => chosen.has(user))) chosen.add(node);
  }
  return (node) => chosen.has(node);
}

function isFaster(engine: Engine, gm: GraphModule, piece: readonly Node[]): boolean {
  const nodes = new Set(piece), { name } = engine, { comparison } = engine.code();
  const parts = partition(gm, { [name]: (node) => nodes.has(node) }).parts.filter((part) =>
    part.engine === name
  );
  const [part] = parts;
  // A piece that cannot be measured separately goes to the engine, as the user chose
  if (!part || !comparison || parts.length > 1 || part.sizes.length > 0) return true;
  const { module } = part, own = ownIdentity(), text = textOf(module.graph);
  const key = own === null
    ? null
    : JSON.stringify({ own, engine: name, identity: comparison.identity(), text });
  const known = key === null ? undefined : parsed(timesCodec, cachedEntry("choices", key));
  const times = known ?? measuredTimes(engine, module);
  if (times === null) return false;
  const isDisturbed = times.engine - times.alone > MOST_WAITING;
  counters.add("engine_choices", known ? "stored" : "measured");
  if (key !== null && !known && !isDisturbed) cacheEntry("choices", key, JSON.stringify(times));
  const found = times.engine < CLEARLY * times.inductor, ops = piece.map(({ target }) => target).join(" ");
  // Without max-autotune the engine takes the piece
  const choice: MeasuredChoice = {
    of: ops,
    kept: found ? null : "inductor",
    microseconds: found ? times.engine : times.inductor,
    gain: found ? 1 : times.engine / times.inductor,
    known: known !== undefined,
    disturbed: isDisturbed,
  };
  logs.emit("perf_hints", () => {
    const shown = Object.entries({ inductor: times.inductor, [name]: times.engine })
      .map(([way, time]) => `${way} ${time.toFixed(1)} µs`).join(", ");
    const kept = known
      ? " (measured before)"
      : isDisturbed
      ? " (threads wait for other programs: measured again)"
      : "";
    return `max-autotune ${ops}: ${shown}; keeps ${found ? name : "inductor"}${kept}`;
  }, choiceDetails(choice));
  return found;
}

/** Times both ways on the same tensors; null if the engine declines. */
function measuredTimes(engine: Engine, module: GraphModule): Times | null {
  const compiled = engine.code().compile(module);
  if (!compiled) return null;
  const { placeholders } = module.graph, usual = compileFunctional(module, placeholders.map(exampleOf));
  if (!usual) throw new InternalError("Expected the inductor to compile a piece but found that it declines");
  return noGrad(() => {
    const inputs = placeholders.map((node) => filled(node));
    const run = (way: CompiledFunction) => () => {
      const results = way(...inputs);
      for (const each of Array.isArray(results) ? results : [results]) {
        if (isTensor(each)) each[Symbol.dispose]();
      }
    };
    const onOne = () => config.patch({ inductor: { cppThreads: 1 } }, run(compiled));
    const [inductor = Infinity, engine = Infinity, alone = Infinity] = leastTimes([
      run(usual),
      run(compiled),
      onOne,
    ]);
    return { engine, alone, inductor };
  });
}

/** Creates a tensor with the layout of an input, of numbers that are valid for every op. */
function filled({ meta: { value } }: Node): Tensor {
  if (value.kind !== "tensor") throw new InternalError(`Expected a tensor but found ${value.kind}`);
  const { dtype, device } = value.tensor, shape = value.tensor.shape.map(Number);
  const strides = value.tensor.strides.map(Number);
  const extent = shape.reduce((last, size, d) => last + (size - 1) * (strides[d] ?? 0), 1);
  return full([extent], 0.5, { dtype, device }).asStrided(shape, strides);
}

/** Returns the text of a graph, independent of node names. */
function textOf({ nodes }: Graph): string {
  const numbers = new Map(nodes.map((node, at) => [node, at]));
  const lines = nodes.map((node) => {
    const { op, target, meta: { value } } = node,
      { args, kwargs } = mapOperands(node, (each) => `%${numbers.get(each)}`);
    const meta = value.kind === "tensor"
      ? [value.tensor.dtype, value.tensor.device, value.tensor.shape, value.tensor.strides]
      : value.kind;
    return [op, op === "placeholder" ? "" : target, args, kwargs, meta];
  });
  return JSON.stringify(lines, (_key, value) => typeof value === "number" ? `${value}` : value);
}
