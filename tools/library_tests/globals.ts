/** Replaces `vitest` and `@jest/globals` in the import map, for tests that import the global variables. */
const names: Record<string, unknown> = { ...globalThis };

export const { describe, it, test, expect, vi, jest, beforeEach, afterEach, beforeAll, afterAll } = names;
