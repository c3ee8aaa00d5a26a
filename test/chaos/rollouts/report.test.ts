/** The report of rollouts under blows leaves nothing out that was found. */
import type { RolloutResult, TurnResult } from '.';
import { isWell, measuredBy, summaryOf, tableOf, wrongList } from './report';

const rollout = (over: Partial<RolloutResult> = {}): RolloutResult => ({
  seed: 7,
  nodes: 50,
  work: 'restart',
  state: 'succeeded',
  states: { done: 50 },
  retries: 0,
  seconds: 60,
  wrong: [],
  ...over,
});
const turn = (over: Partial<TurnResult> = {}): TurnResult => ({
  seed: 7,
  at: '2026-11-22T17:00:00.000Z',
  seconds: 200,
  rack: 800,
  rollouts: [rollout()],
  blows: [],
  wrong: [],
  ...over,
});

test('what a rollout, its tenant and a blow came to is listed, with the seed', () => {
  const turns = [
    turn({ rollouts: [rollout(), rollout({ wrong: ['wave 2 began before wave 1 was over'] })] }),
    turn({ wrong: ['disruption budget: 3 missing at once, at most 2'] }),
    turn({ blows: [{ victim: 'API', seconds: 16 }] }),
  ];
  expect(isWell(turns)).toBe(false);
  expect(wrongList(turns)).toEqual([
    'seed 7: wave 2 began before wave 1 was over',
    'seed 7: disruption budget: 3 missing at once, at most 2',
    'API: begun again after 16.0 s',
  ]);
  expect(summaryOf(turns)).toContain('2 oddities; 1 blows after which nothing was begun within 15 s');
  expect(tableOf(turns)).toContain('| API | 1 | 1 | 16.0 s | 16.0 s |');
});

test('a turn that came to no end is listed, although nothing is known of its rollouts', () => {
  const turns = [turn(), turn({ seed: 8, rollouts: [], wrong: ['the turn came to no end: Error: vain'] })];
  expect(wrongList(turns)).toEqual(['seed 8: the turn came to no end: Error: vain']);
});

test('days, racks, minutes and seeds are those of all turns, in whatever order they came', () => {
  const turns = [turn({ seed: 10 }), turn({ seed: 9, at: '2026-11-23T01:00:00.000Z', rack: 300, seconds: 100 })];
  expect(measuredBy(turns)).toBe(
    '2026-11-22 to 2026-11-23, 2 turns on racks of 300 to 800 nodes, together 5 minutes, seed 9 to 10',
  );
  expect(measuredBy([turn()])).toBe('2026-11-22, 1 turn on racks of 800 nodes, together 4 minutes, seed 7');
});

test('where all is well nothing is listed', () => {
  expect(isWell([turn()])).toBe(true);
  expect(wrongList([turn()])).toEqual([]);
});
