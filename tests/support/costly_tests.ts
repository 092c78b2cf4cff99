/**
 * Tests that keep a processor busy for three to thirty seconds, with many processes, the C++ compiler or shaders in
 * software: a run takes a fifth of them, by its seed, or all with DYN_TEST_ALL=1. Invariant: the fifths take about
 * equal time, so that no run takes much longer than another. Five and four have no common divisor: each fifth meets
 * every tier that the seed draws.
 */
import { TAKES_ALL, testSeed } from "./sampling.ts";

/** Subjects of these tests, in fifths. */
const FIFTHS = [
  [
    "the zoo on WebGPU",
    "sizes of a job",
    "texts between processes",
  ],
  [
    "a packed executable",
    "modules under pressure",
    "prepared entries",
    "reports at the end",
    "bisection of a program",
    "programs on ranks",
    "graphs between processes",
    "choices of tiles on disk",
    "a kernel of a notebook",
    "budgets of whole steps",
  ],
  [
    "training on the default device",
    "ranks on WebGPU",
    "memory access in C++",
    "eager ops that become native",
    "a page of digits",
    "collectives on ranks",
    "repros of the command line",
    "programs of the fuzzers",
  ],
  [
    "threads that compile shaders",
    "layers of oneDNN",
    "training in small floats",
    "convolutions by two by tiles",
    "captures between processes",
    "samples of ops in C++",
    "faults of compilers in the background",
    "traces of programs",
    "native code of former processes",
  ],
  [
    "training on ranks",
    "faults of ranks",
    "patches on WebGPU",
    "classes between processes",
    "packages in processes",
    "reports of the command line",
    "precision of convolutions",
    "convolutions by tiles",
    "faults of compilers on trial",
    "models on two devices",
    "scripts that fail",
    "new projects",
  ],
] as const;

/** Defines these tests if it is their turn in this run. */
export function testInTurn(
  turn: typeof FIFTHS[number][number],
  ...tests: readonly Deno.TestDefinition[]
): void {
  const isTurn = TAKES_ALL || FIFTHS[testSeed() % FIFTHS.length]?.some((each) => each === turn);
  if (isTurn) { for (const each of tests) Deno.test(each); }
}
