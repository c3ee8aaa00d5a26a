/** The mark that store and engine carry: what is compared, what is written, and what is only believed once it was read again. */
import { ScheduleNotFoundError } from '@temporalio/client';
import { noteOf } from '../../src/model/runs/recovery';
import { detectRestore, type MarkDeps } from '../../src/runs/marks';

const [mine, theirs] = ['11111111-2222-4333-8444-555555555555', '66666666-2222-4333-8444-555555555555'];
const cluster = { system_id: '7', timeline: 1 };
type Given = {
  readonly store?: { readonly count: number; readonly mark: string | null; readonly seen: string | null };
  readonly note?: string;
  readonly held?: boolean;
  /** What becomes of a mark that is written to the engine. */
  readonly keep?: (note: string) => string | undefined;
  readonly describe?: () => never;
};

/** Store and engine with their marks; whatever is written is noted. */
const marksOf = ({
  store = { count: 1, mark: mine, seen: mine },
  note,
  held,
  keep = (text) => text,
  ...more
}: Given) => {
  let standing = note;
  const written: unknown[][] = [];
  const noted =
    (name: string) =>
    async (...args: unknown[]) => {
      written.push([name, ...args]);
      return true;
    };
  const schedule = {
    describe: async () => more.describe?.() ?? { state: { note: standing } },
    update: async (change: (now: object) => { state: { note: string } }) => {
      standing = keep(change({ policies: 'kept', spec: 'of before', state: { paused: false } }).state.note);
      written.push(['engine', change({ policies: 'kept', spec: 'of before', state: { paused: false } })]);
    },
  };
  const recovery = {
    current: async () => (held ? { side: 'store' } : undefined),
    mark: async () => ({ ...cluster, ...store }),
    cluster: async () => cluster,
    enter: noted('enter'),
    advance: noted('advance'),
    seen: noted('seen'),
  };
  const warn = jest.fn();
  const deps = {
    inventory: { recovery },
    client: { schedule: { getHandle: () => schedule }, withDeadline: (_: number, work: () => unknown) => work() },
    log: { info() {}, warn },
    queuePrefix: 'test',
  } as unknown as MarkDeps;
  const names = () => written.map(([name]) => name);
  return { deps, written, names, warn };
};

test('a mark is moved on past both counts, noted as seen once the engine shows it, and starts nothing there', async () => {
  const { deps, written } = marksOf({ note: noteOf({ count: 4, mark: mine }) });
  expect(await detectRestore(deps, true)).toBe(true);
  const [[, advanced]] = written as [[string, { mark: string }]];
  expect(written).toEqual([
    ['advance', { ...cluster, count: 5, mark: expect.stringMatching(/^[0-9a-f-]{36}$/), seen: mine }],
    [
      'engine',
      { policies: 'kept', spec: {}, state: { paused: true, note: noteOf({ count: 5, mark: advanced.mark }) } },
    ],
    ['seen', advanced.mark],
  ]);
  expect(advanced.mark).not.toBe(mine);
});

test.each([
  ['shows another one', () => noteOf({ count: 9, mark: theirs })],
  ['shows none', () => undefined],
])('a mark is not noted as seen where the engine %s after the write', async (_, keep) => {
  const { deps, names } = marksOf({ note: noteOf({ count: 1, mark: mine }), keep });
  expect(await detectRestore(deps, true)).toBe(true);
  expect(names()).toEqual(['advance', 'engine']);
});

test('an engine without a mark, as one that has lost everything, is given one', async () => {
  const { deps, written } = marksOf({});
  expect(await detectRestore(deps, true)).toBe(true);
  expect(written[0]).toEqual(['advance', expect.objectContaining({ count: 2, seen: null })]);
});

test('a pass that is only to compare writes nothing', async () => {
  const { deps, names } = marksOf({ note: noteOf({ count: 1, mark: mine }) });
  expect(await detectRestore(deps, false)).toBe(true);
  expect(names()).toEqual([]);
});

test('marks that do not belong together hold everything back, and neither is moved', async () => {
  const { deps, written, warn } = marksOf({ note: noteOf({ count: 9, mark: theirs }) });
  expect(await detectRestore(deps, true)).toBe(false);
  expect(written).toEqual([['enter', expect.objectContaining({ side: 'store' })]]);
  expect(warn).toHaveBeenCalledTimes(1);
});

test('while a recovery stands no mark is moved, though they agree', async () => {
  const { deps, names, warn } = marksOf({ note: noteOf({ count: 1, mark: mine }), held: true });
  expect(await detectRestore(deps, true)).toBe(false);
  expect([names(), warn.mock.calls]).toEqual([[], []]);
});

test('an engine without the schedule has no mark, and one that does not answer is not taken for such', async () => {
  const failing = (thrown: Error) =>
    marksOf({
      describe: () => {
        throw thrown;
      },
    });
  expect(await detectRestore(failing(new ScheduleNotFoundError('gone', 's')).deps, false)).toBe(true);
  const away = failing(new Error('away'));
  await expect(detectRestore(away.deps, true)).rejects.toThrow('away');
  expect(away.names()).toEqual([]);
});
