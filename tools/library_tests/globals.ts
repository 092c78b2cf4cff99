/** Stands for `vitest` and `@jest/globals` in the import map of tests that import what others find as global variables. */
const names: Record<string, unknown> = { ...globalThis };

export const { describe, it, test, expect, vi, jest, beforeEach, afterEach, beforeAll, afterAll } = names;
