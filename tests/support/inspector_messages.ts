/** Messages to the inspector, which take most of the time of finding a function. */
import { Session } from "node:inspector";

/** Counts the messages to the inspector by which a run finds functions. */
export function messages(run: () => void): number {
  const { post } = Session.prototype;
  let count = 0;
  Session.prototype.post = function (...given: readonly unknown[]): void {
    count++;
    Reflect.apply(post, this, given);
  };
  try {
    run();
  } finally {
    Session.prototype.post = post;
  }
  return count;
}
