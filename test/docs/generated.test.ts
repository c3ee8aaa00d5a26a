/** The generated documents: that they are current, and that what they say can be used. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { ZodDefault, type ZodType } from 'zod';
import { createPolicy, renderMatrix, ruleNames } from '../../src/policy';
import { processes } from '../../src/process/settings/config';
import { documents, drift } from '../../tools/gen/index';
import { asWritten } from '../../tools/gen/settings';

const root = join(__dirname, '../..');
const text = (path: string): string => documents[path]!();

test('the committed documents are what the tables say', () => {
  expect(drift(root)).toEqual([]);
});

test('every setting has a meaning in the table of settings', () => {
  const rows = text('docs/settings.md').split('\n');
  for (const [name, { shape }] of Object.entries(processes))
    for (const key of Object.keys(shape))
      expect({ name, key, row: rows.find((row) => row.startsWith(`| \`${key}\` `)) }).toEqual({
        name,
        key,
        row: expect.stringMatching(/\| [^|]{5,} \|$/),
      });
});

test('the sample policy as it stands changes nothing', () => {
  expect(parse(text('docs/policy-sample.yaml'))).toBeNull();
});

test('the sample policy with all its lines in force permits what the defaults permit', () => {
  const uncommented = text('docs/policy-sample.yaml').replaceAll(/^# (?=")/gm, '');
  const overrides = parse(uncommented);
  expect(Object.keys(overrides).sort()).toEqual([...ruleNames].sort());
  const sample = createPolicy({ set: 'temper', overrides });
  expect(renderMatrix(sample)).toBe(renderMatrix(createPolicy({ set: 'temper' })));
});

test('the three rule sets permit different things', () => {
  const sets = ['temper', 'ironic', 'closed'].map((set) => text(`docs/policy-matrix-${set}.txt`));
  expect(new Set(sets).size).toBe(3);
});

test('what the README says about other files is there', () => {
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  const links = [...readme.matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map((match) => match[1]!);
  expect(links.length).toBeGreaterThan(5);
  for (const link of links) expect(() => readFileSync(join(root, link))).not.toThrow(/ENOENT/);
});

test('no generated document shows an object as text', () => {
  const shown = Object.keys(documents).filter((path) => readFileSync(join(root, path), 'utf8').includes('[object '));
  expect(shown).toEqual([]);
});

test('the default of every setting, written as the table shows it, is read as that default', () => {
  const settings = Object.values(processes).flatMap(({ shape }) => Object.entries(shape as Record<string, ZodType>));
  const defaulted = settings.flatMap(([name, setting]) =>
    setting instanceof ZodDefault ? [[name, setting] as const] : [],
  );
  expect(defaulted.length).toBeGreaterThan(50);
  for (const [name, setting] of defaulted) {
    const text = asWritten(setting.def.defaultValue);
    const read = text === '' ? setting.parse(undefined) : (setting.def.innerType as ZodType).parse(text);
    expect([name, read]).toEqual([name, setting.parse(undefined)]);
  }
});
