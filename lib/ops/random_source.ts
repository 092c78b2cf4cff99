/** Where random numbers come from, as far as calls name it: a `Generator`. */
export interface RandomSource {
  /** Two words for the next random call. */
  next(): readonly [key0: number, key1: number];
  /** What its sequence began with. */
  initialSeed(): number;
}
