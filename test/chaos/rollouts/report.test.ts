/** The report of rollouts under blows leaves nothing out that was found. */
import type { RolloutResult, TurnResult } from '.';
import { isWell, summaryOf, tableOf, wrongList } from './report';

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
const turn = (over: Partial<TurnResult> = {}): TurnResult => ({ rollouts: [rollout()], blows: [], wrong: [], ...over });

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

test('where all is well nothing is listed', () => {
  expect(isWell([turn()])).toBe(true);
  expect(wrongList([turn()])).toEqual([]);
});
