/**
 * Writes a repro as a program: the text of `repro.ts`, and tensors that are too large for the text. Invariant:
 * running the text recreates the same case (load.ts reads it): the same nodes, elements, layouts, shared memory,
 * settings and random numbers.
 */
import { DynError } from "../../base/errors.ts";
import { TextWriter } from "../../base/text_writer.ts";
import { isPlainObject } from "../../base/tree.ts";
import type { GraphModule } from "../../graph/graph_module.ts";
import { type Argument, isList, isRecord, Node } from "../../graph/node.ts";
import { positionText, userPosition } from "../../graph/place.ts";
import { type SizeBinding, sizeBindings } from "../../graph/sizes.ts";
import { Sym } from "../../sym/expr.ts";
import { contiguousLayout } from "../../tensor/layout.ts";
import { readElements } from "../../tensor/host.ts";
import type { Storage } from "../../tensor/storage.ts";
import { isTensor, Tensor } from "../../tensor/tensor.ts";
import type { Fault, ReproCase } from "./case.ts";
import type { HistoryKind } from "./recorder.ts";

/** Information in a repro besides the case. */
export interface ReproAbout {
  readonly fault: Fault;
  /** Comment lines at the top. */
  readonly notes: readonly string[];
  /** Modules to import first, which register the backend. */
  readonly imports: readonly string[];
}

/** The text and files of a repro. */
interface ReproText {
  readonly text: string;
  /** Tensors by name, for `inputs.safetensors` beside it. */
  readonly tensors: Readonly<Record<string, Tensor>>;
}

/** Tensors of at most this many elements are written into the program. */
const MOST_ELEMENTS = 64;

/** The name of the file of larger tensors. */
export const TENSOR_FILE = "inputs.safetensors";

/** Writes a repro. */
export function reproText(of: ReproCase, { fault, notes, imports }: ReproAbout): ReproText {
  const { gm, args, stage, backend, ambientState } = of;
  const inputs = describeInputs(gm.graph.placeholders.map((node, at) => ({
    name: nameOf(node),
    value: args[at],
    more: [
      ...node.meta.source === undefined ? [] : [["source", JSON.stringify(node.meta.source)] as const],
      ...symbolicDims(node).length === 0 ? [] : [["dynamic", valueText(symbolicDims(node))] as const],
    ],
  })));
  const devices = new Set(args.flatMap((arg) => isTensor(arg) && arg.device !== "cpu" ? [arg.device] : []));
  const hasFile = Object.keys(inputs.tensors).length > 0;
  const out = new TextWriter();
  for (const note of notes) out.line(note === "" ? "//" : `// ${note}`);
  out.line("//", "// deno run -A repro.ts     exit code 1 while it fails in this way, 0 once it does not");
  out.line("// dyn minify repro.ts      makes it smaller");
  out.line(`import { ${devices.size > 0 ? "init, " : ""}repro } from "jsr:@x/dyn";`);
  for (const url of imports) out.line(`import ${JSON.stringify(url)};`);
  if (devices.size > 0) out.gap();
  for (const device of devices) out.line(`await init({ device: ${JSON.stringify(device)} });`);
  if (hasFile) {
    out.gap().line(`const file = repro.load(new URL(${JSON.stringify(TENSOR_FILE)}, import.meta.url));`);
  }
  out.gap();
  out.block("repro.run({", () => {
    out.line(`stage: ${JSON.stringify(stage)},`);
    out.line(`backend: ${JSON.stringify(backend)},`);
    const { text: _text, ...known } = { text: "", ...fault };
    out.line(`fault: ${valueText(known)},`);
    const { gradEnabled, generator, settings } = ambientState;
    out.line(`ambientState: ${valueText({ gradEnabled, generator, settings })},`);
    if (gm.signature) out.line(`signature: ${valueText(gm.signature)},`);
    out.block("inputs: {", () => {
      for (const [name, text] of inputs.texts) out.line(`${name}: ${text},`);
    }, "},");
    graphText(out, gm);
  }, "});");
  return { text: out.toString(), tensors: inputs.tensors };
}

/** Names that the program of a repro declares itself. */
const TAKEN: ReadonlySet<string> = new Set(["at", "file", "history", "ops", "repro", "size"]);

const nameOf = ({ name }: Node): string => TAKEN.has(name) ? `${name}$` : name;

/** The dimensions of an input with symbolic sizes; for a size, 0. */
function symbolicDims({ meta: { value } }: Node): number[] {
  if (value.kind === "size") return value.size instanceof Sym ? [0] : [];
  if (value.kind !== "tensor") return [];
  return value.tensor.shape.flatMap((size, dim) => size instanceof Sym ? [dim] : []);
}

/** Returns the gradient history at a node. */
const historyOf = ({ meta: { leaf, noGrad } }: Node): HistoryKind => leaf ? "begun" : noGrad ? "off" : "kept";

/** The graph as a function with one statement per node, under the line of the program that it comes from. */
function graphText(out: TextWriter, gm: GraphModule): void {
  const { graph } = gm;
  const bindings = sizeBindings(graph);
  const text = (argument: Argument): string => argumentText(argument, graph.placeholders, bindings);
  const names = graph.placeholders.map(nameOf).join(", ");
  const nodes = graph.nodes.filter(({ op }) => op !== "placeholder" && op !== "output");
  const tools = [
    "ops",
    ...nodes.some(({ meta }) => meta.stack.length > 0) ? ["at"] : [],
    ...nodes.some((node) => historyOf(node) !== "kept") ? ["history"] : [],
    ...nodes.some((node) => mentionsSize([...node.args, node.kwargs])) ? ["size"] : [],
  ];
  out.block(`graph({ ${tools.join(", ")} }, { ${names} }) {`, () => {
    let place = "", history: HistoryKind = "kept";
    for (const node of nodes) {
      const position = userPosition(node);
      const here = position
        ? `at(${JSON.stringify(positionText(position))}, ${JSON.stringify(position.code)});`
        : "";
      if (here !== place && here !== "") out.line(here);
      place = here;
      const kind = historyOf(node);
      if (kind !== history) out.line(`history(${JSON.stringify(kind)});`);
      history = kind;
      const kwargs = Object.keys(node.kwargs).length > 0 ? [text(node.kwargs)] : [];
      const call = /^[A-Za-z_$][\w$]*$/.test(node.target)
        ? `.${node.target}`
        : `[${JSON.stringify(node.target)}]`;
      out.line(`const ${nameOf(node)} = ops${call}(${[...node.args.map(text), ...kwargs].join(", ")});`);
    }
    out.line(`return ${text(graph.output.args[0])};`);
  }, "},");
}

function mentionsSize(argument: Argument): boolean {
  if (argument instanceof Sym) return true;
  if (isList(argument)) return argument.some(mentionsSize);
  return isRecord(argument) && Object.values(argument).some(mentionsSize);
}

function argumentText(argument: Argument, inputs: readonly Node[], bindings: readonly SizeBinding[]): string {
  const again = (each: Argument) => argumentText(each, inputs, bindings);
  if (argument instanceof Node) return nameOf(argument);
  if (argument instanceof Sym) return sizeText(argument, inputs, bindings);
  if (isList(argument)) return `[${argument.map(again).join(", ")}]`;
  if (isRecord(argument)) {
    return `{ ${Object.entries(argument).map(([key, each]) => `${key}: ${again(each)}`).join(", ")} }`;
  }
  return valueText(argument);
}

/** A symbol as an expression over the input that defines it. */
function symbolText(symbol: Sym, inputs: readonly Node[], bindings: readonly SizeBinding[]): string {
  const binding = bindings.find((each) => each.symbol === symbol);
  const input = inputs[binding?.input ?? -1];
  if (!binding || !input) throw new DynError(`Expected an input that determines the size ${symbol}`);
  const { part } = binding, name = nameOf(input);
  switch (part.kind) {
    case "value":
      return `size.of(${name})`;
    case "shape":
    case "stride":
      return `size.of(${name}, ${JSON.stringify(part.kind)}, ${part.dim})`;
    case "offset":
      return `size.of(${name}, "offset")`;
    default:
      return part satisfies never;
  }
}

/** A size as an expression over the inputs, using the functions of `size`. */
function sizeText(size: Sym, inputs: readonly Node[], bindings: readonly SizeBinding[]): string {
  const again = (d: number | Sym): string => typeof d === "number" ? `${d}` : sizeText(d, inputs, bindings);
  const { node } = size;
  switch (node.kind) {
    case "symbol":
      return symbolText(size, inputs, bindings);
    case "sum": {
      const terms = node.terms.map(({ term, coefficient }) =>
        coefficient === 1 ? again(term) : `size.mul(${again(term)}, ${coefficient})`
      );
      return [...terms, ...node.constant === 0 ? [] : [`${node.constant}`]]
        .reduce((sum, each) => `size.add(${sum}, ${each})`);
    }
    case "product":
      return node.factors.map(again).reduce((product, each) => `size.mul(${product}, ${each})`);
    case "floorDiv":
    case "mod":
    case "min":
    case "max":
      return `size.${node.kind}(${again(node.left)}, ${again(node.right)})`;
    default:
      return node satisfies never;
  }
}

/** Descriptions of inputs. */
interface InputTexts {
  readonly texts: readonly (readonly [name: string, text: string])[];
  /** Tensors that are too large for the text. */
  readonly tensors: Readonly<Record<string, Tensor>>;
}

/** One input. */
interface NamedInput {
  readonly name: string;
  readonly value: unknown;
  /** Further fields of its description. */
  readonly more?: readonly (readonly [name: string, text: string])[];
}

/** Describes inputs; the first tensor of a storage lists its elements, others refer to it. */
export function describeInputs(inputs: readonly NamedInput[]): InputTexts {
  const owners = new Map<Storage, string>();
  const tensors: Record<string, Tensor> = {};
  const all = inputs.map(({ value }) => value).filter(isTensor);
  const texts = inputs.map(({ name, value, more = [] }): [string, string] => {
    if (!isTensor(value)) {
      return [name, more.length > 0 ? recordText([["size", valueText(value)], ...more]) : valueText(value)];
    }
    const { dtype, shape, strides, offset, storage, device, requiresGrad, isLeaf } = value;
    const owner = owners.get(storage);
    const extents = all.filter((each) => each.storage === storage).map((each) =>
      each.offset + each.layout.extent
    );
    const count = Math.max(...extents);
    const isWhole = value.isContiguous() && offset === 0 && count === value.numel();
    const fields: [string, string][] = [["dtype", JSON.stringify(dtype)], ["shape", valueText(shape)]];
    if (!isWhole) fields.push(["strides", valueText(strides)], ["offset", `${offset}`]);
    if (device !== "cpu") fields.push(["device", JSON.stringify(device)]);
    if (requiresGrad) fields.push(["grad", isLeaf ? '"leaf"' : '"result"']);
    if (owner !== undefined) fields.push(["memoryOf", JSON.stringify(owner)]);
    else {
      owners.set(storage, name);
      const flat = new Tensor(storage, contiguousLayout([count], dtype, device));
      if (count <= MOST_ELEMENTS) fields.push(["data", dataText(flat)]);
      else {
        tensors[name] = flat;
        fields.push(["data", `file[${JSON.stringify(name)}]`]);
      }
    }
    return [name, recordText([...fields, ...more])];
  });
  return { texts, tensors };
}

const recordText = (fields: readonly (readonly [string, string])[]): string =>
  `{ ${fields.map(([key, text]) => `${key}: ${text}`).join(", ")} }`;

/** Elements as a list of numbers with the fewest digits that distinguish them. */
function dataText(tensor: Tensor): string {
  const isSingle = tensor.dtype === "float32";
  return `[${
    Array.from<number | bigint, string>(readElements(tensor), (each) => {
      if (typeof each === "bigint") return Number.isSafeInteger(Number(each)) ? `${each}` : `${each}n`;
      return isSingle ? singleText(each) : valueText(each);
    }).join(", ")
  }]`;
}

/** The shortest decimal that rounds to this float32. */
function singleText(value: number): string {
  for (let digits = 1; digits <= 9; digits++) {
    const short = Number(value.toPrecision(digits));
    if (Object.is(Math.fround(short), value)) return valueText(short);
  }
  return valueText(value);
}

/** A plain value as an expression. */
export function valueText(value: unknown): string {
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value === "number") return Object.is(value, -0) ? "-0" : `${value}`;
  if (Array.isArray(value)) return `[${value.map(valueText).join(", ")}]`;
  if (isPlainObject(value)) {
    const fields = Object.entries(value).filter(([, each]) => each !== undefined);
    return fields.length === 0
      ? "{}"
      : `{ ${fields.map(([key, each]) => `${key}: ${valueText(each)}`).join(", ")} }`;
  }
  return JSON.stringify(value) ?? "undefined";
}
