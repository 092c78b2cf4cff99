/**
 * The tracer's models of functions by identity: builtins, operations of the tensor library, functions that users have
 * marked, and the code of all others. Invariant: the table is created once; a function that is not in it is inlined or
 * breaks the graph.
 */
import { refuseValue } from "../../base/checked_input.ts";
import { config } from "../../base/config.ts";
import { TapeHook } from "../../autograd/tape_hook.ts";
import { isTraced, overBatch, ownHistory, unlessTraced } from "../../autograd/batches/over_batch.ts";
import { checkpoint } from "../../autograd/checkpoint.ts";
import { isCustomOp } from "../../autograd/custom_op.ts";
import { endTransform, flowsBeyond } from "../../autograd/beyond.ts";
import { applyRecorded, applyUnrecorded, traceHistory } from "../../autograd/captured_function.ts";
import { Function as CustomFunction, invoke } from "../../autograd/function.ts";
import { passedThrough } from "../../autograd/passing.ts";
import { currentPass } from "../../autograd/engine.ts";
import { grad } from "../../autograd/entry_points.ts";
import { registerMultiGradHook } from "../../autograd/multi_grad_hook.ts";
import { isDType } from "../../base/dtype.ts";
import { GraphValue } from "../../ops/graph_builder.ts";
import { ALL_OPS, findTarget } from "../../ops/table.ts";
import * as freeFunctions from "../../tensor/generated_functions.ts";
import { ops } from "../../tensor/eager.ts";
import { cond, scanRows, whileLoop } from "../../tensor/higher_order.ts";
import { checkLeaf, refusingWrites } from "../../tensor/inplace.ts";
import { requiresGradBeneath } from "../../tensor/levels.ts";
import { Tensor } from "../../tensor/tensor.ts";
import { isUninitialized } from "../../tensor/uninitialized.ts";
import { addAmbient } from "../ambient.ts";
import { invariant, traceProgram } from "../../base/errors.ts";
import { callNamed } from "../../nn/error_places.ts";
import { Module } from "../../nn/module.ts";
import { erfOf } from "../../nn/error_function.ts";
import { deepCopy } from "../../nn/deep_copy.ts";
import { become } from "../../nn/lazy.ts";
import { Parameter } from "../../nn/parameter.ts";
import { nextMemory } from "../../optim/lbfgs.ts";
import { PerParameter } from "../../optim/per_parameter.ts";
import { breakGraph } from "../break_reasons.ts";
import { check, traceCheck } from "./check.ts";
import type { CodeObject } from "../bytecode/code.ts";
import { NO_INFO, tracedInfo } from "./functions.ts";
import { noteFunction, refuseToCache } from "../disk_cache/noted_reads.ts";
import { graphBreak, isDescribed, markFunction, markOfFunction } from "./marks.ts";
import { asProgram } from "../../base/own_builtins.ts";
import * as polyfills from "./polyfills.ts";
import { decided } from "./sorting_polyfills.ts";
import { addArrays } from "../trace/builtins/arrays.ts";
import { addCollections } from "../trace/builtins/collections.ts";
import { addIterators } from "../trace/builtins/iterators.ts";
import { addAborts } from "../trace/builtins/aborts.ts";
import { addBuffers } from "../trace/builtins/buffers.ts";
import { addTypedArrays } from "../trace/builtins/typed_arrays.ts";
import { addJson } from "../trace/builtins/json.ts";
import { addErrors } from "../trace/builtins/errors.ts";
import { addDates } from "../trace/builtins/dates.ts";
import { addClones } from "../trace/builtins/clones.ts";
import { addAsyncIterators } from "../trace/builtins/async_iterators.ts";
import { addPromises } from "../trace/builtins/promises.ts";
import { addTextCodecs, runtimeModelOf } from "../trace/builtins/runtime_functions.ts";
import { addDisposables } from "../trace/builtins/disposables.ts";
import { addUrls } from "../trace/builtins/urls.ts";
import { addJobs } from "../trace/builtins/timers.ts";
import { addWeak } from "../trace/builtins/weak.ts";
import { addObjects } from "../trace/builtins/objects.ts";
import { addInternationalization, formattingModelOf } from "../trace/builtins/internationalization.ts";
import { addPatterns } from "../trace/builtins/patterns.ts";
import { addPrimitives } from "../trace/builtins/primitives.ts";
import { addComptime } from "./comptime.ts";
import { errorOnGraphBreak, errorOnGraphBreakModel } from "./error_on_break.ts";
import { primitiveOf } from "../trace/builtins/pure.ts";
import { addPrintedCode } from "../trace/builtins/printed_code.ts";
import { ModelTable } from "../trace/builtins/table.ts";
import type { BuiltinModel, CallRequest, Interpreter } from "../trace/interpreter.ts";
import { NO_RULES } from "./frame_rules.ts";
import { PUSHED } from "../trace/interpreter.ts";
import type { MachineContext } from "../trace/machine.ts";
import { ownHistory as tracedOwnHistory, traceOverBatch, traceWhole } from "../trace/batches.ts";
import { traceCustomGradient } from "../trace/custom_gradients.ts";
import { traceCond, traceScan, traceWhile } from "../trace/control_flow.ts";
import { trustAccessors } from "../trace/objects.ts";
import { addCreation } from "../trace/creation.ts";
import { traceEndTransform, traceFlowsBeyond } from "../trace/gradient_flow.ts";
import { gradientsAsked } from "../trace/asked_gradients.ts";
import { callCustomOp } from "../trace/custom_ops.ts";
import { callCustom } from "../trace/custom_calls.ts";
import { checkLeaf as refuseLeaf } from "../trace/in_place.ts";
import { callNonstrict } from "../trace/nonstrict.ts";
import { removeLater } from "../trace/later_hooks.ts";
import { tensorMethodModels } from "../trace/tensor_methods.ts";
import { prepareState } from "../trace/optimizer_state.ts";
import { truthOf } from "../trace/operators.ts";
import { constructParameter } from "../trace/parameters.ts";
import { callOp } from "../trace/tensor_ops.ts";
import { callCheckpoint } from "../trace/recomputed_calls.ts";
import {
  constant,
  isCallable,
  type ObjectValue,
  primitive,
  UNDEFINED,
  type Value,
} from "../variables/value.ts";
import { functionLabel } from "../variables/labels.ts";

markFunction(nextMemory, {
  kind: "disabled",
  reason: "LBFGS finds its direction with numbers that it reads",
});

/** Methods as dyn defines them: programs may replace them before anything is captured. */
const { call: callModule, callTraced } = Module.prototype, { prepare } = PerParameter.prototype;

let table: ModelTable | null = null;

/** The table of models. */
function models(): ModelTable {
  if (table) return table;
  const made = new ModelTable();
  addArrays(made);
  addCollections(made);
  addIterators(made);
  addTypedArrays(made);
  addBuffers(made);
  addPromises(made);
  addAsyncIterators(made);
  addJobs(made);
  addDisposables(made);
  addUrls(made);
  addAborts(made);
  addTextCodecs(made);
  addWeak(made);
  addClones(made);
  addDates(made);
  addErrors(made);
  addJson(made);
  addObjects(made);
  addPrimitives(made);
  addPatterns(made);
  addInternationalization(made);
  addPrintedCode(made);
  for (const [fn, model] of tensorMethodModels()) made.call(fn, model);
  made.call(TapeHook.prototype.remove, removeLater);
  addFreeFunctions(made);
  addCreation(made);
  addAmbient(made);
  addConsole(made);
  addComptime(made);
  made.call(grad, gradientsAsked);
  made.call(flowsBeyond, traceFlowsBeyond);
  made.call(endTransform, traceEndTransform);
  made.call(overBatch, traceOverBatch);
  made.call(unlessTraced, traceWhole);
  made.call(
    ownHistory,
    (m, { args: [value] }) =>
      value?.kind === "tensor" ? tracedOwnHistory(m, value) : breakGraph("throws", "no tensor"),
  );
  made.call(refusingWrites, (m, { args: [view = UNDEFINED] }) => {
    if (view.kind === "tensor" && view.node) {
      m.output.ofTape.set(view.node, {
        step: m.output.whereabouts.step(),
        what: "a tensor that a transform differentiates by",
      });
    }
    return view;
  });
  made.call(isTraced, () => constant(true));
  made.call(
    requiresGradBeneath,
    (_m, { args: [value] }) => constant(value?.kind === "tensor" && value.requiresGrad),
  );
  // Within these, shared memory, classes and private members would end the graph again and again
  made.call(deepCopy, () => breakGraph("builtin", "a deep copy of a module"));
  made.call(
    isUninitialized,
    (_m, { args: [value] }) =>
      value?.kind === "tensor" ? constant(false) : breakGraph("builtin", "a tensor that may have no shape"),
  );
  made.call(become, () => breakGraph("builtin", "a lazy layer gets its shape"));
  made.call(passedThrough, () => breakGraph("backward", "hooks of a module see gradients"));
  made.call(registerMultiGradHook, () => breakGraph("backward", "a hook sees several gradients"));
  made.call(currentPass, () => breakGraph("backward", "a hook sees several gradients"));
  made.call(graphBreak, () => breakGraph("asked", ""));
  made.call(checkpoint, callCheckpoint);
  made.call(errorOnGraphBreak, errorOnGraphBreakModel);
  made.call(check, traceCheck);
  made.call(cond, traceCond);
  // Errors created while tracing are created again at run time where they are thrown.
  made.call(traceProgram, () => UNDEFINED);
  made.call(refuseValue, () => breakGraph("throws", "a value of a wrong kind"));
  made.call(callModule, tracedAs(callTraced));
  made.call(CustomFunction.apply, callFunction);
  made.call(checkLeaf, checkWritten);
  made.call(traceHistory, traceCustomGradient);
  for (const call of [callNamed, invoke]) made.call(call, tracedAs(Reflect.apply));
  made.call(prepare, prepareState);
  made.constructs(Parameter, constructParameter);
  made.call(
    erfOf,
    (m, { args: [x = UNDEFINED] }) => constant(erfOf(Number(primitiveOf(m, x, "the error function")))),
  );
  made.call(whileLoop, traceWhile);
  made.call(scanRows, traceScan);
  made.call(decided, traceDecided);
  made.call(isDType, (_m, { args: [value] }) => constant(value?.kind === "constant" && isDType(value.value)));
  trustAccessors(Tensor.prototype);
  return table = made;
}

/** Makes a truth value known; one that only the graph knows stays as it is. */
const traceDecided: BuiltinModel = (m, { args: [value = UNDEFINED] }) => {
  const truth = truthOf(m, value);
  return typeof truth === "boolean" ? constant(truth) : truth;
};

function addFreeFunctions(into: ModelTable): void {
  const add = (fn: unknown, name: string): void => {
    const target = findTarget(name);
    if (typeof fn !== "function" || !target) return;
    into.call(fn, (m, { args }) => callOp(m, target, args, false));
  };
  for (const definition of ALL_OPS) {
    add(Reflect.get(ops, definition.name), definition.name);
  }
  for (const [name, fn] of Object.entries(freeFunctions)) {
    if (typeof fn === "function" && !into.modelOf(fn)) add(fn, name);
  }
}

/** Output appears in order between the graphs. */
function addConsole(into: ModelTable): void {
  for (const name of Object.keys(console)) {
    into.method(console, name, () => breakGraph("print", `console.${name}`));
  }
  into.method(console, "assert", assertQuietly);
}

/** An assertion that holds writes nothing. */
const assertQuietly: BuiltinModel = (m, { args: [condition = UNDEFINED] }) =>
  truthOf(m, condition) === true ? UNDEFINED : breakGraph("print", "console.assert");

/** A logging function that may run after the graph, if its arguments will be unchanged by then. */
const defer: BuiltinModel = (m, request) => {
  const lasting = (value: Value) => value.kind === "constant" || (value.kind === "tensor" && !value.written);
  if (!request.args.every(lasting)) return breakGraph("print", "an argument may change before it is printed");
  m.deferred.push(request);
  return UNDEFINED;
};

/** A logging function whose calls are omitted. */
const leaveOut: BuiltinModel = () => UNDEFINED;

/** Traces an equivalent function in place of one of dyn's. */
function tracedAs(fn: (...args: never[]) => unknown): BuiltinModel {
  return (m, request) => {
    const callee = m.wrapper.known(fn, functionLabel(fn));
    invariant(isCallable(callee), "Expected a function");
    m.call({ ...request, callee });
    return PUSHED;
  };
}

/** Calls a function with a gradient of its own. A break inside of it is one before the call. */
const callFunction: BuiltinModel = (m, request) => {
  const isRecorded = m.gradEnabled &&
    request.args.some((each) => each.kind === "tensor" && each.requiresGrad);
  if (!isRecorded) return tracedAs(applyUnrecorded)(m, request);
  m.memory.refuse();
  const then = (value: Value) => m.complete(request.completion, value);
  return tracedAs(applyRecorded)(m, { ...request, completion: { kind: "inside", then } });
};

/** Breaks the graph where the tape refuses a write, which a function with a gradient of its own has made. */
const checkWritten: BuiltinModel = (m, { args: [target] }) => {
  if (target?.kind !== "tensor") return breakGraph("builtin", "a check of a value that is not a tensor");
  refuseLeaf(m, new GraphValue(m.output.nodeOf(target), target.meta));
  return UNDEFINED;
};

/** Returns the model of a marked function or custom op. */
function marked(fn: object): BuiltinModel | undefined {
  if (isCustomOp(fn)) {
    refuseToCache(`${functionLabel(fn)}, a custom op`);
    return (m, { args }) => {
      m.memory.refuse();
      return callCustomOp(m, fn, args);
    };
  }
  const mark = markOfFunction(fn);
  if (mark?.kind === "answers") noteFunction(fn);
  else if (mark && !isDescribed(mark)) refuseToCache(`${functionLabel(fn)}, which is marked`);
  switch (mark?.kind) {
    case undefined:
      return undefined;
    case "builtin":
      return () => breakGraph("builtin", `${functionLabel(fn)} (a function of the runtime)`);
    case "disabled":
      return () => breakGraph("disabled", `${functionLabel(fn)}${mark.reason && `, ${mark.reason}`}`);
    case "answers":
      return (_m, { args }) =>
        typeof fn === "function" && args.length > fn.length
          ? breakGraph("throws", functionLabel(fn))
          : constant(mark.answer());
    case "ruled":
      return (m, request) => {
        const callee = m.wrapper.known(mark.original, functionLabel(mark.original));
        if (!isCallable(callee)) return breakGraph("builtin", "a marked value that is not a function");
        m.callMarked({ ...request, callee }, (frame) => frame.rules = { ...NO_RULES, ...mark.rules });
        return PUSHED;
      };
    case "compiled":
      return (m: Interpreter, request: CallRequest) => {
        const callee = m.wrapper.known(mark.original, functionLabel(mark.original));
        if (!isCallable(callee)) return breakGraph("builtin", "a compiled function");
        m.call({ ...request, callee });
        return PUSHED;
      };
    case "substituted":
      return (m, request) => {
        const callee = m.wrapper.known(mark.by, functionLabel(mark.by));
        if (!isCallable(callee)) return breakGraph("builtin", "a substitute that is not a function");
        m.call({ ...request, callee });
        return PUSHED;
      };
    case "region":
      return (m, request) => {
        const callee = m.wrapper.known(mark.original, functionLabel(mark.original));
        if (!isCallable(callee)) return breakGraph("builtin", "a region that is not a function");
        m.callMarked({ ...request, callee }, (frame) => frame.regionCall = m.output.regionCalls++);
        return PUSHED;
      };
    case "inGraph":
      return (m, request) => {
        m.memory.refuse();
        return callCustom(m, fn, request.args);
      };
    case "nonstrict":
      return (m, request) => {
        m.memory.refuse();
        return callNonstrict(m, fn, request.args);
      };
    case "constant":
      return (m, request) => constantResult(m, fn, request.args);
    default:
      return mark satisfies never;
  }
}

function constantResult(m: Interpreter, fn: object, args: readonly Value[]): Value {
  m.memory.refuse();
  const given = args.map((value): unknown => {
    if (value.kind === "constant") return value.value;
    if ((value.kind === "object" || value.kind === "tensor") && value.real) return value.real;
    return breakGraph("builtin", "an argument of a function with a constant result");
  });
  if (typeof fn !== "function") return UNDEFINED;
  const result: unknown = asProgram(() => fn(...given));
  return (typeof result === "object" && result !== null) || typeof result === "function"
    ? m.wrapper.known(result, functionLabel(fn))
    : primitive(result);
}

let numbers: ReadonlyMap<object, number> | null = null;

/** Numbers functions with models, equally in all processes. Null for all others. */
export function modelNumber(fn: object): number | null {
  numbers ??= new Map(models().modelled.map((each, i) => [each, i]));
  return numbers.get(fn) ?? null;
}

const internalCodes = new WeakSet<CodeObject>();

/** The knowledge that the interpreter works with. */
export const knowledge: MachineContext = {
  infoOf: (fn: ObjectValue) =>
    fn.real ? tracedInfo(fn.real) : { ...NO_INFO, because: "it was created while tracing" },
  modelOf(fn) {
    if (config.ignoreLoggingFunctions.has(fn)) return leaveOut;
    if (config.reorderableLoggingFunctions.has(fn)) return defer;
    return marked(fn) ?? models().modelOf(fn) ?? formattingModelOf(fn) ?? runtimeModelOf(fn);
  },
  constructorOf: (fn) => models().constructorOf(fn),
  internalFunction: (name) => {
    const fn: unknown = Reflect.get(polyfills, name);
    if (typeof fn !== "function") throw new TypeError(`Expected a stand-in for ${name}`);
    const info = tracedInfo(fn);
    if (info.kind === "function") internalCodes.add(info.code);
    return fn;
  },
  isInternal: (code) => internalCodes.has(code),
};
