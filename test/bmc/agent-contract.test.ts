/** The driver contract for what a node's ramdisk does: reach the goal, send once, survive a kill, believe no nonsense, stop when asked. */
import { searched, startTalk } from '../../src/activities/ramdisk-silence';
import { TemperError } from '../../src/model/errors';
import type { NodeUuid } from '../../src/model/ids';
import { type ActName, actRow, acts } from '../../src/model/lifecycle/steps';
import { stepAt } from '../workflows/support';
import { type Case, cases, secret, trialOf } from './support/agent-trials';
import { type Intents, intentsOf, quickTiming } from './support/context';
import { startDouble } from './support/double';
import { type RamdiskBench, startRamdiskBench } from './support/ramdisk';

const rows = Object.entries(cases) as [ActName, Case][];
const those = (fits: (row: Case) => boolean) => rows.filter(([, row]) => fits(row));

let ramdisks: RamdiskBench;
beforeAll(async () => {
  ramdisks = await startRamdiskBench();
});
afterAll(() => ramdisks.close());

/** One act on a fresh ramdisk, with intents that outlive its attempts. */
const trial = (act: ActName, row: Case, intents?: Intents) => trialOf(ramdisks, act, row, intents);
const most = ({ asks }: Case): number => (asks ? 2 : 1);
const stopped = () => {
  const worker = new AbortController();
  return { signal: worker.signal, kill: () => worker.abort(new Error('killed')) };
};
const isRunning = (told?: Readonly<Record<string, unknown>>): boolean => told?.status === 'RUNNING';

test('every act of the ramdisk has its case', () => {
  const byAgent = (Object.keys(acts) as ActName[]).filter((act) => actRow(act).by === 'agent');
  expect(Object.keys(cases).sort()).toEqual(byAgent.sort());
});

test.each(rows)('%s run twice changes nothing twice, and writes no secret into its intents', async (act, row) => {
  const { run, sent, intents, agent } = await trial(act, row);
  expect(await run()).toMatchObject({ is: 'done' });
  expect(await run()).toMatchObject({ is: 'done' });
  expect(sent()).toBe(most(row));
  expect(JSON.stringify(intents.kept)).not.toContain(agent.token);
  expect(JSON.stringify(intents.kept)).not.toContain(secret);
});

describe('killed', () => {
  test.each(rows)('%s, when its command was taken, is finished and changes nothing twice', async (act, row) => {
    const { run, finish, cut, sent } = await trial(act, row);
    const { signal, kill } = stopped();
    cut(() => {
      if (sent() === 0) return false;
      kill();
      return true;
    });
    await expect(run({ signal })).rejects.toThrow('killed');
    cut(() => false);
    expect(await finish()).toMatchObject({ is: 'done' });
    expect(sent()).toBe(most(row));
  });

  test.each(those((row) => !row.asks))('%s, between intent and command, sends it once', async (act, row) => {
    const { signal, kill } = stopped();
    const intents = intentsOf(act);
    const record: Intents['record'] = async (detail) => {
      await intents.record(detail);
      kill();
    };
    const { run, finish, sent } = await trial(act, row, intents);
    await expect(run({ signal, intents: { ...intents, record } })).rejects.toThrow('killed');
    expect(sent()).toBe(0);
    expect(await finish()).toMatchObject({ is: 'done' });
    expect(sent()).toBe(1);
  });

  test.each(those((row) => row.asks === true))('%s has no such moment: it only asks', async (act, row) => {
    const { run, intents } = await trial(act, row);
    await run();
    expect(intents.kept).toEqual([]);
  });

  test.each(those((row) => row.works === true))('%s, while its command runs, is watched on', async (act, row) => {
    const { run, finish, sent } = await trial(act, row);
    const { signal, kill } = stopped();
    await expect(run({ signal, beat: (told) => isRunning(told) && kill() })).rejects.toThrow('killed');
    expect(await finish()).toMatchObject({ is: 'done' });
    expect(sent()).toBe(1);
  });

  test.each(those((row) => !row.works))('%s has no such time: its command is never watched', async (act, row) => {
    const { run } = await trial(act, row);
    const told: unknown[] = [];
    await run({ beat: (details) => void (isRunning(details) && told.push(details)) });
    expect(told).toEqual([]);
  });

  test.each(rows)('%s stops at once when its activity must stop', async (act, row) => {
    const { run, journal } = await trial(act, row);
    await expect(run({ signal: AbortSignal.abort(new Error('stop')) })).rejects.toThrow('stop');
    expect(journal()).toEqual([]);
  });
});

describe('a ramdisk that is silent', () => {
  test.each(rows)('gives the worker of %s back, and a later attempt does it', async (act, row) => {
    const { failure, finish, fault, heal, journal, sent } = await trial(act, row);
    fault({ kind: 'silent', remaining: 1_000 });
    const deps = { limits: { answerMs: 100 } };
    expect(await failure({ deps })).toMatchObject({ code: 'AgentUnreachable', retry: true });
    expect(journal()).toEqual([]);
    heal();
    expect(await finish()).toMatchObject({ is: 'done' });
    expect(sent()).toBe(1);
  });

  test.each(rows)('after it took the command of %s changes nothing twice', async (act, row) => {
    const { finish, fault, sent } = await trial(act, row);
    fault({ kind: 'lost-reply', match: row.command });
    expect(await finish()).toMatchObject({ is: 'done' });
    expect(sent()).toBe(most(row));
  });

  test.each(those((row) => row.works === true))('for it has restarted under %s is not believed', async (act, row) => {
    const { failure, run, fault, sent } = await trial(act, row);
    let told = false;
    const beat = (details?: Readonly<Record<string, unknown>>) => {
      if (isRunning(details) && !told) fault({ kind: 'restart', method: 'GET' });
      told ||= isRunning(details);
    };
    const once = actRow(act).effect === 'once';
    expect(await failure({ beat })).toMatchObject({ code: once ? 'StepOutcomeUnknown' : 'AgentServerError' });
    const again = await run().catch((error: unknown) => error);
    expect(again).toMatchObject(once ? { code: 'StepOutcomeUnknown' } : { is: 'done' });
    expect(sent()).toBe(once ? 1 : 2);
  });
});

describe('a ramdisk whose host hangs after it took a command', () => {
  const found = { power_state: 'power on', boot_progress: 'OSRunning' } as const;

  const toEnd: readonly ActName[] = ['agent_finalize_rescue', 'agent_power_off'];
  test.each(rows.filter(([act]) => toEnd.includes(act)))(
    'of %s counts as ended, which was wanted',
    async (act, row) => {
      const { run, fault, sent } = await trial(act, row);
      fault({ kind: 'gone', match: row.command });
      expect(await run()).toMatchObject({ is: 'done' });
      expect(sent()).toBe(1);
    },
  );

  const others = rows.filter(([act]) => !toEnd.includes(act));
  test.each(others)(
    'of %s is let go once it was silent for long enough, and nothing is sent again',
    async (act, row) => {
      const { failure, fault, sent } = await trial(act, row);
      fault({ kind: 'gone', match: row.command });
      const short = { deps: { limits: { answerMs: 100 } }, timing: { ...quickTiming, powerTimeoutMs: 500 } };
      const thrown = await failure(short);
      expect(thrown).toMatchObject({ code: 'AgentUnreachable', retry: true });
      expect(await failure(short)).toMatchObject({ code: 'AgentUnreachable' });
      expect(sent()).toBe(1);
      const judged = (silentMs: number | undefined, left = true) =>
        searched(thrown, {
          agents: { silent: async () => silentMs },
          node: { uuid: 'n' as NodeUuid, name: null },
          step: { ...stepAt(0, []), acts: [] },
          act,
          timing: { ...quickTiming, agentSilenceMs: 1_000 },
          talk: startTalk(async () => {}),
          look: async () => found,
          mayHaveLeft: async () => left,
          broughtToken: async () => true,
        });
      const once = actRow(act).effect === 'once';
      expect(await judged(999)).toBe(thrown);
      expect(await judged(1_999)).toBe(thrown);
      expect(await judged(2_001)).toMatchObject(once ? { code: 'AgentUnreachable' } : { code: 'AgentGone' });
      const forgotten = await judged(undefined);
      expect(forgotten).toMatchObject({ code: once ? 'StepOutcomeUnknown' : 'AgentGone' });
      expect((forgotten as Error).message).toContain('it is not on record any more');
      expect(await judged(undefined, false)).toMatchObject({ code: 'AgentGone' });
    },
  );
});

describe('a ramdisk whose machine is reset after it took a command', () => {
  const written: readonly ActName[] = ['agent_write_image', 'agent_install_bootloader', 'agent_finalize_rescue'];
  const judge = async (
    act: ActName,
    thrown: unknown,
    { agent, brought = true, left = true }: { agent: { verify_ca: string | null }; brought?: boolean; left?: boolean },
  ) => {
    const looks: string[] = [];
    const search = {
      agents: { silent: async () => void looks.push('silence') },
      node: { uuid: 'n' as NodeUuid, name: null, agent },
      step: { ...stepAt(0, []), acts: [] },
      act,
      timing: quickTiming,
      talk: startTalk(async () => {}),
      look: async () => void looks.push('BMC'),
      mayHaveLeft: async () => left,
      broughtToken: async () => brought,
    };
    const judged = await searched(thrown, search);
    expect(looks).toEqual([]);
    return judged;
  };

  test.each(rows.filter(([act]) => written.includes(act)))(
    'of %s is not believed; it is gone, and another boot does the act, where none can be handed its token',
    async (act, row) => {
      const { failure, fault, sent, agent } = await trial(act, row);
      fault({ kind: 'reset', match: row.command });
      const thrown = await failure();
      expect(thrown).toMatchObject({ code: 'AgentTlsFailed', facts: { reason: 'DEPTH_ZERO_SELF_SIGNED_CERT' } });
      expect(await failure()).toMatchObject({ code: 'AgentTlsFailed' });
      expect(sent()).toBe(1);
      const gone = await judge(act, thrown, { agent });
      expect(gone).toMatchObject({ code: 'AgentGone', retry: false });
      expect((gone as Error).message).toContain('its address shows another certificate');
      expect(await judge(act, thrown, { agent, brought: false })).toBe(thrown);
      expect(await judge(act, thrown, { agent: { verify_ca: null } })).toBe(thrown);
    },
  );

  test.each(rows.filter(([act]) => act === 'agent_step'))('of %s leaves its outcome unknown', async (act, row) => {
    const { failure, fault, sent, agent } = await trial(act, row);
    fault({ kind: 'reset', match: row.command });
    expect(await failure()).toMatchObject({ code: 'StepOutcomeUnknown' });
    expect(sent()).toBe(1);
    const other = new TemperError('AgentTlsFailed', { node: 'n', agent: 'a', reason: 'ERR_TLS_CERT_NOT_PINNED' });
    expect(await judge(act, other, { agent })).toMatchObject({ code: 'StepOutcomeUnknown' });
    expect(await judge(act, other, { agent, left: false })).toMatchObject({ code: 'AgentGone' });
  });

  test.each(['CERT_HAS_EXPIRED', 'it calls back over plain http'])('is not what %s is taken for', async (reason) => {
    const thrown = new TemperError('AgentTlsFailed', { node: 'n', agent: 'a', reason });
    expect(await judge('agent_write_image', thrown, { agent: { verify_ca: 'pem' } })).toBe(thrown);
  });
});

describe('a ramdisk that talks nonsense', () => {
  test.each(
    rows.flatMap(([act, row]) =>
      (
        [
          ['garbled', 'AgentServerError'],
          ['huge', 'AgentUnreachable'],
          ['redirect', 'AgentRejected'],
          ['drop-before', 'AgentUnreachable'],
        ] as const
      ).map(([kind, code]) => [act, kind, code, row] as const),
    ),
  )('makes %s fail clearly when its answers are %s: %s', async (act, kind, code, row) => {
    const { failure, fault, journal, agent } = await trial(act, row);
    fault({ kind, remaining: 1_000 });
    const error = await failure();
    expect(error).toMatchObject({ code, retry: code !== 'AgentRejected' });
    expect(`${error.message} ${JSON.stringify(error.facts)}`).not.toContain(agent.token);
    expect(journal()).toEqual([]);
  });

  test.each(rows)('of wrong types is sent nothing for %s', async (act, row) => {
    const double = await startDouble(() => ({ status: 200, body: { commands: [{ id: 7 }], started_at: {} } }));
    const { failure, agent } = await trial(act, row);
    const error = await failure({ node: { agent: { ...agent, url: double.url, verify_ca: null } } });
    await double.close();
    expect(error).toMatchObject({ code: 'AgentServerError', message: expect.stringMatching(/makes no sense at/) });
    expect(double.requests.filter(({ method }) => method !== 'GET')).toEqual([]);
  });

  test.each(rows)('once, to a command, does not make %s send it twice', async (act, row) => {
    const { finish, fault, sent } = await trial(act, row);
    fault({ kind: 'garbled', method: 'POST' });
    expect(await finish()).toMatchObject({ is: 'done' });
    expect(sent()).toBe(1);
  });

  test.each(those(({ misfit }) => misfit !== undefined))('is not believed in the result of %s', async (act, row) => {
    const { failure, fault } = await trial(act, row);
    fault({ kind: 'odd-result', match: row.command });
    expect(await failure()).toMatchObject({ code: row.misfit });
  });

  test.each(those(({ misfit }) => misfit === undefined))(
    'may say what it likes: %s uses no result',
    async (act, row) => {
      const { run, fault, sent } = await trial(act, row);
      fault({ kind: 'odd-result', match: row.command });
      expect(await run()).toMatchObject({ is: 'done' });
      expect(sent()).toBe(1);
    },
  );
});

describe('a ramdisk that refuses', () => {
  const soon = { timing: { ...quickTiming, powerTimeoutMs: 50 } };

  test.each(rows)('%s because it is busy has it tried again later', async (act, row) => {
    const { failure, finish, fault, heal, journal, sent } = await trial(act, row);
    fault({ kind: 'busy', remaining: 1_000 });
    expect(await failure(soon)).toMatchObject({ code: 'AgentBusy', retry: true });
    expect(journal()).toEqual([]);
    heal();
    expect(await finish()).toMatchObject({ is: 'done' });
    expect(sent()).toBe(1);
  });

  test.each(rows)('%s for its token is not asked again', async (act, row) => {
    const { failure, fault, journal } = await trial(act, row);
    fault({ kind: 'wrong-token', method: 'GET', remaining: 1_000 });
    expect(await failure()).toMatchObject({ code: 'AgentAuthFailed', retry: false });
    expect(journal()).toEqual([]);
  });

  test.each(those((row) => !row.unjudged))('%s with a failure says why, and is not asked again', async (act, row) => {
    const { failure, fault, sent } = await trial(act, row);
    fault({ kind: 'step-fails', match: row.command, remaining: 2 });
    for (const _ of ['first', 'again'])
      expect(await failure()).toMatchObject({
        code: 'StepRejected',
        retry: false,
        message: expect.stringContaining('a fault was asked for'),
      });
    expect(sent()).toBe(most(row));
  });

  test.each(those((row) => row.unjudged === true))('%s leaves it to the BMC', async (act, row) => {
    const { run, fault } = await trial(act, row);
    fault({ kind: 'step-fails', match: row.command });
    expect(await run(soon)).toEqual({ is: 'done', note: 'asked; the BMC makes sure' });
  });
});
