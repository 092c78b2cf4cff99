/**
 * Writes the typed surface of the ops from their definitions: the interface that compositions and gradients use, the
 * methods of Tensor and the free functions. Run it after changing a definition: `deno task generate`. Invariant: the
 * output depends on the definitions alone.
 */
import { capitalized, snakeCase } from "../lib/base/names.ts";
import { isMethod } from "../lib/ops/api.ts";
import { isCreation, takesInplace } from "../lib/ops/call.ts";
import { ALL_OPS } from "../lib/ops/table.ts";
import type { OpDefinition } from "../lib/ops/definition.ts";
import { optional, type Param, type ParamKind } from "../lib/ops/params.ts";

/** A generated file: its path in the repository and its text. */
export interface GeneratedFile {
  readonly path: string;
  readonly text: string;
}

const TYPES: Readonly<Record<ParamKind, string>> = {
  tensor: "T",
  tensors: "readonly T[]",
  tensorsOrNulls: "readonly (T | null)[]",
  operand: "Operand<T>",
  scalar: "Scalar | Dim",
  scalarOperand: "Scalar | Dim",
  float: "number",
  floatOperand: "number",
  scalarOrString: "Scalar | string",
  sizesOrString: "Dim | readonly Dim[] | string",
  int: "number",
  ints: "readonly number[]",
  intOrInts: "IntOrInts",
  sizeOrSizes: "Dim | readonly Dim[]",
  counts: "readonly Dim[]",
  dims: "IntOrInts",
  dimsOrBool: "IntOrInts | boolean",
  pairs: "number | readonly (readonly number[])[]",
  outputSizes: "Dim | readonly (Dim | null)[]",
  floatOrFloats: "number | readonly number[]",
  size: "Dim",
  sizes: "readonly Dim[]",
  bool: "boolean",
  dtype: "DType",
  device: "DeviceName",
  string: "string",
};

/** Kinds of numbers that are tensors in graphs in which they change. */
const OPERAND_NUMBERS: ReadonlySet<ParamKind> = new Set(["floatOperand", "scalarOperand"]);

const NOTICE = "Written by tools/generate.ts from the definitions in lib/ops; run `deno task generate`.";

/** Words that cannot name an exported constant. */
export const RESERVED = new Set([
  "var",
  "delete",
  "in",
  "new",
  "default",
  "function",
  "return",
  "switch",
  "with",
]);

/** Order of the formatter, which sorts names without regard to case. */
const byName = (a: string, b: string): number => {
  const [x, y] = [a.toLowerCase(), b.toLowerCase()];
  // The formatter's order: capitals first among names that differ only in case
  return x !== y ? (x < y ? -1 : 1) : a < b ? -1 : a > b ? 1 : 0;
};

function typeOf(param: Param, tensor: string): string {
  const text = param.oneOf ? param.oneOf.map((o) => JSON.stringify(o)).join(" | ") : TYPES[param.kind];
  const base = text.replaceAll(/\bT\b/g, tensor) + (param.complex ? " | Complex" : "");
  return param.nullable ? `${base} | null` : base;
}

/** The type of an argument in compositions, where a number that changes between calls of a graph is a tensor. */
function innerTypeOf(param: Param, tensor: string): string {
  const text = typeOf(param, tensor);
  return OPERAND_NUMBERS.has(param.kind) ? `${text} | ${tensor}` : text;
}

const isOptional = (param: Param): boolean => param.default !== undefined || param.nullable;
const usesTensor = (param: Param): boolean => /\bT\b/.test(TYPES[param.kind]);

/** The arguments that calls take: the parameters, and for some whether the result goes into the first tensor. */
function argumentsOf(definition: OpDefinition): [string, Param][] {
  const entries = Object.entries<Param>(definition.params);
  return takesInplace(definition) ? [...entries, ["inplace", optional("bool", false)]] : entries;
}

/** The arguments that may be given by name. */
function namedParams(definition: OpDefinition): [string, Param][] {
  return argumentsOf(definition).filter(([, p]) => isOptional(p));
}

const hasOptions = (d: OpDefinition): boolean =>
  namedParams(d).length > 0 || isCreation(d) || d.takesGenerator === true;
const optionsGeneric = (d: OpDefinition): boolean => namedParams(d).some(([, p]) => usesTensor(p));
const optionsName = (d: OpDefinition, tensor: string): string =>
  `${OPTIONS_NAMES.get(d) ?? ""}${optionsGeneric(d) ? `<${tensor}>` : ""}`;

/** The arguments by name in compositions. */
function innerOptionsName(definition: OpDefinition, tensor: string): string {
  const name = optionsName(definition, tensor);
  const numbers = namedParams(definition).flatMap(([key, { kind }]) =>
    OPERAND_NUMBERS.has(kind) ? JSON.stringify(key) : []
  );
  return numbers.length > 0 ? `OperandNumbers<${name}, ${numbers.join(" | ")}, ${tensor}>` : name;
}

/** Describes an argument that is omitted. */
function defaultText(name: string, { default: value }: Param): string {
  const shown = snakeCase(name);
  const otherwise = value === undefined || value === null ? "optional" : `default ${JSON.stringify(value)}`;
  return `As PyTorch's \`${shown}\`; ${otherwise}.`;
}

/** The fields of the arguments of an op by name, each with its comment. */
function fieldsOf(definition: OpDefinition): string[] {
  const field = (comment: string, name: string, type: string) =>
    `  /** ${comment} */\n  readonly ${name}?: ${type} | undefined;`;
  const fields = namedParams(definition).map(([name, p]) =>
    field(defaultText(name, p), name, typeOf(p, "T"))
  );
  if (isCreation(definition)) {
    fields.push(
      field("Whether to record operations on the result; default false.", "requiresGrad", "boolean"),
    );
  }
  if (definition.takesGenerator) {
    const about = "The generator of random numbers; default: the global one.";
    fields.push(field(about, "generator", "RandomSource | null"));
  }
  return fields;
}

/** The ops that take the same arguments by name. */
const OPTIONS: readonly (readonly OpDefinition[])[] = [
  ...Map.groupBy(ALL_OPS.filter(hasOptions), (definition) => fieldsOf(definition).join("\n")).values(),
];

/** Names of interfaces: of one or two arguments that several ops share by these, of others by the first op. */
const OPTIONS_NAMES: ReadonlyMap<OpDefinition, string> = new Map(
  OPTIONS.flatMap((group, at) => {
    const shared = sharedName(group);
    const isTaken = OPTIONS.some((other, k) =>
      shared === (sharedName(other) === null ? firstName(other) : k < at ? sharedName(other) : null)
    );
    return group.map((each) => [each, shared === null || isTaken ? firstName(group) : shared] as const);
  }),
);

/** The interfaces of arguments that others extend: of two fields or more, which several ops take. */
const BASE_OPTIONS = OPTIONS.flatMap(([first, ...others]) => {
  const fields = first ? fieldsOf(first) : [];
  return first && others.length > 0 && fields.length > 1 ? [{ name: optionsName(first, "T"), fields }] : [];
});

function firstName([first]: readonly OpDefinition[]): string {
  return first ? `${capitalized(first.name)}Options` : "";
}

function sharedName([first, ...others]: readonly OpDefinition[]): string | null {
  const fields = first && others.length > 0
    ? fieldsOf(first).flatMap((field) => /readonly (\w+)\?/.exec(field)?.[1] ?? [])
    : [];
  return fields.length === 1 || fields.length === 2 ? `${fields.map(capitalized).join("")}Options` : null;
}

/** The fields that an interface of arguments writes itself, and the interfaces that have its other fields. */
function extendedOptions(definition: OpDefinition): { readonly bases: string[]; readonly fields: string[] } {
  const bases: string[] = [];
  let own = fieldsOf(definition);
  const all = own.length;
  for (;;) {
    const [largest] = BASE_OPTIONS
      .filter(({ fields }) => fields.length < all && fields.every((field) => own.includes(field)))
      .sort((a, b) => b.fields.length - a.fields.length);
    if (!largest) return { bases, fields: own };
    bases.push(largest.name);
    own = own.filter((field) => !largest.fields.includes(field));
  }
}

/** The interfaces of arguments by name, one for all ops that have the same. */
function optionsInterfaces(): string[] {
  return OPTIONS.flatMap((group) => {
    const [first, ...others] = group;
    if (!first) return [];
    const about = others.length > 0
      ? ` and ${others.length} further ${others.length === 1 ? "op" : "ops"}`
      : "";
    const { bases, fields } = extendedOptions(first);
    const heading = `export interface ${optionsName(first, "T")}${
      bases.length > 0 ? ` extends ${bases.join(", ")}` : ""
    }`;
    return [`/** Arguments of ${first.name}${about} by name. */\n${heading} {\n${fields.join("\n")}\n}\n`];
  });
}

function tupleType(definition: OpDefinition, tensor: string, names = definition.results ?? []): string {
  const items = names.map((n) => `${n}: ${tensor}`).join(", ");
  const fields = names.map((n) => `readonly ${n}: ${tensor}`).join("; ");
  return `[${items}] & { ${fields} }`;
}

function resultType(definition: OpDefinition, tensor: string): string {
  if (definition.resultList) return `${tensor}[]`;
  if (definition.results && !definition.resultsIf && !definition.resultsWith) {
    return tupleType(definition, tensor);
  }
  return tensor;
}

interface SignatureOptions {
  readonly tensor: string;
  /** Leave out the first parameter: it is the receiver. */
  readonly method: boolean;
  /** Leave out the options object. */
  readonly plain?: boolean;
  /** Write the optional arguments as one tuple: shorter, but readers do not see their types. */
  readonly compact?: boolean;
}

/** The parameter list and result of each overload. */
export function signatures(definition: OpDefinition, options: SignatureOptions): string[] {
  const entries = argumentsOf(definition).slice(options.method ? 1 : 0).map(([name, p]) =>
    [RESERVED.has(name) ? `${name}_` : name, p] as [string, Param]
  );
  const { tensor } = options;
  const result = resultType(definition, tensor);
  const at = definition.resultsIf;
  if (definition.resultsWith) return flaggedSignatures(definition, entries, options);
  if (at === undefined) {
    return [...parameterLists(definition, entries, options), ...namedLists(definition, entries, options)]
      .map((list) => `(${list}): ${result}`);
  }
  const deciding = definition.params[at];
  if (!deciding) return [];
  const tuple = tupleType(definition, tensor);
  const named = optionsName(definition, tensor);
  const position = entries.findIndex(([name]) => name === at);
  const before = entries.slice(0, position), after = entries.slice(position + 1);
  const list = (es: readonly [string, Param][], o: SignatureOptions) => parameterLists(definition, es, o);
  const given = deciding.kind === "operand" ? "number" : deciding.kind === "bool" ? "true" : typeOf({
    ...deciding,
    nullable: false,
  }, tensor);
  const lead = before.map(([name, p]) => `${name}${isOptional(p) ? "?" : ""}: ${typeOf(p, tensor)}`);
  const out: string[] = [];
  if (deciding.kind === "operand") out.push(`(${[...lead, `other: ${tensor}`].join(", ")}): ${tensor}`);
  const optionalBefore = before.some(([, p]) => isOptional(p));
  if (!deciding.keyword) {
    const firm = before.map(([name, p]) =>
      `${name}: ${typeOf(p, tensor)}${isOptional(p) ? " | undefined" : ""}`
    );
    for (const rest of list(after, { ...options, plain: false })) {
      out.push(`(${[...firm, `${at}: ${given}`, rest].filter((x) => x !== "").join(", ")}): ${tuple}`);
    }
  }
  const several = before.filter(([, p]) => !isOptional(p)).map(([name, p]) =>
    `${name}: ${typeOf(p, tensor)}`
  );
  out.push(`(${[...several, `options: ${named} & { readonly ${at}: ${given} }`].join(", ")}): ${tuple}`);
  if (optionalBefore) {
    out.push(
      `(${
        [
          ...before.map(([name, p]) => `${name}: ${typeOf(p, tensor)}${isOptional(p) ? " | undefined" : ""}`),
          `options: ${named} & { readonly ${at}: ${given} }`,
        ].join(", ")
      }): ${tuple}`,
    );
  }
  const without = deciding.kind === "bool" ? "false" : "null";
  const plainRest = after.filter(([, p]) => !p.keyword).map(([name, p]) => `${name}?: ${typeOf(p, tensor)}`);
  const single = deciding.keyword
    ? list(before, options)
    : list(before, { ...options, plain: true }).map((l) =>
      [l, `${at}?: ${without} | ${named}`, ...plainRest].filter((x) => x !== "").join(", ")
    );
  const byName = namedLists(definition, entries, options);
  for (const each of [...single, ...byName]) out.push(`(${each}): ${tensor}`);
  return out;
}

/** Signatures whose results depend on several flags: one overload, positional and by name, for each combination. */
function flaggedSignatures(
  definition: OpDefinition,
  entries: readonly [string, Param][],
  { tensor }: SignatureOptions,
): string[] {
  const { results = [], resultsWith = {} } = definition, named = optionsName(definition, tensor);
  const flags = Object.values(resultsWith),
    isFlag = ([name]: readonly [string, Param]) => flags.includes(name);
  const start = entries.findIndex(isFlag), end = start + flags.length;
  const plain = ([name, p]: readonly [string, Param]) => `${name}?: ${typeOf(p, tensor)} | ${named}`;
  const firm = entries.slice(0, start).map(([name, p]) =>
    `${name}: ${typeOf(p, tensor)}${isOptional(p) ? " | undefined" : ""}`
  );
  const needed = entries.slice(0, start).flatMap(([name, p]) =>
    isOptional(p) ? [] : [`${name}: ${typeOf(p, tensor)}`]
  );
  const choices = flags.reduceRight<string[][]>(
    (all, flag) => [...all.map((set) => [flag, ...set]), ...all],
    [[]],
  );
  return choices.flatMap((set) => {
    const names = results.filter((name) => !(name in resultsWith) || set.includes(resultsWith[name] ?? ""));
    if (names.length === 1) {
      const unset = flags.map((flag) => `${flag}?: false | ${named}`);
      const lead = entries.slice(needed.length, start).map(plain);
      const tail = [...entries.slice(end).map(plain), `options?: ${named}`];
      return [`(${[...needed, ...lead, ...unset, ...tail].join(", ")}): ${tensor}`];
    }
    const last = flags.findLastIndex((flag) => set.includes(flag));
    const given = flags.map((flag, k) =>
      set.includes(flag)
        ? `${flag}: true`
        : k < last
        ? `${flag}: false | undefined`
        : `${flag}?: false | ${named}`
    );
    const chosen = `options: ${named} & { ${set.map((flag) => `readonly ${flag}: true`).join("; ")} }`;
    const tail = [...entries.slice(end).map(plain), `options?: ${named}`];
    const lists = [[...firm, ...given, ...tail], [...needed, chosen]];
    if (firm.length > needed.length) lists.push([...firm, chosen]);
    return lists.map((list) => `(${list.join(", ")}): ${tupleType(definition, tensor, names)}`);
  });
}

const OPERANDS: ReadonlySet<ParamKind> = new Set(["tensor", "tensors", "tensorsOrNulls", "operand"]);

/** Returns whether programs have an op as a function: at the top of the module, or in a namespace. */
const isFunction = ({ exposure }: OpDefinition): boolean =>
  exposure?.free !== false || exposure.namespaces !== undefined;

/**
 * The parameter lists with required arguments by name: all from the first one that is not a tensor, `x.softmax({ dim: 1
 * })`, and also from each later one, `linspace(0, 1, { steps: 5 })`. Internal ops have no such forms.
 */
function namedLists(
  definition: OpDefinition,
  entries: readonly [string, Param][],
  { tensor }: SignatureOptions,
): string[] {
  if (!isFunction(definition) && !isMethod(definition)) return [];
  const first = entries.findIndex(([, p]) => !OPERANDS.has(p.kind));
  const firm = entries.findIndex(([, p]) => isOptional(p));
  const end = firm < 0 ? entries.length : firm, starts = first < 0 || first >= end ? [] : [first];
  for (let at = first + 1; first >= 0 && at < end; at++) starts.push(at);
  const rest = hasOptions(definition) ? ` & ${optionsName(definition, tensor)}` : "";
  return starts.map((start) => {
    const named = entries.slice(start).filter(([, p]) => !isOptional(p));
    const fields = named.map(([name, p]) => `readonly ${name}: ${typeOf(p, tensor)}`).join("; ");
    const before = entries.slice(0, start).map(([name, p]) => `${name}: ${typeOf(p, tensor)}`);
    return [...before, `named: { ${fields} }${rest}`].join(", ");
  });
}

/** Parameter lists: one, or two where sizes may be spread. */
function parameterLists(
  definition: OpDefinition,
  entries: readonly [string, Param][],
  { tensor, plain, compact }: SignatureOptions,
): string[] {
  const positional = entries.filter(([, p]) => !p.keyword);
  const nameOf = compact ? innerOptionsName : optionsName;
  const named = plain || !hasOptions(definition) ? undefined : nameOf(definition, tensor);
  const lastRequired = positional.findLastIndex(([, p]) => !isOptional(p));
  const texts = positional.map(([name, p], k) => {
    const type = (compact ? innerTypeOf : typeOf)(p, tensor);
    if (k <= lastRequired) return `${name}: ${type}${isOptional(p) ? " | undefined" : ""}`;
    return `${name}?: ${type}${named ? ` | ${named}` : ""}`;
  });
  const tail = named ? [`options?: ${named}`] : [];
  const needed = texts.slice(0, lastRequired + 1),
    names = positional.slice(lastRequired + 1).map(([name]) => name);
  const lists = [
    compact && named && names.length > 0
      ? [...needed, `...rest: Rest<${named}, ${JSON.stringify(names)}>`].join(", ")
      : [...texts, ...tail].join(", "),
  ];
  const spread = positional.findIndex(([, p]) => p.variadic);
  if (spread >= 0) {
    const [name, p] = positional[spread] ?? ["", undefined];
    if (p) {
      const item = p.kind === "tensors" ? tensor : p.kind === "sizes" ? "Dim" : "number";
      const rest = named ? `...${name}: (${item} | ${named})[]` : `...${name}: ${item}[]`;
      lists.push([...texts.slice(0, spread), rest].join(", "));
    }
  }
  return lists;
}

/** A doc comment, wrapped. */
function comment(text: string, indent: string): string {
  const words = `${text}`.split(/\s+/), lines: string[] = [];
  let line = "";
  for (const word of words) {
    if (line.length + word.length + indent.length > 104) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  lines.push(line);
  if (lines.length === 1) return `${indent}/** ${lines[0]} */`;
  return [`${indent}/**`, ...lines.map((l) => `${indent} * ${l}`), `${indent} */`].join("\n");
}

/** Imports of what signatures name in lib/ops. */
const SHARED_TYPES = [
  'import type { Complex } from "../base/complex.ts";',
  'import type { DType } from "../base/dtype.ts";',
  'import type { DeviceName } from "../loops/device.ts";',
  'import type { Dim } from "../sym/expr.ts";',
  'import type { RandomSource } from "./random_source.ts";',
  'import type { IntOrInts, Scalar } from "./params.ts";',
];

function optionsFile(): string {
  return [
    "/**",
    ` * The types that signatures of ops share: operands, results and arguments by name. ${NOTICE}`,
    " */",
    ...SHARED_TYPES,
    "",
    "/** An operand: a tensor or a number. */",
    "export type Operand<T> = T | Scalar | Dim | Complex;",
    "",
    "/** Several results, by position and by name. */",
    "export type Results<T, Names extends string[]> =",
    "  & { [K in keyof Names]: T }",
    "  & { readonly [K in Names[number]]: T };",
    "",
    optionsInterfaces().join("\n"),
  ].join("\n");
}

/** Width of a line: what is longer is written once, and named where it is the same. */
const LINE = 100;

/** The interface that compositions and gradients use; programs meet the ops as methods and functions, with docs. */
function opsFile(): string {
  const first = new Map<string, string>();
  const body = ALL_OPS.flatMap((d) => {
    const forms = signatures(d, { tensor: "T", method: false, compact: true });
    const all = forms.join("\n"), same = first.get(all);
    if (same !== undefined && all.length > LINE) return [`  ${d.name}: OpApi<T>["${same}"];`];
    if (same === undefined) first.set(all, d.name);
    return forms.map((form) => `  ${d.name}${form};`);
  });
  return [
    "/**",
    ` * The ops as one typed interface. ${NOTICE}`,
    " */",
    ...SHARED_TYPES.filter((each) => !each.includes("RandomSource")),
    'import type * as named from "./generated_options.ts";',
    'import type { Operand, Results } from "./generated_options.ts";',
    'import type { TensorLike } from "./tensor_like.ts";',
    'import type { Trailing } from "../base/arguments.ts";',
    "",
    "/** Optional arguments in order: any by position, then the others by name. */",
    "type Rest<O, Names extends readonly (keyof O)[]> = [...Trailing<O, Names>, options?: O];",
    "",
    "/** Arguments by name, where numbers that change between calls of a graph are tensors. */",
    "type OperandNumbers<O, K extends keyof O, T> = Omit<O, K> & { readonly [P in K]?: O[P] | T };",
    "",
    "/** Public names of all ops. */",
    "export type OpName = keyof OpApi<TensorLike>;",
    "",
    "/** Every op as a function of tensors of type T. Trailing arguments may be given by name. */",
    "export interface OpApi<T extends TensorLike> {",
    withResults(body.join("\n")).replaceAll(/\b(\w+Options)\b/g, "named.$1"),
    "}",
    "",
  ].join("\n");
}

function methodsFile(): string {
  const body: string[] = [];
  for (const d of ALL_OPS) {
    if (!isMethod(d) && !d.inplace) continue;
    const lists = signatures(d, { tensor: "T", method: true });
    for (const name of [d.name, ...(d.exposure?.aliases ?? [])]) {
      if (isMethod(d)) body.push(...lists.flatMap((s) => [comment(d.doc, "  "), `  ${name}${s};`]));
      if (!d.inplace) continue;
      const doc = d.inplace === "layout"
        ? `${name}, whose layout this tensor adopts; returns this tensor.`
        : `${name}, in place; returns this tensor.`;
      const entries = Object.entries(d.params).slice(1), options = { tensor: "T", method: true };
      for (const list of [...parameterLists(d, entries, options), ...namedLists(d, entries, options)]) {
        body.push(comment(doc, "  "), `  ${name}_(${list}): T;`);
      }
    }
  }
  const text = withResults(body.join("\n"));
  return [
    "/**",
    ` * The methods of Tensor that are ops. ${NOTICE}`,
    " */",
    ...typeImports(text),
    "",
    "/** Ops as methods; T is the tensor class itself. */",
    "export interface TensorMethods<T> {",
    text,
    "}",
    "",
  ].join("\n");
}

/** Replaces tuples of several results by a named type; pages spell them out. */
const withResults = (text: string): string =>
  text.replaceAll(/\[((?:\w+: \w+(?:, )?)+)\] & \{[^}]*\}/g, (_, items: string) => {
    const names = [...items.matchAll(/(\w+):/g)].map(([, name]) => `"${name}"`);
    return `Results<${items.endsWith("Tensor") ? "Tensor" : "T"}, [${names.join(", ")}]>`;
  });

/** The types that signatures name besides options, by their modules. */
const TYPE_MODULES = {
  Complex: "../base/complex.ts",
  DType: "../base/dtype.ts",
  DeviceName: "../loops/device.ts",
  Dim: "../sym/expr.ts",
  IntOrInts: "../ops/params.ts",
  RandomSource: "../ops/random_source.ts",
  Scalar: "../ops/params.ts",
};

/** Imports of the types that a text names outside its comments. */
function typeImports(text: string): string[] {
  const words = new Set(text.replaceAll(/\/\*\*.*?\*\//gs, "").match(/\w+/g));
  const used = ["Operand", "Results", ...new Set(OPTIONS_NAMES.values())].filter((name) => words.has(name))
    .sort(byName);
  return [
    ...[...Map.groupBy(Object.entries(TYPE_MODULES), ([, module]) => module)].flatMap(([module, types]) => {
      const named = types.flatMap(([name]) => words.has(name) ? name : []);
      return named.length > 0 ? `import type { ${named.join(", ")} } from "${module}";` : [];
    }),
    `import type {\n${used.map((name) => `  ${name},`).join("\n")}\n} from "../ops/generated_options.ts";`,
  ];
}

/** The names under which an op may be exported. */
export function exportNames(definition: OpDefinition): string[] {
  return [definition.name, ...(definition.exposure?.aliases ?? [])].filter((name) => !RESERVED.has(name));
}

/**
 * Returns whether a name is an alias that is also the name of another op; such an alias exists in namespaces only.
 */
function isTaken(name: string, definition: OpDefinition): boolean {
  return ALL_OPS.some((other) => other !== definition && other.name === name);
}

/**
 * The type of an op as a function: its signature, or one for each way to call it. Functions that differ in the number of
 * dimensions, as maxPool1d and maxPool2d, have the type of the first of them, whose name is in `first`: pages show a
 * type in one line.
 */
function functionType(definition: OpDefinition, name: string, first: Map<string, string>): string {
  const lists = signatures(definition, { tensor: "Tensor", method: false });
  const [only, ...others] = lists;
  const type = only !== undefined && others.length === 0
    ? only.replace("): ", ") => ")
    : `{\n${lists.map((list) => `  ${list};`).join("\n")}\n}`;
  const family = `${name.replace(/\dd$/, "")} ${type}`, same = first.get(family);
  if (same !== undefined && type.length > LINE) return `typeof ${same}`;
  first.set(family, name);
  return type;
}

/** Returns whether an op is exported at the top of the module, and not only in namespaces. */
const isFree = (definition: OpDefinition): boolean => definition.exposure?.free !== false;

/** The functions at the top of the module, or those in namespaces. */
function functionsFile(about: string, free: boolean): string {
  const lines: string[] = [], typed = new Map<string, string>();
  for (const d of ALL_OPS) {
    if (isFree(d) !== free || !isFunction(d)) continue;
    const [first, ...aliases] = exportNames(d).filter((name) => !isTaken(name, d));
    if (first === undefined) continue;
    lines.push(
      comment(d.doc, ""),
      `export const ${first}: ${functionType(d, first, typed)} = ops.${d.name};`,
    );
    for (const name of aliases) {
      lines.push(comment(d.doc, ""), `export const ${name}: typeof ${first} = ${first};`);
    }
  }
  const text = withResults(lines.join("\n"));
  return [
    "/**",
    ` * ${about} ${NOTICE}`,
    " */",
    ...typeImports(text),
    'import { ops } from "./eager.ts";',
    'import type { Tensor } from "./tensor.ts";',
    ...(free ? [] : ['export * from "./generated_free.ts";']),
    "",
    text,
    "",
  ].join("\n");
}

/** Prefixes that keep names in the table apart where a namespace has a function of the same name. */
const PREFIXES = { "nn.functional": "functional", linalg: "linalg", special: "special", fft: "fft" } as const;

type Namespace = keyof typeof PREFIXES;

/** Exports of the functions of a namespace. */
function selectionFile(namespace: Namespace): string {
  const exports: string[] = [], prefix = PREFIXES[namespace];
  for (const d of ALL_OPS) {
    if (!d.exposure?.namespaces?.includes(namespace)) continue;
    for (const name of exportNames(d)) {
      const rest = name.startsWith(prefix) ? name.slice(prefix.length) : "";
      const shown = /^[A-Z]/.test(rest) ? rest.charAt(0).toLowerCase() + rest.slice(1) : name;
      const source = isTaken(name, d) ? d.name : name;
      exports.push(shown === source ? source : `${source} as ${shown}`);
    }
  }
  return [
    "/**",
    ` * The ops in \`${namespace}\`. ${NOTICE}`,
    " */",
    `export {\n${
      [...new Set(exports)].sort(byName).map((e) => `  ${e},`).join("\n")
    }\n} from "./generated_functions.ts";`,
    "",
  ].join("\n");
}

/** Every generated file with its current text. */
export function generateAll(): GeneratedFile[] {
  return [
    { path: "lib/ops/generated.ts", text: opsFile() },
    { path: "lib/ops/generated_options.ts", text: optionsFile() },
    { path: "lib/tensor/generated_methods.ts", text: methodsFile() },
    { path: "lib/tensor/generated_free.ts", text: functionsFile("The ops at the top of the module.", true) },
    {
      path: "lib/tensor/generated_functions.ts",
      text: functionsFile(
        "The functions over tensors that only namespaces have, and those at the top of the module.",
        false,
      ),
    },
    { path: "lib/tensor/generated_functional.ts", text: selectionFile("nn.functional") },
    { path: "lib/tensor/generated_linalg.ts", text: selectionFile("linalg") },
    { path: "lib/tensor/generated_special.ts", text: selectionFile("special") },
    { path: "lib/tensor/generated_fft.ts", text: selectionFile("fft") },
  ];
}

if (import.meta.main) {
  const root = new URL("../", import.meta.url);
  for (const { path, text } of generateAll()) {
    const file = new URL(path, root);
    const old = await Deno.readTextFile(file).catch(() => "");
    if (old !== text) await Deno.writeTextFile(file, text);
  }
}
