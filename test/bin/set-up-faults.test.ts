/** What the file system refuses is one plain sentence, not a stack. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const { dataDir } = require('../../scripts/lib/paths') as { dataDir(given: string): string };
const { sentenceOf } = require('../../scripts/lib/say') as { sentenceOf(failure: unknown): string };

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'temper-faults-'));
  writeFileSync(join(dir, 'file'), '');
});
afterAll(() => {
  chmodSync(dir, 0o700);
  rmSync(dir, { recursive: true });
});

const saidOf = (work: () => unknown): string => {
  try {
    work();
  } catch (thrown) {
    return sentenceOf(thrown);
  }
  return '';
};

test('a data path that is a file', () =>
  expect(saidOf(() => dataDir(join(dir, 'file')))).toBe(
    `${join(dir, 'file')} is a file where a folder is wanted: name another folder, or move the file away.`,
  ));

test('a data path below a file', () =>
  expect(saidOf(() => dataDir(join(dir, 'file/data')))).toMatch(/lies below a file/));

test.each([
  ['EROFS', 'read-only'],
  ['EACCES', 'may not be written by this user'],
  ['ENOSPC', 'the disk is full'],
])('%s', (code, says) => {
  const said = sentenceOf(Object.assign(new Error(`${code}: no`), { code, path: '/opt/temper/.temper' }));
  expect(said).toContain(`/opt/temper/.temper `);
  expect(said).toContain(says);
  expect(said).not.toContain('\n');
});

test('what is not of the file system keeps its stack', () => expect(sentenceOf(new Error('x'))).toMatch(/Error: x\n/));
