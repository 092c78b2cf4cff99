/**
 * Writes the pages of docs/ops from the definitions of ops: each public op's signatures, namespaces, shapes and
 * types, an example with PyTorch's results that tools/op_examples.py keeps, its errors and its gradient: `deno task
 * generate`. Invariant: shapes and types on a page come from the definition's own inference.
 */
import { type DType, DTYPES, isFloat } from "../lib/base/dtype.ts";
import { DynError } from "../lib/base/errors.ts";
import { contiguousMeta } from "../lib/graph/meta.ts";
import { isMethod } from "../lib/ops/api.ts";
import { parseCall, takesInplace } from "../lib/ops/call.ts";
import { formOf } from "../lib/ops/complex/form.ts";
import type { OpDefinition, Sample, SampleArgument } from "../lib/ops/definition.ts";
import "../lib/tensor/install.ts";
import { entryOf, inferResults, mapTensors } from "../lib/tensor/plan.ts";
import { isTensor, Tensor } from "../lib/tensor/tensor.ts";
import { exportNames, type GeneratedFile, signatures } from "./generate.ts";
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

/** Arguments without elements; tensors have the requested type if the sample does not specify one. */
function hollow(value: SampleArgument, dtype: DType): unknown {
  if (Array.isArray(value)) return value.map((each) => hollow(each, dtype));
  if (typeof value !== "object" || value === null || !("tensor" in value)) return value;
  return Tensor.elementless(contiguousMeta(value.tensor, value.dtype ?? dtype, "cpu"));
}

function argumentsOf({ args, options }: Sample, dtype: DType): readonly unknown[] {
  const given = args.map((each) => hollow(each, dtype));
  if (!options) return given;
  return [...given, Object.fromEntries(Object.entries(options).map(([name, v]) => [name, hollow(v, dtype)]))];
}

/** The metadata of a sample's results; null if it depends on elements, or the types are rejected. */
function inferred(definition: OpDefinition, sample: Sample, dtype: DType) {
  try {
    const args = parseCall(definition, argumentsOf(sample, dtype), isTensor);
    const form = formOf(definition, args);
    return inferResults(form, mapTensors(entryOf(form), args, ({ meta }) => meta));
  } catch (error) {
    if (error instanceof DynError) return null;
    throw error;
  }
}

const shown = (value: unknown): string => {
  if (isTensor(value)) return `${value.dtype} [${value.shape.join(", ")}]`;
  if (Array.isArray(value)) return `[${value.map(shown).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "undefined";
  return `{ ${Object.entries(value).map(([name, each]) => `${name}: ${shown(each)}`).join(", ")} }`;
};

/** The first calls of the samples with their results. */
function shapesOf(definition: OpDefinition): readonly string[] {
  const lines = definition.samples.flatMap((sample) => {
    const metas = inferred(definition, sample, "float32");
    if (metas === null || metas.length === 0) return [];
    const results = metas.map(({ dtype, shape }) => `${dtype} [${shape.join(", ")}]`).join(", ");
    return [`(${argumentsOf(sample, "float32").map(shown).join(", ")}) → ${results}`];
  });
  return [...new Set(lines)].slice(0, 2);
}

/** Describes the types that the tensors of the first sample may have, by the type of the result. */
function typesOf(definition: OpDefinition): string | null {
  const sample = definition.samples.find(({ args }) =>
    args.some((each) => typeof each === "object" && each !== null && "tensor" in each && !each.dtype)
  );
  if (!sample) return null;
  const results = new Map<string, DType[]>();
  for (const dtype of DTYPES) {
    const result = inferred(definition, sample, dtype)?.[0]?.dtype;
    if (result === undefined) continue;
    const key = result === dtype ? "" : result;
    results.set(key, [...results.get(key) ?? [], dtype]);
  }
  if (results.size === 0) return null;
  const names = (types: readonly DType[]) => {
    if (types.length === DTYPES.length) return "all";
    const floats = DTYPES.filter(isFloat);
    const list = floats.every((each) => types.includes(each))
      ? ["floats", ...types.filter((each) => !isFloat(each))]
      : types;
    return list.join(", ");
  };
  return [...results].map(([result, types]) => result === "" ? names(types) : `${names(types)} → ${result}`)
    .join("; ");
}

/**
 * Returns the errors of wrong calls: in full if they depend on metadata only, else the part that the definition
 * specifies.
 */
function errorsOf(definition: OpDefinition): ReadonlySet<string> {
  return new Set(
    definition.errors?.map((sample) => {
      try {
        const args = parseCall(definition, argumentsOf(sample, "float32"), isTensor);
        inferResults(definition, mapTensors(entryOf(definition), args, ({ meta }) => meta));
      } catch (error) {
        if (error instanceof DynError) return error.message;
        throw error;
      }
      return `… ${sample.message} …`;
    }),
  );
}

function section(definition: OpDefinition, example: OpExample | undefined): string {
  const [name = "", ...others] = callNames(definition);
  const lines = [`## ${definition.name}`, "", definition.doc, "", "```text"];
  const isFunction = !name.startsWith("x.");
  lines.push(
    ...signatures(definition, { tensor: "Tensor", method: !isFunction }).map((each) => `${name}${each}`),
    "```",
    "",
  );
  const facts: string[] = [];
  if (others.length > 0) facts.push(`Also ${others.map((each) => `\`${each}\``).join(", ")}.`);
  const types = typesOf(definition);
  if (types !== null) facts.push(`Types: ${types}.`);
  for (const each of shapesOf(definition)) facts.push(`\`${each}\``);
  for (const message of errorsOf(definition)) facts.push(`Error: “${message}”`);
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
