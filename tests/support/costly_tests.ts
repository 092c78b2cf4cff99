/**
 * Tests that keep a processor busy for five to thirty seconds, with many processes, the C++ compiler or shaders in
 * software: a run takes a third of them, by its seed, or all with DYN_TEST_ALL=1. Invariant: the thirds take about
 * equal time, so that no run takes much longer than another.
 */
import { TAKES_ALL, testSeed } from "./sampling.ts";

/** Subjects of these tests, in thirds. */
const THIRDS = [
  [
    "the zoo on WebGPU",
    "a packed executable",
    "modules under pressure",
    "sizes of a job",
    "texts between processes",
    "prepared entries",
    "training on the default device",
    "reports at the end",
  ],
  [
    "graphs between processes",
    "ranks on WebGPU",
    "bisection of a program",
    "programs on ranks",
    "memory access in C++",
    "threads that compile shaders",
    "eager ops that become native",
    "layers of oneDNN",
    "training in small floats",
    "a page of digits",
    "convolutions by two by tiles",
  ],
  [
    "captures between processes",
    "training on ranks",
    "samples of ops in C++",
    "patches on WebGPU",
    "classes between processes",
    "packages in processes",
    "reports of the command line",
    "precision of convolutions",
    "convolutions by tiles",
  ],
] as const;

/** Defines these tests if it is their turn in this run. */
export function testInTurn(
  turn: typeof THIRDS[number][number],
  ...tests: readonly Deno.TestDefinition[]
): void {
  const isTurn = TAKES_ALL || THIRDS[testSeed() % THIRDS.length]?.some((each) => each === turn);
  if (isTurn) { for (const each of tests) Deno.test(each); }
}
