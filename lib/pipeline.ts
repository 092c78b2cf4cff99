/**
 * The compilation pipeline, on one page. `compile` (compile.ts) captures a call as graphs by lib/dynamo; a backend
 * turns each graph into a function. The backend "inductor" does so in the steps below: aot differentiates the graph
 * ahead of time and passes on functional graphs; each gets index checks and becomes a program of loops (lowered,
 * scheduled, placed in memory), and then a program of its device (lib/codegen's passes, then the device's printer and
 * compiler). The other backends leave out later steps, to narrow down where a fault is.
 */
import { roleOf } from "./graph/signature.ts";
import { aotAutograd, interpretGraph } from "./aot/backend.ts";
import { config } from "./base/config.ts";
import { DynError, noteUndone } from "./base/errors.ts";
import { counters, logs } from "./base/logs.ts";
import { ownIdentity } from "./base/own_sources.ts";
import { type Plain, recording } from "./base/recording.ts";
import type { CachedCompilations } from "./aot/cached_pairs.ts";
import { compileParts, devicesOf } from "./device_parts.ts";
import type { CompiledFunction, GraphBackend } from "./graph/backend.ts";
import { registerBackend } from "./graph/backends.ts";
import { GraphModule } from "./graph/graph_module.ts";
import type { GraphCompiler } from "./graph/interpose.ts";
import { storable } from "./graph/stored/storable_runs.ts";
import { compileGraph } from "./inductor/compile_graph.ts";
import { type Convention, convention, conventionOf } from "./inductor/convention.ts";
import { freezing } from "./inductor/freezing.ts";
import { type InputRange, withIndexChecks } from "./inductor/index_checks.ts";
import { ResultMemory } from "./inductor/result_memory.ts";
import { GraphRunner, type RunnerParts } from "./inductor/runner.ts";
import type { CompileChoices, CompiledProgram, Device, DeviceName, ProgramForms } from "./loops/device.ts";
import type { Program } from "./loops/ir.ts";
import { noteCosts } from "./loops/launch.ts";
import { loopProgram } from "./loops/stored/program.ts";
import { outputsOf } from "./ops/rewrite/contract.ts";
import { findTarget } from "./ops/table.ts";
import { recordIn, textIn } from "./sym/stored/forms.ts";
import type { Symbols } from "./sym/stored/symbols.ts";
import { deviceNamed } from "./tensor/storage.ts";

/** Capture only: runs the captured graph op by op. Separates faults of capture from faults of compilation. */
export const eager: GraphBackend = (gm) => (...inputs) => gm.forward(...inputs);

/**
 * Capture and ahead-of-time autograd without code generation: the functional, partitioned graphs run op by op.
 * Separates faults of differentiation from faults of code generation.
 */
export const aotEager: GraphBackend = aotAutograd({
  fwCompiler: interpretGraph,
  regions: true,
  keepsNothing: true,
});

/** Compiles a functional graph for the device of its tensors, or in parts for several of them. */
export const compileFunctional: GraphCompiler = (original) => {
  const devices = devicesOf(original.graph), [device = "cpu"] = devices;
  return devices.length > 1 ? compileParts(original, devices, compileOn) : compileOn(original, device);
};

function compileOn(original: GraphModule, on: DeviceName): CompiledFunction {
  const device = deviceNamed(on);
  const checked = indexChecked(original, device);
  const { graph, signature } = checked?.module ?? original;
  const name = signature?.role ?? "graph";
  const compiled = compileGraph(graph, (target) => findTarget(target)?.definition, {
    name,
    ...(signature ? { signature } : {}),
    maxBuffers: device.maxKernelBuffers ?? Infinity,
    ...(config.inductor.maxAutotune ? { choose: (forms: ProgramForms) => fastest(forms, device) } : {}),
  });
  const program = compiled.program.kernels.length > 0
    ? recording.phase("kernels", () => device.compile(compiled.program, choicesFor(device, original)), {
      device: device.name,
    })
    : undefined;
  if (program) {
    logs.emit("output_code", () => program.source, { part: name, meta: { language: program.language } });
  }
  return running(original, {
    device: device.name,
    program,
    loops: compiled.program,
    convention: conventionOf(graph, compiled, checked?.inputs ?? null),
  });
}

/** A compiled graph and its calling convention. */
interface Compiled extends Pick<RunnerParts, "device" | "program" | "convention"> {
  /** The program that the device compiled; null if its code came from the cache. */
  readonly loops: Program | null;
}

/** Returns a compiled graph as a function that can be cached. */
function running(
  original: GraphModule,
  { device, program, loops, convention: how }: Compiled,
): CompiledFunction {
  const results = resultMemory(original, device);
  if (program) {
    const compile = recording.current()?.id ?? null;
    noteCosts(program, () => ({
      compile,
      name: original.signature?.role ?? "graph",
      kernels: how.kernels,
      sizes: how.sizes.map(({ symbol }) => symbol),
    }));
  }
  const runner = new GraphRunner(original, { device, program, convention: how, results });
  const run: CompiledFunction = how.guarded
    ? (...args) => {
      const results = runner.run(args);
      if (results) return results;
      // The error of running op by op names the index
      original.forward(...args);
      throw noteUndone(
        new DynError("Expected every index to lie in its dimension but found one that does not"),
        original.graph,
      );
    }
    : (...args) => runner.run(args) ?? [];
  const write = (symbols: Symbols): Plain => {
    // Either is read without the other, so local symbols are numbered separately
    const withConvention = (part: () => { readonly [key: string]: Plain }) => {
      symbols.locals.clear();
      return { device, convention: convention.write(how, symbols), ...part() };
    };
    const kept = program?.serialize;
    return {
      ...withConvention((): Record<string, Plain> => kept ? { code: kept(symbols) } : {}),
      ...program && loops && (!kept || program.storesProgram)
        ? withConvention(() => ({ loops: loopProgram.write(loops, symbols) }))
        : {},
    };
  };
  return storable(run, { write, whenMore: program?.whenMore?.bind(program) });
}

/** Compiled graphs of earlier processes: code of the device, or loops if it caches no code. */
const keptPrograms: CachedCompilations = {
  identityOf(captured) {
    const own = ownIdentity();
    if (own === null) return null;
    const [first = "cpu"] = devicesOf(captured.calling), device = deviceNamed(first);
    const { trace: _, ...settings } = config.inductor;
    const { name, identity, hostReadable, synchronousReads, lacksFloat64, maxKernelBuffers } = device;
    return JSON.stringify({
      own,
      settings,
      device: { name, hostReadable, synchronousReads, lacksFloat64, maxKernelBuffers },
      identity: identity?.(),
    });
  },
  restore(module, form, symbols) {
    const { device: name, convention: how = null, code, loops } = recordIn(form);
    const device = deviceNamed(textIn(name));
    const readConvention = (): Convention => {
      symbols.locals.clear();
      return convention.read(how, symbols);
    };
    let known = readConvention();
    const readLoops = loops === undefined ? null : (): Program => {
      known = readConvention();
      return loopProgram.read(loops, symbols);
    };
    const restored = (): CompiledProgram | null => {
      const found = code === undefined ? null : device.restore?.(code, symbols, readLoops) ?? null;
      if (found || !readLoops) return found;
      return device.compile(readLoops(), choicesFor(device, module));
    };
    const program = recording.phase("kernels", restored, { device: device.name });
    if (!program && known.kernels.length > 0) return null;
    countGraph(known);
    return running(module, {
      device: device.name,
      program: program ?? undefined,
      loops: null,
      convention: known,
    });
  },
};

/** Differentiated ahead of time, then compiled to fused kernels. */
export const inductor: GraphBackend = aotAutograd({
  fwCompiler: freezing(compileFunctional, (target) => findTarget(target)?.definition),
  bwCompiler: compileFunctional,
  regions: true,
  keepsNothing: true,
}, keptPrograms);

registerBackend("eager", eager, { debug: true, needs: "nothing; captured graphs run op by op" });
registerBackend("aot_eager", aotEager, { debug: true, needs: "nothing; differentiated graphs run op by op" });
registerBackend("inductor", inductor, {
  needs: "nothing; a C++ compiler makes native code, a WebGPU adapter kernels on a GPU",
  declines: true,
});

interface CheckedModule {
  readonly module: GraphModule;
  /** Ranges of inputs' elements for which no index check fails; null: unknown. */
  readonly inputs: readonly InputRange[] | null;
}

/**
 * Adds checks of indices to a graph, with the outcome as one more output; null if it has none, if the host cannot wait
 * for the outcome, and for backward graphs, whose indices the forward graph has checked.
 */
function indexChecked(module: GraphModule, device: Device): CheckedModule | null {
  const { signature } = module;
  if (!device.synchronousReads || signature?.role === "backward") return null;
  const checked = withIndexChecks(module.graph, (target) => findTarget(target)?.definition);
  if (!checked) return null;
  const { graph } = checked;
  // If the host reads the flag for free, checking the inputs beforehand gains nothing
  const inputs = device.hostReadable ? null : checked.inputs;
  const failure = outputsOf(graph).length - 1;
  const known = signature ?? { role: "inference", mutatedInputs: [], ownResults: 0 };
  return { module: new GraphModule(graph, module.attributes, module.runner, { ...known, failure }), inputs };
}

/** Returns the fastest variant of a program; the default one on devices that cannot measure. */
function fastest(forms: ProgramForms, device: Device): Program {
  const chosen = device.choose?.(forms);
  if (chosen) return chosen;
  const [{ program }] = forms;
  logs.emit("perf_hints", `max-autotune has no alternatives for ${program.name} on ${device.name}`);
  return program;
}

/** Counts a graph, its kernels and library calls, for any compiler. */
function countGraph({ kernels, externCalls }: Pick<Convention, "kernels" | "externCalls">): void {
  counters.add("inductor", "graphs");
  counters.add("inductor", "kernels", kernels.length);
  counters.add("inductor", "extern_calls", externCalls);
}

/** Returns the device's options for compiling a graph, according to the settings. */
function choicesFor({ name, records = false }: Device, module: GraphModule): CompileChoices {
  const { replay } = config.inductor;
  if (replay && !records) {
    logs.emit(
      "perf_hints",
      `A graph on ${name} is one native call already, so recording it for replay changes nothing`,
    );
  }
  return { record: replay && records, keepsForms: roleOf(module) === "inference" };
}

/** Returns memory for results that live until the next call, if the settings request it and gradients allow it. */
function resultMemory(module: GraphModule, device: DeviceName): ResultMemory | undefined {
  const { staticResults, replay } = config.inductor;
  if (!staticResults && !(replay && deviceNamed(device).records)) return undefined;
  const role = roleOf(module);
  if (role === "inference") return new ResultMemory(device);
  if (role === "forward") {
    logs.emit(
      "perf_hints",
      "Results of a graph require gradients, so each call allocates new memory for them",
    );
  }
  return undefined;
}
