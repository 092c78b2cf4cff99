/**
 * `repl`: an interactive TypeScript prompt with dyn loaded.
 *
 * Invariant: names declared by an input are properties of the global object, and data properties once the input has
 * run; nothing runs inside a debugger call, so functions typed in are captured and compiled like those of a file.
 */
import { createInterface, type Interface } from "node:readline";
import { dirname, join, resolve } from "node:path";
import process from "node:process";
import { cacheDirectory } from "../backends/cpu/cache_directory.ts";
import { DynError, messageOf } from "../lib/base/errors.ts";
import { logs } from "../lib/base/logs.ts";
import { rewriteLoadedModules } from "../lib/dynamo/frame/load_hook.ts";
import { type Command, expectNoMore } from "./command.ts";
import { failureLines, reportRejections } from "./errors.ts";
import type { ImportMap } from "./import_map.ts";
import { Interrupted, Interrupts } from "./interrupts.ts";
import { type Declarations, DECLARE, prepare, type Prepared, typedColumn } from "./repl_input.ts";
import { fetchOutsideModules } from "./outside_modules.ts";
import { completions } from "./repl_completions.ts";
import { redirectOtherCheckouts } from "./run.ts";
import { projectOf, useProjectImports } from "./script_imports.ts";
import { checkChoices, toolkit } from "./toolkit.ts";

const HELP = [
  "Type TypeScript; an unfinished input continues on the next line. Names of dyn are globals (tensor, nn, compile, …),",
  "dyn is all of it, _ the last value. Tab completes names and members; await works; Ctrl-C ends what runs,",
  "a second one the REPL too.",
  "",
  ":help         this text",
  ":load <file>  run a file as if typed; its names become globals",
  ":logs <list>  choose what is logged, as DYN_LOGS does; empty for nothing",
  ":quit         leave; so does Ctrl-D",
].join("\n");

/** Maximum number of lines of history. */
const HISTORY_LINES = 1000;

/** The state of a session. */
class Session {
  /** The generated parts of each input's module; stack traces refer to inputs by number, from 1. */
  readonly #inputs: Extract<Prepared, { kind: "module" }>[] = [];
  /** Whether any input failed. */
  failed = false;

  /** The import map of the current folder's project. */
  readonly #map: ImportMap | undefined;

  /** `interrupts`: null if no terminal sends Ctrl-C. */
  constructor(readonly interrupts: Interrupts | null) {
    this.#map = projectOf(Deno.cwd())?.map;
  }

  prepare(text: string, folder: string): Prepared {
    return prepare(text, folder, this.#map);
  }

  /** Runs one finished input and prints its value. */
  async run(input: Extract<Prepared, { kind: "module" }>): Promise<void> {
    const number = this.#inputs.push(input);
    input.variables.forEach(makeVariable);
    try {
      for (const each of input.imported) {
        if (each.startsWith("file:")) await fetchOutsideModules(Deno.cwd(), each, each);
      }
      // Parentheses would end the URL in a line of a stack trace.
      const text = encodeURIComponent(`${input.code}\n//# sourceURL=input-${number}`).replace(
        /[()]/g,
        (c) => c === "(" ? "%28" : "%29",
      );
      const url = `data:text/javascript;charset=utf-8,${text}`;
      const load = (): Promise<Record<string, unknown>> => import(url);
      const module = await (this.interrupts ? this.interrupts.while(load) : load());
      if (module["default"] === undefined) return;
      Object.defineProperty(globalThis, "_", {
        value: module["default"],
        writable: true,
        configurable: true,
      });
      const options = { colors: Deno.stdout.isTerminal() && !Deno.noColor, depth: 4 };
      console.log(this.#asTyped(Deno.inspect(module["default"], options)));
    } catch (thrown) {
      this.fail(thrown);
    }
  }

  /** Shows a failure and continues. */
  fail(thrown: unknown): void {
    this.reject(
      thrown instanceof Interrupted
        ? `Interrupted: ${thrown.message}`
        : this.#asTyped(`${thrown instanceof Error ? "" : "Uncaught "}${failureLines(thrown).join("\n")}`),
    );
  }

  /** Reports that something typed is not valid. */
  reject(message: string): void {
    this.failed = true;
    console.error(message);
  }

  /** Stack traces show the text of a module created from text, and its columns; this shows what was typed. */
  #asTyped(text: string): string {
    const place = /data:text\/javascript;charset=utf-8,[^\s)]*?input-(\d+):(\d+):(\d+)/g;
    return text.replace(place, (_, number: string, line: string, column: string) => {
      const insertions = this.#inputs[Number(number) - 1]?.insertions ?? [];
      return `input-${number}:${line}:${typedColumn(insertions, Number(line), Number(column))}`;
    });
  }
}

function setGlobal(name: string, descriptor: PropertyDescriptor): void {
  Object.defineProperty(globalThis, name, { ...descriptor, enumerable: true, configurable: true });
}

/** Makes the toolkit a global, and its names as far as they are unused. */
function shareNames(dyn: object): void {
  for (const [name, value] of Object.entries({ ...dyn, dyn })) {
    if (name in globalThis) continue;
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
  }
}

/** Makes a name an assignable global that keeps its present value, if any. */
function makeVariable(name: string): void {
  const descriptor = Object.getOwnPropertyDescriptor(globalThis, name);
  if (descriptor?.writable) return;
  setGlobal(name, { value: descriptor && Reflect.get(globalThis, name), writable: true });
}

/** Publishes the declarations of an input; a later declaration of the same name replaces them. */
function declare({ constants = {}, definitions = {}, imports = {} }: Declarations): void {
  for (const [name, value] of Object.entries(constants)) setGlobal(name, { value, writable: false });
  for (const [name, value] of Object.entries(definitions)) setGlobal(name, { value, writable: true });
  for (const [name, get] of Object.entries(imports)) {
    const value = get();
    const isPrimitive = (typeof value !== "object" || value === null) && typeof value !== "function";
    // Modules may assign their exports, which is sometimes the purpose of exporting a number or text.
    setGlobal(name, isPrimitive ? { get } : { value, writable: false });
  }
}

/** Lines of input; in a terminal with a prompt, history and editing. */
class Lines {
  readonly #reader: Interface;
  readonly #historyFile: string | undefined;
  readonly #waiting: string[] = [];
  #wake: (() => void) | undefined;
  #closed = false;
  /** Set by Ctrl-C: what has been typed so far is dropped. */
  interrupted = false;

  constructor(terminal: boolean) {
    this.#historyFile = terminal ? join(dirname(cacheDirectory()), "repl_history") : undefined;
    this.#reader = createInterface({
      input: process.stdin,
      output: terminal ? process.stdout : undefined,
      terminal,
      completer: completions,
      historySize: HISTORY_LINES,
      history: this.#storedHistory(),
    });
    this.#reader.on("line", (line: string) => {
      this.#waiting.push(line);
      this.#wake?.();
    });
    this.#reader.on("close", () => {
      this.#closed = true;
      this.#wake?.();
    });
    this.#reader.on("SIGINT", () => {
      this.interrupted = true;
      this.#reader.write(null, { ctrl: true, name: "u" });
      console.log("\n(:quit or Ctrl-D leaves)");
      this.#waiting.push("");
      this.#wake?.();
    });
  }

  #storedHistory(): string[] {
    if (this.#historyFile === undefined) return [];
    try {
      return Deno.readTextFileSync(this.#historyFile).split("\n").filter((line) => line !== "").reverse();
    } catch {
      return [];
    }
  }

  /** The next line, or undefined at the end of the input. */
  async next(prompt: string): Promise<string | undefined> {
    if (this.#historyFile !== undefined && this.#waiting.length === 0) {
      this.#reader.setPrompt(prompt);
      this.#reader.prompt();
    }
    while (this.#waiting.length === 0 && !this.#closed) {
      await new Promise<void>((resolve) => this.#wake = resolve);
    }
    const line = this.#waiting.shift();
    if (line !== undefined && line.trim() !== "") this.#remember(line);
    return line;
  }

  #remember(line: string): void {
    if (this.#historyFile === undefined) return;
    try {
      Deno.writeTextFileSync(this.#historyFile, `${line}\n`, { append: true });
    } catch {
      // A history that cannot be written is not a reason to stop.
    }
  }

  close(): void {
    this.#reader.close();
  }
}

/** Reads, runs and prints until the input ends; returns whether everything succeeded. */
async function loop(lines: Lines, session: Session): Promise<void> {
  let typed = "";
  while (true) {
    const line = await lines.next(typed === "" ? "> " : "… ");
    if (lines.interrupted) {
      lines.interrupted = false;
      typed = "";
      continue;
    }
    if (line === undefined) {
      if (typed !== "") session.reject("SyntaxError: Unexpected end of input");
      return;
    }
    const command = typed === "" ? commandOf(line) : null;
    if (command) {
      if (command.name === "quit") return;
      if (command.name === "help") console.log(HELP);
      else if (command.name === "logs") chooseLogs(command.argument, session);
      else if (command.name === "load") await load(command.argument, session);
      else session.reject(`Expected :help, :load, :logs or :quit but found ${line.trim()}`);
      continue;
    }
    typed += typed === "" ? line : `\n${line}`;
    if (typed.trim() === "") {
      typed = "";
      continue;
    }
    const prepared = session.prepare(typed, Deno.cwd());
    switch (prepared.kind) {
      case "incomplete":
        continue;
      case "error":
        session.reject(prepared.message);
        break;
      case "module":
        await session.run(prepared);
        break;
      default:
        prepared satisfies never;
    }
    typed = "";
  }
}

/** Other names of commands: those of Python and Node. */
const ALIASES: Readonly<Record<string, string>> = { q: "quit", exit: "quit" };

/**
 * A line as a command: `:name argument`, `.name argument` as in Node, or `exit`, `quit()` or `help` as in Python, unless
 * the program has a variable of that name; null if it is input.
 */
function commandOf(line: string): { readonly name: string; readonly argument: string } | null {
  const [, marked, bare, argument = ""] =
    line.trim().match(/^(?:[:.](?=[a-z]|$)(\w*)|(exit|quit|help)(?:\(\))?$)\s*(.*)$/) ?? [];
  const name = marked ?? bare;
  if (name === undefined || bare !== undefined && bare in globalThis) return null;
  return { name: Object.hasOwn(ALIASES, name) ? ALIASES[name] ?? name : name, argument };
}

/** Runs a file like an input. */
async function load(path: string, session: Session): Promise<void> {
  let text: string;
  try {
    if (path === "") throw new DynError("Expected a file after :load but found nothing");
    text = await Deno.readTextFile(path);
  } catch (thrown) {
    session.reject(
      thrown instanceof Deno.errors.NotFound
        ? `Expected a file but found ${path}, and there is none`
        : messageOf(thrown),
    );
    return;
  }
  const prepared = session.prepare(text, dirname(resolve(path)));
  if (prepared.kind === "module") await session.run(prepared);
  else {
    session.reject(prepared.kind === "error" ? prepared.message : `SyntaxError: Unexpected end of ${path}`);
  }
}

function chooseLogs(spec: string, session: Session): void {
  try {
    logs.set(spec);
  } catch (thrown) {
    session.reject(messageOf(thrown));
  }
}

/** `dyn repl`. */
export const replCommand: Command = {
  name: "repl",
  usage: "repl",
  summary: "Evaluate TypeScript interactively",
  takesFlags: true,
  run: async (args) => {
    expectNoMore("repl", args);
    await checkChoices();
    // Before the hooks are installed, which process each module in JavaScript
    shareNames(await toolkit());
    redirectOtherCheckouts();
    useProjectImports(Deno.cwd(), "");
    rewriteLoadedModules();
    const terminal = Deno.stdin.isTerminal() && Deno.stdout.isTerminal();
    if (terminal) console.log(`dyn on Deno ${Deno.version.deno}; :help helps, :quit leaves`);
    // A raw terminal sends Ctrl-C as a character, which belongs to the line that is being typed
    const interrupts = terminal ? await Interrupts.watch((sent) => Deno.stdin.setRaw(!sent)) : null;
    const session = new Session(interrupts);
    Object.defineProperty(globalThis, DECLARE, { value: declare });
    reportRejections((thrown) => session.fail(thrown));
    const lines = new Lines(terminal);
    await loop(lines, session);
    lines.close();
    return session.failed && !terminal ? 1 : 0;
  },
};
