/**
 * Fuzzing in separate processes: findings and the fate of the processes are reported. The processes here are small
 * scripts in place of the fuzzers.
 */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { type Finding, fuzz, type FuzzOptions } from "../../cli/fuzz/supervisor.ts";

const script = (text: string): string => `data:application/javascript,${encodeURIComponent(text)}`;

const say = (event: unknown): string => `console.log(${JSON.stringify(JSON.stringify(event))});`;

const OPTIONS: FuzzOptions = {
  fuzzer: "tensors",
  tier: "wasm",
  seed: 5,
  programs: 10,
  seconds: 1e9,
  shrinkSeconds: 1,
  without: ["strides"],
};

Deno.test("a process that dies is a finding that names its last program, and others continue", async () => {
  const worker = script(`
    const { seed, programs } = JSON.parse(Deno.args[0]);
    if (seed === 5) {
      ${say({ event: "program", seed: 5, index: 3 })}
      console.error("Segmentation fault");
      Deno.exit(7);
    }
    for (let k = 0; k < programs; k++) console.log(JSON.stringify({ event: "program", seed, index: k }));
    console.log(JSON.stringify({ event: "end", nextSeed: seed + programs, counts: { programs } }));
  `);
  const told: Finding[] = [];
  const { findings, counts } = await fuzz({ ...OPTIONS, worker, onFinding: (finding) => told.push(finding) });
  assertEquals(findings.length, 1);
  assertEquals(told, findings);
  const [finding] = findings;
  assertStringIncludes(finding?.text ?? "", "the process died with code 7 in a program");
  assertStringIncludes(finding?.text ?? "", "--tier wasm --seed 5 --path 3 --without strides");
  assertStringIncludes(finding?.text ?? "", "Segmentation fault");
  assertEquals(counts, { findings: 1, programs: 9 });
});

Deno.test("findings of one kind are reported once", async () => {
  const finding = (path: string) =>
    say({
      event: "finding",
      seed: 9,
      path,
      signature: "values: sin",
      failure: { tier: "wasm", kind: "values", text: "Call 0, result 0" },
      file: "const x = 1;",
    });
  const worker = script(
    `for (let k = 0; k < 10; k++) console.log(JSON.stringify({ event: "program", seed: 9, index: k }));
     ${finding("1:0")} ${finding("2")} ${say({ event: "end", nextSeed: 1, counts: { programs: 10 } })}`,
  );
  const { findings, counts } = await fuzz({ ...OPTIONS, worker });
  assertEquals(findings.map(({ signature }) => signature), ["values: sin"]);
  assertEquals(counts, { findings: 2, programs: 10 });
  assertStringIncludes(findings[0]?.text ?? "", "--seed 9 --path 1:0 --without strides\n\nconst x = 1;");
});
