/** Pauses of programs that call something again until the C++ compiler has finished beside them. */

/**
 * Returns a function that sleeps for a few milliseconds without ending the job: calls that follow each other at once
 * would take a processor from the compiler. The first hundred pauses are none, so that work becomes hot as it does in
 * programs.
 */
export function pauses(): () => void {
  const clock = new Int32Array(new SharedArrayBuffer(4));
  let count = 0;
  return () => {
    if (count++ >= 100) Atomics.wait(clock, 0, 0, 5);
  };
}
