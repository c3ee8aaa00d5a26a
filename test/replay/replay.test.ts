/** All recorded histories on today's code: a running story is never edited under its feet. Needs no server. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { DeterminismViolationError } from '@temporalio/workflow';
import { sharedModules } from '../../src/process/temporal/shared-modules';
import * as stories from '../../src/workflows';
import { scenarios } from '../support/scenarios';
import { workflowBundle } from '../support/servers';

Runtime.install({ logger: new DefaultLogger('ERROR') });

const folder = join(__dirname, 'histories');
const names = readdirSync(folder).filter((name) => name.endsWith('.json'));
type Event = Record<string, unknown> & {
  readonly eventType?: string;
  readonly markerRecordedEventAttributes?: {
    readonly markerName?: string;
    readonly details?: Readonly<Record<string, { readonly payloads: readonly { readonly data: string }[] }>>;
  };
  readonly workflowExecutionCompletedEventAttributes?: {
    readonly result?: { readonly payloads: readonly { readonly data: string }[] };
  };
};
type Recorded = { workflowId: string; events: Event[] };
const read = (name: string): Recorded => JSON.parse(readFileSync(join(folder, name), 'utf8'));
const replay = ({ workflowId, events }: Recorded) =>
  Worker.runReplayHistory({ workflowBundle: { codePath: workflowBundle() } }, { events }, workflowId);

test.each(names)('%s replays', async (name) => {
  await expect(replay(read(name))).resolves.toBeUndefined();
});

test('the workers’ bundle evaluates what runs share before the first of them', () => {
  const [, first] = readFileSync(workflowBundle(), 'utf8').match(/exports\.preloadModules = [^{]*\{([^}]*)\}/)!;
  for (const file of sharedModules) expect(first).toContain(`"./dist/${file}"`);
});

test.each(Object.keys(stories))('story %s has a recorded history', (story) => {
  expect(names.some((name) => name.startsWith(`${story}.`))).toBe(true);
});

test.each(scenarios().map(({ story, ends }) => [`${story}.${ends}`]))(
  'the ending %s has a recorded history',
  (ending) => {
    expect(names.some((name) => name.startsWith(`${ending}.`))).toBe(true);
  },
);

/** Gates that a history went through, as the engine recorded them. */
const gatesOf = ({ events }: Recorded): string[] =>
  events.flatMap(({ markerRecordedEventAttributes: marker }) => {
    const data = marker?.markerName === 'core_patch' && marker.details?.['patch-data']?.payloads[0]?.data;
    return data ? [JSON.parse(Buffer.from(data, 'base64').toString()).id as string] : [];
  });

const gatesIn = (file: string): string[] =>
  [...readFileSync(file, 'utf8').matchAll(/\bpatched\('([^']+)'\)/g)].map(([, gate]) => gate!);

test('the gate of the example is found, and its history has gone through it', () => {
  const example = ['2026-11-an-example'];
  expect(gatesIn(join(__dirname, 'gate-example.ts'))).toEqual(example);
  expect(gatesOf(read('gate-example/gated.json'))).toEqual(example);
});

test('a history has gone through each gate, and through no other', () => {
  const workflows = join(__dirname, '../../src/workflows');
  const gates = readdirSync(workflows).flatMap((name) => gatesIn(join(workflows, name)));
  const passed = names.flatMap((name) => gatesOf(read(name)));
  expect([...new Set(passed)].sort()).toEqual(gates.sort());
});

test('a history of other code is noticed', async () => {
  const recorded = read('clean.succeeded.1.json');
  const altered = JSON.parse(JSON.stringify(recorded).replaceAll('"runAct"', '"runSomethingElse"')) as Recorded;
  await expect(replay(altered)).rejects.toBeInstanceOf(DeterminismViolationError);
});

/** What the run's end was recorded as; of a story that is no run, how its workflow was closed. */
const endsWell = ({ events }: Recorded): boolean => {
  const last = events.at(-1);
  if (last?.eventType !== 'EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED') return false;
  const given = last.workflowExecutionCompletedEventAttributes?.result?.payloads[0]?.data;
  const result = given && JSON.parse(Buffer.from(given, 'base64').toString());
  return !['aborted', 'failed'].includes(result?.outcome);
};

// What one pass or look cannot put right, the next one does: it is tried again until its schedule, or a wake, begins another.
const cannotFail: readonly string[] = ['reconcile', 'rollout'];

const endings = new Set(names.map((name) => name.replace(/\.\d+\.json$/, '')));
const figures = `${names.length} histories of ${Object.keys(stories).length} stories in ${endings.size} endings`;

test(`${figures}: every story has ended well and badly, except ${cannotFail.join(', ')}, which cannot fail`, () => {
  const lacking = Object.keys(stories).flatMap((story) => {
    const ends = names.filter((name) => name.startsWith(`${story}.`)).map((name) => endsWell(read(name)));
    const wanted = cannotFail.includes(story) ? [true] : [true, false];
    return wanted.filter((end) => !ends.includes(end)).map((end) => `${story} ${end ? 'well' : 'badly'}`);
  });
  expect(lacking).toEqual([]);
});
