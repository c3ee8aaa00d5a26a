/** State of a node as a tone and one or two words, for pictures of many nodes. */
import { failedStates, faultStates, type ProvisionState, states } from '../../model/lifecycle/states';
import type { Summary } from '../../wire/installation';
import type { Tone } from '../parts/texts';
import type { NodeView } from '../views';

type NodeState = { readonly tone: Tone; readonly word: string };

const silent = 'power failure';

/** Words for states and faults whose names say little to people. */
const stateWords: Readonly<Record<string, string>> = {
  active: 'in use',
  rescue: 'in rescue',
  available: 'free',
  [silent]: 'no answer',
};

const wordOf = (name: string): string => stateWords[name] ?? name;

const kindTones = { stable: 'idle', transient: 'busy', failure: 'bad', hold: 'wait' } as const;

/** A fault comes before a run. */
export const stateOfNode = ({ provision_state: state, maintenance, fault }: NodeView): NodeState => {
  if (fault === silent) return { tone: 'bad', word: wordOf(silent) };
  if (failedStates.includes(state)) return { tone: 'bad', word: state };
  if (fault) return { tone: 'bad', word: fault };
  const { kind } = states[state];
  if (kind !== 'hold' && maintenance) return { tone: 'wait', word: 'maintenance' };
  return { tone: kind === 'stable' && usedStates.includes(state) ? 'good' : kindTones[kind], word: wordOf(state) };
};

/** A tenant has its system on the node, or had it until a failure. */
const usedStates: readonly ProvisionState[] = [
  'active', 'error', 'rescue', 'rescuing', 'rescue wait', 'rescue failed', 'unrescuing', 'unrescue failed',
  'servicing', 'service wait', 'service hold', 'service failed',
]; // biome-ignore format: one list

export const isUsed = ({ provision_state }: Pick<NodeView, 'provision_state'>): boolean =>
  usedStates.includes(provision_state);

export type NodeCounts = Pick<Summary['nodes'], 'count' | 'provision_state' | 'fault' | 'maintenance'>;

const sumOf = (counts: Readonly<Record<string, number>>, names: readonly string[]): number =>
  names.reduce((all, name) => all + (counts[name] ?? 0), 0);

export const usedIn = ({ provision_state }: NodeCounts): number => sumOf(provision_state, usedStates);

/** Nodes with a fault or in a failed state. A failed run leaves both; other nodes that have two troubles count twice. */
export const failingIn = ({ count, provision_state, fault }: NodeCounts): number => {
  const both = failedStates.reduce((all, state) => {
    const left = faultStates[state];
    return all + Math.max(provision_state[state] ?? 0, left ? (fault[left] ?? 0) : 0);
  }, 0);
  const faults = Object.keys(fault).filter((name) => !Object.values<string>(faultStates).includes(name));
  return Math.min(count, both + sumOf(fault, faults));
};
