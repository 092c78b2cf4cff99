/**
 * Captures the given number of new closures from the same two modules, with their code and their variables before and
 * after a call, and prints milliseconds of processor time for each. Fails if a variable does not have the value that
 * the closure assigned.
 *
 *   deno run -A --preload=preload.ts --v8-flags=--jit-fuzzing,--stress-flush-code bench/captures/frames.ts 10000
 *
 * The flags make V8 optimise and discard code all the time.
 */
import process from "node:process";
import { captureFunction } from "../../lib/dynamo/frame/capture.ts";
import * as second from "./second.ts";
import * as third from "./third.ts";

/** A closure of one of the modules, alternately. */
export const closureOf = (turn: number) => (turn % 2 === 0 ? second : third).counterFrom(turn % 7 + 2);

/** CPU milliseconds of each run. */
export function timed(count: number, run: (turn: number) => void): number {
  const before = process.cpuUsage();
  for (let turn = 0; turn < count; turn++) run(turn);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000 / count;
}

/** Throws if two values print differently. */
export function expectSame(found: unknown, expected: unknown): void {
  if (String(found) !== String(expected)) throw new Error(`Expected ${expected} but found ${found}`);
}

/** Returns the value of a closure's variable, through the cell of its capture. */
function held(step: object): unknown {
  const found = captureFunction(step);
  if (found.kind !== "function") throw new Error(`Expected a function but found ${found.kind}`);
  const variable = found.binding(found.code.free.findIndex(({ name }) => name === "n"));
  if (variable.kind !== "cell") {
    throw new Error(`Expected a variable that changes but found ${variable.kind}`);
  }
  return variable.cell.get();
}

/** A substitute for a tensor. */
const plain = { add: String, mul: String };

if (import.meta.main) {
  const count = Number(Deno.args[0] ?? 10_000);
  const each = timed(count, (turn) => {
    const step = closureOf(turn), from = turn % 7 + 2;
    expectSame(held(step), from);
    expectSame(Reflect.apply(step, null, [plain]), from);
    expectSame(held(step), from + 1);
  });
  console.log(`${count} closures captured, ${each.toFixed(3)} ms each`);
}
