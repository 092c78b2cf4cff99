/** Property flags, as guards compare and print them. */

/** The flags of an own property; null for an accessor. */
export interface PropertyFlags {
  readonly writable: boolean | null;
  readonly enumerable: boolean;
  readonly configurable: boolean;
}

/** The flags in words. */
export function flagsText({ writable, enumerable, configurable }: PropertyFlags): string {
  const names = [writable === null && "accessor", writable && "writable", enumerable && "enumerable"];
  return [...names, configurable && "configurable"].filter((name) => name).join(" ") || "none";
}
