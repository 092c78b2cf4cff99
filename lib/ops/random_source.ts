/** The source of random numbers that a call can name: a `Generator`. */
export interface RandomSource {
  /** Two words for the next random call. */
  next(): readonly [key0: number, key1: number];
  /** Returns the seed that the sequence started from. */
  initialSeed(): number;
}
