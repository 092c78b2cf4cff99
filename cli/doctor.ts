/**
 * `doctor`: reports what dyn can use on this machine, and what to install if something is missing, one line per
 * finding.
 *
 * Invariant: it ends with code 1 only when programs cannot run here at all; findings that merely slow them down are
 * warnings with a remedy.
 */
import { capitalized } from "../lib/base/names.ts";
import { messageOf } from "../lib/base/errors.ts";
import { describeCache } from "./cache.ts";
import { type Command, expectNoMore } from "./command.ts";
import { prepare } from "./prepare.ts";
import { toolkit } from "./toolkit.ts";

/** One finding: fine, slower than it could be, or broken. */
interface Finding {
  readonly state: "ok" | "warning" | "error";
  readonly subject: string;
  readonly text: string;
  /** How to fix it. */
  readonly remedy?: string;
}

const MINIMUM = "2.9";

function runtime(): Finding {
  const { deno, v8 } = Deno.version;
  const [major = 0, minor = 0] = deno.split(".").map(Number);
  const text = `Deno ${deno}, V8 ${v8}, ${Deno.build.target}`;
  const [wantedMajor = 0, wantedMinor = 0] = MINIMUM.split(".").map(Number);
  if (major > wantedMajor || (major === wantedMajor && minor >= wantedMinor)) {
    return { state: "ok", subject: "Runtime", text };
  }
  return {
    state: "warning",
    subject: "Runtime",
    text,
    remedy: `Tested with Deno ${MINIMUM} and newer: deno upgrade`,
  };
}

async function permissions(): Promise<Finding> {
  const names = ["ffi", "run", "read", "write", "env", "sys"] as const;
  const states = await Promise.all(names.map((name) => Deno.permissions.query({ name })));
  const denied = names.filter((_, i) => states[i]?.state !== "granted");
  if (denied.length === 0) {
    return { state: "ok", subject: "Permissions", text: "everything that compiling needs" };
  }
  return {
    state: "error",
    subject: "Permissions",
    text: `not granted: ${denied.join(", ")}`,
    remedy: "Run deno with -A",
  };
}

async function compiler(): Promise<Finding[]> {
  // Imported late, like the toolkit: settings read the environment that the command line sets
  const { threadCount, toolchainStatus } = await import("../backends/cpu/toolchain.ts");
  const status = toolchainStatus();
  switch (status.kind) {
    case "ready": {
      const { compiler, version, target, openmp } = status.toolchain;
      const machine = `${target.architecture} ${target.instructionSet}, ${
        target.vectorBytes * 8
      }-bit vectors`;
      return [
        { state: "ok", subject: "Compiler", text: `${compiler} (${version})` },
        { state: "ok", subject: "Target", text: machine },
        openmp ? { state: "ok", subject: "OpenMP", text: `${threadCount()} threads` } : {
          state: "warning",
          subject: "OpenMP",
          text: "missing: kernels run on one thread",
          remedy: "Install libgomp (Debian: apt-get install g++) or set DYN_CXX to a compiler that has it",
        },
      ];
    }
    case "missing":
      return [{
        state: "warning",
        subject: "Compiler",
        text: `${status.reason}: WebAssembly is used instead`,
        remedy: capitalized(status.remedy),
      }];
    case "unusable":
      return [{
        state: "warning",
        subject: "Compiler",
        text: `${status.reason}\nWebAssembly is used instead`,
        remedy: "Fix the reported problem, or set DYN_CXX to another C++ compiler",
      }];
    default:
      return status satisfies never;
  }
}

async function adapter(): Promise<Finding> {
  const remedy =
    "Install a Vulkan driver (in software on Debian: apt-get install mesa-vulkan-drivers libvulkan1)";
  try {
    const found = await navigator.gpu?.requestAdapter();
    if (!found) {
      return {
        state: "warning",
        subject: "WebGPU",
        text: "no adapter: the device webgpu is unavailable",
        remedy,
      };
    }
    const { vendor, architecture, device, description } = found.info;
    const name = [description, vendor, architecture, device].filter((part) => part !== "").join(", ");
    const kind = found.info.isFallbackAdapter ? " (in software)" : "";
    return { state: "ok", subject: "WebGPU", text: `${name || "an adapter without a name"}${kind}` };
  } catch (thrown) {
    return { state: "warning", subject: "WebGPU", text: messageOf(thrown), remedy };
  }
}

async function library(): Promise<Finding> {
  try {
    const dyn = await toolkit();
    // The compiler itself is tested, not its cached results
    const options = { kernelCache: false, tier: "wait" } as const;
    const f = dyn.compile((x: ReturnType<typeof dyn.ones>) => x.add(1).sum(), { options });
    const sum = f(dyn.ones([4])).item();
    const { fallbacks } = dyn.compiler.status(f);
    if (sum === 8 && fallbacks > 0) {
      const text = "a small function gives the right answer, but not on the expected tier";
      return { state: "warning", subject: "Compiling", text, remedy: "See the messages above" };
    }
    if (sum === 8) {
      return { state: "ok", subject: "Compiling", text: "a small function gives the right answer" };
    }
    return { state: "error", subject: "Compiling", text: `a small function gave ${sum} instead of 8` };
  } catch (thrown) {
    return { state: "error", subject: "Compiling", text: messageOf(thrown) };
  }
}

const MARKS: Readonly<Record<Finding["state"], string>> = {
  ok: "ok     ",
  warning: "warning",
  error: "error  ",
};

/** Prepares the cache for later processes. */
async function prepared(): Promise<Finding> {
  try {
    return { state: "ok", subject: "Prepared", text: await prepare() };
  } catch (thrown) {
    return { state: "error", subject: "Prepared", text: messageOf(thrown) };
  }
}

/** `dyn doctor`. */
export const doctorCommand: Command = {
  name: "doctor",
  usage: "doctor [--prepare]",
  summary: "Check what this machine offers and say what is missing",
  help: "--prepare also compiles what first calls of most programs need, which takes a minute or two, once.",
  takesFlags: false,
  run: async (args) => {
    const prepares = args[0] === "--prepare";
    expectNoMore("doctor", prepares ? args.slice(1) : args);
    const findings = [runtime(), await permissions(), ...await compiler(), await adapter(), await library()];
    if (prepares) findings.push(await prepared());
    for (const { state, subject, text, remedy } of findings) {
      console.log(`${MARKS[state]}  ${subject.padEnd(12)}${text}`);
      if (remedy) console.log(`${" ".repeat(9)}${" ".repeat(12)}→ ${remedy}`);
    }
    const [root = "", ...stores] = describeCache();
    console.log(`${MARKS.ok}  ${"Cache".padEnd(12)}${root}`);
    for (const store of stores) console.log(`${" ".repeat(19)}${store}`);
    return findings.some(({ state }) => state === "error") ? 1 : 0;
  },
};
