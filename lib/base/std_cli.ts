/**
 * `@std/cli`'s `parseArgs` over the runtime's own `node:util`.
 *
 * Input: arguments and which of them are flags, texts, lists; output: an object of flags with the rest in `_`.
 * Invariant: only what `@std/cli` documents, so that the import map can point at `jsr:@std/cli` instead. What
 * the command line does not use of it is left out: negatable flags, dotted names, positionals as numbers.
 */
import { parseArgs as parseTokens } from "node:util";

/** Which arguments have which form. */
export interface ParseOptions {
  /** Names of flags that take no value. */
  readonly boolean?: readonly string[];
  /** Names of flags that take a value. */
  readonly string?: readonly string[];
  /** Names of flags that may be repeated; their value is a list. */
  readonly collect?: readonly string[];
  /** Other names of a flag. */
  readonly alias?: Readonly<Record<string, string | readonly string[]>>;
  /** Values of flags that were not given. */
  readonly default?: Readonly<Record<string, unknown>>;
  /** Leave everything from the first positional argument on alone. */
  readonly stopEarly?: boolean;
  /** Called for a flag that is not named; what it returns says whether to keep it. */
  readonly unknown?: (arg: string, key?: string, value?: unknown) => unknown;
}

/** The flags by name, and the positional arguments. */
export type Args = Readonly<Record<string, unknown>> & { readonly _: readonly string[] };

/** Parses command-line arguments, as `jsr:@std/cli/parse-args` does. */
export function parseArgs(args: readonly string[], options: ParseOptions = {}): Args {
  const canonical = new Map<string, string>();
  const declared: Record<string, { type: "boolean" | "string"; short?: string }> = {};
  const declare = (name: string, type: "boolean" | "string") => {
    declared[name] = { type };
    canonical.set(name, name);
    for (const other of [options.alias?.[name] ?? []].flat()) {
      canonical.set(other, name);
      if (other.length === 1) declared[name].short = other;
      else declared[other] = { type };
    }
  };
  for (const name of options.boolean ?? []) declare(name, "boolean");
  for (const name of options.string ?? []) declare(name, "string");

  const { tokens } = parseTokens({
    args: [...args],
    options: declared,
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const out: Record<string, unknown> = {};
  const rest: string[] = [];
  for (const token of tokens) {
    if (token.kind === "option-terminator") {
      rest.push(...args.slice(token.index + 1));
      break;
    }
    if (token.kind === "positional") {
      if (options.stopEarly) {
        rest.push(...args.slice(token.index));
        break;
      }
      rest.push(token.value);
      continue;
    }
    const name = canonical.get(token.name);
    // As in @std/cli, a text flag without a value is empty and `--flag=false` switches a flag off.
    const value = declared[token.name]?.type === "string" ? token.value ?? "" : token.value !== "false";
    if (name === undefined) {
      const raw = token.inlineValue ? `${token.rawName}=${token.value}` : token.rawName;
      if (options.unknown?.(raw, token.name, token.value ?? true) === false) continue;
      out[token.name] = token.value ?? true;
    } else if (options.collect?.includes(name)) {
      const former = out[name];
      out[name] = [...(Array.isArray(former) ? former : []), value];
    } else {
      out[name] = value;
    }
  }
  for (const name of options.boolean ?? []) out[name] ??= false;
  for (const name of options.collect ?? []) out[name] ??= [];
  return { ...options.default, ...out, _: rest };
}
