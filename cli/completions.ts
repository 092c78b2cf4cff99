/**
 * `completions`: prints a shell's completion script, generated from the commands and flags.
 */
import { type Command, FLAGS, refuseWord, SWITCHES } from "./command.ts";

/** The words that may follow `dyn`: commands with their summaries, and flags. */
interface Words {
  readonly commands: readonly (readonly [name: string, summary: string])[];
  readonly flags: readonly (readonly [name: string, summary: string])[];
}

/** Scripts by shell. They complete file names after a command, and if no word matches. */
const SHELLS: Readonly<Record<string, (words: Words) => readonly string[]>> = {
  bash: ({ commands, flags }) => [
    "_dyn() {",
    // Names of files may hold spaces
    `  local IFS=$'\\n' word="\${COMP_WORDS[COMP_CWORD]}" words=""`,
    `  if [ "$COMP_CWORD" -eq 1 ]; then words=$'${commands.map(([name]) => name).join("\\n")}'; fi`,
    `  case "$word" in -*) words=$'${flags.map(([name]) => name).join("\\n")}' ;; esac`,
    '  COMPREPLY=($(compgen -W "$words" -- "$word") $(compgen -f -- "$word"))',
    "}",
    "complete -o filenames -F _dyn dyn",
  ],
  zsh: ({ commands, flags }) => [
    "#compdef dyn",
    "_dyn() {",
    "  local -a commands flags",
    `  commands=(${commands.map(([name, summary]) => quoted(`${name}:${summary}`)).join(" ")})`,
    `  flags=(${flags.map(([name, summary]) => quoted(`${name}:${summary}`)).join(" ")})`,
    "  if (( CURRENT == 2 )); then _describe command commands; fi",
    "  _describe flag flags",
    "  _files",
    "}",
    "compdef _dyn dyn",
  ],
  fish: ({ commands, flags }) => [
    ...commands.map(([name, summary]) =>
      `complete -c dyn -n __fish_use_subcommand -a ${name} -d ${quoted(summary)}`
    ),
    ...flags.map(([name, summary]) => `complete -c dyn -l ${name.slice(2)} -d ${quoted(summary)}`),
  ],
};

function quoted(text: string): string {
  return `'${text.replaceAll("'", "’")}'`;
}

/** `dyn completions` for these commands. */
export function completionsCommand(commands: () => Promise<readonly Command[]>): Command {
  const shells = Object.keys(SHELLS);
  return {
    name: "completions",
    usage: "completions <shell>",
    summary: `Print a script of completions for ${shells.join(", ")}`,
    help: 'For example: eval "$(dyn completions bash)"',
    takesFlags: false,
    run: async ([shell, ...more]) => {
      const script = shell === undefined
        ? undefined
        : Object.hasOwn(SHELLS, shell)
        ? SHELLS[shell]
        : undefined;
      if (!script || more.length > 0) {
        refuseWord("the shell", shells, [shell, ...more].join(" ") || "nothing");
      }
      const words = {
        commands: (await commands()).map(({ name, summary }) => [name, summary] as const),
        flags: [
          ...FLAGS.map(({ name, summary }) => [`--${name}`, summary] as const),
          ...SWITCHES.map(([name, , summary]) => [`--${name}`, summary] as const),
        ],
      };
      console.log(script(words).join("\n"));
      return 0;
    },
  };
}
