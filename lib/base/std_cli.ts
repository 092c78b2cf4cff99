/**
 * `@std/cli`'s `parseArgs` over the runtime's own `node:util`.
 *
 * Flags are returned by name, the rest in `_`. Invariant: it has only features that `@std/cli` documents, so that the
 * import map can point at `jsr:@std/cli` instead. Unused features are left out: negatable flags, dotted names,
 * positionals as numbers.
 */
import { parseArgs as parseTokens } from "node:util";

/** The forms of arguments; `B`, `S` and `C` are the names of flags, texts and lists. */
export interface ParseOptions<
  B extends string = string,
  S extends string = string,
  C extends string = string,
> {
  /** Names of flags that take no value. */
  readonly boolean?: readonly B[];
  /** Names of flags that take a value; `_` keeps positional arguments that are numbers as text. */
  readonly string?: readonly S[];
  /** Names of flags that may be repeated; their value is a list. */
  readonly collect?: readonly C[];
  /** Other names of a flag. */
  readonly alias?: Readonly<Record<string, string | readonly string[]>>;
  /** Default values of flags. */
  readonly default?: Readonly<Record<string, unknown>>;
  /** Stop parsing at the first positional argument. */
  readonly stopEarly?: boolean;
  /** Called for an unknown flag; returns whether to keep it. */
  readonly unknown?: (arg: string, key?: string, value?: unknown) => unknown;
}

/** The flags by name, and the positional arguments in `_`. */
export type Args<B extends string = string, S extends string = string, C extends string = string> =
  & { readonly [K in B]: boolean }
  & { readonly [K in Exclude<S, C | "_">]: string | undefined }
  & { readonly [K in C]: readonly string[] }
  & { readonly _: readonly ("_" extends S ? string : string | number)[] };

/** Parses command-line arguments, as `jsr:@std/cli/parse-args` does. */
export function parseArgs<
  const B extends string = never,
  const S extends string = never,
  const C extends string = never,
>(args: readonly string[], options: ParseOptions<B, S, C> = {}): Args<B, S, C> {
  const { flags, positionals } = parsed(args, options);
  const keepText = options.string?.some((name) => name === "_") ?? false;
  const isNumber = (text: string): boolean => text.trim() !== "" && Number.isFinite(Number(text));
  const rest = positionals.map((text) => !keepText && isNumber(text) ? Number(text) : text);
  // The names come from the same options as the type
  return Object.assign(Object.create(null), options.default, flags, { _: rest });
}

/** Flags under their first names, and the other arguments, as texts. */
interface Parsed {
  readonly flags: Readonly<Record<string, unknown>>;
  readonly positionals: readonly string[];
}

function parsed(args: readonly string[], options: ParseOptions): Parsed {
  const canonical = new Map<string, string>();
  const declared: Record<string, { type: "boolean" | "string"; short?: string }> = {};
  const declare = (name: string, type: "boolean" | "string") => {
    if (name === "_") return;
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
  const flags: Record<string, unknown> = {};
  const positionals: string[] = [];
  for (const token of tokens) {
    if (token.kind === "option-terminator") {
      positionals.push(...args.slice(token.index + 1));
      break;
    }
    if (token.kind === "positional") {
      if (options.stopEarly) {
        positionals.push(...args.slice(token.index));
        break;
      }
      positionals.push(token.value);
      continue;
    }
    const name = canonical.get(token.name);
    // As in @std/cli, a text flag without a value is empty and `--flag=false` switches a flag off.
    const value = declared[token.name]?.type === "string" ? token.value ?? "" : token.value !== "false";
    if (name === undefined) {
      const raw = token.inlineValue ? `${token.rawName}=${token.value}` : token.rawName;
      if (options.unknown?.(raw, token.name, token.value ?? true) === false) continue;
      flags[token.name] = token.value ?? true;
    } else if (options.collect?.includes(name)) {
      const former = flags[name];
      flags[name] = [...(Array.isArray(former) ? former : []), value];
    } else {
      flags[name] = value;
    }
  }
  for (const name of options.boolean ?? []) flags[name] ??= false;
  for (const name of options.collect ?? []) flags[name] ??= [];
  return { flags, positionals };
}
