/**
 * The locale of the process: its time zone, which a program may change, and its language, which is fixed.
 */

const { env } = Deno, { get } = env;

/** Returns the setting of the time zone; "" if there is none, or if it may not be read and hence not be changed. */
export function timeZoneSetting(): string {
  try {
    return get.call(env, "TZ") ?? "";
  } catch {
    return "";
  }
}

const { timeZoneId } = Temporal.Now, { language } = navigator;

/**
 * Returns the language and time zone that locale-dependent builtins use in this process, including the time zone
 * setting, whose effect only formatters reveal when it is unknown. It does not create a formatter: the first takes 17
 * ms.
 */
export function processLocale(): string {
  return `${language} ${timeZoneId()} ${timeZoneSetting()}`;
}
