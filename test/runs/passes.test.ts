/** Passes that go on until a signal: a store or engine that is away is reported once, and tried again. */
import type { NodeUuid, RunUuid } from '../../src/model/ids';
import { reservePauseMs, reserveTries } from '../../src/model/resources/allocations';
import { allocateOnce, runAllocating } from '../../src/runs/allocating';
import { runRelay } from '../../src/runs/relay';
import { runUpkeep } from '../../src/runs/upkeep';
import { readEvents, runWebhookDelivery } from '../../src/runs/webhooks';
import { partsOfId, workflowId } from '../../src/workflows/contract';

/** What each pass meets in turn: `true` fails it; the signal comes within the last of them. */
const passesOf = (...fails: readonly boolean[]) => {
  const ended = new AbortController();
  let at = 0;
  const meet = async (): Promise<void> => {
    const failing = fails[at++];
    if (at === fails.length) ended.abort();
    if (failing) throw new Error('away');
  };
  const warnings: string[] = [];
  const log = { info() {}, warn: (text: string) => void warnings.push(text) };
  return { meet, signal: ended.signal, log, warnings, passes: () => at };
};

type Passes = ReturnType<typeof passesOf>;
const loops: Readonly<Record<string, (passes: Passes) => Promise<void>>> = {
  runRelay({ meet, signal, log }) {
    const inventory = { recovery: { current: () => meet().then(() => ({})) } };
    return runRelay({ inventory, log } as never, { everyMs: 1, signal });
  },
  runTelling({ meet, signal, log }) {
    const inventory = { transaction: () => meet().then(() => []), webhooks: { forget: async () => {} } };
    return runWebhookDelivery({ inventory, log } as never, { signal });
  },
  runAllocating({ meet, signal, log }) {
    const away = async (): Promise<never[]> => {
      await meet().catch(() => {
        throw Object.assign(new Error('away'), { code: 'CONNECTION_CLOSED' });
      });
      return [];
    };
    const inventory = { transaction: away, allocationsChannel: { listen: async () => ({ close: async () => {} }) } };
    return runAllocating({ inventory, log } as never, { everyMs: 1, signal });
  },
};

describe.each(Object.entries(loops))('%s', (_, loop) => {
  test.each([
    ['reports a row of failures once', [true, true, true, false], 1],
    ['reports again after a pass that went well', [true, false, true, false], 2],
    ['reports nothing where all goes well', [false, false], 0],
    ['reports nothing of what fails at the end', [false, true], 0],
  ])('the log %s', async (_, fails, times) => {
    const passes = passesOf(...fails);
    await loop(passes);
    expect(passes.passes()).toBe(fails.length);
    expect(passes.warnings).toHaveLength(times);
  });
});

test('passes over allocations end though the database never said that it rings for them', async () => {
  const passes = passesOf(false);
  const inventory = {
    transaction: () => passes.meet().then(() => []),
    allocationsChannel: { listen: () => Promise.reject(new Error('away')) },
  };
  await runAllocating({ inventory, log: passes.log } as unknown as Parameters<typeof runAllocating>[0], passes);
  expect(passes.warnings).toEqual(['allocations are not announced now']);
});

test('upkeep reports a failure, and none that the signal brings about', async () => {
  const upkeep = async (ended: AbortController, alone: () => Promise<never>) => {
    const warn = jest.fn(() => ended.abort());
    await runUpkeep({ inventory: { alone }, log: { warn } } as never, ended.signal);
    return warn.mock.calls;
  };
  const [first, second] = [new AbortController(), new AbortController()];
  const away = new Error('away');
  expect(await upkeep(first, () => Promise.reject(away))).toEqual([
    ['engine and store are not compared now', { reason: 'Error: away' }],
  ]);
  const ending = () => {
    second.abort();
    return Promise.reject(away);
  };
  expect(await upkeep(second, ending)).toEqual([]);
});

test('the relay says what each pass did', async () => {
  const { meet, signal, log } = passesOf(false, false);
  const observe = jest.fn();
  const inventory = { recovery: { current: () => meet().then(() => ({})) } };
  await runRelay({ inventory, log, observe } as never, { everyMs: 1, signal });
  expect(observe.mock.calls).toEqual(Array(2).fill([{ started: 0, sent: 0 }]));
});

test('a node and its run are read from ids of workflows of runs alone', () => {
  const node = '11111111-2222-4333-8444-555555555555' as NodeUuid;
  const run = '66666666-2222-4333-8444-555555555555' as RunUuid;
  const id = workflowId(node, 'clean', run);
  expect([id, `x-${id}`, `${id}.2`].map(partsOfId)).toEqual([{ node, run }, undefined, undefined]);
});

describe('events are read page by page', () => {
  /** A feed with so many events. */
  const readingOf = (count: number) => {
    const sizes: number[] = [];
    let left = count;
    const take = async (limit: number) => {
      const page = Array.from({ length: Math.min(limit, left) }, (_, seq) => ({ seq }));
      left -= page.length;
      sizes.push(page.length);
      return page;
    };
    const store = { feed: { take }, webhooks: { enqueue: async () => {} } };
    const transaction = (work: (given: object) => unknown) => work(store);
    const onEvent = jest.fn();
    return {
      sizes,
      onEvent,
      deps: { inventory: { transaction }, onEvent } as unknown as Parameters<typeof readEvents>[0],
    };
  };

  test.each([
    [0, [0]],
    [499, [499]],
    [500, [500, 0]],
    [501, [500, 1]],
  ])('%i of them until a page is not full', async (count, pages) => {
    const { sizes, onEvent, deps } = readingOf(count);
    expect(await readEvents(deps)).toBe(count);
    expect([sizes, onEvent.mock.calls.length]).toEqual([pages, count]);
  });

  test('and not beyond the signal', async () => {
    const { sizes, onEvent, deps } = readingOf(1_500);
    const ended = new AbortController();
    onEvent.mockImplementation(() => ended.abort());
    expect(await readEvents(deps, ended.signal)).toBe(500);
    expect(sizes).toEqual([500]);
  });

  test('none where another process reads', async () => {
    const transaction = (work: (given: object) => unknown) =>
      work({ feed: { take: async () => undefined }, webhooks: { enqueue: async () => {} } });
    expect(await readEvents({ inventory: { transaction } } as unknown as Parameters<typeof readEvents>[0])).toBe(0);
  });
});

test('an allocation that is left to a later pass is not counted as settled', async () => {
  const waiting = [1, 2, 3].map((tries) => ({
    uuid: `a${tries}`,
    tries,
    age_s: tries,
    resource_class: 'gold',
    traits: [],
    candidate_nodes: [],
  }));
  const store = {
    take: async () => waiting,
    reserve: async ({ uuid }: { uuid: string }) => (uuid === 'a1' ? 'n1' : undefined),
    shortage: async ({ uuid }: { uuid: string }) => ({ suitable: uuid === 'a2' ? 1 : 0 }),
    postpone: async () => {},
    fail: async () => {},
  };
  const onSettled = jest.fn();
  const inventory = { transaction: (work: (given: object) => unknown) => work({ allocationPasses: store }) };
  const deps = { inventory, onSettled, log: { info() {}, warn() {} } } as unknown as Parameters<typeof allocateOnce>[0];
  expect(await allocateOnce(deps)).toBe(3);
  expect(onSettled.mock.calls).toEqual([[{ outcome: 'active', seconds: 1 }], [{ outcome: 'error', seconds: 3 }]]);
});

describe('an allocation that spoils its pass is tried alone', () => {
  const unique = Object.assign(new Error('duplicate'), { code: '23505', constraint_name: 'nodes_instance_uuid_key' });
  /** A store whose first pass fails, and whose pass over one allocation ends so. */
  const aloneOf = (alone: Error, tries = 1) => {
    const failures = [new Error('spoilt'), alone];
    const fail = jest.fn();
    const postpone = jest.fn(async () => tries);
    const warn = jest.fn();
    const inventory = {
      transaction: () => Promise.reject(failures.shift() ?? alone),
      allocationPasses: { waiting: async () => ['a1'], fail, postpone },
    };
    const deps = { inventory, log: { info() {}, warn } } as unknown as Parameters<typeof allocateOnce>[0];
    return { fail, postpone, warn, pass: allocateOnce(deps) };
  };

  test.each(['CONNECTION_CLOSED', '53300'])('a store that goes away then ends the pass: %s', async (code) => {
    const { fail, postpone, warn, pass } = aloneOf(Object.assign(new Error('away'), { code }));
    await expect(pass).rejects.toThrow('away');
    for (const mock of [fail, postpone, warn]) expect(mock).not.toHaveBeenCalled();
  });

  test('what may have been chance is tried again, up to its tries', async () => {
    const again = aloneOf(new Error('strange'), reserveTries);
    expect(await again.pass).toBe(1);
    expect([again.postpone.mock.calls, again.fail.mock.calls]).toEqual([[['a1', reservePauseMs]], []]);
    expect(again.warn).toHaveBeenCalledTimes(1);
    const over = aloneOf(new Error('strange'), reserveTries + 1);
    await over.pass;
    expect(over.fail.mock.calls).toEqual([['a1', expect.stringContaining('PostgreSQL refused it')]]);
  });

  test('one whose UUID is the instance of another node fails at once', async () => {
    const { fail, postpone, pass } = aloneOf(unique);
    await pass;
    expect(fail.mock.calls).toEqual([
      ['a1', 'Failed to process allocation a1: its UUID is the instance of another node.'],
    ]);
    expect(postpone).not.toHaveBeenCalled();
  });
});
