/**
 * A debug folder for each compilation, `DYN_COMPILE_DEBUG` or `config.inductor.trace.enabled`, like PyTorch's
 * `TORCH_COMPILE_DEBUG`: `<root>/run_<time>_<pid>/<id>_<function>/` with graphs, loops before and after fusion,
 * memory plan, code and times; if there are several graphs, each has a subfolder of its name. Invariant:
 * `config.inductor.trace` selects the files.
 */
import { join } from "node:path";
import { config, type TraceConfig } from "../base/config.ts";
import { DynError, messageOf } from "../base/errors.ts";
import { environmentVariable } from "../base/permissions.ts";
import type { ArtifactRecord, CompileRecord, PhaseRecord, Recorder } from "../base/recording.ts";

/** A file of the folder: its name and the setting that enables it. */
interface DebugFile {
  readonly file: string;
  readonly setting: Exclude<keyof TraceConfig, "enabled">;
}

/** The artifacts that are written, by name. */
const FILES: Readonly<Record<string, DebugFile>> = {
  graph_code: { file: "fx_graph_readable.js", setting: "fxGraph" },
  graph: { file: "fx_graph_code.js", setting: "fxGraph" },
  guards: { file: "guards.txt", setting: "fxGraph" },
  bytecode: { file: "modified_code.txt", setting: "fxGraph" },
  graph_breaks: { file: "graph_breaks.txt", setting: "fxGraph" },
  aot_joint_graph: { file: "fx_graph_readable.js", setting: "fxGraph" },
  aot_graphs: { file: "fx_graph_readable.js", setting: "fxGraph" },
  fx_graph_transformed: { file: "fx_graph_transformed.js", setting: "fxGraphTransformed" },
  ir_pre_fusion: { file: "ir_pre_fusion.txt", setting: "irPreFusion" },
  ir_post_fusion: { file: "ir_post_fusion.txt", setting: "irPostFusion" },
  memory_plan: { file: "memory_plan.txt", setting: "irPostFusion" },
  output_code: { file: "output_code", setting: "outputCode" },
  graph_diagram: { file: "schedule.dot", setting: "graphDiagram" },
};

/** The file of an artifact; that of code has its language's extension. */
const fileNameOf = ({ name, meta }: ArtifactRecord, { file }: DebugFile): string =>
  name === "output_code" ? `${file}.${String(meta?.["language"] ?? "txt")}` : file;

/** A name as letters, digits and underscores, shortened for file names. */
const plainName = (name: string): string => name.replace(/\W+/g, "_").slice(0, 60);

/** The folder of this run below a root: unique to this process. Throws DynError. */
function createRun(root: string): string {
  const time = new Date().toISOString().replace(/\.\d+Z$/, "").replace("T", "_").replaceAll(":", "");
  for (let attempt = 0;; attempt++) {
    const run = join(root, `run_${time}_${Deno.pid}${attempt === 0 ? "" : `_${attempt}`}`);
    try {
      Deno.mkdirSync(root, { recursive: true });
      Deno.mkdirSync(run);
      return Deno.realPathSync(run);
    } catch (thrown) {
      if (thrown instanceof Deno.errors.AlreadyExists && attempt < 100) continue;
      throw new DynError(
        `Expected a folder for debug folders but found ${JSON.stringify(root)}: ${messageOf(thrown)}`,
      );
    }
  }
}

/** Returns the root of debug folders: `DYN_COMPILE_DEBUG`, unless its value only switches them on. */
function debugRoot(): string {
  const asked = environmentVariable("DYN_COMPILE_DEBUG") ?? "";
  return asked === "" || asked === "1" || asked === "0" ? "dyn_compile_debug" : asked;
}

/** A recorder that writes debug folders; `tell` is called once with their location. */
export function debugFolders(tell: (text: string) => void): Recorder {
  let run: string | undefined;
  const phases = new Map<CompileRecord | null, PhaseRecord[]>();
  const folderOf = (compile: CompileRecord | null, part = ""): string => {
    if (run === undefined) {
      run = createRun(debugRoot());
      tell(`dyn: debug folders of this run are in ${run}`);
    }
    const own = compile ? `${compile.id.replace("/", "_")}_${plainName(compile.name)}` : "outside";
    const folder = join(run, own, part);
    Deno.mkdirSync(folder, { recursive: true });
    return folder;
  };
  const wanted = (name: string): DebugFile | undefined => {
    const file = Object.hasOwn(FILES, name) ? FILES[name] : undefined;
    return file && config.inductor.trace[file.setting] ? file : undefined;
  };
  return {
    active: () => config.inductor.trace.enabled,
    wants: (name) => wanted(name) !== undefined,
    begin(compile) {
      if (config.inductor.trace.enabled) folderOf(compile);
    },
    artifact(artifact, compile) {
      const file = wanted(artifact.name);
      if (!file) return;
      const path = join(folderOf(compile, artifact.part), fileNameOf(artifact, file));
      // Several graphs without a compilation share one folder: later ones are appended.
      Deno.writeTextFileSync(path, artifact.text.replace(/\n*$/, "\n"), { append: true });
    },
    phase(phase, compile) {
      const known = phases.get(compile);
      if (known) known.push(phase);
      else phases.set(compile, [phase]);
    },
    end(compile, error) {
      const { trace } = config.inductor;
      if (!trace.enabled && !phases.has(compile)) return;
      const folder = folderOf(compile);
      if (error !== null) Deno.writeTextFileSync(join(folder, "error.txt"), `${error}\n`);
      if (trace.phaseTimes) {
        Deno.writeTextFileSync(join(folder, "phase_times.txt"), phaseText(phases.get(compile) ?? []));
      }
      phases.delete(compile);
      phases.delete(null);
    },
  };
}

/** Phases in order of their beginnings; nested ones are indented. */
function phaseText(phases: readonly PhaseRecord[]): string {
  const open: PhaseRecord[] = [];
  return phases.toSorted((a, b) => a.start - b.start || b.duration - a.duration).map((phase) => {
    while (open.length > 0 && endOf(open.at(-1)) < endOf(phase)) open.pop();
    const indent = "  ".repeat(open.length);
    open.push(phase);
    return `${(phase.duration / 1000).toFixed(3).padStart(12)} ms  ${indent}${phase.name}\n`;
  }).join("");
}

const endOf = (phase: PhaseRecord | undefined): number => phase ? phase.start + phase.duration : 0;
