/** `temper completion`: scripts for shells, and the words that they ask the command for at each TAB. */
import { Argument, type Command, type Option } from 'commander';
import type { CliDeps } from './deps';

type Candidate = readonly [word: string, does: string];

/** The shells call this command. */
const wordsCommand = '__complete';

/** Each line of the answer is a word, a tab and its description. Without a line, the shell completes files. */
const scripts = {
  bash: `_temper() {
  local IFS=$'\\n'
  COMPREPLY=($(temper ${wordsCommand} -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f 1))
}
complete -o default -F _temper temper
`,
  zsh: `#compdef temper
_temper() {
  local -a found
  found=("\${(@f)$(temper ${wordsCommand} -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -z "$found[1]" ]]; then
    _files
  else
    found=("\${(@)found/$'\\t'/:}")
    _describe temper found
  fi
}
if [[ "$funcstack[1]" == _temper ]]; then _temper "$@"; else compdef _temper temper; fi
`,
  fish: `function __temper_words
  set -l typed (commandline -opc) (commandline -ct)
  set -l found (temper ${wordsCommand} -- $typed[2..-1] 2>/dev/null)
  if test (count $found) -gt 0
    printf '%s\\n' $found
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c temper -f -a '(__temper_words)'
`,
} as const;
type Shell = keyof typeof scripts;

const takesValue = ({ required, optional }: Option): boolean => required || optional;

const optionsOf = (command: Command): readonly Option[] => {
  const help = command.createHelp();
  help.showGlobalOptions = true;
  return [...help.visibleOptions(command), ...help.visibleGlobalOptions(command)];
};

const optionNamed = (command: Command, word: string | undefined): Option | undefined =>
  word === undefined ? undefined : optionsOf(command).find(({ short, long }) => word === short || word === long);

/** Descends by the words before the cursor, and counts the arguments that the last command has already. */
const commandAt = (
  program: Command,
  words: readonly string[],
): { readonly command: Command; readonly given: number } => {
  let [command, given] = [program, 0];
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at]!;
    const option = optionNamed(command, word);
    if (option && takesValue(option)) at += 1;
    if (word.startsWith('-')) continue;
    const below = command.commands.find((one) => one.name() === word);
    if (below) [command, given] = [below, 0];
    else given += 1;
  }
  return { command, given };
};

const choicesOf = (choices: readonly string[] | undefined): Candidate[] => (choices ?? []).map((word) => [word, '']);

/** @param words after the command's name; the last is the one that the user is typing */
const candidates = (program: Command, words: readonly string[]): readonly Candidate[] => {
  const [before, typed] = [words.slice(0, -1), words.at(-1) ?? ''];
  const { command, given } = commandAt(program, before);
  const option = optionNamed(command, before.at(-1));
  const found = (): Candidate[] => {
    if (option && takesValue(option)) return choicesOf(option.argChoices);
    if (typed.startsWith('-')) return optionsOf(command).map((one) => [one.long ?? one.flags, one.description]);
    const below = command.createHelp().visibleCommands(command);
    if (below.length > 0) return below.map((one) => [one.name(), one.description()]);
    return choicesOf(command.registeredArguments[given]?.argChoices);
  };
  return found().filter(([word]) => word.startsWith(typed));
};

const help = `
Load it in the start file of your shell:
  bash  source <(temper completion bash)
  zsh   source <(temper completion zsh)    after compinit
  fish  temper completion fish | source
`;

export const addCompletion = (program: Command, { out }: Pick<CliDeps, 'out'>): void => {
  program
    .command('completion')
    .description('print a script that completes commands and options in your shell')
    .addArgument(new Argument('<shell>').choices(Object.keys(scripts)))
    .addHelpText('after', help)
    .action((shell: Shell) => out(scripts[shell]));
  program
    .command(wordsCommand, { hidden: true })
    .argument('[words...]')
    .action((words: readonly string[]) =>
      out(
        candidates(program, words)
          .map(([word, does]) => `${word}\t${does}\n`)
          .join(''),
      ),
    );
};
