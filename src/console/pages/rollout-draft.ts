/** A rollout as the planner's form has it: presets, the body of its plan, and the field that a refusal concerns. */
import type { Rollout, RolloutTarget } from '../../wire/rollouts';
import { type Api, ApiRefusal } from '../server/api';
import { type FormBody, fieldOf } from '../server/context';
import { timeIn } from './utc-times';

const names = [
  'name', 'work', 'verb', 'parameters', 'nodes', 'query', 'pace', 'first', 'soak', 'advance', 'budget', 'mode', 'at_once', 'by', 'by_most',
  'grace', 'begin', 'start_at', 'reason',
] as const; // biome-ignore format: one row of names
export type DraftField = (typeof names)[number];
export type Draft = Readonly<Record<DraftField, string>>;

export const runbookVerbs = ['service', 'clean'] as const;

/** Fields that a preset sets. */
type PaceField = 'first' | 'soak' | 'advance' | 'budget' | 'mode' | 'at_once';
export type Pace = Readonly<Record<PaceField, string>>;

export const paces: Readonly<Record<'careful' | 'steady' | 'fast', Pace>> = {
  careful: { first: '1', soak: '30m', advance: 'manual', budget: '1', mode: 'strict', at_once: '1' },
  steady: { first: '1', soak: '10m', advance: 'manual', budget: '5%', mode: 'strict', at_once: '5%' },
  fast: { first: '1', soak: '', advance: 'auto', budget: '10%', mode: 'stop', at_once: '20%' },
};

const isPace = (text: string): text is keyof typeof paces => Object.hasOwn(paces, text);

const untouched: Draft = {
  name: '', work: '', verb: 'service', parameters: '', nodes: '', query: '', pace: 'steady', ...paces.steady, by: '', by_most: '',
  grace: '', begin: 'plan', start_at: '', reason: '',
}; // biome-ignore format: one table

export const draftIn = (form: FormBody): Draft => {
  const typed = Object.fromEntries(names.map((name) => [name, fieldOf(form, name)])) as Draft;
  return isPace(typed.pace) ? { ...typed, ...paces[typed.pace] } : typed;
};

/** That the planner takes over from another rollout. */
export const mostNodes = 1_000;

const workIn = ({ verb, runbook, spec }: Rollout): Pick<Draft, 'work' | 'verb'> => {
  if (runbook) return { work: `runbook:${runbook.name}`, verb };
  return { work: spec?.power ? `power:${spec.power.target}` : `verb:${verb}`, verb: 'service' };
};

/** The same work on nodes of another rollout. Throws as `get`. */
const draftAfter = async (api: Api, from: string, state: string): Promise<Draft> => {
  const path = `/temper/v1/rollouts/${encodeURIComponent(from)}`;
  const [rollout, targets] = await Promise.all([
    api.get<Rollout>(path),
    api.list<RolloutTarget>(`${path}/targets`, { state, limit: mostNodes }),
  ]);
  const nodes = targets.map(({ node_name, node_uuid }) => node_name ?? node_uuid).join('\n');
  const parameters = Object.entries(rollout.spec?.parameters ?? {}).map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`);
  return { ...untouched, ...workIn(rollout), nodes, parameters: parameters.join('\n'), name: rollout.name ? `${rollout.name}, ${state} nodes` : '' };
}; // biome-ignore format: short lines

/** The address holds the chosen nodes, or common filters, or another rollout and a state of its nodes. */
export const draftAt = async (api: Api, address: string): Promise<Draft> => {
  const given = [...new URL(address, 'http://console').searchParams];
  const { from, state = 'skipped' } = Object.fromEntries(given);
  if (from) return draftAfter(api, from, state);
  const nodes = given.filter(([name]) => name === 'node').map(([, value]) => value);
  const pairs = given.filter(([name]) => name !== 'node').map(([name, value]) => `${name}=${value}`);
  return { ...untouched, nodes: nodes.join('\n'), query: nodes.length > 0 ? '' : pairs.join('\n') };
};

const amountOf = (text: string): number | string | undefined => (/^\d+$/.test(text) ? Number(text) : text || undefined);
const linesOf = (text: string): string[] => text.split(/[\n\r]+/).map((line) => line.trim()).filter(Boolean); // biome-ignore format: one line
const pairsOf = (text: string): [string, string][] =>
  linesOf(text).map((line) => {
    const [key = '', ...values] = line.split('=');
    return [key.trim(), values.join('=').trim()];
  });
const isPairs = (text: string): boolean => linesOf(text).every((line) => line.includes('='));

/** Numbers, true, false, lists and objects are values of JSON; all else is text. */
const parameterOf = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

const workBody = ({ work, verb, parameters }: Draft) => {
  const [kind, name] = [work.split(':')[0], work.slice(work.indexOf(':') + 1)];
  if (kind === 'power') return { verb: 'power', power: { target: name } };
  if (kind === 'verb') return { verb: name };
  const values = pairsOf(parameters).map(([key, value]) => [key, parameterOf(value)]);
  return { verb, runbook: name || null, ...(values.length > 0 && { parameters: Object.fromEntries(values) }) };
};

export const choosesNodes = ({ nodes, query }: Draft): boolean => linesOf(nodes).length + linesOf(query).length > 0;

const selectionOf = ({ nodes, query }: Draft) => {
  const [named, pairs] = [linesOf(nodes), pairsOf(query)];
  return {
    ...(named.length > 0 && { nodes: named }),
    ...(pairs.length > 0 && { query: Object.fromEntries(pairs) }),
  };
};

/** The API has defaults for empty fields. */
export const planBody = (draft: Draft) => {
  const { name, first, soak, advance, budget, mode, at_once, by, by_most, grace } = draft;
  return {
    name: name || null,
    ...workBody(draft),
    select: selectionOf(draft),
    waves: [...(first ? [{ size: amountOf(first), soak: soak || undefined, advance }] : []), { rest: true }],
    budget: { total: amountOf(budget), ...(mode === 'stop' && { mode }) },
    max_in_flight: amountOf(at_once),
    ...(by && { spread: [{ by, max: amountOf(by_most) ?? 1 }] }),
    ...(grace && { consent: { grace } }),
  };
};

/** Undefined field: the refusal concerns the whole plan. */
export type DraftFault = { readonly field?: DraftField; readonly says: string };

const places: readonly (readonly [begins: RegExp, field: DraftField])[] = [
  [/^budget/, 'budget'], [/^max_in_flight/, 'at_once'], [/^waves\.\d+\.soak/, 'soak'], [/^waves/, 'first'], [/^spread\.\d+\.max/, 'by_most'],
  [/^spread/, 'by'], [/^select\.query|^query/, 'query'], [/^select|^Node /, 'nodes'], [/^(?:runbook|verb|power)\b|^Runbook /, 'work'],
  [/^parameters/, 'parameters'], [/^name/, 'name'], [/^consent/, 'grace'],
]; // biome-ignore format: one table

const apiField = /^[a-z_]+(?:\.[\w-]+)*: /;

/** Throws what is no refusal of the plan. */
export const draftFault = (thrown: unknown): DraftFault => {
  if (!(thrown instanceof ApiRefusal) || thrown.status === 401) throw thrown;
  const field = places.find(([begins]) => begins.test(thrown.says))?.[1];
  return { field, says: field ? thrown.says.replace(apiField, '') : thrown.says };
};

/** Faults that need no API. */
export const ownFault = ({ begin, start_at, reason, ...draft }: Draft): DraftFault | undefined => {
  if (!choosesNodes({ begin, start_at, reason, ...draft })) return { field: 'nodes', says: 'Name nodes, or give a filter.' };
  const unpaired = (['parameters', 'query'] as const).find((field) => !isPairs(draft[field]));
  if (unpaired) return { field: unpaired, says: 'Give each line as name=value.' };
  if (!['submit', 'now', 'at'].includes(begin)) return undefined;
  if (reason === '') return { field: 'reason', says: 'Say why. Tenants read it.' };
  return begin === 'at' && start_at === '' ? { field: 'start_at', says: 'Give a time.' } : undefined;
}; // biome-ignore format: short lines

type Begun = { readonly act: 'submit' | 'start'; readonly body: object };

/** The act that follows the plan. */
export const beginOf = ({ begin, start_at, reason }: Draft, { plan_hash }: Rollout): Begun | undefined => {
  const body = { reason, plan_hash };
  switch (begin) {
    case 'submit':
      return { act: 'submit', body };
    case 'now':
      return { act: 'start', body };
    case 'at':
      return { act: 'start', body: { ...body, start_at: timeIn(start_at) } };
    default:
      return undefined;
  }
};
