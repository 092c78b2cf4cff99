/** Proxies are traced: their traps run while tracing, in the language's order. */
import { assertEquals } from "@std/assert";
import { compile, type Tensor, tensor } from "../mod.ts";
import { brokenProxies, proxies } from "./programs/proxies.ts";
import { register, registerUnbroken } from "./support/programs.ts";

const FORCED = [3, 9, 16, 24];

register(brokenProxies, ["eager"], FORCED);
registerUnbroken(proxies, ["eager"], FORCED);

/** Uses of an object, of which each runs traps if it is a proxy. */
const USES: Readonly<Record<string, (object: Record<string, unknown>) => unknown>> = {
  "for-in": (object) => {
    const keys = [];
    for (const key in object) keys.push(key);
    return keys;
  },
  instanceof: (object) => object instanceof Map,
  in: (object) => "b" in object,
  JSON: (object) => JSON.stringify(object),
  spread: (object) => ({ ...object }),
  concat: (object) => [1].concat(object as never).length,
  assign: (object) => Object.assign({}, object),
  rest: ({ a, ...rest }) => [a, rest],
  keys: (object) => Object.keys(object),
  "the text of its kind": (object) => Object.prototype.toString.call(object),
  text: (object) => `${object}`,
  isPrototypeOf: (object) => Object.prototype.isPrototypeOf.call(object, object),
  "an heir": (object) => Object.create(object).none,
  "for-in over an heir": (object) => {
    const keys = [];
    for (const key in Object.create(object)) keys.push(key);
    return keys;
  },
  flat: (object) => [[object]].flat().length,
  getPrototypeOf: (object) => Object.getPrototypeOf(object) === Object.prototype,
  isFrozen: (object) => Object.isFrozen(object),
  "Promise.resolve": (object) => typeof Promise.resolve(object),
  clone: (object) => {
    try {
      return structuredClone(object);
    } catch {
      return "refused";
    }
  },
  Date: (object) => Number(new Date(object as never)),
};

for (const [name, use] of Object.entries(USES)) {
  Deno.test(`another proxy in each call runs its traps as often as uncompiled: ${name}`, () => {
    const logged = (log: string[]) => {
      const traps = new Proxy({}, {
        get: (_target, trap: keyof typeof Reflect) => (...args: readonly unknown[]) => {
          log.push(trap);
          return Reflect.apply(Reflect[trap] as never, Reflect, args);
        },
      });
      return new Proxy<Record<string, unknown>>({ a: 1, b: { c: 2 } }, traps);
    };
    const program = (x: Tensor, object: Record<string, unknown>) => [x.shape[0], use(object)];
    const compiled = compile(program, { backend: "eager" });
    for (let call = 0; call < 4; call++) {
      const expected: string[] = [], found: string[] = [];
      const result = program(tensor([1]), logged(expected));
      assertEquals(compiled(tensor([1]), logged(found)), result);
      assertEquals(found, expected);
    }
  });
}
