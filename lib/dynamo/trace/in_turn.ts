/**
 * Steps one after another, each of which goes on at once or after a call of the program. Input: steps by number;
 * output: what follows them. Invariant: steps that go on at once take no room on the stack, however many they are.
 */

/** Runs steps from 0 on, until `step` gives `false` instead of going on, and then `after`. */
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
