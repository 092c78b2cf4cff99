/**
 * Tables of numbers and texts, from CSV (papaparse) or JSON lines: columns by name, numeric ones as tensors.
 * Invariant: a cell that is not a number is an error that names its line and column, never NaN.
 */
import { checkKind, optionsOf, refuseChoice, refuseSurplus } from "../../base/checked_input.ts";
import type { DType } from "../../base/dtype.ts";
import { DynError, messageOf } from "../../base/errors.ts";
import { isPlainObject } from "../../base/tree.ts";
import { tensor } from "../../tensor/creation.ts";
import type { Tensor } from "../../tensor/tensor.ts";
import { functionOf, libraryOf, nameOf, type Source, textOf } from "./source.ts";

const PAPAPARSE = "npm:papaparse@^5.5.0";

/** Options of `readCsv`. */
export interface CsvOptions {
  /** Whether the first line names the columns; default true. Columns without names are "0", "1", … */
  readonly header?: boolean;
  /** The text between cells; detected by default. */
  readonly delimiter?: string;
}

/** Rows of cells. */
export class Table {
  /** Number of rows. */
  readonly length: number;
  readonly #rows: readonly (readonly string[])[];
  /** The line of the file at which row 0 starts. */
  readonly #firstLine: number;

  /** `columns`: their names; `rows`: the cells of each, one per column. */
  constructor(
    readonly columns: readonly string[],
    rows: readonly (readonly string[])[],
    options: { readonly firstLine?: number } = {},
  ) {
    for (const list of [columns, rows]) checkKind(list, "a list", "Table");
    this.length = rows.length;
    this.#rows = rows;
    this.#firstLine = optionsOf("Table", options, ["firstLine"]).firstLine ?? 1;
  }

  /** Returns the texts of a column. Throws DynError for an unknown name. */
  texts(column: string): string[] {
    if (arguments.length > 1) refuseSurplus("texts", 1, arguments);
    const at = this.#at(column);
    return this.#rows.map((row) => row[at] ?? "");
  }

  /**
   * Returns a column as [rows], or several as [rows, columns]; default float32. Throws DynError for cells that are not
   * numbers.
   */
  tensor(
    columns: string | readonly string[] = this.columns,
    options: { readonly dtype?: DType } = {},
  ): Tensor {
    if (arguments.length > 2) refuseSurplus("tensor", 2, arguments);
    const { dtype = "float32" } = options;
    if (typeof columns === "string") {
      const at = this.#at(columns);
      return tensor(this.#rows.map((_, row) => this.#number(row, at)), { dtype });
    }
    const places = columns.map((each) => this.#at(each));
    return tensor(this.#rows.map((_, row) => places.map((at) => this.#number(row, at))), { dtype });
  }

  #at(column: string): number {
    const at = this.columns.indexOf(column);
    if (at >= 0) return at;
    refuseChoice("a column", this.columns, column);
  }

  #number(row: number, at: number): number {
    const text = this.#rows[row]?.[at]?.trim() ?? "", value = Number(text);
    if (text !== "" && !Number.isNaN(value)) return value;
    if (/^nan$/i.test(text)) return NaN;
    throw new DynError(
      `Expected a number in line ${row + this.#firstLine}, column ${this.columns[at]}, but found "${text}"`,
    );
  }

  /** Returns the number of rows and the names of columns. */
  toString(): string {
    return `Table(${this.length} rows of ${this.columns.join(", ")})`;
  }
}

/** Reads CSV. Throws DynError for lines with another number of cells than the first. */
export async function readCsv(source: Source, options: CsvOptions = {}): Promise<Table> {
  if (arguments.length > 2) refuseSurplus("readCsv", 2, arguments);
  const { header = true, delimiter = "" } = optionsOf("readCsv", options, ["header", "delimiter"]),
    parse = functionOf(await libraryOf(PAPAPARSE), "parse");
  const found: { data?: unknown } = Object(parse(textOf(source), { delimiter, skipEmptyLines: true }));
  const cells = Array.isArray(found.data) ? found.data.map((row) => Array.from(Object(row), String)) : [];
  const [first] = cells, width = first?.length ?? 0;
  const wrong = cells.findIndex((row) => row.length !== width);
  if (wrong >= 0) {
    throw new DynError(
      `Expected ${width} cells in line ${wrong + 1} of ${nameOf(source)} but found ${cells[wrong]?.length}`,
    );
  }
  if (!header || !first) return new Table(Array.from({ length: width }, (_, k) => `${k}`), cells);
  return new Table(first, cells.slice(1), { firstLine: 2 });
}

/** Reads one object per line, as `datasets` and chat models write them. Throws DynError for a line that is not one. */
export function readJsonLines(source: Source): Record<string, unknown>[] {
  if (arguments.length > 1) refuseSurplus("readJsonLines", 1, arguments);
  const lines = textOf(source).split("\n").map((text, k) => ({ text: text.trim(), line: k + 1 }));
  return lines.filter(({ text }) => text !== "").map(({ text, line }) => {
    const value = parsed(text, `line ${line} of ${nameOf(source)}`);
    if (isPlainObject(value)) return value;
    throw new DynError(
      `Expected an object in line ${line} of ${nameOf(source)} but found ${text.slice(0, 60)}`,
    );
  });
}

function parsed(text: string, where: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new DynError(`Expected JSON in ${where} but found ${messageOf(error)}`);
  }
}
