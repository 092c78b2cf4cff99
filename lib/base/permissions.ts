/**
 * Permissions of the runtime. Invariant: nothing here prompts for one; a program that has not been granted a permission
 * runs without what it would allow.
 */

/** Returns whether a permission has been granted. */
export const isGranted = (permission: Deno.PermissionDescriptor): boolean =>
  Deno.permissions.querySync(permission).state === "granted";

/** Returns a variable of the environment; undefined if it is not set or may not be read. */
export function environmentVariable(name: string): string | undefined {
  return isGranted({ name: "env", variable: name }) ? Deno.env.get(name) : undefined;
}

/** Returns whether the environment sets a switch: to anything but 0, false, no or off. */
export function environmentSwitch(name: string): boolean {
  return !["", "0", "false", "no", "off"].includes(environmentVariable(name)?.toLowerCase() ?? "");
}
