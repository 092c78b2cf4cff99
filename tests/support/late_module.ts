/** A module that is loaded long after others; it keeps a builtin that it found. */
export const { map } = Array.prototype;
