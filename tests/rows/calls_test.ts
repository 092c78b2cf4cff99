/** Rows M1 to M7 of the list of features: what `compile` accepts, and when it compiles again. */
import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
import {
  compile,
  compiler,
  config,
  type DType,
  DynError,
  FailOnRecompileLimitHit,
  logs,
  nn,
  ones,
  type Tensor,
  tensor,
  Unsupported,
} from "../../mod.ts";
import { stderrOf } from "../support/stderr.ts";

const eager = { backend: "eager" } as const;

/** The warnings that a body gives, each without what marks its lines. */
function warnings(body: () => unknown): string[] {
  const lines = stderrOf(body).split("\n").map((line) => line.replace(/^\[recompiles\] /, ""));
  return lines.join("\n").split(/(?<=uncompiled from here on)\n/).filter((text) => text !== "");
}

Deno.test("M1: compile takes fullgraph, dynamic, backend, mode, options and disable; a module is compiled in place", () => {
  const graphs = new compiler.CompileCounter();
  const f = compile((x: Tensor) => x.mul(2), {
    fullgraph: true,
    dynamic: false,
    backend: graphs,
    mode: "default",
    options: { fusion: true },
    disable: false,
  });
  assertEquals([f(tensor([1, 2])).tolist(), graphs.frameCount], [[2, 4], 1]);
  const plain = (x: Tensor) => x;
  assertEquals(compile(plain, { disable: true }), plain);
  const model = new nn.Linear(2, 1), keys = Object.keys(model.stateDict());
  model.compile({ backend: graphs });
  model.call(ones([1, 2]));
  assertEquals([Object.keys(model.stateDict()), graphs.frameCount], [keys, 2]);
  const { compiled, graphs: captured, hits } = compiler.status(model);
  assertEquals([compiled, captured, hits, compiler.cacheEntries(model).length], [true, 1, 1, 1]);
  assertEquals(String(compiler.shapes(model)[0]), 'L["x"]: float32[1, 2]');
  assertEquals(String(compiler.status(new nn.Linear(2, 1).compile({ disable: true }))), "not compiled");
});

Deno.test("M1: compile is a decorator of methods, bare, called, and with options", () => {
  const graphs = new compiler.CompileCounter();
  class Scales {
    @compile
    bare(x: Tensor): boolean {
      return compiler.isCompiling() && x.add(1).ndim === 1;
    }

    @compile()
    called(x: Tensor): boolean {
      return compiler.isCompiling() && x.add(1).ndim === 1;
    }

    @compile({ backend: graphs })
    chosen(x: Tensor): Tensor {
      return x.add(1);
    }
  }
  const scales = new Scales(), x = ones([2]);
  assertEquals([scales.bare(x), scales.called(x), scales.chosen(x).tolist()], [true, true, [2, 2]]);
  assertEquals(graphs.frameCount, 1);
  assertThrows(() => Reflect.apply(compile, null, [undefined]), DynError, "to compile but found undefined");
});

Deno.test("M1: a function that stands for another has its name, length and properties", () => {
  const factor = Symbol("factor");
  const scale = (x: Tensor, by: number) => x.mul(by),
    scaled = Object.assign(scale, { unit: "m", [factor]: 3 });
  const wrappers = [
    (f: typeof scaled) => compile(f, eager),
    (f: typeof scaled) => compiler.disable(f),
    (f: typeof scaled) => compiler.nestedCompileRegion(f),
  ];
  for (const wrap of wrappers) {
    const made = wrap(scaled);
    assertEquals([made.name, made.length, made.unit, made[factor]], ["scale", 2, "m", 3]);
    assertEquals(compile((x: Tensor) => x.mul(made[factor]).add(made(x, 2)), eager)(ones([1])).item(), 5);
  }
});

Deno.test("M1: a bound function is compiled with its receiver and arguments, a proxy with its target", () => {
  const scaler = (by: number) => ({
    by,
    scale(x: Tensor, offset = 0): Tensor {
      return x.mul(this.by).add(offset);
    },
  });
  const one = scaler(2), other = scaler(5), x = tensor([1, 3]);
  const made = [one.scale.bind(one), one.scale.bind(other), one.scale.bind(one, x), new Proxy(one.scale, {})];
  for (const [k, plain] of made.entries()) {
    const compiled = compile(plain, { ...eager, fullgraph: true });
    for (const by of [2, 7]) {
      one.by = by;
      const run = (f: typeof plain) => Reflect.apply(f, other, k === 2 ? [3] : [x, 3]).tolist();
      assertEquals(run(compiled), run(plain), `${k}: ${by}`);
    }
    const { graphs, uncompiled } = compiler.status(compiled);
    assertEquals([compiled.name, graphs, uncompiled], [plain.name, k % 2 === 0 ? 2 : 1, []], String(k));
  }
});

Deno.test("M2: name is the function's name in messages, and for debugFunction", () => {
  const fn = (x: Tensor, s: string): Tensor => x.add(s.length);
  const named = compile(fn, { ...eager, name: "decode" });
  const texts: string[] = [];
  logs.capture("recompiles", (_a, text) => texts.push(text), () => {
    named(ones([2]), "a");
    named(ones([2]), "bb");
  });
  assert(texts[0]?.startsWith("Recompiling decode\n"), texts[0]);
  const count = new compiler.CompileCounter();
  config.patch({ debugFunction: "decode" }, () => {
    compile(fn, { backend: count })(ones([2]), "a");
    assertEquals(count.frameCount, 0);
    compile(fn, { backend: count, name: "decode" })(ones([2]), "a");
    assertEquals(count.frameCount, 1);
  });
});

Deno.test("M2: shapesSpec specifies which dimensions of a parameter are symbols", () => {
  const versions = (
    shapesSpec: compiler.ShapesSpec,
    sizes: readonly (readonly [number, number])[],
  ): number => {
    const f = compile((x: Tensor) => x.add(1), { ...eager, shapesSpec });
    for (const size of sizes) assertEquals(f(ones(size)).shape, size);
    return compiler.cacheEntries(f).length;
  };
  assertEquals(versions({ x: ["dynamic"] }, [[3, 4], [5, 4]]), 1);
  assertEquals(versions({ x: [null, "dynamic"] }, [[3, 4], [5, 4], [6, 7]]), 2);
  assertEquals(versions({ x: ["static"] }, [[3, 4], [5, 4], [6, 4]]), 3);
  assertEquals(versions({ x: [{ max: 5 }] }, [[3, 4], [5, 4], [9, 4]]), 2);
  const call = (shapesSpec: Readonly<Record<string, unknown>>, fn = (x: Tensor) => x.add(1)) => () =>
    compile(fn, { ...eager, ...{ shapesSpec } as { shapesSpec: compiler.ShapesSpec } })(ones([3]));
  assertThrows(
    call({ y: ["dynamic"] }),
    DynError,
    'a parameter with dimensions to be one of x but found "y"',
  );
  assertThrows(
    call({ x: "dynamic" }),
    DynError,
    'a list like ["dynamic", "static"] for the dimensions of x but found "dynamic"',
  );
  assertThrows(call({ x: ["any"] }), DynError, `for a dimension of x but found "any"`);
  assertThrows(call({ x: [{ minimum: 3 }] }), DynError, "for a dimension of x but found { minimum: 3 }");
  assertThrows(
    call({ x: ["dynamic"] }, (x) => x.shape[0] === 3 ? x : x.add(1)),
    DynError,
    "needs it to be 3",
  );
  class Sum extends nn.Module {
    override forward(a: Tensor, b: Tensor): Tensor {
      return a.sum().add(b);
    }
  }
  const model = compile(new Sum(), { ...eager, shapesSpec: { b: ["dynamic"] } });
  for (const size of [3, 4]) assertEquals(model.call(ones([2]), ones([size])).shape, [size]);
  for (const size of [3, 4]) assertEquals(model.forward(ones([2]), ones([size])).shape, [size]);
  assertEquals(compiler.cacheEntries(model).length, 1);
  assertThrows(
    () => compile(new Sum(), { ...eager, shapesSpec: { c: [] } }).call(ones([1]), ones([1])),
    DynError,
    'a parameter with dimensions to be one of a, b but found "c"',
  );
  assertThrows(
    () => compile((x: Tensor) => x, { dynamic: true, shapesSpec: {} }),
    DynError,
    "Expected dynamic or shapesSpec but found both",
  );
});

Deno.test("M3: every mode is listed with its settings, and others are rejected", () => {
  assertEquals(compiler.listModeOptions(), {
    "default": {},
    "reduce-overhead": { replay: true },
    "max-autotune": { maxAutotune: true },
    "max-autotune-no-cudagraphs": { maxAutotune: true },
  });
  assertEquals(compiler.listModeOptions("max-autotune"), { maxAutotune: true });
  const wrong: Readonly<Record<string, unknown>> = { mode: "fastest" };
  assertThrows(
    () => compile((x: Tensor) => x, { ...wrong }),
    DynError,
    'Expected mode of compile to be one of default, reduce-overhead, max-autotune, max-autotune-no-cudagraphs but found "fastest"',
  );
  const seen: boolean[] = [];
  const backend = () => {
    seen.push(config.inductor.maxAutotune);
    return null;
  };
  for (const mode of ["default", "max-autotune", "max-autotune-no-cudagraphs", "reduce-overhead"] as const) {
    compile((x: Tensor) => x.add(1), { backend, mode })(ones([1]));
  }
  assertEquals(seen, [false, true, true, false]);
});

Deno.test("M4: every name of listOptions is accepted and type-checked, and no other", () => {
  const names = compiler.listOptions();
  for (const name of ["epilogueFusion", "maxAutotune", "guardFilterFn", "shadow", "trace.enabled"]) {
    assert(names.includes(name), name);
  }
  for (const name of names) {
    assertThrows(
      () => compile((x: Tensor) => x, { options: { [name]: Symbol("wrong") } }),
      DynError,
      undefined,
      name,
    );
  }
  assertThrows(
    () => compile((x: Tensor) => x, { options: { shapePadding: true } }),
    DynError,
    "inductor.shapePadding",
  );
});

Deno.test("M5: sizes are constants until they change; with true symbols immediately, with false constants forever", () => {
  const entries = (dynamic: boolean | undefined, sizes: readonly number[]): number => {
    const f = compile((x: Tensor) => x.add(1), { ...eager, dynamic });
    for (const size of sizes) assertEquals(f(ones([size])).shape, [size]);
    return compiler.cacheEntries(f).length;
  };
  assertEquals(entries(undefined, [3, 4, 5, 6]), 2);
  assertEquals(entries(true, [3, 4, 5, 6]), 1);
  assertEquals(entries(false, [3, 4, 5, 6]), 4);
});

Deno.test("M6: numbers and sizes that change become symbols before the limit is near", () => {
  const state = { scale: 0.5, count: 2 };
  const f = compile((x: Tensor, shift: number) => x.mul(state.scale).add(shift).repeat([state.count]), eager);
  for (let i = 2; i < 40; i++) {
    state.scale = i + 0.5;
    state.count = i;
    assertEquals(f(ones([2 * i]), i / 7).numel(), 2 * i * i);
  }
  assertEquals(compiler.cacheEntries(f).length, 2);
});

Deno.test("M6: parameters that a program replaces share a version, and reports name the parameter that differs", () => {
  const layer = new nn.Linear(2, 2);
  const f = compile((x: Tensor): Tensor => layer.call(x), eager), x = ones([1, 2]);
  for (let i = 0; i < 12; i++) {
    layer.weight = new nn.Parameter(ones([2, 2]).mul(i));
    assert(f(x).equal(layer.call(x)));
  }
  assertEquals(compiler.cacheEntries(f).length, 2);
  const texts: string[] = [];
  logs.capture("recompiles", (_a, text) => texts.push(text), () => {
    layer.bias?.requiresGrad_(false);
    assert(f(x).equal(layer.call(x)));
  });
  const [, ...lines] = texts[0]?.split("\n") ?? [];
  assertMatch(
    lines[0] ?? "",
    /^ {2}check_tensor\(F\["layer\.bias"\], Parameter, .*requires_grad=true.*, found float32\[2\]\[1\] that does not require grad/,
  );
  assertMatch(
    compiler.cacheEntries(f)[0]?.graph?.code ?? "",
    /ops\.linear\(l_x_, f_layer_weight_, f_layer_bias_\)/,
  );
});

Deno.test("M6: at cacheSizeLimit one warning names what kept changing, its line, and the remedies", () => {
  const text = warnings(() => {
    const f = compile(function pick(x: Tensor, box: { key: bigint }): Tensor {
      return box.key === -1n ? x : x.add(Number(box.key));
    }, { ...eager, dynamic: false });
    for (let i = 0; i < 20; i++) f(ones([2]), { key: BigInt(i) });
    assertEquals(compiler.cacheEntries(f).length, 8);
  });
  assertEquals(text.length, 1);
  const [first = ""] = text;
  assert(first.startsWith("pick has reached config.cacheSizeLimit (8)\nWhat kept changing:\n"), first);
  assert(
    first.includes(
      `  L["box"].key: 7n, 6n, 5n, 4n, …, now 8n (differs from 8 versions)`,
    ),
  );
  assert(/\n {4}return box.key === -1n .*\(.*calls_test.ts:\d+\)\n/.test(first), first);
  assert(first.includes("\nTo end this: raise config.cacheSizeLimit above 8\n"), first);
});

Deno.test("M6: a warning names the texts and functions at which graphs end before they would run uncompiled", () => {
  const told = warnings(() => {
    const chosen = (x: Tensor, key: string, by: (x: Tensor) => Tensor) => by(x).add(key.length);
    const f = compile(chosen, eager);
    config.patch({ cacheSizeLimit: 4 }, () => {
      const kinds = [(x: Tensor) => x.neg(), (x: Tensor) => x.abs(), (x: Tensor) => x.exp()];
      for (const key of ["a", "bb", "ccc", "dddd", "eeeee"]) f(ones([2]), key, (x: Tensor) => x.neg());
      for (const by of kinds) f(ones([2]), "a", by);
    });
    assertEquals(compiler.status(f).uncompiled, []);
  });
  const rest =
    "have a version each. For further ones the graph ends where the program uses them; for versions of " +
    "these, too, raise config.cacheSizeLimit above 4";
  const [first = "", line = "", second = ""] = told.join("").split("\n");
  assertEquals([first, second], [
    `chosen: L["key"]: 2 texts ${rest}`,
    `chosen: L["by"]: 2 functions ${rest}`,
  ]);
  assert(/^ {2}const chosen = .*\(.*calls_test\.ts:\d+\)$/.test(line), line);
});

Deno.test("M6: the warning names the setting that keeps sizes and numbers constant", () => {
  const advice = (run: () => void): string =>
    /To end this: (.*)/.exec(warnings(() => config.patch({ cacheSizeLimit: 2 }, run)).join("\n"))?.[1] ?? "";
  const sizes = (options: { dynamic?: boolean }) => () => {
    const f = compile((x: Tensor) => x.add(1), { ...eager, ...options });
    for (const size of [3, 4, 5]) f(ones([size]));
  };
  assert(advice(sizes({ dynamic: false })).startsWith("compile it without dynamic: false"));
  const settings = config.patch({ dynamicShapes: false }, () => advice(sizes({})));
  assert(settings.startsWith("set config.dynamicShapes"), settings);
  const listed = config.patch({ staticSources: `L["x"]` }, () => advice(sizes({})));
  assert(listed.startsWith("remove what changes from config.staticSources"), listed);
});

Deno.test("M6: the warning names the line that needs one value of a number, and distinguishes functions", () => {
  const [text = ""] = warnings(() => {
    const f = compile((x: Tensor, dim: number) => x.add(1).sum(dim), eager);
    for (let dim = 0; dim < 12; dim++) f(ones(new Array<number>(12).fill(1)), dim);
  });
  assert(text.includes(`\n  L["dim"]: 7, 6, 5, 4, …, now 8 (differs from 8 versions)\n`), text);
  const advice =
    /To end this: move code that needs one value of L\["dim"\] out of .* \(.*calls_test\.ts:\d+\)/;
  assert(advice.test(text), text);
  const [other = ""] = warnings(() =>
    config.patch({ cacheSizeLimit: 1 }, () => {
      const f = compile((x: Tensor, fn: (x: Tensor) => Tensor) => fn(x), eager);
      f(ones([1]), (x) => x.add(1));
      f(ones([1]), (x) => x.sub(1));
    })
  );
  assert(other.includes(`L["fn"]: function <anonymous>, now another function <anonymous>`), other);
});

Deno.test("M6: the limit of all parts of a function gives one warning, too", () => {
  const cut = compiler.disable(() => {});
  const text = warnings(() =>
    config.patch({ accumulatedCacheSizeLimit: 3 }, () => {
      const f = compile((x: Tensor, s: string) => {
        const y = x.add(s.length);
        cut();
        return y.mul(s.length);
      }, { ...eager, name: "parts" });
      for (let i = 0; i < 6; i++) assertEquals(f(ones([1]), "a".repeat(i)).tolist(), [(1 + i) * i]);
      assertEquals(compiler.status(f).entries, 2);
    })
  );
  assertEquals(text.length, 1, text.join("\n"));
  assert(text[0]?.includes("has reached config.accumulatedCacheSizeLimit (3)"), text[0]);
  assert(text[0]?.includes("To end this: raise config.accumulatedCacheSizeLimit above 3"), text[0]);
});

Deno.test("M6: a limit is an error with fullgraph, and with failOnRecompileLimitHit", () => {
  const dtypes: readonly DType[] = ["float32", "float64", "int32"];
  const run = (fullgraph: boolean) => () => {
    const f = compile((x: Tensor) => x.add(1), { ...eager, fullgraph });
    for (const dtype of dtypes) f(ones([2], { dtype }));
  };
  config.patch({ cacheSizeLimit: 2 }, () => {
    for (const body of [run(true), () => config.patch({ failOnRecompileLimitHit: true }, run(false))]) {
      const error = assertThrows(body, FailOnRecompileLimitHit), { reason } = error;
      assert(error instanceof Unsupported);
      assertEquals([error.name, reason.id], ["FailOnRecompileLimitHit", "GB0033"]);
      assert(
        reason.explanation.includes(`L["x"]: float64[2][1], float32[2][1], now int32[2][1]`),
        reason.explanation,
      );
    }
  });
});

Deno.test("M7: errorOnRecompile throws with the failed guard, the found value, and the line", () => {
  config.patch({ errorOnRecompile: true }, () => {
    const f = compile((x: Tensor) => x.add(1), eager);
    f(ones([3]));
    const { message } = assertThrows(() => f(ones([4])), Unsupported);
    assert(message.includes("size=[3], stride=[1]), found float32[4][1]  # "), message);
    assert(message.includes("calls_test.ts:"), message);
  });
});
