/**
 * The calls of a program: each group of kernels becomes statements that run it, and functions that calls share.
 * Invariants: functions of the same text are one; names of functions and slots of routines are in the order of first
 * use.
 */
import { InternalError } from "../../../lib/base/errors.ts";
import { TextWriter } from "../../../lib/base/text_writer.ts";
import type { Dim } from "../../../lib/sym/expr.ts";
import type { BufferId, ExternKernel, Kernel, Program } from "../../../lib/loops/ir.ts";
import { KnownBlocks } from "../../../lib/loops/known_blocks.ts";
import { kernelsOfRows } from "../../../lib/loops/moved_kernel.ts";
import { FAR_OUTPUTS } from "../frame.ts";
import type { Routine } from "../runtime_library.ts";
import { printBlocks } from "./blocks.ts";
import type { PrintedCall } from "./call_sequence.ts";
import { printExtern } from "./extern.ts";
import { ScalarFunctions } from "./functions.ts";
import { type KernelContext, type KernelFunction, printLoopKernel } from "./kernel.ts";
import { printTable } from "./table.ts";
import { printIndex } from "./types.ts";

/** The start of every kernel function up to its name. */
export const KERNEL = "OUTL void (void* const* a";
/** Parameters of a kernel that threads share. */
const TEAM_KERNEL = `${KERNEL}, const long* s, long t, long nt)`;

/** The beginning of comments that name the user's lines. */
export const ORIGIN = "// from ";

/** A function that calls share. */
export interface PrintedFunction {
  readonly name: string;
  /** Whether it is a kernel, which units may take from each other by its address. */
  readonly kernel: boolean;
  readonly text: string;
}

/** Settings of a program's calls. */
interface CallSettings {
  /** Buffers of records of kept operands, by kernel. */
  readonly records: ReadonlyMap<ExternKernel, BufferId>;
  /** Whether the calls are a table, each with its own numbers for its buffers. */
  readonly isLong: boolean;
}

type NameOf = (id: BufferId) => string;

/** Prints the calls of one program. */
export class CallPrinter {
  /** Library routines whose addresses the calls take, by slot. */
  readonly routines: Routine[] = [];
  /** Whether any call depends on which outputs are far from the caches. */
  usesFar = false;
  readonly #functions = new ScalarFunctions();
  readonly #folds = new Set<string>();
  readonly #declarations = new Set<string>();
  /** Names of functions by parameters and body. */
  readonly #kernels = new Map<string, string>();
  readonly #blocks = new KnownBlocks<KernelFunction>();
  readonly #context: KernelContext;

  constructor(readonly program: Program, readonly settings: CallSettings) {
    this.#context = {
      buffers: program.buffers,
      sizeIndex(symbol) {
        const at = program.sizes.indexOf(symbol);
        if (at < 0) throw new InternalError(`Expected a size of the program but found ${symbol}`);
        return at;
      },
      need: this.#functions.need,
      fold: (text) => void this.#folds.add(text),
      declare: this.#declare,
      equivalents: new Map(),
    };
  }

  /** Declarations and functions that the printed functions use, in order. */
  get shared(): readonly string[] {
    return [...this.#declarations, this.#functions.text, ...this.#folds];
  }

  /** The functions of all printed calls. */
  get functions(): readonly PrintedFunction[] {
    return [...this.#kernels].map(([key, name]) => ({
      name,
      kernel: key.startsWith(KERNEL),
      text: functionText(key, name),
    }));
  }

  /** The value of a size in statements. */
  readonly size = (d: Dim): string => printIndex(d, (symbol) => `s[${this.#context.sizeIndex(symbol)}]`);

  /** Prints the call of a group of kernels. */
  print(group: readonly Kernel[]): PrintedCall {
    const table = printTable(group, this.#context);
    if (table) {
      const { body, buffers, lengths, work } = table;
      const text = [
        `static const long n[] = {${lengths.join(", ")}};`,
        `run(${this.#kernel(TEAM_KERNEL, body)}, (void* const*) p, n, threads, ${this.#effort(work)});`,
      ].join("\n");
      return { origins: originsOf(group), text, buffers, untyped: true };
    }
    const lines = new TextWriter(), buffers: BufferId[] = [], [kernel] = group;
    const nameOf = (id: BufferId): string => {
      if (!buffers.includes(id)) buffers.push(id);
      return `b${this.settings.isLong ? buffers.indexOf(id) : id}`;
    };
    if (kernel?.blocks) this.#team(this.#ofBlocks(group, kernel.blocks), lines, nameOf);
    else {
      for (const each of group) {
        if (each.kind === "extern") this.#extern(each, lines, nameOf);
        else {
          for (const run of kernelsOfRows(each)) {
            this.#team(printLoopKernel(run, this.#context), lines, nameOf);
          }
        }
      }
    }
    return { origins: originsOf(group), text: lines.toString(), buffers };
  }

  /** The kernel of a group of blocks; equal blocks elsewhere have the same one. */
  #ofBlocks(group: readonly Kernel[], blocks: NonNullable<Kernel["blocks"]>): KernelFunction {
    const { made, place } = this.#blocks.of(group, blocks, {
      buffers: this.#context.buffers,
      make: () => printBlocks(group, blocks, this.#context),
    });
    return { ...made, buffers: made.buffers.map(place), far: made.far.map(place), work: blocks.work };
  }

  #team(made: KernelFunction, lines: TextWriter, nameOf: NameOf): void {
    const name = this.#kernel(TEAM_KERNEL, made.body);
    const table = [
      ...made.buffers.map(nameOf),
      ...made.routines.map((each) => `(void*) ${this.#routine(each)}`),
      ...made.far.map((id) => `(void*) ${this.#far(id)}`),
    ];
    const effort = this.#effort(made.work), a = table.join(", ") || "0";
    lines.line(`{ void* const a[] = {${a}}; run(${name}, a, s, threads, ${effort}); }`);
  }

  #extern(kernel: ExternKernel, lines: TextWriter, nameOf: NameOf): void {
    const record = this.settings.records.get(kernel);
    printExtern(kernel, {
      context: this.#context,
      calls: lines,
      buffer: nameOf,
      record: record === undefined ? "0" : nameOf(record),
      size: this.size,
      nest: (parameters, body) => this.#kernel(`OUTL void (void* context, ${parameters})`, body),
      routine: this.#routine,
      declare: this.#declare,
    });
  }

  readonly #declare = (text: string): void => void this.#declarations.add(text);

  readonly #routine = (name: Routine): string => {
    if (!this.routines.includes(name)) this.routines.push(name);
    return `routine[${this.routines.indexOf(name)}]`;
  };

  /** The name of the function with these parameters and body. */
  #kernel(parameters: string, body: string): string {
    const key = parameters + body;
    let name = this.#kernels.get(key);
    if (name === undefined) this.#kernels.set(key, name = `k${this.#kernels.size}`);
    return name;
  }

  /** The condition that an output is far; false in long programs, where a single result takes a small part of the time. */
  #far(id: BufferId): string {
    this.usesFar = true;
    const at = this.program.outputs.indexOf(id);
    return this.settings.isLong || at < 0 || at >= FAR_OUTPUTS ? "0L" : `(far >> ${at} & 1)`;
  }

  #effort(work: Dim): string {
    return typeof work === "number" ? `${Math.min(work, 1e15)}.0` : `(double) (${this.size(work)})`;
  }
}

function functionText(key: string, name: string): string {
  const at = key.indexOf(")");
  return `${key.slice(0, at + 1).replace("void (", `void ${name}(`)} {\n${key.slice(at + 1)}}\n`;
}

/** The user's lines that kernels compute, as comments. */
function originsOf(kernels: readonly Kernel[]): readonly string[] {
  const origins = new Set(kernels.flatMap((each) => each.origins));
  return [...origins].map((origin) => `${ORIGIN}${origin.replaceAll("\n", " ")}`);
}
