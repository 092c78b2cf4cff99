/** What `compile` takes, and what it says of anything else. */
import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  BackendCompilerFailed,
  compile,
  type CompileOptions,
  DynError,
  fx,
  nn,
  type Tensor,
  tensor,
} from "../mod.ts";

/** Options as a program without types may give them. */
const untyped = (options: Readonly<Record<string, unknown>>): CompileOptions => ({ ...options });

Deno.test("an option that does not exist, or is of another type, is an error that names what there is", () => {
  const fn = (): number => 1;
  const message = (options: Readonly<Record<string, unknown>>): string =>
    assertThrows(() => compile(fn, untyped(options)), DynError).message;
  assertEquals(
    message({ fullGraph: true }),
    "Expected an option of compile out of backend, fullgraph, dynamic, mode, options, disable, name but found fullGraph",
  );
  assertEquals(message({ fullgraph: 1 }), "Expected fullgraph to be a boolean but found 1");
  assertEquals(message({ backend: 3 }), "Expected backend to be a string or function but found 3");
  assert(message({ backend: "nope" }).startsWith("Expected a backend out of "));
  assertEquals(
    message({ mode: "fast" }),
    'Expected mode "default", "reduce-overhead", "max-autotune" or "max-autotune-no-cudagraphs" but found fast',
  );
  assertThrows(() => compile(untyped({ fullGraph: true })), DynError, "but found fullGraph");
  const module = new nn.Linear(2, 2);
  assertThrows(() => module.compile(untyped({ fullGraph: true })), DynError, "but found fullGraph");
});

Deno.test("options that are undefined are not given", () => {
  const double = compile((n: number) => tensor([n]).mul(2), { backend: undefined, dynamic: undefined });
  assertEquals(double(4).tolist(), [8]);
});

Deno.test("an op that refuses its operands says the same compiled", () => {
  const fn = (x: Tensor): Tensor => nn.functional.dropout(x, 0.5);
  const message = assertThrows(() => fn(tensor([1, 2])), DynError).message;
  assertEquals(assertThrows(() => compile(fn)(tensor([1, 2])), DynError).message, message);
});

Deno.test("a backend that fails is named", () => {
  const broken: fx.GraphBackend = () => {
    throw new RangeError("No room");
  };
  const fn = compile((x: Tensor) => x.add(1), { backend: broken });
  assertThrows(() => fn(tensor([1])), BackendCompilerFailed, 'Backend "broken" failed: No room');
});
