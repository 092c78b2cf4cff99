/** Special functions by name. */
import { bessel } from "./bessel.ts";
import { functions } from "./functions.ts";
import { incompleteGammas } from "./incomplete_gamma.ts";
import { modifiedBessel } from "./modified_bessel.ts";
import { zetas } from "./zeta.ts";

export const specialOps = {
  ...functions,
  ...modifiedBessel,
  ...bessel,
  ...zetas,
  ...incompleteGammas,
} as const;
