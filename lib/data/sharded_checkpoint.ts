/**
 * Checkpoints of sharded models: a folder with one file for each rank, like torch.distributed.checkpoint. All ranks
 * take part in saving and loading. Invariants: a folder is complete or unchanged; a checkpoint can be loaded by any
 * number of ranks, since files record which elements of whole parameters they hold.
 */
import { refuseSurplus } from "../base/checked_input.ts";
import { DynError, messageOf } from "../base/errors.ts";
import { isDType } from "../base/dtype.ts";
import { isPlainObject } from "../base/tree.ts";
import { allReduce, barrier } from "../distributed/collectives.ts";
import { DistributedError } from "../distributed/errors.ts";
import { partOf } from "../distributed/divided.ts";
import { rangeOf, type Shard, shardOf } from "../distributed/fully_shard.ts";
import { getRank, getWorldSize } from "../distributed/group.ts";
import type { Module } from "../nn/module.ts";
import { tensor } from "../tensor/creation.ts";
import { zeros } from "../tensor/generated_functions.ts";
import { noGrad } from "../tensor/modes.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { type Contents, parse, serialize, writeFile } from "./safetensors.ts";

/** The part of an optimizer that is saved. */
export interface ShardedOptimizer {
  /** Its parameters and settings. */
  readonly paramGroups: readonly { readonly params: readonly Tensor[] }[];
  /** The state of each parameter. */
  readonly state: Map<Tensor, Record<string, Tensor>>;
}

/** The objects that a checkpoint saves. */
export interface ShardedState {
  /** A model, sharded or whole. */
  readonly model: Module;
  /** The optimizer; by default only the model is saved. */
  readonly optimizer?: ShardedOptimizer;
}

/** Description of a tensor: its whole shape, and the number of elements of each rank if it is divided. */
interface Entry {
  readonly shape: readonly number[];
  readonly dtype: string;
  readonly length: number | null;
}

/** A tensor of this rank by its name. */
interface Item {
  readonly name: string;
  readonly tensor: Tensor;
  readonly shard: Shard | undefined;
}

const ENTRIES = "dyn.shards", GROUPS = "dyn.groups";

/** The tensors of a model: divided ones, and those that all ranks have. */
function itemsOf({ model, optimizer }: ShardedState): Item[] {
  const divided = new Map(model.parameters().map((each) => [each.storage, shardOf(each)]));
  const items = Object.entries(model.stateDict()).map(([key, tensor]): Item => ({
    name: `model.${key}`,
    tensor,
    shard: divided.get(tensor.storage),
  }));
  for (const [k, parameter] of parametersOf(optimizer).entries()) {
    for (const [name, tensor] of Object.entries(optimizer?.state.get(parameter) ?? {})) {
      items.push({ name: `optimizer.${k}.${name}`, tensor, shard: shardFor(parameter, tensor.shape) });
    }
  }
  const cut = model.namedParameters().find(([, parameter]) => partOf(parameter));
  if (cut) {
    throw new DynError(
      `Expected parameters that are whole or sharded but found ${cut[0]} divided by a plan; ` +
        "distributed.fullStateDict(model) has whole tensors on all ranks",
    );
  }
  for (const { name, shard } of items) {
    if (!shard || shard.group.size === getWorldSize()) continue;
    throw new DynError(`Expected ${name} on all ranks but found it divided over ${shard.group.size} of them`);
  }
  return items;
}

function parametersOf(optimizer: ShardedOptimizer | undefined): Tensor[] {
  return optimizer?.paramGroups.flatMap(({ params }) => params) ?? [];
}

/**
 * Returns how the optimizer's state of a parameter is divided: like the parameter if it has an element for each of
 * its elements.
 */
function shardFor(parameter: Tensor, shape: readonly number[]): Shard | undefined {
  return `${shape}` === `${parameter.shape}` ? shardOf(parameter) : undefined;
}

const shapeOf = ({ tensor, shard }: Item): readonly number[] => shard?.shape ?? tensor.shape;

/** Waits until all ranks have run `part`. Throws the error of this rank, or one that says that others failed. */
function together(part: () => void): void {
  let failure: unknown = null;
  try {
    part();
  } catch (thrown) {
    failure = thrown ?? new DynError("Expected a reason but found none");
  }
  const failed = tensor(
    Array.from({ length: getWorldSize() }, (_, rank) => Number(failure !== null && rank === getRank())),
    {
      dtype: "uint8",
    },
  );
  allReduce(failed, { op: "max" });
  if (failure !== null) throw failure;
  const first = [...failed.toTypedArray()].findIndex((each) => Number(each) !== 0);
  if (first >= 0) {
    throw new DistributedError(`Expected a checkpoint of all ranks but found a failure on rank ${first}`);
  }
}

/**
 * Writes a model and its optimizer to a folder that all ranks can access; all of them must call it: each writes its
 * shards, the first one also undivided tensors. Throws on all ranks if one fails; an existing folder is then unchanged.
 */
export function saveSharded(state: ShardedState, folder: string): void {
  if (arguments.length > 2) refuseSurplus("saveSharded", 2, arguments);
  const part = `${folder}.part`, old = `${folder}.old`, rank = getRank();
  together(() => {
    if (rank !== 0) return;
    discard(part);
    Deno.mkdirSync(part, { recursive: true });
  });
  try {
    together(() => writeFile(`${part}/${rank}.safetensors`, fileOf(state)));
    together(() => {
      if (rank !== 0) return;
      discard(old);
      if (exists(folder)) Deno.renameSync(folder, old);
      Deno.renameSync(part, folder);
      discard(old);
    });
  } finally {
    if (rank === 0) discard(part);
  }
}

function fileOf(state: ShardedState): Uint8Array {
  const rank = getRank(), items = itemsOf(state), tensors: Record<string, Tensor> = {};
  const entries: Record<string, Entry> = {};
  for (const item of items) {
    const { name, tensor, shard } = item;
    entries[name] = { shape: shapeOf(item), dtype: tensor.dtype, length: shard?.length ?? null };
    if (!shard && rank === 0) tensors[name] = tensor;
    if (!shard) continue;
    const [from, to] = rangeOf(shard, rank);
    if (to > from) tensors[name] = tensor.detach().narrow(0, 0, to - from);
  }
  const groups = state.optimizer?.paramGroups.map(({ params: _, ...settings }) => settings) ?? [];
  return serialize(tensors, {
    [ENTRIES]: JSON.stringify({ ranks: getWorldSize(), entries }),
    [GROUPS]: JSON.stringify(groups, (key, value) => {
      if (typeof value !== "object" || value === null || Array.isArray(value) || isPlainObject(value)) {
        return value;
      }
      throw new DynError(`Expected optimizer settings that JSON can hold but found another kind in ${key}`);
    }),
  });
}

/**
 * Reads the files of `saveSharded`, on any number of ranks, into a model and its optimizer; all ranks must call it.
 * Throws DynError if there is no complete checkpoint, and for tensors of other names or shapes.
 */
export function loadSharded(state: ShardedState, folder: string): void {
  if (arguments.length > 2) refuseSurplus("loadSharded", 2, arguments);
  together(() => {
    // A process that ended between the two steps of the replacement has left the previous one
    const from = exists(folder) || !exists(`${folder}.old`) ? folder : `${folder}.old`;
    const first = read(`${from}/0.safetensors`), { ranks, entries } = entriesOf(first, from);
    if (state.optimizer) prepare(state.optimizer, entries, first);
    const items = itemsOf(state);
    check(items, entries, state.optimizer !== undefined);
    for (let rank = 0; rank < ranks; rank++) {
      const { tensors } = rank === 0 ? first : read(`${from}/${rank}.safetensors`);
      noGrad(() => {
        for (const item of items) copyOverlap(item, { entry: entries[item.name], tensors, rank });
      });
    }
  });
  barrier();
}

/** Copies the elements of a tensor that both a file and this rank have. */
function copyOverlap(
  { name, tensor, shard }: Item,
  { entry, tensors, rank }: {
    readonly entry: Entry | undefined;
    readonly tensors: Readonly<Record<string, Tensor>>;
    readonly rank: number;
  },
): void {
  const held = tensors[name];
  if (!entry || !held) return;
  const { shape, length } = entry, count = shape.reduce((a, b) => a * b, 1);
  const [from, to] = length === null ? [0, count] : rangeOf({ shape, length }, rank);
  const [first, last] = shard ? rangeOf(shard, getRank()) : [0, count];
  const start = Math.max(from, first), size = Math.min(to, last) - start;
  if (size <= 0) return;
  const piece = held.reshape([-1]).narrow(0, start - from, size).to(tensor.device);
  if (shard) tensor.narrow(0, start - first, size).copy_(piece);
  else if (tensor.isContiguous()) tensor.view([-1]).narrow(0, start, size).copy_(piece);
  else tensor.copy_(held.view(shape));
}

/** Allocates the optimizer's state, and restores the settings of its groups. */
function prepare(
  optimizer: ShardedOptimizer,
  entries: Readonly<Record<string, Entry>>,
  { metadata }: Contents,
): void {
  const parameters = parametersOf(optimizer), groups: unknown = JSON.parse(String(metadata[GROUPS] ?? "[]"));
  if (!Array.isArray(groups) || groups.length !== optimizer.paramGroups.length) {
    throw new DynError(
      `Expected ${optimizer.paramGroups.length} parameter groups but found ${
        Array.isArray(groups) ? groups.length : 0
      }`,
    );
  }
  optimizer.paramGroups.forEach((group, k) => void Object.assign(group, groups[k]));
  optimizer.state.clear();
  for (const [name, { shape, dtype, length }] of Object.entries(entries)) {
    const [, place = "", field = ""] = /^optimizer\.(\d+)\.(.*)$/.exec(name) ?? [],
      parameter = parameters[Number(place)];
    if (field === "") continue;
    if (!parameter || !isDType(dtype)) throw new DynError(`Expected a parameter for ${name} but found none`);
    const kept = optimizer.state.get(parameter) ?? {}, shard = shardOf(parameter);
    const isLikeParameter = length !== null || `${shape}` === `${shard?.shape ?? parameter.shape}`;
    kept[field] = zeros(shard && isLikeParameter ? parameter.shape : shape, {
      dtype,
      device: parameter.device,
    });
    optimizer.state.set(parameter, kept);
  }
}

function check(
  items: readonly Item[],
  entries: Readonly<Record<string, Entry>>,
  withOptimizer: boolean,
): void {
  const names = new Set(items.map(({ name }) => name));
  const problems = [
    ...items.flatMap((item) => {
      const entry = entries[item.name], shape = shapeOf(item);
      if (!entry) return `no ${item.name}`;
      return `${entry.shape}` === `${shape}` ? [] : `${item.name} of shape [${entry.shape}] for [${shape}]`;
    }),
    ...Object.keys(entries).filter((name) =>
      !names.has(name) && (withOptimizer || name.startsWith("model."))
    ),
  ];
  if (problems.length > 0) {
    throw new DynError(`Expected the tensors of this model but found ${problems.join(", ")}`);
  }
}

function read(path: string): Contents {
  try {
    return parse(Deno.readFileSync(path));
  } catch (cause) {
    throw new DynError(`Expected a checkpoint but found none that is whole: ${path}: ${messageOf(cause)}`, {
      cause,
    });
  }
}

function entriesOf(
  { metadata }: Contents,
  folder: string,
): { readonly ranks: number; readonly entries: Readonly<Record<string, Entry>> } {
  const text = metadata[ENTRIES];
  if (typeof text !== "string") {
    throw new DynError(`Expected a checkpoint of shards in ${folder} but found another file`);
  }
  return JSON.parse(text);
}

function exists(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch {
    return false;
  }
}

function discard(folder: string): void {
  if (exists(folder)) Deno.removeSync(folder, { recursive: true });
}
