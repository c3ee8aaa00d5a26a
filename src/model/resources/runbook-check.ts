/** Checks a runbook before it runs, against the catalogue and a node's last data. */
import { type Document, isDocument } from '../document';
import { isTemperError } from '../errors';
import { checkArgs, planSteps } from '../lifecycle/plan-steps';
import type { Equipment, StepRow, StepVerb } from '../lifecycle/step-types';
import { isReserved, nameOf, reservedSteps, steps } from '../lifecycle/steps';
import { meant } from '../nearest';
import type { BiosSetting, FirmwareComponent } from '../runs/runs';
import { shortText } from '../texts';
import { leavesOpen } from './runbook-parameters';
import { checkRunbookSteps, type RunbookStep } from './runbook-steps';

/** `error`: the run would be refused or fail. `warning`: that is uncertain, or the step is unusual. */
type Severity = 'error' | 'warning';

export type RunbookFinding = {
  readonly severity: Severity;
  /** In order of execution; null for the whole runbook. */
  readonly index: number | null;
  readonly step: string | null;
  /** In the caller's spelling; null for every node. */
  readonly node: string | null;
  readonly says: string;
};

export type StepFault = readonly [Severity, string];

/** Turns a refusal into a fault; other errors are rethrown. */
export const faultOf = (check: () => void): StepFault[] => {
  try {
    check();
    return [];
  } catch (thrown) {
    if (isTemperError(thrown)) return [['error', thrown.message]];
    throw thrown;
  }
};

/** One for each kind of driver. */
export const catalogueRows = (step: Pick<RunbookStep, 'interface' | 'step'>): readonly StepRow[] =>
  steps.filter((row) => nameOf(row) === nameOf(step));

const catalogueNames = (): string[] => [...new Set(steps.map(nameOf))];

const inCatalogue = (step: RunbookStep): StepFault[] => {
  const name = nameOf(step);
  if (isReserved(step.step) && !leavesOpen(step.args))
    return faultOf(() => checkArgs(name, reservedSteps[step.step as 'wait'].args, step.args));
  const rows = catalogueRows(step);
  if (rows.length === 0)
    return [
      [
        'warning',
        `Step ${name} is not in the catalogue: it runs only on nodes whose ramdisk has it.${meant(name, catalogueNames())}`,
      ],
    ];
  // Open values can be checked only on a node.
  if (leavesOpen(step.args)) return [];
  const faults = rows.map((row) => faultOf(() => checkArgs(name, row.args, step.args)));
  return faults.some((found) => found.length === 0) ? [] : faults[0]!;
};

/** Characters. It may quote input as long as a body, and each node has one. */
const longestText = 2_000;

const finding = (
  [severity, says]: StepFault,
  step: RunbookStep | null,
  index: number | null,
  node: string | null,
): RunbookFinding => ({ severity, index, step: step && nameOf(step), node, says: shortText(says, longestText) });

/** Faults on every node. @param more checks that only the caller can make, such as of origins */
export const checkRunbook = (
  given: readonly RunbookStep[],
  more: (step: RunbookStep) => readonly StepFault[] = () => [],
): RunbookFinding[] => [
  ...faultOf(() => checkRunbookSteps(given)).map((fault) => finding(fault, null, null, null)),
  ...given.flatMap((step, index) =>
    [...inCatalogue(step), ...more(step)].map((fault) => finding(fault, step, index, null)),
  ),
];

/** Undefined if the caller may not see it. */
export type LastSeen = {
  readonly bios?: readonly BiosSetting[];
  readonly firmware?: readonly Pick<FirmwareComponent, 'component'>[];
};

/** An empty text after its budget is spent. */
export type Suggest = (word: string, known: readonly string[]) => string;

/** For one request. The limit matters: comparing thousands of names with thousands would block other callers. */
export const createSuggest = (most = 20): Suggest => {
  let left = most;
  return (word, known) => {
    left -= 1;
    return left < 0 ? '' : meant(word, known);
  };
};

const itemsOf = (step: RunbookStep): readonly Document[] =>
  Array.isArray(step.args.settings) ? step.args.settings.filter(isDocument) : [];

const isBetween = (size: number, low: number | null | undefined, high: number | null | undefined): boolean =>
  size >= (low ?? Number.NEGATIVE_INFINITY) && size <= (high ?? Number.POSITIVE_INFINITY);

/** By the BIOS's own data. */
const settingFault = (value: unknown, known: BiosSetting): string | undefined => {
  if (known.read_only) return 'is read-only';
  const allowed = known.allowable_values ?? [];
  if (allowed.length > 0 && !allowed.includes(String(value))) return `must be one of ${allowed.join(', ')}`;
  if (known.attribute_type === 'Integer' && !isBetween(Number(value), known.lower_bound, known.upper_bound))
    return `must be between ${known.lower_bound ?? 'any'} and ${known.upper_bound ?? 'any'}`;
  if (known.attribute_type === 'String' && !isBetween(String(value).length, known.min_length, known.max_length))
    return `must have ${known.min_length ?? 0} to ${known.max_length ?? 'any number of'} characters`;
  return undefined;
};

const biosFaults = (step: RunbookStep, seen: readonly BiosSetting[], suggest: Suggest): StepFault[] => {
  const byName = new Map(seen.map((setting) => [setting.name, setting]));
  const names = [...byName.keys()];
  return itemsOf(step).flatMap(({ name, value }): StepFault[] => {
    const known = byName.get(String(name));
    if (!known) return [['error', `Setting ${name} is not known to this BIOS.${suggest(String(name), names)}`]];
    const fault = settingFault(value, known);
    return fault === undefined ? [] : [['error', `Setting ${name} ${fault}.`]];
  });
};

// Some BMCs list network adapters only while the node runs.
const comesAndGoes = (component: string): boolean => component.startsWith('nic');

const firmwareFaults = (step: RunbookStep, seen: readonly Pick<FirmwareComponent, 'component'>[]): StepFault[] => {
  const names = seen.map(({ component }) => component);
  return itemsOf(step)
    .map(({ component }) => String(component))
    .filter((component) => !names.includes(component))
    .map((component) => [
      comesAndGoes(component) ? 'warning' : 'error',
      `Component ${component} was not seen on this node; it has ${names.join(', ')}.`,
    ]);
};

type SeenCheck<Row> = {
  readonly what: string;
  readonly rows: readonly Row[] | undefined;
  readonly check: (step: RunbookStep, rows: readonly Row[]) => StepFault[];
};

const bySeen = <Row>(step: RunbookStep, { what, rows, check }: SeenCheck<Row>): StepFault[] => {
  if (rows === undefined) return [['warning', `You may not see the ${what} of this node, so it was not checked.`]];
  if (rows.length === 0) return [['warning', `The ${what} of this node has not been seen yet: inspect it first.`]];
  return check(step, rows);
};

const lastSeenFaults = (step: RunbookStep, { bios, firmware }: LastSeen, suggest: Suggest): StepFault[] => {
  switch (nameOf(step)) {
    case 'bios.apply_configuration':
      return bySeen(step, { what: 'BIOS', rows: bios, check: (one, rows) => biosFaults(one, rows, suggest) });
    case 'firmware.update':
      return bySeen(step, { what: 'firmware', rows: firmware, check: firmwareFaults });
    default:
      return [];
  }
};

/** Every given verb refuses the step, so a run would not be accepted. */
const plannedFaults = (step: RunbookStep, verbs: readonly StepVerb[], node: Equipment): StepFault[] => {
  const faults = verbs.map((verb) => faultOf(() => void planSteps([step], verb, node)));
  return faults.some((found) => found.length === 0) ? [] : faults[0]!;
};

/** In addition to faults on every node. */
export const checkOnNode = (
  given: readonly RunbookStep[],
  {
    name,
    verbs,
    equipment,
    seen,
    suggest = createSuggest(),
  }: {
    readonly name: string;
    readonly verbs: readonly StepVerb[];
    readonly equipment: Equipment;
    readonly seen: LastSeen;
    /** Shared by the nodes of one request. */
    readonly suggest?: Suggest;
  },
): RunbookFinding[] =>
  given.flatMap((step, index) => {
    const planned = plannedFaults(step, verbs, equipment);
    const faults = planned.length > 0 ? planned : lastSeenFaults(step, seen, suggest);
    return faults.map((fault) => finding(fault, step, index, name));
  });
