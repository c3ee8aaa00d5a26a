/** The state machine by enumeration: the space is small, so everything is tried. */
import { events, next, type ProvisionState, powerTargets, states, transitions } from '../../src/model/lifecycle/states';
import { acts } from '../../src/model/lifecycle/steps';
import { type Verb, verbs } from '../../src/model/lifecycle/verbs';
import { restingState } from '../../src/runs/ending';
import wire from './data/verbs-by-state.json';

const all = Object.keys(states) as ProvisionState[];

/** States that can be reached from one by any events. */
const reachable = (from: ProvisionState): Set<ProvisionState> => {
  const seen = new Set<ProvisionState>([from]);
  for (const state of seen) for (const { from: at, to } of transitions) if (at === state) seen.add(to);
  return seen;
};

describe('the state machine', () => {
  test('has 30 states, 93 transitions and 18 events, each transition between known states by a known event', () => {
    expect([all.length, transitions.length, events.length]).toEqual([30, 93, 18]);
    for (const { from, on, to } of transitions) {
      expect(all).toContain(from);
      expect(all).toContain(to);
      expect(events).toContain(on);
    }
  });

  test('is deterministic: one event leads from one state to one place', () => {
    const keys = transitions.map(({ from, on }) => `${from}|${on}`);
    expect(new Set(keys).size).toBe(keys.length);
  });

  test.each(all)('%s reaches a stable state', (state) => {
    expect([...reachable(state)].some((found) => states[found].kind === 'stable')).toBe(true);
  });

  test.each(all.filter((state) => states[state].kind === 'failure'))(
    '%s has a way out that a caller can ask for',
    (state) => {
      const asked = new Set(Object.values(verbs).map((verb) => verb.event as string));
      expect(transitions.some(({ from, on }) => from === state && asked.has(on))).toBe(true);
    },
  );

  test.each(all)('%s accepts and refuses each verb as the original does', (state) => {
    const accepted = (Object.keys(verbs) as Verb[])
      .filter((verb) => next(state, verbs[verb].event) !== undefined)
      .sort();
    expect(accepted).toEqual((wire as Record<string, string[]>)[state]);
  });

  test.each(all)('%s is heading to a stable state, or rests', (state) => {
    const { target, kind } = states[state];
    if (kind === 'stable') expect(target).toBeNull();
    else expect(states[target as ProvisionState].kind).toBe('stable');
  });
});

describe('a run', () => {
  const working = Object.entries(verbs).flatMap(([verb, row]) =>
    row.does === 'run'
      ? transitions.filter(({ on }) => on === row.event).map(({ to }) => ({ verb: verb as Verb, row, to }))
      : [],
  );
  const between = working.filter(({ to }) => states[to].kind === 'transient');

  test.each(between.map(({ verb, to }) => [verb, to] as const))(
    '%s in %s ends well, badly or aborted in a state that does not move by itself',
    (verb, at) => {
      const row = verbs[verb] as { ends: 'done' | 'manage' };
      const waits = [at, next(at, 'wait')].filter((state): state is ProvisionState => state !== undefined);
      expect(states[restingState(at, 'succeeded', row.ends)!].kind).toBe('stable');
      for (const state of waits)
        for (const outcome of ['failed', 'aborted'] as const)
          expect(['stable', 'failure']).toContain(states[restingState(state, outcome, row.ends)!].kind);
    },
  );

  test('that never moved the node leaves it where it was', () => {
    expect(restingState('active', 'failed', null)).toBeNull();
  });

  test('of a service that is aborted returns the node to its use', () => {
    expect(restingState('service wait', 'aborted', 'done')).toBe('active');
  });

  test('of a cleaning that is aborted stays failed until the node is managed', () => {
    expect(restingState('clean wait', 'aborted', 'manage')).toBe('clean failed');
  });
});

test('every power target ends in a power state and consists of known acts', () => {
  for (const row of Object.values(powerTargets)) {
    expect(['power on', 'power off']).toContain(row.ends);
    for (const act of row.acts) expect(Object.keys(acts)).toContain(act);
  }
});
