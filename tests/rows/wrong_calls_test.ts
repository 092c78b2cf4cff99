/**
 * Errors point at the right place: the first frame of each is the line of the program that made the wrong call, whether
 * it runs plainly or compiled, and the message names what was found.
 */
import { assert, assertEquals } from "@std/assert";
import * as dyn from "../../mod.ts";
import "../support/turns/programs.ts";
import { sampleBySeed } from "../support/sampling.ts";
import { wrongCalls } from "./wrong_calls.js";

/** Ways to compile, of which a run has one. */
const BACKENDS = ["eager", "aot_eager", "inductor"] as const;

interface WrongCall {
  readonly call: () => unknown;
  readonly says: readonly string[];
  /** The line where it fails, where that is another. */
  readonly line?: string;
}

const SOURCE = new URL("wrong_calls.js", import.meta.url);
const lines = Deno.readTextFileSync(SOURCE).split("\n");

/** The source line of the first frame of a stack; empty if it is another file's. */
function firstLine(thrown: Error): string {
  const frame = thrown.stack?.split("\n").find((line) => /^\s+at /.test(line)) ?? "";
  const [, url, line] = /(file:[^\s)]+?):(\d+):\d+\)?$/.exec(frame) ?? [];
  return url === SOURCE.href ? lines[Number(line) - 1]?.trim() ?? "" : "";
}

function errorOf(call: () => unknown): Error | null {
  try {
    call();
    return null;
  } catch (thrown) {
    return thrown instanceof Error ? thrown : new Error(String(thrown));
  }
}

/** Returns the fault of a call's error in one line, or null. */
function complaint({ call, says, line }: WrongCall, run: () => unknown): string | null {
  const wanted = line ?? String(call).replace(/^\(\) *=> */, ""), thrown = errorOf(run);
  if (thrown === null) return `${wanted}: accepted`;
  const shown = firstLine(thrown);
  if (!shown.includes(wanted)) return `${wanted}: shows the line ${shown || thrown.stack}`;
  const missing = says.filter((part) => !thrown.message.includes(part));
  return missing.length === 0 ? null : `${wanted}: ${thrown.message} does not name ${missing.join(", ")}`;
}

/** Ends the graph wherever it is called. */
const interrupt = dyn.compiler.disable(() => {});

/** The call as the rest of a function after a break. */
const behindBreak = (call: () => unknown) => (x: dyn.Tensor) => {
  const y = x.sin();
  interrupt();
  const z = y.cos(), made = call();
  return [z, made];
};

Deno.test("errors of wrong calls show the program's line and what was found, plain, compiled and behind a break", () => {
  const calls: readonly WrongCall[] = wrongCalls(dyn);
  assert(calls.length >= 70);
  const plain = calls.map((wrong) => complaint(wrong, wrong.call));
  assertEquals(plain.filter((text) => text !== null), []);
  for (const backend of sampleBySeed(BACKENDS, 1)) {
    const compiled = calls.map((wrong) => complaint(wrong, dyn.compile(wrong.call, { backend })));
    assertEquals(compiled.filter((text) => text !== null), [], backend);
    const x = dyn.tensor([1.5]);
    const behind = calls.map((wrong) => {
      const interrupted = dyn.compile(behindBreak(wrong.call), { backend });
      return complaint(wrong, () => interrupted(x));
    });
    assertEquals(behind.filter((text) => text !== null), [], backend);
  }
});
