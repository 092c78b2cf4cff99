/**
 * Entries that come with dyn itself: what compilation makes of common calls, made before. Invariant: nothing is given
 * out unless it is what would be made.
 */

/** Where entries are. */
export interface Shipment {
  /** Whether they are what this dyn would make. */
  readonly isCurrent: () => boolean;
  /** A line for each: its key, a tab, its text. */
  readonly lines: () => string;
}

let shipment: Shipment | null = null;
let entries: ReadonlyMap<string, string> | undefined;

/** Says where the entries are; null: there are none. */
export function shipEntries(given: Shipment | null): void {
  shipment = given;
  entries = undefined;
}

/** The text of a key; undefined where there is none. */
export function shippedEntry(key: string): string | undefined {
  return (entries ??= new Map(shipment?.isCurrent() ? entriesOf(shipment.lines()) : [])).get(key);
}

/** Keys with their texts. */
export function entriesOf(lines: string): [string, string][] {
  const found: [string, string][] = [];
  for (let at = 0; at < lines.length;) {
    const tab = lines.indexOf("\t", at), end = lines.indexOf("\n", tab);
    if (tab < 0 || end < 0) break;
    found.push([lines.slice(at, tab), lines.slice(tab + 1, end)]);
    at = end + 1;
  }
  return found;
}
