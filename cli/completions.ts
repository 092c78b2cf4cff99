/**
 * `completions`: prints a shell's completion script, generated from the commands and flags.
 */
import { type Command, FLAGS, refuseWord, SWITCHES } from "./command.ts";

/** The words that may follow `dyn`: commands with their summaries, what may follow some of them, and flags. */
interface Words {
  readonly actions: readonly (readonly [name: string, words: readonly string[]])[];
  readonly commands: readonly (readonly [name: string, summary: string])[];
  readonly flags: readonly (readonly [name: string, summary: string])[];
}

/** Scripts by shell. They complete file names after a command, and if no word matches. */
const SHELLS: Readonly<Record<string, (words: Words) => readonly string[]>> = {
  bash: ({ commands, actions, flags }) => [
    "_dyn() {",
    // Names of files may hold spaces
    `  local IFS=$'\\n' word="\${COMP_WORDS[COMP_CWORD]}" words=""`,
    `  if [ "$COMP_CWORD" -eq 1 ]; then words=$'${commands.map(([name]) => name).join("\\n")}'; fi`,
    '  if [ "$COMP_CWORD" -eq 2 ]; then case "${COMP_WORDS[1]}" in',
    ...actions.map(([name, words]) => `    ${name}) words=$'${words.join("\\n")}' ;;`),
    "  esac; fi",
    `  case "$word" in -*) words=$'${flags.map(([name]) => name).join("\\n")}' ;; esac`,
    '  COMPREPLY=($(compgen -W "$words" -- "$word") $(compgen -f -- "$word"))',
    "}",
    "complete -o filenames -F _dyn dyn",
  ],
  zsh: ({ commands, actions, flags }) => [
    "#compdef dyn",
    "_dyn() {",
    "  local -a commands flags",
    `  commands=(${commands.map(([name, summary]) => quoted(`${name}:${summary}`)).join(" ")})`,
    `  flags=(${flags.map(([name, summary]) => quoted(`${name}:${summary}`)).join(" ")})`,
    "  if (( CURRENT == 2 )); then _describe command commands; fi",
    ...actions.map(([name, words]) =>
      `  if (( CURRENT == 3 )) && [[ $words[2] == ${name} ]]; then compadd ${words.join(" ")}; fi`
    ),
    "  _describe flag flags",
    "  _files",
    "}",
    "compdef _dyn dyn",
  ],
  fish: ({ commands, actions, flags }) => [
    ...commands.map(([name, summary]) =>
      `complete -c dyn -n __fish_use_subcommand -a ${name} -d ${quoted(summary)}`
    ),
    ...actions.map(([name, words]) =>
      `complete -c dyn -n '__fish_seen_subcommand_from ${name}' -a '${words.join(" ")}'`
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
      const all = await commands();
      const words = {
        commands: all.map(({ name, summary }) => [name, summary] as const),
        actions: [
          ...all.flatMap(({ name, actions }) => actions ? [[name, actions] as const] : []),
          ["completions", shells] as const,
        ],
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
