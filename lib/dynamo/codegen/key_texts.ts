/**
 * Prints property keys as JavaScript: literals, accesses and expressions. Invariant: a symbol created in the trace is
 * created once in each call, before anything refers to it.
 */
import type { Constants } from "../guards/reader.ts";
import { isMadeSymbol } from "../trace/made_symbols.ts";
import type { MakingOrder } from "./making_order.ts";
import type { Names } from "./names.ts";

/** Texts of keys in one piece of generated code. */
export class KeyTexts {
  readonly #symbols = new Map<symbol, string>();

  constructor(
    readonly constants: Constants,
    readonly names: Names,
    readonly order: MakingOrder,
  ) {}

  /** A symbol; one created in the trace is created anew in each call. */
  symbol(value: symbol): string {
    if (!isMadeSymbol(value)) return this.constants.name(value);
    let name = this.#symbols.get(value);
    if (name === undefined) {
      name = this.names.fresh("symbol");
      this.#symbols.set(value, name);
      const { description } = value;
      const text = description === undefined ? "" : JSON.stringify(description);
      this.order.create(name, `${this.constants.name(Symbol, "Symbol")}(${text})`);
    }
    return name;
  }

  /** A key in an object literal. */
  member(key: string | symbol): string {
    if (typeof key === "symbol") return `[${this.symbol(key)}]`;
    if (key === "__proto__") return `["__proto__"]`;
    return /^[A-Za-z_$][\w$]*$/.test(key) ? key : JSON.stringify(key);
  }

  /** A property access with this key. */
  access(key: string | symbol): string {
    if (typeof key === "symbol") return `[${this.symbol(key)}]`;
    if (/^[A-Za-z_$][\w$]*$/.test(key)) return `.${key}`;
    return /^(0|[1-9]\d{0,8})$/.test(key) ? `[${key}]` : `[${JSON.stringify(key)}]`;
  }

  /** A key as an expression. */
  expression(key: string | symbol): string {
    return typeof key === "symbol" ? this.symbol(key) : JSON.stringify(key);
  }
}
