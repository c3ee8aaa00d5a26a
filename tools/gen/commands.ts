/** Renders the commands of `temper` with their options. */
import type { Command } from 'commander';
import { commandTree } from '../../src/cli';
import { code, page, plain, table } from './markdown';

/** Every command has these, or every command that lists or shows. */
const common = ['--help', '--version', '--json', '--os-cloud', '-f', '-c'];

const below = (command: Command): readonly Command[] =>
  command
    .createHelp()
    .visibleCommands(command)
    .filter((one) => one.name() !== 'help');

const leavesOf = (command: Command): readonly Command[] => {
  const commands = below(command);
  return commands.length === 0 ? [command] : commands.flatMap(leavesOf);
};

const nameOf = (command: Command): string => {
  const above = command.parent?.parent ? `${nameOf(command.parent)} ` : '';
  return `${above}${command.name()}`;
};

const optionsOf = (command: Command): string =>
  command
    .createHelp()
    .visibleOptions(command)
    .filter(({ short, long }) => ![short, long].some((flag) => flag && common.includes(flag)))
    .map(({ flags, description, argChoices }) => {
      const choices = argChoices ? ` (${argChoices.join(', ')})` : '';
      return `${code(flags)} ${plain(description)}${choices}`;
    })
    .join('; ');

const rowOf = (command: Command): readonly string[] => {
  const args = command.registeredArguments.map((one) => {
    const name = one.variadic ? `${one.name()}...` : one.name();
    return one.required ? `<${name}>` : `[${name}]`;
  });
  return [code([nameOf(command), ...args].join(' ')), plain(command.description()), optionsOf(command)];
};

/** docs/commands.md */
export const renderCommands = (): string =>
  page(
    'Commands of `temper`',
    'Every command with its arguments and options. Each also has `--help`, `--json` and `--os-cloud <name>`. Commands that list or show ' +
      'have `-f` and `-c`. ' +
      '[The `temper` command](cli.md) says how to install it and gives examples.',
    ...below(commandTree()).flatMap((command) => [
      `## ${command.name()}`,
      ...(below(command).length > 0 ? [plain(command.description())] : []),
      table(['command', 'what it does', 'options'], leavesOf(command).map(rowOf)),
    ]),
  );
