/**
 * Programs ready to run: one pipeline per shader, bind groups by the memory of a call. Invariant: a call encodes its
 * dispatches in the order of the program's kernels.
 */
import { DynError, InternalError } from "../../lib/base/errors.ts";
import { itemSize } from "../../lib/base/dtype.ts";
import type { Target } from "../../lib/codegen/target.ts";
import { evaluate, type Sym } from "../../lib/sym/expr.ts";
import { generate } from "../../lib/codegen/generate.ts";
import type { CompileChoices, CompiledProgram, ProgramCall } from "../../lib/loops/device.ts";
import type { BufferId, Kernel, Program } from "../../lib/loops/ir.ts";
import { originalKernels } from "../../lib/loops/kernel_groups.ts";
import { usesOf } from "../../lib/loops/uses.ts";
import {
  type KeptForms,
  keptTemporaries,
  type KeptTemporary,
  NOWHERE,
  type PlacedTemporary,
  withKept,
} from "./kept_forms.ts";
import { type BufferPool, type Buffers, own, type WebGpuMemory } from "./memory.ts";
import { apart } from "./print/bindings.ts";
import type { Shader } from "./print/entry.ts";
import { type CallPlaces, writeParameters } from "./print/parameters.ts";
import { inputsToPack, shaderOf } from "./shaders.ts";
import type { Pipelines } from "./pipelines.ts";
import {
  type CommandQueue,
  type Commands,
  type DispatchTimer,
  type PlacedDispatch,
  Recordings,
} from "./queue.ts";

/** Number of bind groups that a stage caches, and of parameter words that a program caches. */
const KEPT_BIND_GROUPS = 64;
const MAX_GRID = 65535;
const NO_ALIASES: ReadonlyMap<BufferId, BufferId> = new Map();

/** Arranges workgroups in rows of nearly equal length: the excess in the last row finds nothing to do. */
export function rowsOfGrid(count: number): readonly [x: number, y: number] {
  const y = Math.ceil(count / MAX_GRID);
  return [Math.ceil(count / y), y];
}

/** Resources shared by programs on one device. */
export interface ProgramContext {
  readonly device: GPUDevice;
  /** The target for buffers that start at whole vectors or not, whose calls keep forms of weights or not. */
  readonly target: (vectors: boolean, keepsForms: boolean) => Target;
  readonly buffers: Buffers;
  readonly pool: BufferPool;
  readonly forms: KeptForms;
  readonly queue: CommandQueue;
  /** Returns whether a flag is set, waiting for it; null if the runtime cannot wait. */
  readonly isRaised: ((flag: WebGpuMemory) => boolean) | null;
  /** Times dispatches; null if the runtime cannot wait. */
  readonly timer: DispatchTimer | null;
  readonly pipelines: Pipelines;
}

interface Stage {
  /** The numbers of the original program's kernels of which it is a part. */
  readonly kernels: readonly number[];
  readonly shader: Shader;
  readonly pipeline: GPUComputePipeline;
  /** Its parameter words, by their values: those of calls with other sizes are often the same. */
  readonly words: Map<string, Words>;
  /** Bind groups, by the words and memory that they bind. */
  readonly bindGroups: Map<string, GPUBindGroup>;
}

/** The parameter words of a stage, shared by all calls for which they are equal. */
interface Words {
  /** A short identifier, since every stage of every call looks up its bind group by it. */
  readonly id: number;
  readonly slice: GPUBufferBinding;
}

/** Words of a stage that have no memory yet, and where they will be. */
interface FreshWords {
  readonly stage: Stage;
  readonly text: string;
  readonly numbers: Int32Array<ArrayBuffer>;
  readonly offset: number;
}

/**
 * The stages of calls whose buffers alias each other in the same way, and their parameter words by sizes and offsets.
 */
interface Staged {
  readonly program: Program;
  readonly stages: readonly Stage[];
  /** Temporaries that calls keep, and descriptions of their contents by the byte offset of the input. */
  readonly kept: readonly (KeptTemporary & { readonly descriptions: Map<number, string> })[];
  readonly parameters: Map<string, readonly Words[]>;
}

/** The memories of one call: of inputs, outputs and what it keeps, in order. */
interface Bound {
  readonly memories: readonly WebGpuMemory[];
  readonly arena: WebGpuMemory | undefined;
  readonly pack: WebGpuMemory | undefined;
}

/** A call, the stages that it runs, and the memory of temporaries that calls keep. */
interface GivenCall {
  readonly call: ProgramCall;
  readonly memories: readonly WebGpuMemory[];
  readonly staged: Staged;
  readonly placed: readonly PlacedTemporary[];
}

/** A call and its commands, which a recording may own. */
interface Prepared {
  readonly given: GivenCall;
  readonly commands: Commands;
  readonly isRecorded: boolean;
}

/** Inputs next to each other, after copying. */
interface Packed {
  readonly pack: WebGpuMemory | undefined;
  readonly byteOffsets: readonly number[];
  readonly copies: Commands["copies"];
}

export class WebGpuProgram implements CompiledProgram {
  readonly source: string;
  readonly language = "wgsl";
  readonly kernelCount: number;
  /** Inputs that calls copy into one memory, for adapters with few bindings. */
  readonly #packed: ReadonlySet<BufferId>;
  readonly keepsForms: boolean;
  /** One stage for each kernel, by the aliasing of buffers. */
  readonly #stages = new Map<string, Staged>();
  #nextWords = 0;

  readonly program: Program;
  /** The program for buffers that do not start at whole vectors. */
  #unaligned: Program | undefined;
  /** The commands of earlier calls; absent: each call creates its own. */
  readonly #recordings: Recordings | undefined;

  constructor(
    readonly given: Program,
    readonly context: ProgramContext,
    { record = false, keepsForms = false }: CompileChoices = {},
  ) {
    this.#recordings = record ? new Recordings(context.pool) : undefined;
    const target = context.target(true, keepsForms), { kernelBuffers } = target;
    const program = this.program = generate(given, target);
    const { limits } = context.device, placement = apart(limits.maxComputeWorkgroupStorageSize);
    const plain = program.kernels.map((kernel) => shaderOf(kernel, program, placement));
    this.#packed = inputsToPack(plain, program, kernelBuffers);
    const isApart = this.#packed.size === 0,
      kept = keepsForms && isApart ? keptTemporaries(program, kernelBuffers) : [];
    this.keepsForms = kept.length > 0;
    const touchesKept = (kernel: Kernel) => kept.some(({ buffer }) => usesOf(kernel).all.has(buffer));
    const printed = isApart
      ? program.kernels.map((each, at) => touchesKept(each) ? undefined : plain[at])
      : [];
    const { stages } = this.#stagesFor(NO_ALIASES, true, printed);
    this.source = stages.map(({ shader }) => `// ${shader.name}\n${shader.code}`).join("\n");
    this.kernelCount = stages.length;
  }

  run(call: ProgramCall): boolean {
    const { context } = this,
      memories = [...call.inputs, ...call.outputs].map((memory) => own(memory, context));
    const isAligned = call.byteOffsets?.every((offset) => offset % 16 === 0) ?? true;
    const staged = this.#stagesFor(this.#aliasesOf(memories), isAligned);
    const prepared = this.#prepare({ call, memories, staged }), { given } = prepared;
    const passes = this.#issue(prepared.commands, given);
    this.#release(prepared);
    for (const { form } of given.placed) if (form && passes) form.isFilled = true;
    return passes;
  }

  /** Returns the commands of a call; if its memory leaves no room for the forms that it found, without them. */
  #prepare(of: Omit<GivenCall, "placed">): Prepared {
    const { forms } = this.context, before = forms.given;
    const prepared = this.#prepareWith({ ...of, placed: this.#placeKept(of.staged, of.call) });
    if (forms.given === before) return prepared;
    this.#release(prepared);
    return this.#prepareWith({ ...of, placed: of.staged.kept.map(() => NOWHERE) });
  }

  /** Frees the memory of commands that no recording owns: later work may use it, which the queue runs after them. */
  #release({ commands, isRecorded }: Prepared): void {
    if (!isRecorded) { for (const each of commands.own) this.context.pool.free(each); }
  }

  #prepareWith(given: GivenCall): Prepared {
    const { call, memories, placed } = given, recordings = this.#recordings;
    if (!recordings || !placed.every(({ form }) => form?.isFilled)) {
      return { given, commands: this.#commandsOf(given), isRecorded: false };
    }
    const buffers = [...memories, ...placed.map(({ memory }) => present(memory))];
    const key = `${buffers.map(({ bufferId }) => bufferId)};${call.sizes};${call.byteOffsets ?? ""}`;
    return { given, commands: recordings.of(key, () => this.#commandsOf(given)), isRecorded: true };
  }

  /** Finds the memory of temporaries that calls keep. */
  #placeKept({ program, stages, kept }: Staged, call: ProgramCall): readonly PlacedTemporary[] {
    return kept.map(({ kernel, input, bytes, descriptions }) => {
      const offset = call.byteOffsets?.[input] ?? 0;
      let description = descriptions.get(offset);
      if (description === undefined) {
        const { shader } = present(stages[kernel]), byteOffsets = program.inputs.map(() => offset);
        const numbers = new Int32Array(shader.words.length + 1);
        writeParameters(numbers, shader.words, { program, byteOffsets, sizes: [] });
        descriptions.set(offset, description = `${numbers};${bytes};${shader.code}`);
      }
      return this.context.forms.place(call.contents?.[input], description, bytes);
    });
  }

  /** Returns the commands of a call, and the memory that it uses. */
  #commandsOf({ call, memories, staged, placed }: GivenCall): Commands {
    const { context } = this, { program, stages } = staged, valueOf = sizeLookup(program, call.sizes);
    // A buffer without elements in this call is bound nevertheless
    const arena = program.arenaBytes === 0
      ? undefined
      : context.pool.allocate(evaluate(program.arenaBytes, valueOf));
    const { pack, byteOffsets, copies } = this.#packInputs(call, memories, valueOf);
    const brief = new Map(
      placed.flatMap(({ memory }, at) =>
        memory ? [] : [[at, context.pool.allocate(staged.kept[at]?.bytes ?? 0)] as const]
      ),
    );
    const kept = placed.map(({ memory }, at) => present(memory ?? brief.get(at)));
    const filled = new Set(
      staged.kept.flatMap(({ kernel }, at) => placed[at]?.form?.isFilled ? [kernel] : []),
    );
    const groups = this.#bindGroupsFor(staged, { memories: [...memories, ...kept], arena, pack }, {
      sizes: call.sizes,
      byteOffsets,
    });
    const dispatches = stages.flatMap(({ kernels, shader, pipeline }, at) => {
      if (filled.has(at)) return [];
      const count = Math.ceil(evaluate(shader.workgroups.items, valueOf) / shader.workgroups.each);
      if (count === 0) return [];
      const dispatch = { pipeline, bindGroup: present(groups[at]), workgroups: rowsOfGrid(count) };
      return [{ at, kernels, dispatch }];
    });
    const decided = program.guard?.after ?? stages.length;
    return {
      copies,
      first: dispatches.filter(({ at }) => at < decided),
      rest: dispatches.filter(({ at }) => at >= decided),
      own: [arena, pack, ...brief.values()].filter((each) => each !== undefined),
    };
  }

  /** Encodes commands: those that decide whether the call passes, then the others if it does. */
  #issue({ copies, first, rest }: Commands, { call, memories }: GivenCall): boolean {
    const { program: { guard, outputs }, context } = this;
    const issue = ({ kernels, dispatch }: PlacedDispatch) => {
      if (call.clock && context.timer) call.clock.ran(kernels, context.timer.run(dispatch));
      else context.queue.dispatch(dispatch);
    };
    for (const { from, into, to, length } of copies) context.queue.copy(from, into, { to, length });
    first.forEach(issue);
    const { isRaised, queue } = context;
    // Flags count as clear if waiting is not possible
    if (!guard || call.passes === true || !isRaised) {
      rest.forEach(issue);
      return true;
    }
    const flag = present(memories[call.inputs.length + outputs.indexOf(guard.flag)]);
    if (call.clock) {
      const passes = !isRaised(flag);
      if (passes) rest.forEach(issue);
      return passes;
    }
    // Encoding the others takes longer than the device needs for the flag
    const prepared = queue.prepare(rest.map(({ dispatch }) => dispatch)), passes = !isRaised(flag);
    if (passes) queue.resume(prepared);
    return passes;
  }

  /** `printed`: the shaders that have been printed already. */
  #stagesFor(
    aliases: ReadonlyMap<BufferId, BufferId>,
    aligned: boolean,
    printed: readonly (Shader | undefined)[] = [],
  ): Staged {
    const key = aliases.size === 0 ? `${aligned}` : `${aligned} ${[...aliases].join(";")}`;
    const known = this.#stages.get(key);
    if (known) return known;
    const workgroupBytes = this.context.device.limits.maxComputeWorkgroupStorageSize;
    const { context, keepsForms } = this, target = context.target(aligned, keepsForms);
    const whole = aligned ? this.program : this.#unaligned ??= generate(this.given, target);
    const temporaries = keepsForms ? keptTemporaries(whole, target.kernelBuffers) : [];
    const program = withKept(whole, temporaries);
    const placement = { aliases, packed: this.#packed, aligned, workgroupBytes };
    const shaders = program.kernels.map((kernel, at) => printed[at] ?? shaderOf(kernel, program, placement));
    const { pipelines } = context;
    pipelines.prepare(shaders);
    const given = originalKernels(program.kernels.map((kernel) => [kernel]));
    const stages = shaders.map((shader, k): Stage => ({
      kernels: given[k] ?? [],
      shader,
      pipeline: pipelines.of(shader),
      words: new Map(),
      bindGroups: new Map(),
    }));
    const described = temporaries.map((each) => ({ ...each, descriptions: new Map<number, string>() }));
    const made: Staged = { program, stages, kept: described, parameters: new Map() };
    this.#stages.set(key, made);
    return made;
  }

  /** Buffers that alias a written one in this call: a memory cannot be bound twice for reading and writing. */
  #aliasesOf(memories: readonly WebGpuMemory[]): ReadonlyMap<BufferId, BufferId> {
    const { inputs, outputs, buffers } = this.program;
    if (new Set(memories.map(({ bufferId }) => bufferId)).size === memories.length) return NO_ALIASES;
    const writers = new Map<number, BufferId>(), aliases = new Map<BufferId, BufferId>();
    const ids = [...inputs, ...outputs];
    ids.forEach((id, i) => {
      const role = buffers[id]?.role, memory = memories[i];
      if (memory && (role?.kind === "output" || (role?.kind === "input" && role.written))) {
        writers.set(memory.bufferId, id);
      }
    });
    ids.forEach((id, i) => {
      const owner = writers.get(memories[i]?.bufferId ?? -1);
      if (owner === undefined || owner === id || this.#packed.has(id)) return;
      if (buffers[owner]?.dtype !== buffers[id]?.dtype) {
        throw new DynError("Expected one element type of tensors that share memory with a written one");
      }
      aliases.set(id, owner);
    });
    return aliases;
  }

  /** Places the packed inputs next to each other; their byte offsets are then relative to the pack. */
  #packInputs(
    call: ProgramCall,
    memories: readonly WebGpuMemory[],
    valueOf: (symbol: Sym) => number,
  ): Packed {
    const given = call.byteOffsets ?? [];
    if (this.#packed.size === 0) return { pack: undefined, byteOffsets: given, copies: [] };
    const byteOffsets = memories.map((_, i) => given[i] ?? 0);
    const parts: { readonly memory: WebGpuMemory; readonly to: number; readonly length: number }[] = [];
    let end = 0;
    this.program.inputs.forEach((id, i) => {
      const declaration = this.program.buffers[id], memory = memories[i], offset = byteOffsets[i] ?? 0;
      if (!this.#packed.has(id) || !declaration || !memory) return;
      const bytes = offset + evaluate(declaration.length, valueOf) * itemSize(declaration.dtype);
      const length = Math.min(memory.buffer.size, Math.ceil(bytes / 16) * 16);
      parts.push({ memory, to: end, length });
      byteOffsets[i] = end + offset;
      end += length;
    });
    const pack = this.context.pool.allocate(end);
    const copies = parts.map(({ memory, to, length }) => ({
      from: memory.buffer,
      into: pack.buffer,
      to,
      length,
    }));
    return { pack, byteOffsets, copies };
  }

  /** A bind group for each stage: that of an earlier call if the stage binds the same memories. */
  #bindGroupsFor(
    staged: Staged,
    { memories, arena, pack }: Bound,
    places: CallPlaces,
  ): readonly GPUBindGroup[] {
    const words = this.#wordsOf(staged, places);
    return staged.stages.map(({ shader, pipeline, bindGroups }, i) => {
      const { id, slice } = present(words[i]);
      const bound = shader.memories.map((memory) => {
        switch (memory.kind) {
          case "arena":
            return present(arena);
          case "pack":
            return present(pack);
          case "input":
            return present(memories[memory.position]);
          case "output":
            return present(memories[staged.program.inputs.length + memory.position]);
        }
      });
      let key = `${id}`;
      for (const { bufferId } of bound) key += `;${bufferId}`;
      const known = bindGroups.get(key);
      if (known) return known;
      if (bindGroups.size >= KEPT_BIND_GROUPS) bindGroups.clear();
      const made = this.context.device.createBindGroup({
        layout: pipeline.getBindGroupLayout(0),
        entries: [
          { binding: 0, resource: slice },
          ...bound.map(({ buffer }, k) => ({ binding: k + 1, resource: { buffer } })),
        ],
      });
      bindGroups.set(key, made);
      return made;
    });
  }

  /** The words of each stage; all new ones are in one buffer. */
  #wordsOf({ program, stages, parameters }: Staged, places: CallPlaces): readonly Words[] {
    const { sizes, byteOffsets } = places;
    const key = sizes.length === 0 && byteOffsets.every((offset) => offset === 0)
      ? ""
      : `${sizes};${byteOffsets}`;
    const known = parameters.get(key);
    if (known) return known;
    if (parameters.size >= KEPT_BIND_GROUPS) parameters.clear();
    const { device } = this.context, align = device.limits.minStorageBufferOffsetAlignment;
    const fresh: FreshWords[] = [];
    let end = 0;
    const texts = stages.map((stage) => {
      const { words } = stage.shader, numbers = new Int32Array(Math.max(4, words.length + 1));
      writeParameters(numbers, words, { ...places, program });
      const text = numbers.join();
      if (!stage.words.has(text)) {
        fresh.push({ stage, text, numbers, offset: end });
        end = Math.ceil((end + numbers.byteLength) / align) * align;
      }
      return text;
    });
    if (fresh.length > 0) this.#store(fresh, end);
    const made = stages.map(({ words }, i) => present(words.get(texts[i] ?? "")));
    parameters.set(key, made);
    return made;
  }

  #store(fresh: readonly FreshWords[], size: number): void {
    const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_DST;
    const buffer = this.context.device.createBuffer({ size, usage, mappedAtCreation: true });
    const bytes = buffer.getMappedRange(), id = this.#nextWords++;
    for (const { stage: { words }, text, numbers, offset } of fresh) {
      new Int32Array(bytes, offset, numbers.length).set(numbers);
      if (words.size >= KEPT_BIND_GROUPS) words.clear();
      words.set(text, { id, slice: { buffer, offset, size: numbers.byteLength } });
    }
    buffer.unmap();
  }
}

function present<T>(value: T | undefined): T {
  if (value === undefined) throw new InternalError("Expected a memory for every binding");
  return value;
}

function sizeLookup(program: Program, sizes: readonly number[]) {
  return (symbol: Sym): number => {
    const value = sizes[program.sizes.indexOf(symbol)];
    if (value === undefined) throw new InternalError(`Expected a value for ${symbol}`);
    return value;
  };
}
