/** Whether new layers initialise their parameters: unnecessary if values are loaded afterwards. */

const SKIPPING = { active: false };

/** Returns whether parameters are left uninitialised. */
export const isInitSkipped = (): boolean => SKIPPING.active;

/** Calls `make` without initialising the parameters that it creates. */
export function withoutInit<M>(make: () => M): M {
  const before = SKIPPING.active;
  SKIPPING.active = true;
  try {
    return make();
  } finally {
    SKIPPING.active = before;
  }
}
