/** Whether parameters are filled when layers are made: not where their values are loaded anyway. */

const SKIPPING = { active: false };

/** Returns whether parameters are left uninitialised. */
export const isFillingLeftOut = (): boolean => SKIPPING.active;

/** Calls `make` without filling the parameters that it creates. */
export function withoutFilling<M>(make: () => M): M {
  const before = SKIPPING.active;
  SKIPPING.active = true;
  try {
    return make();
  } finally {
    SKIPPING.active = before;
  }
}
