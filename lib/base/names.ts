/** Conversions of names between the notations of JavaScript and Python. */

/** Returns a name with its first letter in upper case. */
export const capitalized = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

/** Returns a camelCase name in snake_case, as PyTorch writes it. */
export const snakeCase = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
