/**
 * Writes the pages of docs/ops from the definitions of ops: each public op's signatures, namespaces, shapes and
 * types, an example with PyTorch's results that tools/op_examples.py keeps, its errors and its gradient: `deno task
 * generate`. Invariant: shapes, types and errors on a page are those of calls that are made or inferred.
 */
import { isMethod } from "../lib/ops/api.ts";
import { takesInplace } from "../lib/ops/call.ts";
import type { OpDefinition } from "../lib/ops/definition.ts";
import { exportNames, type GeneratedFile, signatures } from "./generate.ts";
import { callFacts } from "./op_calls.ts";
import { FAMILIES, type Family } from "./op_families.ts";

/** A call and what PyTorch prints of its results. */
export interface OpExample {
  readonly call: string;
  readonly results: readonly string[];
}

/** Examples by op. */
export function readExamples(): Readonly<Record<string, OpExample>> {
  return JSON.parse(Deno.readTextFileSync(new URL("op_examples.json", import.meta.url)));
}

/** A signature without names of types that its reader would have to look up. */
const spelledOut = (signature: string): string =>
  signature.replaceAll(/\bIntOrInts\b/g, "number | readonly number[]");

/** Returns the names by which a program calls an op: examples use the first. Empty if it is not public. */
export function callNames(definition: OpDefinition): readonly string[] {
  const { exposure } = definition, names = exportNames(definition);
  const prefixes = [
    ...(exposure?.free === false ? [] : [""]),
    ...(exposure?.namespaces ?? []).map((namespace) => `${namespace}.`),
  ];
  const spaces = {
    "nn.functional.": "functional",
    "linalg.": "linalg",
    "special.": "special",
    "fft.": "fft",
  };
  const functions = prefixes.flatMap((prefix) =>
    names.map((name) => {
      const own = Object.entries(spaces).find(([each]) => each === prefix)?.[1] ?? "";
      const rest = own !== "" && name.startsWith(own) ? name.slice(own.length) : name;
      return prefix + (/^[A-Z]/.test(rest) ? rest.charAt(0).toLowerCase() + rest.slice(1) : name);
    })
  );
  const methods = isMethod(definition) ? [`x.${definition.name}`] : [];
  return [...functions, ...methods, ...(takesInplace(definition) ? [`x.${definition.name}_`] : [])];
}

function section(definition: OpDefinition, example: OpExample | undefined): string {
  const [name = "", ...others] = callNames(definition);
  const lines = [`## ${definition.name}`, "", definition.doc, "", "```text"];
  const isFunction = !name.startsWith("x.");
  lines.push(
    ...signatures(definition, { tensor: "Tensor", method: !isFunction }).map((each) =>
      `${name}${spelledOut(each)}`
    ),
    "```",
    "",
  );
  const facts: string[] = [];
  if (others.length > 0) facts.push(`Also ${others.map((each) => `\`${each}\``).join(", ")}.`);
  const { shapes, types, errors } = callFacts(definition, example?.call);
  if (types !== null) facts.push(`Types: ${types}.`);
  facts.push(...shapes.map((each) => `\`${each}\``), ...errors.map((message) => `Error: “${message}”`));
  const { gradient } = definition;
  if (gradient.kind === "none") facts.push(`No gradient: ${gradient.because}.`);
  lines.push(...facts.map((fact) => `- ${fact}`), "");
  if (example) lines.push("```ts", example.call, ...example.results.flatMap(commented), "```", "");
  return lines.join("\n");
}

const commented = (result: string): string[] => result.split("\n").map((line) => `// ${line}`);

const publicOps = ({ definitions }: Family) => definitions.filter((each) => callNames(each).length > 0);

/** The pages and their list. */
export function opPages(): GeneratedFile[] {
  const examples = readExamples();
  const pages = FAMILIES.map((family) => ({
    path: `docs/ops/${family.name}.md`,
    text: [
      `# ${family.title}`,
      "",
      "Written from the definitions of the ops. Results in examples are PyTorch's.",
      "",
      ...publicOps(family).map((each) => section(each, examples[each.name])),
    ].join("\n"),
  }));
  const list = FAMILIES.map((family) =>
    `- [${family.title}](${family.name}.md): ${publicOps(family).map(({ name }) => `\`${name}\``).join(", ")}`
  );
  return [...pages, { path: "docs/ops/index.md", text: ["# Ops", "", ...list, ""].join("\n") }];
}

if (import.meta.main) {
  if (Deno.args.includes("--ops")) {
    const ops = FAMILIES.flatMap(publicOps).map((definition) => ({
      name: definition.name,
      call: callNames(definition)[0],
      doc: definition.doc,
      random: definition.implementation.kind === "random",
      params: Object.entries(definition.params).map(([name, { kind, nullable, default: value }]) => ({
        name,
        kind,
        required: value === undefined && !nullable,
      })),
    }));
    console.log(JSON.stringify(ops));
  } else {
    const folder = new URL("../docs/ops/", import.meta.url);
    await Deno.mkdir(folder, { recursive: true });
    for (const { path, text } of opPages()) {
      await Deno.writeTextFile(new URL(`../${path}`, import.meta.url), text);
    }
  }
}
