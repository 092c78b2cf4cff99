/** Numbers and rows in texts that people read. */

/** A number of things: "1 graph", "2 graphs". */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`;
}

/** Rows as lines whose columns are aligned: the first `left` columns to the left, the others to the right. */
export function alignedRows(rows: readonly (readonly string[])[], left = Infinity): string[] {
  const widths: number[] = [];
  for (const row of rows) row.forEach(({ length }, at) => widths[at] = Math.max(widths[at] ?? 0, length));
  return rows.map((row) => {
    const cells = row.map((cell, at) =>
      at < left ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0)
    );
    return cells.join("  ").trimEnd();
  });
}
