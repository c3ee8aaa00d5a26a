/** All that a caller can make grow is in docs/bounds.md with its bound: each table of the migrated schema, and each cache in the code. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from '../../src/inventory/database';
import { testDatabase } from '../support/servers';

const root = join(__dirname, '../..');
const page = readFileSync(join(root, 'docs/bounds.md'), 'utf8');
const cellsOf = (title: string): string[][] =>
  (page.split(/^## /m).find((part) => part.startsWith(`${title}\n`)) ?? '')
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
const namesIn = (cells: readonly string[][]): string[] =>
  cells.flatMap(([first]) => [...first!.matchAll(/`([^`]+)`/g)].map(([, name]) => name!));

const files = (readdirSync(join(root, 'src'), { recursive: true }) as string[]).filter((name) => /\.tsx?$/.test(name));
const textOf = (file: string): string => readFileSync(join(root, 'src', file), 'utf8');

/** Containers that begin empty and are kept under a name; those held by a key (`WeakMap`) end with it. */
const container =
  /(?:\b(?:const|let|readonly|private)\s+(\w+)[^=\n]*=|(\w+)\s*[:=])\s*new (?:LRUCache|Map|Set)\b(?:<[^\n]*?>)?\((?:\)|\{)/g;

const cachesIn = (text: string): string[] => [...text.matchAll(container)].map(([, one, other]) => (one ?? other)!);
const caches = files.flatMap((file) => cachesIn(textOf(file)).map((name) => `${file}: ${name}`));

test('each table of the schema is bounded, or no caller makes it grow', async () => {
  const database = await testDatabase();
  const sql = connect(database.ownerUrl, { max: 1 });
  const tables = await sql<{ name: string }[]>`
    select relname as name from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition`;
  await sql.end();
  await database.drop();
  const named = [...namesIn(cellsOf('Tables')), ...namesIn(cellsOf('Tables that no caller makes grow'))];
  expect(named.sort()).toEqual(tables.map(({ name }) => name).sort());
});

test('each cache is bounded, or ends with the call that made it', () => {
  const named = [...namesIn(cellsOf('Memory')), ...namesIn(cellsOf('Memory that no caller makes grow'))];
  expect(named.sort()).toEqual([...new Set(caches)].sort());
});

test('a container that is kept is found by its text', () => {
  expect(
    cachesIn('const a = new Map<string, () => X>();\n  readonly b = new Set();\nx = { c: new LRUCache({ max }) }'),
  ).toEqual(['a', 'b', 'c']);
});

test('each row says all, and names settings and constants that are there', () => {
  const rows = [...cellsOf('Tables'), ...cellsOf('Memory')];
  expect(rows.filter((cells) => cells.length !== 6 || cells.some((cell) => cell === ''))).toEqual([]);
  const code = files.map(textOf).join('\n');
  const bounds = rows.flatMap((cells) =>
    [
      ...cells
        .slice(1)
        .join(' ')
        .matchAll(/`(\w+)`/g),
    ].map(([, name]) => name!),
  );
  expect(bounds.length).toBeGreaterThan(30);
  expect(bounds.filter((name) => !new RegExp(`\\b${name}\\b['"]?\\s*[:=,]`).test(code))).toEqual([]);
});
