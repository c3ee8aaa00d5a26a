/** Renders the catalogue of steps: what can be written into a runbook, and how each part is retried. */
import { type ArgRow, acts, nameOf, reservedSteps, steps } from '../model/steps';
import { code, codes, page, table } from './gen-markdown';

const limits = (arg: ArgRow): string => {
  if (arg.oneOf) return `one of ${arg.oneOf.join(', ')}`;
  return arg.min === undefined && arg.max === undefined ? arg.type : `${arg.type}, ${arg.min} to ${arg.max}`;
};

const argText = ([name, arg]: [string, ArgRow]): string =>
  `${code(name)}${arg.required ? '' : ' (optional)'}: ${limits(arg)}; ${arg.says}`;

const argsText = (args: Readonly<Record<string, ArgRow>>): string => Object.entries(args).map(argText).join('<br>');

const yes = (value: boolean): string => (value ? 'yes' : '');

const catalogue = (): string =>
  table(
    ['step', 'what it does', 'arguments', 'acts', 'for', 'drivers', 'automatic', 'abort cuts it short', 'may park'],
    steps.map((row) => [
      code(nameOf(row)),
      row.says,
      argsText(row.args),
      codes(row.acts),
      row.verbs.join(', '),
      row.drivers.join(', '),
      row.priority > 0 ? `priority ${row.priority}` : '',
      yes(row.abortable),
      yes(row.parks),
    ]),
  );

const reserved = (): string =>
  table(
    ['step', 'what it does', 'arguments', 'acts'],
    Object.entries(reservedSteps).map(([name, row]) => [code(name), row.says, argsText(row.args), codes(row.acts)]),
  );

const actTable = (): string =>
  table(
    ['act', 'effect', 'what it does'],
    Object.entries(acts).map(([name, { effect, says }]) => [code(name), effect, says]),
  );

/** docs/steps.md */
export const renderSteps = (): string =>
  page(
    'Steps',
    'A step is written as `{"interface": "management", "step": "set_boot_device", "args": {...}, "order": 1}`. Steps run ' +
      'in the order of `order`, then of the list. A step may carry `"temper": {"timeout": 600}`: seconds for all attempts of ' +
      'all its acts together.',
    catalogue(),
    '## Reserved names\n\nAny interface may carry these.',
    reserved(),
    '## Acts\n\nEach act is one activity of the run, tried again by itself. `read` only looks. `converge` looks before it ' +
      'acts, so a repeat is harmless. `once` may harm when done twice: its intent is recorded before it is sent, and a ' +
      'later attempt only looks. Where the effect of such an act cannot be known, a step that may park waits for a person.',
    actTable(),
  );
