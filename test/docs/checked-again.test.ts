/** The table of what is kept and checked again names functions that are there. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const page = readFileSync(join(__dirname, '../../docs/security-reference.md'), 'utf8');
const section = page.split(/^## /m).find((part) => part.startsWith('Checks at the time of use\n')) ?? '';
const rows = section.split('\n').filter((line) => line.startsWith('| ') && line.includes('.ts`'));

/** Names of the last cell, each with the file before it. */
const placesOf = (row: string): string[] => {
  let file = '';
  return [...row.split('|')[3]!.matchAll(/`([^`]+)`/g)].flatMap(([, name]) => {
    if (!name!.endsWith('.ts')) return [`${file} ${name}`];
    file = name!;
    return [];
  });
};

const isThere = (place: string): boolean => {
  const [file, name] = place.split(' ');
  const path = join(__dirname, '../../src', file!);
  return (
    existsSync(path) &&
    new RegExp(`(const|async|function|^ +)\\s*${name}\\b\\s*(=|\\()`, 'm').test(readFileSync(path, 'utf8'))
  );
};

test('each place where something is checked again is a function of that file', () => {
  const places = rows.flatMap(placesOf);
  expect(rows.length).toBeGreaterThanOrEqual(17);
  expect(places.length).toBeGreaterThanOrEqual(rows.length);
  expect(places.filter((place) => !isThere(place))).toEqual([]);
});
