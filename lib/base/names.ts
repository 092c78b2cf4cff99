/** Names in JavaScript, and their conversion to the notation of Python. */

/** Returns a name with its first letter in upper case. */
export const capitalized = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

/** Returns a camelCase name in snake_case, as PyTorch writes it. */
export const snakeCase = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Returns a name of Python in camelCase: `tMax` for T_max, `lastLr` for _last_lr. */
export function camelCase(name: string): string {
  const joined = name.replace(/^_+/, "").replace(/_+(.)/g, (_, first: string) => first.toUpperCase());
  return joined.charAt(0).toLowerCase() + joined.slice(1);
}

/** Words that cannot name a variable in strict code. */
export const RESERVED_WORDS: readonly string[] =
  ("arguments await break case catch class const continue debugger default delete do else enum eval export " +
    "extends false finally for function if implements import in instanceof interface let new null package " +
    "private protected public return static super switch this throw true try typeof undefined var void while " +
    "with yield").split(" ");
