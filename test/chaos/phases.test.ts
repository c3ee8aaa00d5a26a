/** Phases of chaos: every phase of every verb for each victim, and each point of a phase once before any of them twice. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { allKills, allPauses, allRestores, blowOf, holdsBmcs } from './blows';
import { keptIn } from './kept';
import { phaseCells } from './phases';
import type { Point } from './points';
import { randomOf } from './random';
import { keyOf } from './reference';
import { type Result, summaryOf, tableOf, totalsOf } from './report';
import { chaosVerbs } from './verbs';

const verb = chaosVerbs.find(({ name }) => name === 'clean')!;
const point = (label: string, kind: Point['kind'], step: string | null, depth: number): Point => ({
  label,
  kind,
  step,
  depth,
  begun: 0,
  gate: { after: 0 },
});
const points = [
  point('accepted', 'accepted', null, 0),
  point('after the backup', 'later', null, 0),
  point('a begins', 'begins', 'a', 1),
  point('a begins more', 'begins', 'a', 2),
  ...Array.from({ length: 7 }, (_, at) => point(`done ${at}`, 'done', 'a', 3 + at)),
  point('b begins', 'begins', 'b', 20),
  point('ends', 'ends', null, 30),
];
const nothing = { once: new Map(), harmless: new Map() };
const references = new Map([[keyOf(verb, 'xcc'), { points, usual: nothing, seconds: 10 }]]);

test('each victim meets each phase once, and each point of a phase before any of them a second time', () => {
  const cells = phaseCells([verb], references, allPauses, randomOf(7));
  const of = (victim: string) => cells.filter((cell) => cell.victim === victim).map(({ label }) => label);
  for (const victim of allPauses) {
    const labels = of(victim);
    expect(labels).toHaveLength(5);
    expect(labels).toEqual(expect.arrayContaining(['accepted', 'a begins more', 'ends']));
  }
  const done = cells.filter(({ label }) => label.startsWith('done')).map(({ label }) => label);
  const times = points
    .filter(({ kind }) => kind === 'done')
    .map(({ label }) => done.filter((one) => one === label).length);
  expect(times).toEqual(Array(7).fill(allPauses.length / 7));
});

test('only a restore has runs that no backup knows', () => {
  const labelsFor = (victims: readonly string[]) =>
    phaseCells([verb], references, victims, randomOf(1)).map(({ label }) => label);
  expect(labelsFor([allKills[0]!])).not.toContain('after the backup');
  expect(labelsFor([allRestores[0]!])).toContain('after the backup');
});

test('the rack and whatever holds the connections to BMCs may be struck at every point', () => {
  expect(['rack 10 s', 'all', 'BMC worker 120 s', 'Postgres 5 s'].map(holdsBmcs)).toEqual([true, true, true, true]);
  expect(['API', 'Temporal 25 s', 'control worker'].map(holdsBmcs)).toEqual([false, false, false]);
  expect(() => blowOf('moon')).toThrow(/does nothing to moon/);
});

test('results that were kept make one table, a repeat in the place of what it repeats', () => {
  const dir = mkdtempSync(join(tmpdir(), 'chaos-kept-'));
  const kept = keptIn(join(dir, 'results.jsonl'));
  const result = (victim: string, is: 'ended' | 'failed' | 'left', seconds: number): Result => ({
    cell: { verb: { name: 'clean' }, label: 'ends', victim },
    depth: 1,
    profile: 'xcc',
    outcome: { is, seconds, repeats: [], ...(is === 'left' && { why: 'it cannot be known' }) },
  });
  try {
    kept.add([result('API 10 s', 'failed', 3), result('API 120 s', 'ended', 120)]);
    kept.add([result('API 10 s', 'ended', 11), result('Postgres 5 s', 'left', 30)]);
    const results = kept.read();
    expect(tableOf(results, [...allPauses, ...allRestores])).toEqual([
      '| verb | struck | API | Postgres 5 s |',
      '| --- | --- | --- | --- |',
      '| clean | ends | 10 s: ended 11 s; 120 s: ended 120 s | left 30 s |',
    ]);
    expect(totalsOf(results, allPauses).slice(2)).toEqual([
      '| API | 10 s | 1 | 1 | 0 | 0 | 0 | 0 | 0 |',
      '| API | 120 s | 1 | 1 | 0 | 0 | 0 | 0 | 0 |',
    ]);
    expect(summaryOf(results)).toContain('1 left for a person (1 because it cannot be known)');
  } finally {
    rmSync(dir, { recursive: true });
  }
});
