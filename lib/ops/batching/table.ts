/**
 * Batching rules: how ops run over a batch. Compositions without a rule run as their parts, other ops once for each
 * element. Invariant: every rule belongs to an op of the table.
 */
import type { OpDefinition } from "../definition.ts";
import type { OpName } from "../generated.ts";
import { ELEMENTWISE_COMPOSITIONS } from "../elementwise_compositions.ts";
import { ALL_OPS, opNamed, OPS } from "../table.ts";
import { arrangingRules } from "./arranging.ts";
import type { BatchRule } from "./call.ts";
import { elementwise } from "./elementwise.ts";
import { indexingRules } from "./indexing.ts";
import { along, leading } from "./leading.ts";
import { matrixRules } from "./matrix.ts";
import { reductionRules } from "./reductions.ts";
import { viewRules } from "./views.ts";
import { wholeRules } from "./wholes.ts";

/** Ops that broadcast their operands and whose definitions are not `elementwise`. */
const BROADCASTING: readonly OpName[] = [
  ...ELEMENTWISE_COMPOSITIONS,
  "isclose",
  "zerosLike",
  "onesLike",
  "emptyLike",
  "fullLike",
  "zero",
  "frequencies",
  "outlierMarks",
  "toDevice",
  "gcd",
  "lcm",
  "chebyshevPolynomialT",
  "chebyshevPolynomialU",
  "chebyshevPolynomialV",
  "chebyshevPolynomialW",
  "hermitePolynomialH",
  "hermitePolynomialHe",
  "laguerrePolynomialL",
  "legendrePolynomialP",
  "shiftedChebyshevPolynomialT",
  "shiftedChebyshevPolynomialU",
  "shiftedChebyshevPolynomialV",
  "shiftedChebyshevPolynomialW",
];

/** Ops over the last dimensions, with any leading dimensions. */
const LEADING: readonly OpName[] = [
  "thresholdBackward",
  "tril",
  "triu",
  "sortLast",
  "firstOfSorted",
  "constantPadNd",
  "maxPoolOffsets",
  "maxPoolBackward",
  "windowSum",
  "windowSumBackward",
  "adaptiveMaxOffsets",
  "inv",
  "slogdet",
  "singularFactors",
  "backSubstitution",
  "choleskyFactor",
  "tallQr",
  "completeQr",
  "symmetricEigen",
  "luFactorEx",
  "permutationOf",
  "matrixExp",
  "slogdetPairs",
  "singularPairs",
  "choleskyPairs",
  "tallQrPairs",
  "completeQrPairs",
  "hermitianPairs",
  "luFactorPairs",
  "viewAsReal",
  "viewAsComplex",
];

/** Ops along their dimension `dim`. */
const ALONG: readonly OpName[] = [
  "cumsum",
  "cumprod",
  "logcumsumexp",
  "runningMax",
  "runningMin",
  "adaptiveSum",
  "adaptiveSumBackward",
];

const rules = new Map<OpDefinition, BatchRule>();

for (const definition of ALL_OPS) if (definition.elementwise) rules.set(definition, elementwise);
for (const name of BROADCASTING) rules.set(OPS[name], elementwise);
for (const name of LEADING) rules.set(OPS[name], leading);
for (const name of ALONG) rules.set(OPS[name], along("dim"));
for (
  const { name, rule } of [
    ...viewRules,
    ...reductionRules,
    ...indexingRules,
    ...matrixRules,
    ...arrangingRules,
    ...wholeRules,
  ]
) {
  rules.set(opNamed(name), rule);
}

/** Returns the batching rule of an op, or undefined when it runs once for each element of the batch. */
export function batchRuleOf(definition: OpDefinition): BatchRule | undefined {
  return rules.get(definition);
}
