/** Steps of the runbook editor, as form fields and in the API's shape. */
import type { ArgRow } from '../../model/lifecycle/step-types';
import { steps as catalogue, nameOf, reservedSteps } from '../../model/lifecycle/steps';
import { ownValue } from '../../model/own';
import { type FormBody, fieldOf } from '../server/context';
import type { Fields, RunbookView } from '../views';

type StepSchema = { readonly name: string; readonly says: string; readonly args: Readonly<Record<string, ArgRow>> };

const reserved: readonly StepSchema[] = Object.entries(reservedSteps).map(([step, row]) => ({
  name: `power.${step}`,
  says: row.says,
  args: row.args,
}));

export const stepSchemas: ReadonlyMap<string, StepSchema> = new Map(
  [...catalogue.map((row) => ({ name: nameOf(row), says: row.says, args: row.args })), ...reserved]
    .sort((one, other) => one.name.localeCompare(other.name))
    .map((schema) => [schema.name, schema]),
);

/** `args` are the typed texts; `temper` is passed on unread. */
export type DraftStep = Fields<'name' | 'temper', string> & { readonly args: Readonly<Record<string, string>> };

export type Draft = { readonly name: string; readonly description: string; readonly steps: readonly DraftStep[] };

const asText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

export const draftOf = (runbook?: RunbookView): Draft => ({
  name: runbook?.name ?? '',
  description: runbook?.description ?? '',
  steps: [...(runbook?.steps ?? [])]
    .sort((one, other) => one.order - other.order)
    .map((step) => ({
      name: nameOf(step),
      args: Object.fromEntries(Object.entries(step.args as object).map(([name, value]) => [name, asText(value)])),
      temper: step.temper === undefined ? '' : JSON.stringify(step.temper),
    })),
});

const mostSteps = 100;

/** Reads the steps of a form and drops empty rows. */
export const draftIn = (form: FormBody): Draft => {
  const count = Math.min(mostSteps, Number(fieldOf(form, 'rows')) || 0);
  const rows = Array.from({ length: count }, (_, at) => {
    const prefix = `arg-${at}-`;
    const args = Object.keys(form)
      .filter((key) => key.startsWith(prefix) && fieldOf(form, key) !== '')
      .map((key) => [key.slice(prefix.length), fieldOf(form, key)]);
    return {
      place: Number(fieldOf(form, `place-${at}`)) || at + 1,
      step: {
        name: fieldOf(form, `step-${at}`),
        args: Object.fromEntries(args),
        temper: fieldOf(form, `temper-${at}`),
      },
    };
  });
  return {
    name: fieldOf(form, 'name'),
    description: fieldOf(form, 'description'),
    steps: rows
      .filter(({ step }) => step.name !== '')
      .sort((one, other) => one.place - other.place)
      .map(({ step }) => step),
  };
};

/** `faults`: fields that cannot be parsed. */
type GivenSteps = { readonly steps: readonly object[]; readonly faults: readonly string[] };

const plain: readonly string[] = ['string', 'any'];

/** Throws SyntaxError. */
const valueIn = (text: string, row: ArgRow | undefined): unknown =>
  row === undefined || !plain.includes(row.type) ? JSON.parse(text) : text;

const argsOf = (step: DraftStep, at: number, faults: string[]): Record<string, unknown> => {
  const args: Record<string, unknown> = {};
  for (const [name, text] of Object.entries(step.args)) {
    const row = ownValue(stepSchemas.get(step.name)?.args ?? {}, name);
    if (row === undefined) continue; // argument of the previously chosen step
    try {
      args[name] = valueIn(text, row);
    } catch {
      faults.push(`Step ${at + 1}, ${name}: "${text}" is no ${row.type === 'integer' ? 'number' : 'JSON'}.`);
    }
  }
  return args;
};

/** Returns undefined if a client made the settings invalid JSON. */
const temperIn = (text: string): unknown => {
  try {
    return text === '' ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
};

export const givenSteps = ({ steps }: Draft): GivenSteps => {
  const faults: string[] = [];
  const given = steps.map((step, at) => {
    const [iface = '', ...rest] = step.name.split('.');
    const temper = temperIn(step.temper);
    const base = { interface: iface, step: rest.join('.'), order: at + 1, args: argsOf(step, at, faults) };
    return temper === undefined ? base : { ...base, temper };
  });
  return { steps: given, faults };
};
