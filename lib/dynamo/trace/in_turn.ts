/**
 * Runs steps in sequence, each of which continues immediately or after a call of the program. Invariant: immediate
 * steps do not grow the stack, however many they are.
 */

/** Runs steps from 0 on, until `step` returns `false`, and then `after`. */
export function inTurn(step: (index: number, next: () => void) => boolean | void, after: () => void): void {
  let index = 0, isRunning = false, goesOn = false;
  const next = (): void => {
    goesOn = true;
    if (isRunning) return;
    isRunning = true;
    while (goesOn) {
      goesOn = false;
      if (step(index++, next) === false) {
        isRunning = false;
        return after();
      }
    }
    isRunning = false;
  };
  next();
}
