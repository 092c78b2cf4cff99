/** Whether new layers initialise their parameters: unnecessary if values are loaded afterwards. */

const SKIPPING = { active: false };

/** Returns whether parameters are left uninitialised. */
export const isFillingLeftOut = (): boolean => SKIPPING.active;

/** Calls `make` without initialising the parameters that it creates. */
export function withoutFilling<M>(make: () => M): M {
  const before = SKIPPING.active;
  SKIPPING.active = true;
  try {
    return make();
  } finally {
    SKIPPING.active = before;
  }
}
