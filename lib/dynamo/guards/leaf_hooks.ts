/** The hooks on gradients of a leaf: a type shared by traces and guards. */

/** The hooks on gradients of a leaf, each kind in order. */
export interface LeafHooks {
  /** Called with a gradient before it is added. */
  readonly before: readonly object[];
  /** Called with the leaf afterwards. */
  readonly after: readonly object[];
}

/** No hooks. */
export const NO_HOOKS: LeafHooks = { before: [], after: [] };
