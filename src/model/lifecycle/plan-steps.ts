/** Checks a caller's list of steps and turns it into a plan. Pure. */

import { isDocument } from '../document';
import { raise } from '../errors';
import { bootsRamdisk, interfaceOf, speaksOf, workerOf } from './drivers';
import { raidFault } from './raid';
import type { ArgRow, Equipment, GivenStep, PlannedStep, StepRow, StepVerb } from './step-types';
import { isReserved, maxSteps, nameOf, planActs, reservedSteps, steps, stepsOf } from './steps';

const argFault = (arg: ArgRow, value: unknown): string | undefined => {
  const wrong = (wanted: string) => `must be ${wanted}, got ${JSON.stringify(value)?.slice(0, 60)}`;
  switch (arg.type) {
    case 'any':
      return undefined;
    case 'string':
      if (typeof value !== 'string' || value === '') return wrong('a non-empty string');
      return arg.oneOf && !arg.oneOf.includes(value) ? wrong(`one of ${arg.oneOf.join(', ')}`) : undefined;
    case 'boolean':
      return typeof value === 'boolean' ? undefined : wrong('true or false');
    case 'integer':
      if (!Number.isSafeInteger(value)) return wrong('a whole number');
      return (value as number) < (arg.min ?? -Infinity) || (value as number) > (arg.max ?? Infinity)
        ? wrong(`between ${arg.min} and ${arg.max}`)
        : undefined;
    case 'object':
      return isDocument(value) ? undefined : wrong('an object');
    case 'list':
      return Array.isArray(value) ? undefined : wrong('a list');
    case 'settings':
      return Array.isArray(value) && value.length > 0 && value.every(isSetting)
        ? undefined
        : wrong('a non-empty list of {name, value}');
    case 'items':
      if (!Array.isArray(value) || value.length === 0)
        return wrong(`a non-empty list of {${Object.keys(arg.of!).join(', ')}}`);
      return value.map((item, index) => itemFault(arg.of!, item, index)).find((fault) => fault !== undefined);
    case 'raid':
      return raidFault(value);
  }
};

const itemFault = (rows: Readonly<Record<string, ArgRow>>, item: unknown, index: number): string | undefined => {
  if (!isDocument(item)) return `item ${index} must be an object`;
  const unknown = Object.keys(item).find((key) => !Object.hasOwn(rows, key));
  if (unknown !== undefined)
    return `item ${index} has an unexpected key ${unknown}; known are: ${Object.keys(rows).join(', ')}`;
  for (const [key, row] of Object.entries(rows)) {
    const value = item[key];
    if (value === undefined && row.required) return `item ${index} lacks ${key} (${row.says})`;
    const fault = value === undefined ? undefined : argFault(row, value);
    if (fault) return `item ${index}: ${key} ${fault}`;
  }
  return undefined;
};

const isSetting = (item: unknown): boolean =>
  typeof item === 'object' &&
  item !== null &&
  typeof (item as { name?: unknown }).name === 'string' &&
  Object.keys(item).every((key) => key === 'name' || key === 'value') &&
  ['string', 'number', 'boolean'].includes(typeof (item as { value?: unknown }).value);

/** Throws InvalidStepArgs for unknown, missing and ill-typed arguments. */
export const checkArgs = (
  name: string,
  rows: Readonly<Record<string, ArgRow>>,
  args: Readonly<Record<string, unknown>>,
): void => {
  const refuse = (reason: string) => raise('InvalidStepArgs', { step: name, reason });
  for (const key of Object.keys(args))
    if (!Object.hasOwn(rows, key))
      refuse(`unexpected argument ${key}; known are: ${Object.keys(rows).join(', ') || 'none'}`);
  for (const [key, row] of Object.entries(rows)) {
    if (args[key] === undefined) {
      if (row.required) refuse(`argument ${key} is missing (${row.says})`);
      continue;
    }
    const fault = argFault(row, args[key]);
    if (fault) refuse(`argument ${key} ${fault}`);
  }
};

/** It may catch the refusal and return undefined. */
export type Attempt = <T>(check: () => T) => T | undefined;

const throwFirst: Attempt = (check) => check();

/**
 * Ordered by `order`, then position; reserved steps are kept. Throws InvalidSteps, InvalidStepArgs, RamdiskNeeded or DriverUnsupported,
 * always with the step's name.
 * @param attempt if it catches a refusal, that step is left out and the others keep their index
 */
export const planSteps = (
  given: readonly GivenStep[],
  verb: StepVerb,
  node: Equipment,
  attempt: Attempt = throwFirst,
): PlannedStep[] => {
  if (given.length > maxSteps)
    raise('InvalidSteps', { reason: `A run has at most ${maxSteps} steps; ${given.length} came.` });
  return given
    .map((step, position) => ({ step, position }))
    .sort((a, b) => (a.step.order ?? 0) - (b.step.order ?? 0) || a.position - b.position)
    .map(({ step }, index) => attempt(() => planStep(step, index, verb, node)))
    .filter((step) => step !== undefined);
};

const planStep = (step: GivenStep, index: number, verb: StepVerb, node: Equipment): PlannedStep => {
  const args = step.args ?? {};
  const base = { index, interface: step.interface, step: step.step, args, ...plannedSettings(step) };
  if (isReserved(step.step)) {
    const row = reservedSteps[step.step];
    checkArgs(nameOf(step), row.args, args);
    const forHeartbeat = row.waits === 'time' && args.seconds === undefined;
    return {
      ...base,
      acts: planActs(row.acts),
      waits: forHeartbeat ? null : row.waits,
      ...(forHeartbeat && { awaits: 'heartbeat' as const }),
      abortable: true,
      parks: false,
    };
  }
  const row = findStep(step, verb, node);
  checkArgs(nameOf(step), row.args, args);
  return { ...base, acts: planActs(row.acts), waits: null, abortable: row.abortable, parks: row.parks };
};

const plannedSettings = ({ temper }: GivenStep): Pick<PlannedStep, 'timeoutMs' | 'attempts' | 'on_failure'> => ({
  ...(temper?.timeout && { timeoutMs: temper.timeout * 1_000 }),
  ...(temper?.retry && { attempts: temper.retry.attempts }),
  ...(temper?.on_failure && temper.on_failure !== 'fail' && { on_failure: temper.on_failure }),
});

const findStep = (step: GivenStep, verb: StepVerb, node: Equipment): StepRow => {
  const row = stepsOf(node).find((known) => known.interface === step.interface && known.step === step.step);
  if (row?.verbs.includes(verb)) return row;
  if (row)
    return raise('InvalidSteps', {
      reason: `Step ${nameOf(step)} cannot be used with ${verb}, only with ${row.verbs.join(', ')}.`,
    });
  return lacking(step, node);
};

/** Names the cause: the interface, the deploy interface, or an unknown step. */
const lacking = (step: GivenStep, node: Equipment): never => {
  const driver = speaksOf(node.driver);
  const known = steps.filter((row) => nameOf(row) === nameOf(step) && driver && row.drivers.includes(driver));
  const implementation = interfaceOf(node, step.interface);
  const wanted = [...new Set(known.flatMap((row) => row.implementations ?? []))];
  const fitting = known.filter(
    (row) => !row.implementations || row.implementations.includes(workerOf(node, step.interface)),
  );
  if (fitting.some((row) => row.ramdisk) && !bootsRamdisk(node))
    return raise('RamdiskNeeded', { step: nameOf(step), deploy: interfaceOf(node, 'deploy') });
  if (known.length > 0)
    return raise('InvalidSteps', {
      reason: `Step ${nameOf(step)} needs another ${step.interface}_interface than ${implementation}${wanted.length > 0 ? `: ${wanted.join(' or ')}` : ''}.`,
    });
  return raise('InvalidSteps', {
    reason: `Driver ${node.driver} has no step ${nameOf(step)}; it has: ${stepsOf(node).map(nameOf).join(', ')}, and the reserved ${Object.keys(reservedSteps).join(', ')}.`,
  });
};
