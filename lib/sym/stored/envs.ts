/**
 * Serialises a ShapeEnv that is complete. Invariant: symbols keep their order, and so their names; data-dependent
 * sizes are refused.
 */
import type { Plain } from "../../base/recording.ts";
import { ShapeEnv } from "../shape_env.ts";
import type { SizeGuard, SizeSource } from "../size_guards.ts";
import { type Codec, list, number, oneOf, primitiveOf, record, text, union } from "./codec.ts";
import { dim, part, symbol } from "./dims.ts";
import { DamagedForm } from "./forms.ts";
import type { Symbols } from "./symbols.ts";

const sizeSource: Codec<SizeSource> = record<SizeSource>({ base: text, part });

/** Bounds may be infinite. */
const bound: Codec<number> = primitiveOf("number");

/** Guards on sizes. */
export const sizeGuard: Codec<SizeGuard> = union<SizeGuard>({
  range: record({ symbol, lower: bound, upper: bound, text }),
  source: record({ source: sizeSource, equals: dim, text }),
  relation: record({ relation: oneOf("eq", "ne", "le"), left: dim, right: dim, text }),
});

/** A serialised size. */
interface Made {
  readonly source: SizeSource;
  readonly hint: number;
  readonly lower: number;
  readonly upper: number;
}

const made: Codec<readonly Made[]> = list(
  record<Made>({ source: sizeSource, hint: number, lower: bound, upper: bound }),
);
const guards: Codec<readonly SizeGuard[]> = list(sizeGuard);

/** Numbers the symbols of a trace, before anything mentions them. */
export function numberSizes(env: ShapeEnv, symbols: Symbols): void {
  for (const each of env.symbols) symbols.numberOf(each);
}

/** Serialises the sizes of a trace. Throws NotStorable. */
export function writeSizes(env: ShapeEnv, symbols: Symbols): Plain {
  const sizes = env.symbols.map((each): Made => ({
    source: env.sourceOf(each),
    hint: env.hintOf(each),
    lower: each.lower,
    upper: each.upper,
  }));
  return [made.write(sizes, symbols), guards.write(env.guards(), symbols)];
}

/** Recreates sizes with the same facts and numbers their symbols. Throws DamagedForm. */
export function readSizes(form: readonly Plain[], symbols: Symbols): ShapeEnv {
  const [sizes = null, known = null] = form, env = new ShapeEnv();
  const places = new Map<string, number>();
  made.read(sizes, symbols).forEach(({ source, hint, lower, upper }, at) => {
    const size = env.createSize(source, hint, { range: [lower, upper], duck: false });
    if (typeof size === "number") {
      throw new DamagedForm(`Expected a size within its bounds but found ${hint}`);
    }
    places.set(JSON.stringify(source), at);
    symbols.numberOf(size);
  });
  for (const guard of guards.read(known, symbols)) {
    switch (guard.kind) {
      case "range":
        if (guard.lower !== -Infinity) env.assume("le", [guard.lower, guard.symbol], true);
        if (guard.upper !== Infinity) env.assume("le", [guard.symbol, guard.upper], true);
        break;
      case "source": {
        // Only sources of symbols are ever read
        const at = places.get(JSON.stringify(guard.source));
        if (at !== undefined) env.assume("eq", [symbols.at(at), guard.equals], true);
        break;
      }
      case "relation":
        if (guard.relation === "ne") env.assume("eq", [guard.left, guard.right], false);
        else env.assume(guard.relation, [guard.left, guard.right], true);
        break;
      default:
        guard satisfies never;
    }
  }
  return env;
}
