/**
 * The registry of graph backends. Invariant: a name keeps the backend that it was registered with.
 */
import {
  checkFunction,
  checkKind,
  checkOptions,
  optionsOf,
  refuseChoice,
  refuseSurplus,
  refuseValue,
} from "../base/checked_input.ts";
import { DynError } from "../base/errors.ts";
import { environmentVariable } from "../base/permissions.ts";
import type { GraphBackend } from "./backend.ts";

/** Options of a registered backend. */
interface BackendOptions {
  /** Debug backends are listed only on request. */
  readonly debug?: boolean;
  /** The URL of the module that registers it, so that repros can do so too. */
  readonly module?: string;
  /** Whether graphs that it fails on run op by op, unless the settings want to see the failure. */
  readonly declines?: boolean;
  /** Its purpose and requirements besides dyn, in a few words. */
  readonly needs?: string;
  /** Why it is unavailable here; null if it is available. Evaluated when the backend is used. */
  readonly absence?: () => string | null;
}

/** A backend in a list. */
export interface BackendDescription {
  readonly name: string;
  /** Its purpose and requirements; null if none were given. */
  readonly needs: string | null;
  /** Why it is unavailable here; null if it is available. */
  readonly missing: string | null;
}

interface Entry extends BackendOptions {
  readonly backend: GraphBackend;
}

const backends = new Map<string, Entry>();

/**
 * Registers a backend under a name. With `module`, the URL of the registering module, repros of graphs that it
 * compiled import that module and run standalone. Throws DynError for a name that another backend has, as PyTorch does.
 */
export function registerBackend(
  name: string,
  backend: GraphBackend,
  options: BackendOptions = {},
): void {
  if (arguments.length > 3) refuseSurplus("registerBackend", 3, arguments);
  checkKind(name, "a string", "the name of a backend");
  checkFunction(backend, `from graphs to callables as backend ${JSON.stringify(name)}`);
  checkOptions(
    "registerBackend",
    {
      debug: ["boolean"],
      module: ["string"],
      declines: ["boolean"],
      needs: ["string"],
      absence: ["function"],
    },
    options,
  );
  if ((backends.get(name)?.backend ?? backend) !== backend) {
    throw new DynError(`Expected a name that no other backend has but found ${JSON.stringify(name)}`);
  }
  backends.set(name, { backend, ...options });
}

/** Returns the module that registers a backend, if it was given. */
export function backendModule(name: string): string | undefined {
  return backends.get(name)?.module;
}

/** Returns whether graphs that a backend fails on run op by op; otherwise the error is thrown. */
export function backendDeclines(name: string): boolean {
  return backends.get(name)?.declines ?? false;
}

/** Returns the backend of this name. Throws DynError if it is unknown or its requirements are not met. */
export function lookupBackend(name: string): GraphBackend {
  const found = backends.get(name), missing = found?.absence?.() ?? null;
  if (missing !== null) {
    throw new DynError(`${missing}; backend ${JSON.stringify(name)} needs ${found?.needs ?? "it"}`);
  }
  if (found) return found.backend;
  refuseChoice("the backend", [...backends.keys()], name);
}

/**
 * Returns the names of all backends, sorted, like `torch._dynamo.list_backends`; debug backends only with `{ debug:
 * true }`.
 */
export function listBackends(options: { readonly debug?: boolean } = {}): string[] {
  if (arguments.length > 1) refuseSurplus("listBackends", 1, arguments);
  const { debug = false } = optionsOf("listBackends", options, ["debug"]);
  return [...backends].filter(([, entry]) => debug || !entry.debug).map(([name]) => name).sort();
}

/** Describes the listed backends: requirements, and whether they are met; debug ones only with `{ debug: true }`. */
export function describeBackends(options: { readonly debug?: boolean } = {}): BackendDescription[] {
  if (arguments.length > 1) refuseSurplus("describeBackends", 1, arguments);
  return listBackends(options).map((name) => {
    const { needs = null, absence } = backends.get(name) ?? {};
    return { name, needs, missing: absence?.() ?? null };
  });
}

let chosen: string | GraphBackend | null = null;

/**
 * Sets the backend of every later `compile` that names none, like `torch.compiler.set_default_backend`; null resets it.
 * Throws DynError for an unknown name.
 */
export function setDefaultBackend(backend: string | GraphBackend | null): void {
  if (arguments.length > 1) refuseSurplus("setDefaultBackend", 1, arguments);
  if (typeof backend === "string") lookupBackend(backend);
  else if (backend !== null && typeof backend !== "function") {
    refuseValue("a backend, its name or null", backend);
  }
  chosen = backend;
}

/** Returns the backend that `compile` uses by default: the one that was set, DYN_BACKEND, or "inductor". */
export function getDefaultBackend(): string | GraphBackend {
  if (arguments.length > 0) refuseSurplus("getDefaultBackend", 0, arguments);
  return chosen ?? (environmentVariable("DYN_BACKEND") || "inductor");
}
