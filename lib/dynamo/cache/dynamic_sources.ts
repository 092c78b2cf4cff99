/**
 * Places that the settings declare as symbols or constants: `config.dynamicSources`, `staticSources`,
 * `unbackedSources` and `dynamicValues`. Invariant: a place that both lists name is static.
 */
import { config } from "../../base/config.ts";
import { DynError, messageOf } from "../../base/errors.ts";

/** Returns whether a list names a place, or a dimension of the tensor there. */
type SourceList = (place: string, dim: number | null) => boolean;

interface ListEntry {
  readonly exact: string;
  readonly pattern: RegExp;
  readonly dim: number | null;
}

const lists = new Map<string, SourceList>();

/** Parses a list. Throws DynError for an item that is neither a place nor a regular expression. */
function listOf(text: string): SourceList {
  let list = lists.get(text);
  if (!list) {
    const entries = text.split(",").map((part) => part.trim()).filter((part) => part !== "").map(entryOf);
    list = (place, dim) =>
      entries.some((entry) =>
        (entry.dim === null || dim === null || entry.dim === dim) &&
        (entry.exact === place || entry.pattern.test(place))
      );
    lists.set(text, list);
  }
  return list;
}

function entryOf(text: string): ListEntry {
  const [, place = text, dim] = /^(.*):(\d+)$/.exec(text) ?? [];
  // PyTorch writes single quotes.
  const exact = place.replaceAll("'", '"');
  try {
    return { exact, pattern: new RegExp(`^(?:${exact})`), dim: dim === undefined ? null : Number(dim) };
  } catch (error) {
    throw new DynError(
      `Expected places or regular expressions in dynamicSources, staticSources and unbackedSources but found ${text}: ${
        messageOf(error)
      }`,
    );
  }
}

let values: { readonly text: string; readonly numbers: ReadonlySet<number> } | null = null;

/** Parses `dynamicValues`. Throws DynError for an item that is not an integer. */
function dynamicNumbers(): ReadonlySet<number> {
  const { dynamicValues } = config;
  if (values?.text === dynamicValues) return values.numbers;
  const numbers = dynamicValues.split(",").map((part) => part.trim()).filter((part) => part !== "").map(
    (part) => {
      if (/^-?\d+$/.test(part)) return Number(part);
      throw new DynError(`Expected integers in dynamicValues but found ${part}`);
    },
  );
  values = { text: dynamicValues, numbers: new Set(numbers) };
  return values.numbers;
}

/** Returns whether the settings declare a dimension of a tensor as unbacked. */
export function isSaidUnbacked(place: string, dim: number): boolean {
  const { unbackedSources } = config;
  return unbackedSources !== "" && listOf(unbackedSources)(place, dim);
}

/**
 * Returns the setting for a number at a place, or for a dimension of a tensor there: "value" is like "dynamic", but
 * weaker than `dynamic: false`. Null: none.
 */
export function saidOf(
  place: string,
  dim: number | null,
  size: number,
): "dynamic" | "static" | "value" | null {
  const { staticSources, dynamicSources, dynamicValues } = config;
  if (staticSources === "" && dynamicSources === "" && dynamicValues === "") return null;
  if (staticSources !== "" && listOf(staticSources)(place, dim)) return "static";
  if (dynamicSources !== "" && listOf(dynamicSources)(place, dim)) return "dynamic";
  return dynamicValues !== "" && dynamicNumbers().has(size) ? "value" : null;
}
