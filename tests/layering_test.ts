/**
 * The table of layers: which folder may import which. Fails on any other import between folders and on any cycle
 * between files.
 *
 * The edges come from `deno info --json`, that is from Deno's own parser and resolver: imports of types, re-exports and
 * dynamic imports count, comments and strings that look like imports do not.
 */
import { assertEquals } from "@std/assert";
import { fileURLToPath } from "node:url";
import { filesBelow } from "./support/files.ts";

const ROOT = new URL("../", import.meta.url);

/** The rooms of tensors, in their order: each may use what stands before it. */
const ORDER = ["base", "sym", "loops", "graph", "ops", "tensor", "autograd"] as const;

const upTo = (last: typeof ORDER[number]): string[] => ORDER.slice(0, ORDER.indexOf(last) + 1);

/** For each room the rooms that it may import, besides itself. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  base: [],
  sym: upTo("base"),
  loops: upTo("sym"),
  graph: upTo("loops"),
  ops: upTo("graph"),
  tensor: upTo("ops"),
  autograd: upTo("tensor"),
  nn: upTo("autograd"),
  func: [...upTo("autograd"), "nn"],
  distributions: upTo("tensor"),
  optim: [...upTo("autograd"), "nn"],
  distributed: [...upTo("autograd"), "nn"],
  data: [...upTo("autograd"), "nn", "distributed"],
  dynamo: [...upTo("autograd"), "nn", "optim"],
  aot: upTo("autograd"),
  inductor: upTo("tensor"),
  codegen: upTo("loops"),
  packages: upTo("graph"),
  export: [...upTo("autograd"), "nn", "data", "dynamo", "aot", "packages"],
  compile: [...upTo("autograd"), "nn", "distributed", "dynamo", "aot", "inductor", "export"],
  debug: [...upTo("autograd"), "nn", "optim", "data", "distributed", "dynamo", "aot", "inductor", "compile"],
  runtime: [...upTo("graph"), "packages", "backends"],
  packaging: [
    ...upTo("autograd"),
    "data",
    "aot",
    "inductor",
    "codegen",
    "packages",
    "export",
    "backends",
    "runtime",
  ],
  backends: [...upTo("autograd"), "distributed", "inductor", "codegen", "written"],
  written: [],
};

/** Rooms outside lib and backends that put the house together; they may import everything. */
const OPEN = ["mod.ts", "modules.ts", "cli.ts", "preload.ts", "cli", "tools", "tests", "bench"];

/** Programs of users: they see only the public modules. */
const PROGRAMS: Readonly<Record<string, readonly string[]>> = { examples: ["mod.ts", "runtime"] };

const isRoom = (room: string): boolean => room in MAY_IMPORT || room in PROGRAMS || OPEN.includes(room);

/** `lib/<room>/…` is a room; the files of lib itself are one, `compile`; everything else goes by its first folder. */
function roomOf(path: string): string {
  const [top = "", second = ""] = path.split("/");
  if (top !== "lib") return top;
  return second.endsWith(".ts") ? "compile" : second;
}

/** One import inside the repository. */
interface Edge {
  readonly from: string;
  readonly to: string;
}

/**
 * The imports of each file that load another one with it: neither of types alone nor dynamic. Those outside the
 * repository have their specifiers.
 */
const loading = new Map<string, string[]>();

/** The part of `deno info --json` that is used here. */
interface InfoOutput {
  readonly modules: readonly {
    readonly specifier: string;
    readonly error?: string;
    readonly dependencies?: readonly {
      readonly specifier: string;
      readonly isDynamic?: boolean;
      readonly code?: { readonly specifier?: string };
      readonly type?: { readonly specifier?: string };
    }[];
  }[];
}

/** All imports between files of the repository; fills `loading`. */
async function edges(): Promise<Edge[]> {
  const files = filesBelow(ROOT).filter((file) => isRoom(roomOf(file)));
  const entry = await Deno.makeTempFile({ suffix: ".ts" });
  try {
    await Deno.writeTextFile(
      entry,
      files.map((file) => `import ${JSON.stringify(new URL(file, ROOT).href)};`).join("\n"),
    );
    const { stdout } = await new Deno.Command(Deno.execPath(), {
      args: ["info", "--json", "--config", fileURLToPath(new URL("deno.json", ROOT)), entry],
      stderr: "inherit",
    }).output();
    const info: InfoOutput = JSON.parse(new TextDecoder().decode(stdout));
    const found: Edge[] = [];
    for (const module of info.modules) {
      if (!module.specifier.startsWith(ROOT.href)) continue;
      const from = module.specifier.slice(ROOT.href.length);
      const targets = new Set<string>(), loaded: string[] = [];
      loading.set(from, loaded);
      for (const { specifier, isDynamic, code, type } of module.dependencies ?? []) {
        // Adapters for packages count as the packages.
        const isPackage = !specifier.startsWith(".");
        if (!isDynamic && code?.specifier) {
          loaded.push(isPackage ? specifier : code.specifier.slice(ROOT.href.length));
        }
        if (isPackage) continue;
        for (const target of [code?.specifier, type?.specifier]) {
          if (target?.startsWith(ROOT.href)) targets.add(target.slice(ROOT.href.length));
        }
      }
      for (const to of targets) found.push({ from, to });
    }
    return found;
  } finally {
    await Deno.remove(entry);
  }
}

/** The rule that an import breaks, as one line for the failure's list. */
function complaint({ from, to }: Edge): string | undefined {
  const [room, target] = [roomOf(from), roomOf(to)];
  if (room === target || OPEN.includes(room)) return undefined;
  const allowed = MAY_IMPORT[room] ?? PROGRAMS[room];
  if (allowed === undefined) return `${from} is in no room of the table`;
  return allowed.includes(target) ? undefined : `${from} imports ${to}`;
}

/** The import cycles, each by one of its paths, found by depth-first search. */
function cycles(all: readonly Edge[]): string[] {
  const next = Map.groupBy(all, (edge) => edge.from);
  const state = new Map<string, "open" | "done">();
  const found: string[] = [];
  const visit = (file: string, path: readonly string[]) => {
    if (state.get(file) === "done") return;
    if (state.get(file) === "open") {
      found.push([...path.slice(path.indexOf(file)), file].join(" → "));
      return;
    }
    state.set(file, "open");
    for (const { to } of next.get(file) ?? []) visit(to, [...path, file]);
    state.set(file, "done");
  };
  for (const file of next.keys()) visit(file, []);
  return found;
}

/** The code of a file without its comments. */
const codeOf = (text: string): string => text.replaceAll(/\/\*[^]*?\*\/|(?<![:"'])\/\/.*/g, "");

/** An import, re-export or dynamic import of all that a file exports. */
const WHOLE = /(?:\*(?:\s+as\s+\w+)?\s+from\s*|import\(\s*)"(\.[^"]+)"/g;

/** A function, class or constant that a file exports. */
const EXPORTED_VALUE = /^export (?:abstract )?(?:async )?(?:function\*?|class|const|let) ([\w$]+)/gm;

/**
 * The functions, classes and constants that are exported by a file of lib or backends although no other file names
 * them, as `file: name`. Files that another one imports or exports as a whole are left out.
 */
function lonelyExports(texts: ReadonlyMap<string, string>): string[] {
  const whole = new Set<string>(), naming = new Map<string, number>();
  for (const [file, text] of texts) {
    const code = codeOf(text);
    for (const [, to = ""] of code.matchAll(WHOLE)) {
      whole.add(new URL(to, `file:///${file}`).pathname.slice(1));
    }
    for (const name of new Set(code.match(/[\w$]+/g))) naming.set(name, (naming.get(name) ?? 0) + 1);
  }
  return [...texts].filter(([file]) => /^(lib|backends)\//.test(file) && !whole.has(file)).flatMap((
    [file, text],
  ) =>
    [...text.matchAll(EXPORTED_VALUE)].flatMap(([, name = ""]) =>
      naming.get(name) === 1 ? [`${file}: ${name}`] : []
    )
  );
}

const ALL = await edges();

Deno.test("functions, classes and constants are exported only where another file names them", () => {
  const texts = filesBelow(ROOT).map((file) => [file, Deno.readTextFileSync(new URL(file, ROOT))] as const);
  assertEquals(lonelyExports(new Map(texts)), []);
  const sample = lonelyExports(
    new Map([
      ["lib/a.ts", 'export const used = 1, x = 2;\nexport function lonely() {}\nexport * from "./b.ts";'],
      ["lib/b.ts", "export class Public {}"],
      ["lib/c.ts", 'import { used } from "./a.ts"; // lonely\nlog(used);'],
    ]),
  );
  assertEquals(sample, ["lib/a.ts: lonely"]);
});

Deno.test("folders import only folders before them", () => {
  assertEquals(ALL.map(complaint).filter((text) => text !== undefined), []);
});

Deno.test("files import each other without cycles", () => {
  assertEquals(cycles(ALL), []);
});

/** Returns all that is loaded with some files, and these. */
function loadedWith(...files: readonly string[]): ReadonlySet<string> {
  const loads = new Set(files);
  for (const file of loads) loading.get(file)?.forEach((to) => loads.add(to));
  return loads;
}

/** Parts that a start leaves to the programs that use them: folders, and modules of which each loads others. */
const ON_DEMAND = [
  "backends/webgpu/device.ts",
  "backends/cpu/print/",
  "backends/mpi/transport.ts",
  "backends/onednn/engine.ts",
  "backends/onnxrt/",
  "lib/codegen/attention.ts",
  "lib/codegen/winograd.ts",
  "lib/codegen/lanes.ts",
  "lib/aot/shared_steps.ts",
  "lib/debug/replay/record.ts",
  "packaging/onnx/call.ts",
  "packaging/package_bytes.ts",
];

Deno.test("dyn loads without what few programs use: GPU passes and device, printer of C++, engines, writers", () => {
  const loads = [...loadedWith("mod.ts")], all = [...loading.keys()];
  assertEquals(loads.includes("backends/cpu/device.ts"), true);
  for (const part of ON_DEMAND) {
    assertEquals(all.some((file) => file.startsWith(part)), true, part);
    assertEquals(loads.filter((file) => file.startsWith(part)), []);
  }
});

Deno.test("the command line loads with the command that runs scripts, and without the others", () => {
  const loads = loadedWith("cli.ts");
  for (const { name } of Deno.readDirSync(new URL("cli/", ROOT))) {
    const text = name.endsWith(".ts") ? Deno.readTextFileSync(new URL(`cli/${name}`, ROOT)) : "";
    if (/^export (?:const|function) \w+Command\b/m.test(text)) {
      assertEquals(loads.has(`cli/${name}`), name === "run.ts", name);
    }
  }
  assertEquals([...loads].filter((file) => file === "node:fs"), []);
});

/** Modules that may be missing in the list of those that mod.ts loads: a few new ones hardly slow it down. */
const MOST_UNLISTED = 20;

Deno.test("mod.ts lists what it loads, so that hardly any other module is the first to import one", () => {
  const [first, ...others] = loading.get("mod.ts") ?? [], listed = new Set(loading.get("modules.ts"));
  assertEquals(first, "modules.ts");
  const loads = [...loadedWith(...others)].filter((file) => loading.has(file));
  assertEquals([...listed].filter((file) => !loads.includes(file)), [], "Run `deno task generate`");
  const unlisted = loads.filter((file) => !listed.has(file));
  assertEquals(unlisted.slice(MOST_UNLISTED), [], "Run `deno task generate`");
});

/** Modules that a page loads, at once or when it asks for WebGPU. */
const OF_PAGES = ["runtime/mod.ts", "runtime/webgpu_session.ts"];

Deno.test("what pages load is in this repository, and starts without the globals of Deno and Node.js", async () => {
  const loads = loadedWith("examples/web/page.ts", ...OF_PAGES);
  assertEquals(loads.has("backends/wasm/placement.ts"), true);
  assertEquals([...loads].filter((file) => !loading.has(file)), []);
  assertEquals(loadedWith("backends/memory/live_set.ts").has("node:v8"), true);
  const script = `for (const name of ["Deno", "process", "Buffer", "global"]) delete globalThis[name];
Promise.all(${JSON.stringify(OF_PAGES.map((file) => new URL(file, ROOT).href))}.map((file) => import(file)))
  .then(() => postMessage("started"), (error) => postMessage(String(error)));`;
  const worker = new Worker(`data:text/javascript,${encodeURIComponent(script)}`, { type: "module" });
  const said = Promise.withResolvers<unknown>();
  worker.onmessage = ({ data }) => said.resolve(data);
  assertEquals(await said.promise, "started");
  worker.terminate();
});

Deno.test("the import graph is complete, and the two checks detect faults", () => {
  const found = ALL.some(({ from, to }) => from === "lib/base/config.ts" && to === "lib/base/errors.ts");
  assertEquals(found, true);
  assertEquals(
    complaint({ from: "lib/sym/a.ts", to: "lib/graph/b.ts" }),
    "lib/sym/a.ts imports lib/graph/b.ts",
  );
  assertEquals(
    complaint({ from: "lib/dynamo/a.ts", to: "lib/aot/b.ts" }),
    "lib/dynamo/a.ts imports lib/aot/b.ts",
  );
  assertEquals(
    complaint({ from: "lib/nn/a.ts", to: "backends/cpu/b.ts" }),
    "lib/nn/a.ts imports backends/cpu/b.ts",
  );
  assertEquals(
    complaint({ from: "lib/news/a.ts", to: "lib/base/b.ts" }),
    "lib/news/a.ts is in no room of the table",
  );
  const ring = [{ from: "a", to: "b" }, { from: "b", to: "c" }, { from: "c", to: "b" }];
  assertEquals(cycles(ring), ["b → c → b"]);
});
