/**
 * Public names of values: exports of dyn and globals of the runtime. Invariant: evaluating the name in a program that
 * imports dyn as `dyn` returns that very value.
 */
import * as autograd from "../../autograd/autograd.ts";
import { compile } from "../../compile.ts";
import * as compiler from "../../compiler.ts";
import { config } from "../../base/config.ts";
import * as errors from "../../base/errors.ts";
import { counters, logs } from "../../base/logs.ts";
import { getDefaultDtype, setDefaultDtype } from "../../base/dtype.ts";
import * as data from "../../data/mod.ts";
import * as safetensors from "../../data/safetensors.ts";
import * as nn from "../../distributed/nn_namespace.ts";
import * as optim from "../../optim/mod.ts";
import * as creation from "../../tensor/creation.ts";
import * as freeForms from "../../tensor/free_forms.ts";
import * as free from "../../tensor/generated_free.ts";
import * as linalg from "../../tensor/generated_linalg.ts";
import * as special from "../../tensor/generated_special.ts";
import * as tensorModes from "../../tensor/modes.ts";
import * as random from "../../tensor/random.ts";
import { isTensor, Tensor } from "../../tensor/tensor.ts";

/** The exports of the public module that are objects or functions, by name. */
const PUBLIC: Readonly<Record<string, object>> = {
  autograd,
  compile,
  compiler,
  config,
  counters,
  data,
  getDefaultDtype,
  isTensor,
  linalg,
  logs,
  nn,
  optim,
  safetensors,
  setDefaultDtype,
  special,
  Tensor,
};

/** Namespaces whose members the public module exports individually. */
const SPREAD: readonly object[] = [creation, errors, free, freeForms, random, tensorModes];

let known: Map<unknown, string> | undefined;

/** Returns an expression for a value that dyn or the runtime exports; undefined for others. */
export function publicName(value: unknown): string | undefined {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return undefined;
  known ??= collect();
  return known.get(value) ?? (isPublicModule(value) ? "dyn" : undefined);
}

/** Returns whether a value is the namespace object of the public module. */
function isPublicModule(value: object): boolean {
  return Reflect.get(value, Symbol.toStringTag) === "Module" && Object.hasOwn(value, "compile") &&
    Reflect.get(value, "compile") === compile;
}

function collect(): Map<unknown, string> {
  const found = new Map<unknown, string>();
  const add = (value: unknown, name: string, depth: number) => {
    if ((typeof value !== "object" && typeof value !== "function") || value === null || found.has(value)) {
      return;
    }
    found.set(value, name);
    if (depth === 0) return;
    for (const [key, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(value))) {
      if (/^[A-Za-z_$][\w$]*$/.test(key) && "value" in descriptor) {
        add(descriptor.value, `${name}.${key}`, depth - 1);
      }
    }
  };
  for (const [name, value] of Object.entries(PUBLIC)) add(value, `dyn.${name}`, 2);
  for (const namespace of SPREAD) {
    for (const [name, value] of Object.entries(namespace)) add(value, `dyn.${name}`, 0);
  }
  found.set(globalThis, "globalThis");
  for (const [name, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(globalThis))) {
    // Enumerable globals were defined by the program; accessors of the runtime are read.
    if (!/^[A-Za-z_$][\w$]*$/.test(name) || descriptor.enumerable) continue;
    add("value" in descriptor ? descriptor.value : undefined, name, 2);
  }
  return found;
}
