/**
 * Entries shipped with dyn: precomputed results of compiling common calls. Invariant: an entry is used only if it
 * equals what would be computed.
 */

/** The location of shipped entries. */
interface Shipment {
  /** Whether they are what this version of dyn would compute. */
  readonly isCurrent: () => boolean;
  /** One line per entry: its key, a tab, its text. */
  readonly lines: () => string;
}

let shipment: Shipment | null = null;
let entries: ReadonlyMap<string, string> | undefined;

/** Sets the location of shipped entries; null: there are none. */
export function shipEntries(given: Shipment | null): void {
  shipment = given;
  entries = undefined;
}

/** Returns the text of a key, or undefined if there is none. */
export function shippedEntry(key: string): string | undefined {
  return (entries ??= new Map(shipment?.isCurrent() ? entriesOf(shipment.lines()) : [])).get(key);
}

/** Parses keys with their texts. */
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
