/**
 * Code objects as text.
 *
 * Input: a code object. Output: one line per instruction, stable from run to run.
 * Invariant: the text shows everything that the instructions say, and nothing of the environment.
 */
import type { Capture, CodeObject, Instruction, KeyOperand, ObjectMember, Register } from "./code.ts";

/** The code object, its tables, and (unless `nested` is false) the functions inside it, as text. */
export function disassemble(code: CodeObject, options: { readonly nested?: boolean } = {}): string {
  const lines = [header(code)];
  if (code.free.length > 0) {
    lines.push(
      `  free ${
        code.free.map((f, i) => `${i}:${f.name}(${f.kind}${f.reassigned ? ", reassigned" : ""})`).join(" ")
      }`,
    );
  }
  const targets = jumpTargets(code);
  code.instructions.forEach((instruction, offset) => {
    const mark = targets.has(offset) ? ">" : " ";
    lines.push(`${mark}${String(offset).padStart(4)}  ${instructionText(code, instruction)}`);
  });
  for (const h of code.handlers) {
    lines.push(
      `  in ${h.start}..${h.end - 1} exceptions go to ${h.target} with ${registerName(code, h.register)}`,
    );
  }
  if (options.nested !== false) {
    for (const child of code.children) {
      lines.push("", ...disassemble(child).split("\n").map((line) => (line ? `  ${line}` : line)));
    }
  }
  return lines.join("\n");
}

function header(code: CodeObject): string {
  const words: string[] = [];
  if (code.async) words.push("async");
  if (code.generator) words.push("generator");
  words.push(code.kind);
  const params = code.parameters.map((p) => p ?? "_");
  if (code.hasRest) params.push("...");
  return `${words.join(" ")} ${code.name || "<anonymous>"}(${params.join(", ")})${
    code.strict ? "" : " sloppy"
  }`;
}

function jumpTargets(code: CodeObject): ReadonlySet<number> {
  const targets = new Set<number>();
  for (const i of code.instructions) {
    if (i.op === "jump" || i.op === "jumpIf") targets.add(i.target);
    if ((i.op === "yield" || i.op === "yieldDelegate") && i.onReturn !== null) targets.add(i.onReturn);
  }
  for (const h of code.handlers) targets.add(h.target);
  return targets;
}

/** A register as the listing names it: `r3`, with the variable's name where it has one. */
function registerName(code: CodeObject, register: Register): string {
  const info = code.registers[register];
  return info?.name ? `r${register}:${info.name}${info.cell ? "*" : ""}` : `r${register}`;
}

/** One instruction as text. */
/** One instruction as the listing shows it. */
export function instructionText(code: CodeObject, i: Instruction): string {
  const r = (register: Register): string => registerName(code, register);
  const key = (k: KeyOperand): string => (k.kind === "name" ? JSON.stringify(k.name) : r(k.register));
  const args = (list: readonly { readonly register: Register; readonly spread: boolean }[]): string =>
    list.map((a) => (a.spread ? "..." : "") + r(a.register)).join(", ");
  const free = (index: number): string => `free ${index}:${code.free[index]?.name ?? "?"}`;
  const captured = (list: readonly Capture[]): string =>
    list.map((c) => (c.kind === "free" ? free(c.index) : `${c.kind} ${r(c.register)}`)).join(", ");
  const member = (m: ObjectMember): string => {
    if (m.kind === "spread") return `...${r(m.register)}`;
    if (m.kind === "proto") return `__proto__ ${r(m.register)}`;
    return `${m.kind === "value" ? "" : `${m.kind} `}${key(m.key)}: ${r(m.register)}`;
  };
  const put = (dst: Register, text: string): string => `${r(dst)} = ${text}`;
  switch (i.op) {
    case "const":
      return put(i.dst, constantText(i.value));
    case "regexp":
      return put(i.dst, `/${i.pattern}/${i.flags}`);
    case "move":
      return put(i.dst, r(i.src));
    case "uninitialized":
      return put(i.dst, "uninitialized");
    case "checkTdz":
      return `checkTdz ${r(i.src)} ${i.name}`;
    case "throwError":
      return `throwError ${i.type} ${JSON.stringify(i.message)}`;
    case "loadThis":
    case "loadArguments":
    case "loadNewTarget":
    case "loadCallee":
    case "loadHome":
      return put(i.dst, i.op);
    case "loadArgument":
      return put(i.dst, `loadArgument ${i.index}`);
    case "loadRest":
      return put(i.dst, `loadRest ${i.from}`);
    case "generatorStart":
    case "debugger":
      return i.op;
    case "loadFree":
      return put(i.dst, free(i.index));
    case "storeFree":
      return `${free(i.index)} = ${r(i.src)}`;
    case "loadGlobal":
      return put(i.dst, `global ${i.name}${i.forTypeof ? " for typeof" : ""}`);
    case "storeGlobal":
      return `global ${i.name} = ${r(i.src)}${i.strict ? "" : " sloppy"}`;
    case "newCell":
      return put(i.dst, `newCell ${i.src === null ? "uninitialized" : r(i.src)}`);
    case "loadCell":
      return put(i.dst, `cell ${r(i.cell)}`);
    case "storeCell":
      return `cell ${r(i.cell)} = ${r(i.src)}`;
    case "unary":
      return put(i.dst, `${i.operator} ${r(i.src)}`);
    case "binary":
      return put(i.dst, `${r(i.left)} ${i.operator} ${r(i.right)}`);
    case "toNumeric":
    case "toPropertyKey":
    case "toString":
      return put(i.dst, `${i.op} ${r(i.src)}`);
    case "increment":
      return put(i.dst, `${r(i.src)} ${i.by > 0 ? "+ 1" : "- 1"}`);
    case "template":
      return put(
        i.dst,
        `template ${
          i.quasis.map((q, n) => JSON.stringify(q) + (n < i.values.length ? ` ${r(i.values[n] ?? 0)} ` : ""))
            .join("")
        }`,
      );
    case "templateObject":
      return put(i.dst, `templateObject ${i.site} ${JSON.stringify(i.raw)}`);
    case "getProp":
      return put(i.dst, `${r(i.object)}[${key(i.key)}]`);
    case "setProp":
      return `${r(i.object)}[${key(i.key)}] = ${r(i.value)}${i.strict ? "" : " sloppy"}`;
    case "deleteProp":
      return put(i.dst, `delete ${r(i.object)}[${key(i.key)}]${i.strict ? "" : " sloppy"}`);
    case "getSuper":
      return put(i.dst, `super(${r(i.home)})[${key(i.key)}] for ${r(i.receiver)}`);
    case "setSuper":
      return `super(${r(i.home)})[${key(i.key)}] for ${r(i.receiver)} = ${r(i.value)}${
        i.strict ? "" : " sloppy"
      }`;
    case "getPrivate":
      return put(i.dst, `${r(i.object)}.${free(i.name)}`);
    case "setPrivate":
      return `${r(i.object)}.${free(i.name)} = ${r(i.value)}`;
    case "hasPrivate":
      return put(i.dst, `${free(i.name)} in ${r(i.object)}`);
    case "definePrivate":
      return `define ${r(i.object)}.${free(i.name)} = ${r(i.value)}`;
    case "array":
      return put(
        i.dst,
        `[${
          i.elements.map((e) => (e.kind === "hole" ? "" : (e.kind === "spread" ? "..." : "") + r(e.register)))
            .join(", ")
        }]`,
      );
    case "arrayAppend":
      return `${r(i.array)} append ${
        i.element.kind === "hole"
          ? "hole"
          : (i.element.kind === "spread" ? "..." : "") + r(i.element.register)
      }`;
    case "object":
      return put(i.dst, `{${i.members.map(member).join(", ")}}`);
    case "define":
      return `${r(i.object)} define ${member(i.member)}`;
    case "objectRest":
      return put(i.dst, `rest of ${r(i.source)} without [${i.excluded.map(key).join(", ")}]`);
    case "checkObjectCoercible":
      return `checkObjectCoercible ${r(i.src)}`;
    case "checkObject":
      return `checkObject ${r(i.src)} ${JSON.stringify(i.what)}`;
    case "closure": {
      const prefix = i.namePrefix ? ` ${i.namePrefix}` : "";
      const home = i.home === null ? "" : ` home ${r(i.home)}`;
      return put(i.dst, `closure ${i.child}${prefix} ${key(i.name)} (${captured(i.captures)})${home}`);
    }
    case "class":
      return put(
        i.dst,
        `class ${i.index} ${JSON.stringify(i.name)} (${captured(i.captures)})${
          i.heritage === null ? "" : ` extends ${r(i.heritage)}`
        }`,
      );
    case "call":
      return put(
        i.dst,
        `call ${r(i.callee)}${i.self === null ? "" : ` this ${r(i.self)}`} (${args(i.args)})`,
      );
    case "new":
      return put(i.dst, `new ${r(i.callee)} (${args(i.args)})`);
    case "superCall":
      return put(i.dst, `superCall ${r(i.callee)} newTarget ${r(i.newTarget)} (${args(i.args)})`);
    case "checkSuperOnce":
      return `checkSuperOnce ${r(i.src)}`;
    case "initFields":
      return `initFields ${r(i.object)} of ${r(i.callee)}`;
    case "import":
      return put(i.dst, `import ${r(i.specifier)}${i.options === null ? "" : ` with ${r(i.options)}`}`);
    case "jump":
      return `jump ${i.target}`;
    case "jumpIf":
      return `jump ${i.target} if ${i.condition} ${r(i.test)}`;
    case "return":
    case "throw":
      return `${i.op} ${r(i.src)}`;
    case "getIterator":
      return `${r(i.iterator)}, ${r(i.next)} = ${i.async ? "async " : ""}iterator of ${r(i.source)}`;
    case "iteratorNext":
      return `${r(i.done)}, ${r(i.value)} = next of ${r(i.iterator)} by ${r(i.next)}`;
    case "iteratorResult":
      return `${r(i.done)}, ${r(i.value)} = result ${r(i.result)}`;
    case "iteratorRest":
      return `${r(i.done)}, ${r(i.dst)} = rest of ${r(i.iterator)} by ${r(i.next)}`;
    case "iteratorClose":
      return `close ${r(i.iterator)}${i.quiet ? " quietly" : ""}`;
    case "forIn":
      return put(i.dst, `keys of ${r(i.object)}`);
    case "forInNext":
      return `${r(i.done)}, ${r(i.key)} = next key of ${r(i.enumerator)}`;
    case "yield":
      return put(i.dst, `yield ${r(i.src)}${i.onReturn === null ? "" : `, on return ${i.onReturn}`}`);
    case "yieldDelegate":
      return put(i.dst, `yield* ${r(i.source)}${i.onReturn === null ? "" : `, on return ${i.onReturn}`}`);
    case "await":
      return put(i.dst, `await ${r(i.src)}`);
    case "getDisposer":
      return put(i.dst, `${i.async ? "async " : ""}disposer of ${r(i.src)}`);
    case "suppressedError":
      return put(i.dst, `suppressedError ${r(i.error)} ${r(i.suppressed)}`);
    default:
      i satisfies never;
      return "";
  }
}

/** A constant as source text. */
export function constantText(value: undefined | null | boolean | number | string | bigint): string {
  if (typeof value === "string") {
    return JSON.stringify(value).replace(/[\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16)}`);
  }
  if (typeof value === "bigint") return `${value}n`;
  if (Object.is(value, -0)) return "-0";
  return value === undefined ? "undefined" : String(value);
}
