/** Unions of records as tables: a row for each kind, with its other fields. */

/** The record of one kind of a table, or those of several. */
export type RowOf<T, K extends keyof T, F extends string = "kind"> = K extends keyof T
  ? { readonly [_ in F]: K } & Readonly<T[K]>
  : never;

/** The records of all kinds. */
export type Tagged<T, F extends string = "kind"> = RowOf<T, keyof T, F>;
