/**
 * Packages: milliseconds from the first line of a script in a fresh process to the first result, by each kind of code,
 * and the shares of the runtime's modules and the package (target: 30); the CPU time for the same, which a busy machine
 * changes less; and the time of the whole process compared with one that does nothing. Also the bytes for a browser
 * without weights (target: 1 MB).
 *
 *   deno run -A cli.ts bench packages
 */
import { fileURLToPath } from "node:url";
import { ConvNet } from "../examples/mnist/model.ts";
import { compiler, nn, randn, savePackage, type Tensor } from "../mod.ts";
import { readArchive } from "../lib/base/archive.ts";
import { describeMachine, medianOf } from "./support/measure.ts";

/** Number of starts of each process. */
const TURNS = 9;

/** Maps one batch to numbers. */
type Model = nn.Module & { forward(x: Tensor): Tensor };

const MODELS: Readonly<Record<string, readonly [model: Model, shape: readonly number[]]>> = {
  perceptron: [new nn.Sequential(new nn.Linear(64, 128), new nn.ReLU(), new nn.Linear(128, 10)), [1, 64]],
  ConvNet: [new ConvNet(), [1, 1, 28, 28]],
};

/**
 * Returns the script of a measured process: times since its first line until modules, a program and a result are
 * available.
 */
function scriptOf(
  file: string,
  shape: readonly number[],
  options: Readonly<Record<string, boolean>>,
): string {
  return `import { cpuUsage } from "node:process";
const begun = cpuUsage(), start = performance.now(), since = () => performance.now() - start;
const { loadPackage, PackageTensor } = await import(${
    JSON.stringify(new URL("../runtime/mod.ts", import.meta.url))
  });
const times = [since()];
const model = await loadPackage(${JSON.stringify(file)}, ${JSON.stringify(options)});
times.push(since());
const size = ${JSON.stringify(shape)};
await model.run(new PackageTensor(new Float32Array(size.reduce((a, b) => a * b)), size));
times.push(since());
const { user, system } = cpuUsage(begun);
console.log(JSON.stringify({ engine: model.engine, times, cpu: (user + system) / 1000 }));
`;
}

/** A finished process: its output, and its milliseconds. */
interface Process {
  readonly output: string;
  readonly wall: number;
}

async function run(script: string): Promise<Process> {
  const start = performance.now();
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", script],
  }).output();
  if (code !== 0) throw new Error(new TextDecoder().decode(stderr));
  return { output: new TextDecoder().decode(stdout), wall: performance.now() - start };
}

/** Bytes of the runtime bundled in one file; NaN if that fails. */
async function bundled(folder: string): Promise<number> {
  const out = `${folder}/runtime.js`, entry = fileURLToPath(new URL("../runtime/mod.ts", import.meta.url));
  const args = ["bundle", "--quiet", "--platform", "browser", "--minify", "-o", out, entry];
  const { code } = await new Deno.Command(Deno.execPath(), { args, stderr: "null" }).output();
  return code === 0 ? Deno.statSync(out).size : NaN;
}

const folder = await Deno.makeTempDir({ prefix: "dyn-bench-" });
try {
  console.log(describeMachine());
  await Deno.writeTextFile(`${folder}/nothing.ts`, "");
  const runtime = await bundled(folder), starts: Record<string, Record<string, string>> = {};
  const sizes: Record<string, Record<string, string>> = {};
  const kilobytes = (bytes: number) => Number.isNaN(bytes) ? "–" : (bytes / 1000).toFixed(1);
  for (const [name, [model, shape]] of Object.entries(MODELS)) {
    const file = `${folder}/${name}.dyn`;
    await savePackage(compiler.export(model.eval(), [randn([...shape])]), file);
    const files = readArchive(await Deno.readFile(file)),
      bytes = (each: string) => files.get(each)?.length ?? NaN;
    const wasm = bytes("wasm.json"), shaders = bytes("webgpu.json"), manifest = bytes("manifest.json");
    sizes[name] = {
      "runtime kB": kilobytes(runtime),
      "manifest": kilobytes(manifest),
      "WebAssembly": kilobytes(wasm),
      "WGSL": kilobytes(shaders),
      "in all": kilobytes(runtime + manifest + wasm + shaders),
      "weights": kilobytes(bytes("weights.safetensors")),
    };
    for (const options of [{}, { native: true }, { webgpu: true }]) {
      const script = `${folder}/${name}.ts`;
      await Deno.writeTextFile(script, scriptOf(file, shape, options));
      const found: {
        readonly engine: string;
        readonly times: readonly number[];
        readonly cpu: number;
        readonly more: number;
      }[] = [];
      for (let turn = 0; turn <= TURNS; turn++) {
        const empty = await run(`${folder}/nothing.ts`), { output, wall } = await run(script);
        if (turn > 0) found.push({ ...JSON.parse(output), more: wall - empty.wall });
      }
      const at = (k: number) => medianOf(found.map(({ times }) => times[k] ?? NaN)).toFixed(1);
      starts[`${name}, ${found[0]?.engine}`] = {
        "modules ms": at(0),
        "and package": at(1),
        "and first result": at(2),
        "processor time": medianOf(found.map(({ cpu }) => cpu)).toFixed(1),
        "process, more than an empty one": medianOf(found.map(({ more }) => more)).toFixed(1),
      };
    }
  }
  console.table(starts);
  console.table(sizes);
} finally {
  await Deno.remove(folder, { recursive: true });
}
