/** Renders the catalogue of steps: what can be written into a runbook, and how each part is retried. */
import type { ArgRow } from '../../src/model/lifecycle/step-types';
import {
  type ActName,
  type ActTimeout,
  actRow,
  acts,
  nameOf,
  reservedSteps,
  steps,
} from '../../src/model/lifecycle/steps';
import { code, codes, page, table } from './markdown';

const limits = (arg: ArgRow): string => {
  if (arg.oneOf) return `one of ${arg.oneOf.join(', ')}`;
  return arg.min === undefined && arg.max === undefined ? arg.type : `${arg.type}, ${arg.min} to ${arg.max}`;
};

const argText = ([name, arg]: [string, ArgRow]): string =>
  `${code(name)}${arg.required ? '' : ' (optional)'}: ${limits(arg)}; ${arg.says}${itemsText(arg)}`;

const itemsText = ({ of }: ArgRow): string => (of ? `, each with ${Object.entries(of).map(argText).join(', ')}` : '');

const argsText = (args: Readonly<Record<string, ArgRow>>): string => Object.entries(args).map(argText).join('<br>');

const yes = (value: boolean): string => (value ? 'yes' : '');

const catalogue = (): string =>
  table(
    [
      'step',
      'what it does',
      'arguments',
      'acts',
      'for',
      'drivers',
      'by interface',
      'in the ramdisk',
      'automatic',
      'abort cuts it short',
      'may park',
    ],
    steps.map((row) => [
      code(nameOf(row)),
      row.says,
      argsText(row.args),
      codes(row.acts),
      row.verbs.join(', '),
      row.drivers.join(', '),
      row.implementations?.join(', ') ?? '',
      yes(row.ramdisk ?? false),
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

const actNames = Object.keys(acts) as ActName[];
const performers = { bmc: 'BMC', agent: 'ramdisk' } as const;
const timeouts: Readonly<Record<ActTimeout, string>> = {
  power: 'a power state',
  'soft power': 'the system to shut down',
  start: 'the node to start',
  job: 'work of hours',
};

const actTable = (): string =>
  table(
    ['act', 'effect', 'by', 'waits for', 'what it does'],
    actNames.map((name) => {
      const { effect, by = 'bmc', timeout, says } = actRow(name);
      return [code(name), effect, performers[by], timeout ? timeouts[timeout] : '', says];
    }),
  );

/** docs/steps.md */
export const renderSteps = (): string =>
  page(
    'Steps',
    'A step is written as `{"interface": "management", "step": "set_boot_device", "args": {...}, "order": 1}`. Steps run ' +
      'in the order of `order`, then of the list; a step may come more than once, and is known by its place. A step may carry `"temper"` with `timeout`, seconds for all attempts of ' +
      'all its acts together; `retry`, `{"attempts": 2}`, which lowers how often an act is tried and never lets one be ' +
      'done twice that must not be; and `on_failure`, what happens when it fails for a known reason: `fail` (the default), ' +
      '`park` to wait for a person, or `continue` with the next step. In a deployment a step carries `priority` instead of ' +
      '`order`: the highest goes first, and 0 leaves one of the driver’s own out.\n\n' +
      'Steps of the ramdisk boot it on the node, once for a run. `GET /temper/v1/nodes/{node}/steps` lists what one node ' +
      'offers, with the steps that only its own ramdisk has. Drivers `idrac`, `ilo` and `ilo5` have the steps of `redfish`.',
    catalogue(),
    '## Reserved names\n\nAny interface may carry these.',
    reserved(),
    '## Acts\n\nEach act is one activity of the run, tried again by itself. `read` only looks. `converge` looks before it ' +
      'acts, so a repeat is harmless. `once` may harm when done twice: its intent is recorded before it is sent, and a ' +
      'later attempt only looks. Where the effect of such an act cannot be known, a step that may park waits for a person.',
    actTable(),
  );
