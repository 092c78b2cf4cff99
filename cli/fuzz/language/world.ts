/**
 * Random programs with their context: functions, classes and variables that they use, created anew for every run.
 * Invariant: the compiler accesses variables of the program through accessors that the program itself provides, like
 * those of modules that were loaded with accessors, so that no script is edited while it runs.
 */
import type { CodeObject, FreeVariable } from "../../../lib/dynamo/bytecode/code.ts";
import { type ClassCode, compileClass, compileFunction } from "../../../lib/dynamo/bytecode/compile.ts";
import { parseModule } from "../../../lib/dynamo/bytecode/parse.ts";
import {
  type ClassNode,
  type FunctionNode,
  isClassNode,
  isFunctionNode,
} from "../../../lib/dynamo/bytecode/syntax.ts";
import type { FreeBinding, PrivateAccess } from "../../../lib/dynamo/frame/info.ts";
import { type FunctionInfo, registerMade } from "../../../lib/dynamo/functions/functions.ts";
import { compiler, noGrad, type Tensor, tensor, where } from "../../../mod.ts";
import type { Program } from "./observation.ts";
import { programMemory, settleNaN, writeBetween } from "./memory.ts";
import { replaceBuiltin } from "./replaced.ts";
import { withoutSemicolons } from "./semicolons.ts";

/** One call of a program. */
export interface Call {
  /** Number of elements of the tensors. */
  readonly size: number;
  /** The seed of their elements. */
  readonly seed: number;
  readonly n: number;
  readonly k: number;
  readonly list: readonly number[];
  /** Whether it is called with the objects of the previous call. */
  readonly same: boolean;
}

/** A random program. */
export interface LanguageProgram {
  /** Statements of the compiled function, and of the functions that it calls. */
  readonly body: string;
  readonly helper: string;
  readonly generator: string;
  readonly async: boolean;
  readonly calls: readonly Call[];
  /** The `dynamic` option of `compile`. */
  readonly dynamic: boolean | undefined;
  readonly forceBreak: number;
  /** The builtin that is replaced during the calls, if any. */
  readonly replaced: string | null;
  /** Whether statements end with semicolons, or with their lines. */
  readonly semicolons: boolean;
}

/** The module of a program. */
export function textOf(program: LanguageProgram): string {
  const text = withSemicolons(program);
  return program.semicolons ? text : withoutSemicolons(text);
}

function withSemicolons({ body, helper, generator, async }: LanguageProgram): string {
  return `const { log, opaque, later, fails, noGrad, where, by } = env;
const held = [], weak = new WeakMap(), ring = [0, 0, 0], tape = new Float32Array(4);
let c0 = 1, c1 = 2, depth = 0;
const tag = (strings, ...values) => strings.raw.join("|") + values.length;
const it = (xs) => ({
  [Symbol.iterator]() {
    let at = 0;
    return {
      next() {
        log.push("next");
        return at < xs.length ? { value: xs[at++], done: false } : { value: undefined, done: true };
      },
      return(v) {
        log.push("return");
        return { value: v, done: true };
      },
    };
  },
});
async function* agen(a) {
  try {
    yield a;
    await null;
    yield a + 1;
  } finally {
    log.push("agen done");
  }
}
class P {
  w = 2;
  constructor(v) {
    this.v = v;
  }
  get d() {
    return this.v + c0;
  }
  set d(v) {
    log.push("set d");
    this.v = v;
  }
  inc(k) {
    c1 += k;
    return this.w += k;
  }
  twice(k) {
    return this.inc(k) + this.inc(k);
  }
  apply(t) {
    return t.add(this.w).clamp(-9, 9);
  }
}
class Q extends P {
  z = this.w + 1;
  constructor(v) {
    super(v + 1);
    this.u = new.target === Q;
  }
  inc(k) {
    return super.inc(k) + this.z;
  }
}
class R {
  #v = 1;
  static access = {
    "#v": { has: (o) => #v in o, get: (o) => o.#v, set: (o, v) => void (o.#v = v), member: "field" },
  };
  up(k) {
    return this.#v += k;
  }
  read() {
    return #v in this ? this.#v : 0;
  }
}
class S extends R {
  #v = 5;
  static access = {
    "#v": { has: (o) => #v in o, get: (o) => o.#v, set: (o, v) => void (o.#v = v), member: "field" },
  };
  own(k) {
    return (this.#v -= k) + this.read();
  }
}
const r0 = new S();
function h0(a, b = a + 1, ...rest) {
  const n = a, k = b, list = rest, o = { a, none: 0 }, x = env.shared, y = x, w = new P(a), m = new Map(), st = new Set(), mine = [];
  let t0 = x, t1 = x, p = 1, q = 2, i = 7, s = "h", fuel = 12;
  if (depth > 1) return a;
  depth++;
  o.t = x;
  try {
    ${helper}
  } finally {
    depth--;
  }
  return a + b * 2 + rest.length;
}
const h1 = (t, a) => {
  if (a > 2) c0++;
  return a % 2 ? t.add(a).clamp(-9, 9) : t.neg();
};
function* gen(a) {
  const n = a, k = 2, list = [a, 1], o = { a, none: 0 }, x = env.shared, y = x, w = new P(a), m = new Map(), st = new Set(), mine = [];
  let t0 = x, t1 = x, p = 1, q = 2, i = 7, s = "g", fuel = 12;
  if (depth > 1) return;
  depth++;
  o.t = x;
  try {
    yield a;
    ${generator}
    yield a + p;
  } finally {
    depth--;
    log.push("gen done");
  }
}
${async ? "async " : ""}function f(x, y, n, k, list, o) {
  let t0 = x, t1 = y, p = 1, q = 2, i = 7, v = 0, s = "s", fuel = 40;
  const w = n > 2 ? new Q(n) : new P(k), m = new Map([[1, "one"]]), st = new Set([k]), mine = [];
  ${body}
  return [t0, t1, p, q, s, w, m, st, mine];
}
`;
}

/** Names that functions of the module may capture. */
const NAMES = [
  "env",
  "log",
  "opaque",
  "later",
  "fails",
  "noGrad",
  "where",
  "by",
  "held",
  "weak",
  "ring",
  "tape",
  "c0",
  "c1",
  "depth",
  "tag",
  "it",
  "agen",
  "P",
  "Q",
  "R",
  "S",
  "r0",
  "h0",
  "h1",
  "gen",
  "f",
] as const;

/** Functions and classes that are registered with the compiler, and expressions for them. */
const FUNCTIONS: readonly (readonly [name: string, expression: string])[] = [
  ...["f", "h0", "h1", "tag", "it", "gen", "agen", "P", "Q", "R", "S"].map((name) => [name, name] as const),
  ...["P.inc", "P.twice", "P.apply", "Q.inc", "R.up", "R.read", "S.own"].map((name) =>
    [name, name.replace(".", ".prototype.")] as const
  ),
  ...["get", "set"].map((kind) =>
    [`P.${kind} d`, `Reflect.getOwnPropertyDescriptor(P.prototype, "d").${kind}`] as const
  ),
];

interface Variable {
  readonly get: () => unknown;
  readonly set: (value: unknown) => void;
}

/** An instantiated module. */
interface Module {
  readonly f: (...args: readonly unknown[]) => unknown;
  readonly held: (() => unknown)[];
  readonly variables: Readonly<Record<string, Variable>>;
  readonly functions: readonly object[];
  /** Accessors of private members, by class and name. */
  readonly access: Readonly<Record<string, Readonly<Record<string, PrivateAccess>>>>;
}

function instantiate(text: string, env: Readonly<Record<string, unknown>>): Module {
  const variables = NAMES.map((name) => {
    const set = ["c0", "c1", "depth"].includes(name) ? `${name} = $v` : "";
    return `${name}: { get: () => ${name}, set: ($v) => { ${set} } }`;
  });
  const made = `"use strict";
${text}
return { f, held, variables: { ${variables.join(", ")} }, functions: [${
    FUNCTIONS.map(([, expression]) => expression).join(", ")
  }], access: { R: R.access, S: S.access } };`;
  return new Function("env", made)(env);
}

type Statements = ReturnType<typeof parseModule>["program"]["body"];

/** The nodes of everything registered with the compiler, by name: `f`, `P`, `P.inc`, `P.get d`. */
function nodesOf(body: Statements): Map<string, FunctionNode | ClassNode> {
  const found = new Map<string, FunctionNode | ClassNode>();
  for (const statement of body) {
    switch (statement.type) {
      case "FunctionDeclaration":
        found.set(statement.id.name, statement);
        break;
      case "VariableDeclaration":
        for (const { id, init } of statement.declarations) {
          if (init && isFunctionNode(init) && id.type === "Identifier") found.set(id.name, init);
        }
        break;
      case "ClassDeclaration": {
        const { name } = statement.id;
        found.set(name, statement);
        for (const each of statement.body.body) {
          if (each.type !== "MethodDefinition" || each.key.type !== "Identifier") continue;
          const prefix = each.kind === "get" || each.kind === "set" ? `${each.kind} ` : "";
          found.set(`${name}.${prefix}${each.key.name}`, each.value);
        }
        break;
      }
      default:
    }
  }
  return found;
}

/** The parsed functions and classes of a text, which are the same in every world. */
type Known = ReadonlyMap<string, CodeObject | ClassCode>;

const texts = new Map<string, Known>();

/** Code of the registered functions; the latest texts are cached. */
function codesOf(text: string): Known {
  let found = texts.get(text);
  if (!found) {
    // `env` is a parameter of the enclosing function.
    const module = parseModule({ url: "program:", text: `const env = null;\n${text}`, sourceType: "module" });
    const nodes = nodesOf(module.program.body);
    found = new Map(FUNCTIONS.flatMap(([name]): [string, CodeObject | ClassCode][] => {
      const node = nodes.get(name);
      if (!node) return [];
      return [[name, isClassNode(node) ? compileClass(node, module) : compileFunction(node, module)]];
    }));
    if (texts.size > 8) texts.clear();
    texts.set(text, found);
  }
  return found;
}

/** Registers the functions with the compiler, and access to their captures. */
function register(text: string, module: Module): void {
  const codes = codesOf(text);
  FUNCTIONS.forEach(([name], index) => {
    const code = codes.get(name),
      fn = module.functions[index],
      access = module.access[name.split(".")[0] ?? ""];
    if (!code || !fn) return;
    const functionInfo = (code: CodeObject): FunctionInfo => ({
      kind: "function",
      code,
      binding: (at) => bindingOf(module, access, code.free[at] ?? { name: "", reassigned: false }),
    });
    if ("instructions" in code) return registerMade(fn, functionInfo(code));
    registerMade(fn, {
      kind: "class",
      constructorInfo: code.constructorCode ? functionInfo(code.constructorCode) : null,
      derived: code.derived,
      fields: code.fields.map(({ key, declaration, value }) => ({
        key,
        declaration,
        value: value ? functionInfo(value) : null,
        access: () => bindingOf(module, access, { name: String(key ?? ""), reassigned: true }),
      })),
      privateMethods: code.privateMethods.map(({ declaration, kind, code }) => {
        const standIn = () => {};
        registerMade(standIn, functionInfo(code));
        return { declaration, kind, standIn };
      }),
    });
  });
}

function bindingOf(
  module: Module,
  members: Readonly<Record<string, PrivateAccess>> | undefined,
  variable: Pick<FreeVariable, "name" | "reassigned">,
): FreeBinding {
  const { name, reassigned } = variable;
  const access = members?.[name], found = module.variables[name];
  if (access) return { kind: "private", access };
  if (!found) return { kind: "unreachable", because: name };
  return reassigned ? { kind: "cell", cell: found } : { kind: "value", value: found.get() };
}

/** A thenable that rejects whatever awaits it, and is never unhandled. */
const REJECTING = {
  then(_resolve: unknown, reject: (error: Error) => void): void {
    reject(new RangeError("Rejected"));
  },
};

function made(size: number, seed: number): Tensor {
  const elements = Array.from({ length: size }, (_, i) => (seed * 7 + i * 5) % 11 - 5);
  return tensor(elements, { dtype: "float32" });
}

/** Maximum number of consecutive jobs that statements create from promises. */
const MOST_JOBS = 6;

/** A program as a scenario. */
export function scenarioOf(program: LanguageProgram): Program {
  const text = textOf(program);
  return async ({ compile, see, attempt }) => {
    const log: unknown[] = [];
    const outside = compiler.disable((value: unknown) => {
      log.push("opaque");
      return value;
    });
    const by = programMemory(), initial = { ...by };
    const module = instantiate(text, {
      log,
      opaque: outside,
      later: compiler.disable((value: unknown) => Promise.resolve(value)),
      fails: compiler.disable((n: number) => n > 2 ? REJECTING : n),
      noGrad,
      where,
      tensor,
      by,
      shared: made(2, 3),
    });
    register(text, module);
    const run = compile(module.f), begin = module.variables["gen"]?.get();
    const kind = module.variables["Q"]?.get();
    const instance = (n: number): unknown => typeof kind === "function" ? Reflect.construct(kind, [n]) : null;
    const generator = (n: number): unknown => typeof begin === "function" ? begin(n) : null;
    let args: unknown[] = [];
    for (const { size, seed, n, k, list, same } of program.calls) {
      if (!same || args.length === 0) {
        args = [made(size, seed), made(size, seed + 1), n, k, [...list], {
          a: n,
          b: k,
          t: made(size, seed + 2),
          word: "abcdef".charAt(seed).repeat(k),
          later: Promise.resolve(n),
          values: [k, n, seed].values(),
          items: generator(n),
          p: instance(k),
        }];
      } else args = [args[0], args[1], n, k, args[4], args[5]];
      writeBetween(by, seed);
      const putBack = program.replaced === null ? null : replaceBuiltin(program.replaced, (name) => {
        log[log.length] = name;
      });
      let result: unknown, thrown: { readonly error: unknown } | null = null;
      try {
        result = run(...args);
        if (program.async) result = await result;
      } catch (error) {
        thrown = { error };
      }
      putBack?.();
      // Waits for later jobs of the call
      for (let job = 0; job < MOST_JOBS; job++) await null;
      attempt(() => {
        if (thrown) throw thrown.error;
        return result;
      });
      settleNaN(initial);
      see(args, by, log.splice(0), module.variables["c0"]?.get(), module.variables["c1"]?.get());
      see(module.variables["ring"]?.get(), module.variables["tape"]?.get());
    }
    // Only functions held now: they may hold others without end
    for (const each of [...module.held]) attempt(each);
    see(log, module.variables["c0"]?.get());
  };
}
