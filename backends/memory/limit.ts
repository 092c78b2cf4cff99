/**
 * Memory limits of devices from DYN_MEMORY_LIMIT: bytes or with a unit, for all devices ("8GiB") or by name
 * ("cpu=8GiB,webgpu=2GiB").
 */
import { DynError } from "../../lib/base/errors.ts";
import { environmentVariable } from "../../lib/base/permissions.ts";
import type { DeviceName } from "../../lib/loops/device.ts";

const UNITS: Readonly<Record<string, number>> = {
  "": 1,
  KiB: 2 ** 10,
  MiB: 2 ** 20,
  GiB: 2 ** 30,
  TiB: 2 ** 40,
};

/** The limit of a device; undefined if none is set. Throws DynError for text that it cannot parse. */
export function memoryLimit(
  device: DeviceName,
  text: string = environmentVariable("DYN_MEMORY_LIMIT") ?? "",
): number | undefined {
  let limit: number | undefined;
  for (const part of text.split(",").filter((each) => each.trim() !== "")) {
    const [, name, amount = "", unit = ""] = /^\s*(?:(\w+)\s*=)?\s*([\d.]+)\s*([A-Za-z]*)\s*$/.exec(part) ??
      [];
    const bytes = Number(amount || NaN) * (UNITS[unit] ?? NaN);
    if (!(bytes > 0)) {
      throw new DynError(
        `Expected DYN_MEMORY_LIMIT as in 8GiB or cpu=8GiB,webgpu=512MiB but found ${Deno.inspect(text)}`,
      );
    }
    if (name === undefined || name === device) limit = Math.floor(bytes);
  }
  return limit;
}
