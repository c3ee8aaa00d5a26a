/** An act of the ramdisk while a second ramdisk may speak for its node: looked for before, between and after; without servers. */
import { whileOneRamdisk } from '../../src/activities/one-ramdisk';
import type { ActContext } from '../../src/bmc/contract';

type Deps = Parameters<typeof whileOneRamdisk>[0];
type Watched = Parameters<typeof whileOneRamdisk>[1];

const lock = { run: 'r1', node_uuid: 'u1', fence: 1 } as Watched['lock'];

/** An act whose looks find these answers, one after the other, and the last one from then on. */
const watched = (answers: readonly (boolean | Error)[], work: (context: ActContext) => Promise<unknown>) => {
  const looks: unknown[][] = [];
  const contested = async (...args: unknown[]) => {
    const answer = answers[Math.min(looks.length, answers.length - 1)]!;
    looks.push(args);
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const given = new AbortController();
  const spied = jest.fn(work);
  const deps = { inventory: { ramdiskBoots: { contested } }, conflictLookMs: 1 } as unknown as Deps;
  const done = whileOneRamdisk(
    deps,
    { lock, at: '2.agent_step', node: 'n1' },
    { signal: given.signal } as ActContext,
    spied,
  );
  return { done, looks, work: spied, given };
};
const conflict = { code: 'RamdiskConflict', facts: { node: 'n1' } };
const ends = ({ signal }: ActContext): Promise<never> =>
  new Promise((_, reject) => {
    const end = () => reject(signal.reason);
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
  });

test('with one ramdisk the act’s own answer counts, and the last look came after it', async () => {
  let before = 0;
  const act = watched([false], async () => {
    before = act.looks.length;
    return 'done';
  });
  expect(await act.done).toBe('done');
  expect(act.looks.length).toBeGreaterThan(before);
  expect(act.looks[0]).toEqual([lock, '2.agent_step']);
});

test('where a second one has spoken already, nothing is sent to either', async () => {
  const { done, work } = watched([true], async () => 'done');
  await expect(done).rejects.toMatchObject(conflict);
  expect(work).not.toHaveBeenCalled();
});

test('one that speaks meanwhile ends the act, whatever the act makes of it', async () => {
  await expect(watched([false, true], ends).done).rejects.toMatchObject(conflict);
  const quiet = watched([false, true], (context) => ends(context).catch(() => 'done'));
  await expect(quiet.done).rejects.toMatchObject(conflict);
});

test('one that spoke at the very end counts too: what the act says does not', async () => {
  const act = watched([false, true], async () => 'done');
  await expect(act.done).rejects.toMatchObject(conflict);
  expect(act.work).toHaveBeenCalledTimes(1);
});

test('a store that is away for a moment is asked again, and has to answer at the end', async () => {
  const away = new Error('away');
  await expect(watched([false, away, true], ends).done).rejects.toMatchObject(conflict);
  await expect(watched([false, away], async () => 'done').done).rejects.toBe(away);
});

test('the act’s own signal and failure go through', async () => {
  const cancelled = watched([false], ends);
  const why = new Error('cancelled');
  cancelled.given.abort(why);
  await expect(cancelled.done).rejects.toBe(why);
  const failed = new Error('the ramdisk refused');
  await expect(watched([false], () => Promise.reject(failed)).done).rejects.toBe(failed);
});
