/**
 * Prints programs: functions that create one each (captured tensors, the function and its calls), combined in a module,
 * or a complete file that shows what a program does plainly and compiled. Invariant: the text that a fuzzer runs is the
 * text that a person sees, except for types.
 */
import { compileOptions } from "./compile_options.ts";
import { makeData } from "./data.ts";
import {
  type Arg,
  type Bind,
  type Call,
  type DataStatement,
  everyStatement,
  isArgList,
  type Program,
  type Statement,
} from "./program.ts";

/** Options of printing. */
export interface PrintOptions {
  /** Whether to print type annotations, as TypeScript. */
  readonly types: boolean;
}

const numberText = (x: number): string => Object.is(x, -0) ? "-0" : String(x);

function argText(arg: Arg): string {
  switch (typeof arg) {
    case "number":
      return numberText(arg);
    case "boolean":
      return String(arg);
    case "string":
      return JSON.stringify(arg);
    default: {
      if (arg === null) return "null";
      if (isArgList(arg)) return `[${arg.map(argText).join(", ")}]`;
      if (arg.kind === "variable") return arg.name;
      if (arg.kind === "shape") return `${arg.of}.shape[${arg.dim}]`;
      return `{ ${Object.entries(arg.entries).map(([k, each]) => `${k}: ${argText(each)}`).join(", ")} }`;
    }
  }
}

function bindText(bind: Bind): string {
  if (bind === null) return "";
  if (typeof bind === "string") return `const ${bind} = `;
  const last = bind.findLastIndex((name) => name !== null);
  return last < 0 ? "" : `const [${bind.slice(0, last + 1).map((name) => name ?? "").join(", ")}] = `;
}

/** Nested arrays of literals. */
function literal(elements: readonly string[], shape: readonly number[]): string {
  const [size, ...rest] = shape;
  if (size === undefined) return elements[0] ?? "0";
  const step = rest.reduce((a, b) => a * b, 1);
  const parts = Array.from(
    { length: size },
    (_, k) => literal(elements.slice(k * step, (k + 1) * step), rest),
  );
  return `[${parts.join(", ")}]`;
}

function dataText(data: DataStatement, call: Pick<Call, "sizes" | "shift">): string {
  const { shape, elements } = makeData(data, call);
  const options = `{ dtype: ${JSON.stringify(data.dtype)}${data.grad ? ", requiresGrad: true" : ""} }`;
  if (elements.length === 0) return `const ${data.name} = zeros([${shape.join(", ")}], ${options});`;
  const texts = elements.map((x) => data.dtype === "bool" ? String(x === 1) : numberText(x));
  return `const ${data.name} = tensor(${literal(texts, shape)}, ${options});`;
}

/** The statement as lines; `call` gives data its sizes. */
function statementLines(statement: Statement, call: Pick<Call, "sizes" | "shift">): string[] {
  const block = (list: readonly Statement[]) =>
    list.flatMap((each) => statementLines(each, call)).map(indent);
  switch (statement.kind) {
    case "data":
      return [dataText(statement, call)];
    case "call": {
      const { style, name, args } = statement;
      const head = bindText(statement.bind);
      if (style === "function") return [`${head}${name}(${args.map(argText).join(", ")});`];
      const [receiver = null, ...rest] = args;
      const access = `${argText(receiver)}.${name}`;
      return [
        style === "property" ? `${head}${access};` : `${head}${access}(${rest.map(argText).join(", ")});`,
      ];
    }
    case "number":
      return [
        statement.how === "item"
          ? `const ${statement.bind} = ${statement.of}.sum().item();`
          : `const ${statement.bind} = +${statement.of}.sum();`,
      ];
    case "noGrad":
      return ["noGrad(() => {", ...block(statement.body), "});"];
    case "loop":
      return [`for (let i = 0; i < ${statement.count}; i++) {`, ...block(statement.body), "}"];
    case "try":
      return [
        "try {",
        ...block(statement.body),
        "} catch (error) {",
        indent('effects.push("caught", String(error));'),
        ...block(statement.handler),
        "}",
      ];
    case "if":
      return [
        `if (+${statement.of}.sum() > 0) {`,
        ...block(statement.body),
        ...statement.otherwise.length > 0 ? ["} else {", ...block(statement.otherwise)] : [],
        "}",
      ];
    case "hook":
      return [
        `${statement.of}.registerHook((g) => {`,
        indent(`effects.push("hook ${statement.of}", g.shape.join());`),
        indent(`return g.mul(${numberText(statement.scale)});`),
        "});",
      ];
    case "backward":
      return [`${statement.of}.sum().backward(${statement.retainGraph ? "{ retainGraph: true }" : ""});`];
    case "grad": {
      const options = `{ allowUnused: true${statement.createGraph ? ", createGraph: true" : ""} }`;
      return [
        `const [${statement.bind.join(", ")}] = autograd.grad(${statement.of}.sum(), [${
          statement.inputs.join(", ")
        }], ${options});`,
      ];
    }
    case "log":
      return [
        `${statement.to === "log" ? "effects.push" : "console.log"}(${
          statement.values.map(argText).join(", ")
        });`,
      ];
    case "optimizer":
      return [`optimizer.${statement.action}();`];
    case "seed":
      return [`manualSeed(${statement.seed});`];
    default:
      return statement satisfies never;
  }
}

const indent = (line: string): string => `  ${line}`;

/** Names of new data in a list. */
function dataNames(list: readonly Statement[]): string[] {
  return list.filter((s) => s.kind === "data" || s.kind === "call").flatMap((s) => {
    if (s.kind === "data") return [s.name];
    return typeof s.bind === "string" ? [s.bind] : [];
  });
}

/** The names of tensors of a program besides its results: those that a run inspects after each call. */
export function observedNames(program: Program): { readonly state: string[]; readonly setup: string[] } {
  return { state: dataNames(program.state), setup: dataNames(program.setup) };
}

/** A function without parameters that creates a program: its captures, the function, its calls. */
export function factoryText(program: Program, name: string, { types }: PrintOptions): string {
  const { state, optimizer, setup, params, body, results, calls } = program;
  const [first = { sizes: [], shift: 0 }] = calls;
  const names = observedNames(program);
  const lines = [`const effects${types ? ": unknown[]" : ""} = [];`];
  lines.push(...state.flatMap((each) => statementLines(each, { sizes: first.sizes, shift: 0 })));
  if (optimizer) {
    const options = Object.entries(optimizer.options).map(([k, value]) => `${k}: ${value}`).join(", ");
    lines.push(
      `const optimizer = new optim.${optimizer.name}([${optimizer.params.join(", ")}], { ${options} });`,
    );
  }
  const annotated = params.map((param, k) =>
    types ? `${param}: ${typeof calls[0]?.args[k] === "number" ? "number" : "Tensor"}` : param
  );
  lines.push(
    `const f = (${annotated.join(", ")}) => {`,
    ...body.flatMap((each) => statementLines(each, first)).map(indent),
    indent(`return [${results.map(argText).join(", ")}];`),
    "};",
    "const calls = [",
  );
  for (const call of calls) {
    lines.push(
      indent("() => {"),
      ...setup.flatMap((each) => statementLines(each, call)).map(indent).map(indent),
      indent(indent(
        `return { args: [${
          call.args.map((arg) => typeof arg === "number" ? numberText(arg) : arg).join(", ")
        }]${types ? " as const" : ""}, seen: { ${names.setup.join(", ")} } };`,
      )),
      indent("},"),
    );
  }
  lines.push(
    "];",
    `return { f, calls, effects, state: { ${names.state.join(", ")} }, optimizer: ${
      optimizer ? "optimizer" : "null"
    } };`,
  );
  return [`function ${name}() {`, ...lines.map(indent), "}"].join("\n");
}

/** Names that the text of programs imports. */
function imported(programs: readonly Program[]): string[] {
  const names = new Set(["tensor", "zeros"]);
  for (const program of programs) {
    if (program.optimizer) names.add("optim");
    for (const list of [program.state, program.setup, program.body]) {
      for (const statement of everyStatement(list)) {
        if (statement.kind === "call" && statement.style === "function") {
          names.add(statement.name.split(".")[0] ?? statement.name);
        } else if (statement.kind === "noGrad") names.add("noGrad");
        else if (statement.kind === "grad") names.add("autograd");
        else if (statement.kind === "seed") names.add("manualSeed");
      }
    }
  }
  return [...names].sort();
}

/** A module of programs for machines: `programs`, a list of functions that create one each. */
export function moduleText(programs: readonly Program[], dyn: string): string {
  return [
    `import { ${imported(programs).join(", ")} } from ${JSON.stringify(dyn)};`,
    ...programs.map((program, k) => factoryText(program, `make${k}`, { types: false })),
    `export const programs = [${programs.map((_, k) => `make${k}`).join(", ")}];`,
    "",
  ].join("\n");
}

/** The number that seeds random ops before call `k`. */
export const callSeed = (k: number): number => 1000 + k;

/** Code of the caller that observes gradients. */
const WATCHING = [
  "    const tracked = [result].flat(Infinity).filter((t) => t?.requiresGrad);",
  "    for (const of of tracked) {",
  "      for (const t of tracked) {",
  "        if (t !== of) console.log(autograd.grad(of.sum(), t, { allowUnused: true, retainGraph: true }));",
  "      }",
  "    }",
  "    for (const t of tracked) t.registerHook((grad) => (console.log(grad), grad.mul(0.5)));",
  "    for (const t of tracked) t.sum().backward({ retainGraph: t !== tracked.at(-1) });",
];

/** A file that runs the program, plainly and compiled by a backend. */
export function fileText(
  program: Program,
  options: { readonly dyn: string; readonly backend: string },
): string {
  const names = new Set([...imported([program]), "compile", "manualSeed"]);
  const wrapped = program.calls.map(({ mode }) => mode);
  if (wrapped.includes("noGrad")) names.add("noGrad");
  if (wrapped.includes("inference")) names.add("inferenceMode");
  if (wrapped.includes("watched")) names.add("autograd");
  const dynamic = program.dynamic === null ? "" : `, dynamic: ${program.dynamic}`;
  const chosen = compileOptions(options.backend).options;
  const rounding = chosen ? `, options: ${JSON.stringify(chosen)}` : "";
  const run = (k: number) => {
    const call = `run(...args)`;
    const mode = wrapped[k];
    return mode === "noGrad"
      ? `noGrad(() => ${call})`
      : mode === "inference"
      ? `inferenceMode(() => ${call})`
      : call;
  };
  return [
    `import { ${[...names].sort().join(", ")}, type Tensor } from ${JSON.stringify(options.dyn)};`,
    "",
    factoryText(program, "make", { types: true }),
    "",
    `for (const backend of [null, ${JSON.stringify(options.backend)}]) {`,
    "  const { f, calls, effects, state } = make();",
    `  const run = backend === null ? f : compile(f, { backend${dynamic}${rounding} });`,
    ...program.calls.flatMap((_, k) => [
      "  try {",
      `    manualSeed(${callSeed(k)});`,
      `    const { args, seen } = calls[${k}]!();`,
      `    const result = ${run(k)};`,
      `    console.log(backend ?? "plain", result, seen, state, effects);`,
      ...wrapped[k] === "watched" ? WATCHING : [],
      "  } catch (error) {",
      `    console.log(backend ?? "plain", String(error), effects);`,
      "  }",
    ]),
    "}",
    "",
  ].join("\n");
}
