/** Results that may differ by another order of additions. */
import { assert, assertEquals } from "@std/assert";

/** Throws if results differ by more than another order of additions explains. */
export function assertClose(found: unknown, expected: unknown, what: string): void {
  if (typeof found === "number" && typeof expected === "number") {
    assert(
      Object.is(found, expected) || Math.abs(found - expected) <= 1e-5 * (1 + Math.abs(expected)),
      `${what}: ${found} for ${expected}`,
    );
  } else if (Array.isArray(found) && Array.isArray(expected)) {
    assertEquals(found.length, expected.length, what);
    found.forEach((each, k) => assertClose(each, expected[k], what));
  } else assertEquals(found, expected, what);
}
