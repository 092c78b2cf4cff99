/**
 * The canonical text of loop programs: for logs, inline snapshots and cache keys. Invariant: equal texts mean equal
 * programs up to the names of symbols and the numbering of values; the text does not depend on earlier compilations.
 */
import { TextWriter } from "../base/text_writer.ts";
import type { Dim, Sym } from "../sym/expr.ts";
import type {
  AttentionWeights,
  Axis,
  BufferView,
  ComputedElements,
  Elements,
  Kernel,
  LoopKernel,
  Program,
  Statement,
  ValueId,
} from "./ir.ts";

/** Options of the printed text. */
export interface PrintOptions {
  /** Whether to print the user lines of each kernel. Default true; cache keys leave them out. */
  readonly origins?: boolean;
}

/** A whole program. */
export function printProgram(program: Program, options: PrintOptions = {}): string {
  const names = new Names(program.sizes);
  const writer = new TextWriter();
  const sizes = program.sizes.length === 0
    ? ""
    : ` sizes ${program.sizes.map((s) => names.symbol(s)).join(", ")}`;
  writer.line(`program ${program.name}${sizes}`);
  writer.indent(() => {
    program.buffers.forEach((buffer, id) => {
      const { role } = buffer;
      const place = role.kind === "temporary"
        ? `temporary @${names.dim(role.offset)}`
        : role.kind === "input" && role.written
        ? "input, written"
        : role.kind === "output" && role.partly
        ? "output, partly"
        : role.kind === "window"
        ? `b${role.of} from ${role.from} on`
        : role.kind;
      writer.line(`b${id} ${buffer.name}: ${buffer.dtype}[${names.dim(buffer.length)}] ${place}`);
    });
    writer.line(`inputs ${list(program.inputs)}, outputs ${list(program.outputs)}`);
    if (program.arenaBytes !== 0) writer.line(`arena ${names.dim(program.arenaBytes)} bytes`);
    program.kernels.forEach((kernel, at) => {
      if (program.guard?.after === at) writer.line(`stop if b${program.guard.flag}`);
      writeKernel(writer, { kernel, names, options });
    });
    for (const [region, name] of names.regions) {
      writer.line(`${name}:`);
      writer.indent(() => printProgram(region, options).split("\n").forEach((line) => writer.line(line)));
    }
  });
  return writer.toString();
}

/** Prints one kernel; sizes appear under their own names. */
export function printKernel(kernel: Kernel, options: PrintOptions = {}): string {
  const writer = new TextWriter();
  writeKernel(writer, { kernel, names: new Names([]), options });
  return writer.toString();
}

const list = (ids: readonly number[]) => `(${ids.map((id) => `b${id}`).join(", ")})`;

/** Names of symbols and values by order of appearance. */
class Names {
  readonly #symbols = new Map<Sym, string>();
  readonly #values = new Map<ValueId, string>();
  /** The regions that kernels call. */
  readonly regions = new Map<Program, string>();
  #axes = 0;

  constructor(sizes: readonly Sym[]) {
    sizes.forEach((size, i) => this.#symbols.set(size, `s${i}`));
  }

  region(program: Program): string {
    const known = this.regions.get(program) ?? `region ${this.regions.size}`;
    this.regions.set(program, known);
    return known;
  }

  /** Values are local to a kernel. */
  startKernel(): void {
    this.#values.clear();
    this.#axes = 0;
  }

  value(id: ValueId): string {
    let name = this.#values.get(id);
    if (name === undefined) this.#values.set(id, name = `v${this.#values.size}`);
    return name;
  }

  axis(axis: Sym): string {
    const name = `i${this.#axes++}`;
    this.#symbols.set(axis, name);
    return name;
  }

  symbol(s: Sym): string {
    const known = this.#symbols.get(s);
    if (known !== undefined) return known;
    if (s.node.kind === "symbol" && s.node.role.kind === "value") return this.value(s.node.role.id);
    return s.node.kind === "symbol" ? `?${s.node.name}` : "?";
  }

  /** Prints like sym/expr, but with these names and in an order that depends only on them. */
  dim(d: Dim): string {
    if (typeof d === "number") return `${d}`;
    const { node } = d;
    const tight = (x: Dim) =>
      typeof x !== "number" && x.node.kind === "sum" ? `(${this.dim(x)})` : this.dim(x);
    switch (node.kind) {
      case "symbol":
        return this.symbol(d);
      case "sum": {
        const parts = node.terms.map(({ term, coefficient }) => ({ coefficient, text: this.dim(term) }))
          .sort((a, b) => b.coefficient - a.coefficient || (a.text < b.text ? -1 : 1))
          .map(({ coefficient, text }) => coefficient === 1 ? text : `${coefficient}*${text}`);
        if (node.constant !== 0) parts.push(`${node.constant}`);
        return parts.join(" + ").replaceAll("+ -", "- ");
      }
      case "product":
        return node.factors.map(tight).sort().join("*");
      case "floorDiv":
        return `(${tight(node.left)}//${tight(node.right)})`;
      case "mod":
        return `(${tight(node.left)}%${tight(node.right)})`;
      case "min":
      case "max":
        return `${node.kind}(${[this.dim(node.left), this.dim(node.right)].sort().join(", ")})`;
      default:
        return node satisfies never;
    }
  }

  view(view: BufferView): string {
    const offset = view.offset === 0 ? "" : ` + ${this.dim(view.offset)}`;
    const shape = view.shape.map((s) => this.dim(s)).join(", ");
    const strides = view.strides.map((s) => this.dim(s)).join(", ");
    return `b${view.buffer}${offset} [${shape}] by [${strides}]`;
  }
}

interface KernelContext {
  readonly kernel: Kernel;
  readonly names: Names;
  readonly options: PrintOptions;
}

function writeKernel(writer: TextWriter, { kernel, names, options }: KernelContext): void {
  names.startKernel();
  const thread = kernel.team ? ` on ${kernel.team === "one" ? "one thread" : "all threads"}` : "";
  const counter = ({ symbol, size }: Axis) => `${names.axis(symbol)} < ${names.dim(size)}`;
  const { axes = [], inOrder, uneven } = kernel.blocks ?? {};
  const shared = axes.length > 0 ? ` by blocks ${axes.map(counter).join(", ")}` : "";
  const team = `${thread}${shared}${inOrder ? ` in order ${counter(inOrder)}` : ""}${
    uneven ? ", uneven" : ""
  }`;
  if (kernel.kind === "loops") {
    const { points, workgroup: size } = kernel;
    const side = points ? ` on ${points.count} ${points.interleaved ? "interleaved " : ""}points` : "";
    const workgroup = size === undefined ? "" : ` by workgroups of ${size}${side}`;
    writer.line(`loops ${kernel.name}${team}${workgroup}${originText(kernel.origins, options)}`);
    writer.indent(() => {
      writeStatements(writer, kernel.body, names);
      for (const row of kernel.rows ?? []) writer.line(`row ${row.map((id) => `b${id}`).join(", ")}`);
    });
    return;
  }
  const { op, ...attributes } = kernel.call;
  const described = kernel.call.op === "region"
    ? ` of ${names.region(kernel.call.program)}${
      kernel.call.rows === undefined ? "" : ` on ${kernel.call.rows} rows`
    }`
    : Object.entries(attributes).map(([k, v]) => ` ${k}=${JSON.stringify(v)}`).join("");
  const parts = kernel.parts === undefined ? "" : ` in ${kernel.parts} parts`;
  const causal = kernel.causal ? " causal" : "", transformed = kernel.transformed ? " transformed" : "";
  writer.line(
    `${op} ${kernel.name}${described}${team}${parts}${causal}${transformed}${
      originText(kernel.origins, options)
    }`,
  );
  writer.indent(() => {
    for (const { input, transposed, nest } of kernel.prologues ?? []) {
      writer.line(
        `prologue of in ${input}${transposed ? ", transposed" : ""}${originText(nest.origins, options)}`,
      );
      writer.indent(() => writeStatements(writer, nest.body, names));
    }
    if (kernel.weights) writeWeights(writer, kernel.weights, names);
    if (kernel.computed) writeMade(writer, kernel.computed, names);
    for (const view of kernel.inputs) writer.line(`in ${names.view(view)}`);
    for (const view of kernel.outputs) writer.line(`out ${names.view(view)}`);
    const { epilogue } = kernel;
    if (epilogue) {
      writer.line(`epilogue${originText(epilogue.origins, options)}`);
      writer.indent(() => writeStatements(writer, epilogue.body, names));
    }
  });
}

function writeWeights(writer: TextWriter, weights: AttentionWeights, names: Names): void {
  const { queries, keys, matrix, row, key, product, score, factor, finish, maximum, sum } = weights;
  const counters = [matrix, row, key].map((symbol) => names.axis(symbol)).join(", ");
  writer.line(`weights over ${counters} by ${weights.block} rows${weights.causal ? ", causal" : ""}`);
  const v = (id: ValueId) => names.value(id);
  writer.indent(() => {
    writer.line(`${v(product)} of ${names.view(queries)} and ${names.view(keys)}`);
    for (const [name, piece] of Object.entries({ score, factor, finish })) {
      if (!piece) continue;
      writer.line(`${name}${piece === finish ? ` of maximum ${v(maximum)} and sum ${v(sum)}` : ""}`);
      writer.indent(() => writeStatements(writer, piece.body, names));
      writer.line(`  gives ${v(piece.value)}`);
    }
  });
}

function writeMade(writer: TextWriter, made: ComputedElements, names: Names): void {
  const { products, matrix, row, key, ofRows, elements, over, block, causal, stored: kept } = made;
  const counters = [matrix, row, key].map((symbol) => names.axis(symbol)).join(", "),
    others = over === "rows";
  writer.line(
    `made over ${counters} by ${block} ${others ? "keys" : "rows"}, sums over ${over}${
      causal ? ", causal" : ""
    }`,
  );
  const v = (id: ValueId) => names.value(id);
  writer.indent(() => {
    for (const { a, b, value } of products) {
      writer.line(`${v(value)} of ${names.view(a)} and ${names.view(b)}`);
    }
    const piece = (name: string, body: readonly Statement[], values: readonly ValueId[]) => {
      writer.line(name);
      writer.indent(() => writeStatements(writer, body, names));
      writer.line(`  gives ${values.map(v).join(", ")}`);
    };
    for (const { body, value } of ofRows) piece("of a row", body, [value]);
    piece("elements", elements.body, elements.values);
    if (kept !== undefined) writer.line(`keeps element ${kept}`);
  });
}

function originText(origins: LoopKernel["origins"], options: PrintOptions): string {
  return options.origins === false || origins.length === 0 ? "" : `  # ${origins.join("; ")}`;
}

function writeStatements(writer: TextWriter, statements: readonly Statement[], names: Names): void {
  for (const statement of statements) writeStatement(writer, statement, names);
}

function writeStatement(writer: TextWriter, s: Statement, names: Names): void {
  const v = (id: ValueId) => names.value(id);
  switch (s.kind) {
    case "loop": {
      const carried = s.carried.map((c) => ({ c, before: `${v(c.id)} = ${v(c.initial)}` }));
      const size = names.dim(s.axis.size);
      const share = `${s.share === undefined ? "" : ` ${s.share}`}${s.scalar ? " apart" : ""}${
        s.streams ? " streams" : ""
      }`;
      const part = s.part ? ` in parts to ${names.axis(s.part.end)} of` : " <";
      const head = `${s.order}${s.vector ? " vector" : ""}${share} ${
        names.axis(s.axis.symbol)
      }${part} ${size}`;
      const from = carried.length === 0 ? "" : ` from ${carried.map(({ before }) => before).join(", ")}`;
      writer.line(`${head}${from}:`);
      writer.indent(() => {
        writeStatements(writer, s.body, names);
        for (const { c } of carried) writer.line(`next ${v(c.id)} = ${v(c.next)}: ${c.dtype}`);
        for (const r of s.reductions) {
          const at = r.index === undefined ? "" : ` at ${v(r.index)}`;
          writer.line(`${v(r.id)} ${r.op}= ${v(r.value)}${at}: ${r.dtype}`);
        }
        const elements = ({ buffer, index }: Elements) => `b${buffer}[${names.dim(index)}]`;
        for (const { id, op, dtype, values, positions, count } of s.folds ?? []) {
          const at = positions ? ` at ${elements(positions)}` : "";
          writer.line(`${v(id)} ${op}= ${names.dim(count)} from ${elements(values)}${at}: ${dtype}`);
        }
      });
      return;
    }
    case "constant":
      writer.line(`${v(s.id)} = ${constantText(s.value)}: ${s.dtype}`);
      return;
    case "index":
      writer.line(`${v(s.id)} = index ${names.dim(s.index)}: ${s.dtype}`);
      return;
    case "scalar":
      writer.line(`${v(s.id)} = ${s.op} ${s.args.map(v).join(", ")}: ${s.dtype}`);
      return;
    case "cast":
      writer.line(`${v(s.id)} = cast ${v(s.value)}: ${s.dtype}`);
      return;
    case "select":
      writer.line(`${v(s.id)} = ${v(s.condition)} ? ${v(s.then)} : ${v(s.otherwise)}: ${s.dtype}`);
      return;
    case "load":
      writer.line(`${v(s.id)} = b${s.buffer}[${names.dim(s.index)}]: ${s.dtype}`);
      return;
    case "store":
      writer.line(`b${s.buffer}[${names.dim(s.index)}] ${s.mode === "add" ? "+=" : "="} ${v(s.value)}`);
      return;
    case "masked":
      writer.line(`if ${v(s.condition)}:`);
      writer.indent(() => writeStatements(writer, s.body, names));
      writer.line(`${v(s.id)} = ${v(s.value)} else ${v(s.otherwise)}: ${s.dtype}`);
      return;
    default:
      s satisfies never;
  }
}

function constantText(value: number | bigint | boolean): string {
  return Object.is(value, -0) ? "-0" : typeof value === "bigint" ? `${value}n` : `${value}`;
}
