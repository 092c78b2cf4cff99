/**
 * Assembles the instructions of one code object: offsets, spans, the exception table, registers.
 *
 * Invariant: unreachable instructions are not emitted.
 */
import type { ExceptionEntry, RegisterInfo, SourceSpan } from "./code.ts";
import type { Instruction, Offset, Register } from "./instruction.ts";

/** A place in the code that jumps refer to before its offset is known; instructions carry its id as target. */
export interface Label {
  readonly id: number;
}

/** A range of code whose exceptions go to one handler. Regions nest. */
export interface Region {
  readonly parent: Region | null;
  readonly depth: number;
  readonly target: Label;
  readonly register: Register;
}

/** The result of `finish`. */
export interface Assembled {
  readonly registers: readonly RegisterInfo[];
  readonly instructions: readonly Instruction[];
  readonly spans: readonly SourceSpan[];
  readonly handlers: readonly ExceptionEntry[];
}

export class CodeBuilder {
  private readonly registers: RegisterInfo[] = [];
  private readonly instructions: Instruction[] = [];
  private readonly spans: SourceSpan[] = [];
  private readonly regionOf: (Region | null)[] = [];
  /** Offset of each label, -1 until placed. */
  private readonly offsets: number[] = [];
  private readonly referenced: boolean[] = [];
  private reachable = true;
  /** The innermost region of the next instructions. */
  region: Region | null = null;

  /** A new temporary. */
  temp(): Register {
    return this.registers.push({ name: null, cell: false }) - 1;
  }

  /** A new register for a variable. */
  variable(name: string, cell: boolean): Register {
    return this.registers.push({ name, cell }) - 1;
  }

  isTemp(register: Register): boolean {
    return this.registers[register]?.name === null;
  }

  label(): Label {
    this.offsets.push(-1);
    this.referenced.push(false);
    return { id: this.offsets.length - 1 };
  }

  /** Places the label at the next instruction. `entered`: it is also reached otherwise than by jumps. */
  place(label: Label, entered = false): void {
    this.offsets[label.id] = this.instructions.length;
    if (entered || this.referenced[label.id]) this.reachable = true;
  }

  /** Whether control can reach the next instruction. */
  get isReachable(): boolean {
    return this.reachable;
  }

  emit(instruction: Instruction, span: SourceSpan): void {
    if (!this.reachable) return;
    this.instructions.push(instruction);
    this.spans.push({ start: span.start, end: span.end });
    this.regionOf.push(this.region);
    switch (instruction.op) {
      case "jump":
        this.referenced[instruction.target] = true;
        this.reachable = false;
        break;
      case "jumpIf":
        this.referenced[instruction.target] = true;
        break;
      case "yield":
      case "yieldDelegate":
        if (instruction.onReturn !== null) this.referenced[instruction.onReturn] = true;
        break;
      case "return":
      case "throw":
      case "throwError":
        this.reachable = false;
        break;
      default:
    }
  }

  jump(label: Label, span: SourceSpan): void {
    this.emit({ op: "jump", target: label.id }, span);
  }

  /** Emits `body` in a region whose exceptions go to a new label with the exception in `register`. */
  guarded(register: Register, body: () => void): Label {
    const target = this.label();
    const parent = this.region;
    this.region = { parent, depth: (parent?.depth ?? 0) + 1, target, register };
    body();
    this.region = parent;
    return target;
  }

  /** Emits `body` as if it were in that (outer) region. */
  within(region: Region | null, body: () => void): void {
    const saved = this.region;
    this.region = region;
    body();
    this.region = saved;
  }

  finish(): Assembled {
    const at = (id: Offset): Offset => this.offsets[id] ?? -1;
    const instructions = this.instructions.map((i): Instruction => {
      switch (i.op) {
        case "jump":
        case "jumpIf":
          return { ...i, target: at(i.target) };
        case "yield":
        case "yieldDelegate":
          return i.onReturn === null ? i : { ...i, onReturn: at(i.onReturn) };
        default:
          return i;
      }
    });
    return { registers: this.registers, instructions, spans: this.spans, handlers: this.exceptionTable() };
  }

  /** Contiguous runs of each region, deepest first. */
  private exceptionTable(): ExceptionEntry[] {
    const open = new Map<Region, number>();
    const found: { depth: number; entry: ExceptionEntry }[] = [];
    const close = (region: Region, start: Offset, end: Offset): void => {
      const target = this.offsets[region.target.id] ?? -1;
      found.push({ depth: region.depth, entry: { start, end, target, register: region.register } });
      open.delete(region);
    };
    for (let offset = 0; offset <= this.regionOf.length; offset++) {
      const here = new Set<Region>();
      for (let r = this.regionOf[offset] ?? null; r; r = r.parent) here.add(r);
      for (const [region, start] of [...open]) if (!here.has(region)) close(region, start, offset);
      for (const region of here) if (!open.has(region)) open.set(region, offset);
    }
    found.sort((a, b) => b.depth - a.depth || a.entry.start - b.entry.start);
    return found.map((f) => f.entry);
  }
}
