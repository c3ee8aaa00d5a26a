/** The map of the tree, the table of rooms, and the paths that written documents name: each is compared with what is there. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { mayImport, typesOnly } from '../layout/rooms';
import { linksOf, partOf, readDocument, tableOf } from '../support/documents';

const root = join(__dirname, '../..');
/** Tracked files and new ones, without what is ignored. */
const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => file !== '' && existsSync(join(root, file)));

const folderOf = (file: string): string => dirname(file);
/** Tests below a folder of tests belong to it; histories and data are no rooms of their own. */
const onMap = (folder: string): string =>
  folder.startsWith('test/') ? folder.split('/').slice(0, 2).join('/') : folder;
const folders = [
  ...new Set(
    files
      .map(folderOf)
      .filter((folder) => folder !== '.')
      .map(onMap),
  ),
].sort();

const rowsOf = (document: string, heading: string): string[][] =>
  tableOf(partOf(readDocument(document), heading)).slice(1);
const unquoted = (cell: string): string => cell.replaceAll('`', '');

test('the map of ARCHITECTURE.md is the tree: every folder once, with its purpose', () => {
  const rows = rowsOf('ARCHITECTURE.md', 'The map');
  expect(rows.map(([folder]) => unquoted(folder!)).sort()).toEqual(folders);
  expect(rows.filter(([, purpose]) => purpose!.length < 8)).toEqual([]);
});

/** `model`, `inventory` -> what the table of the code says, in words. */
const allowed = (room: string): string => {
  const rooms = mayImport[room]!;
  const others = Object.keys(mayImport).filter((other) => other !== room);
  const missing = others.filter((other) => !rooms.includes(other));
  if (rooms.length === 0) return 'nothing';
  if (missing.length === 0) return 'every room';
  if (missing.length === 1) return `every room but ${missing[0]}`;
  return [...rooms, ...(typesOnly[room] ?? []).map((other) => `types of ${other}`)].join(', ');
};

test('the rooms of CONTRIBUTING.md import what the layout allows', () => {
  const rows = rowsOf('CONTRIBUTING.md', 'Rooms').map((row) => row.map(unquoted));
  expect(rows).toEqual(Object.keys(mayImport).map((room) => [room, allowed(room)]));
});

/** The projects of Jest's configuration, with the folders of test that each matches. */
const tiers = (
  jest.requireActual('../../jest.config.js').projects as { displayName: string; testMatch: string[] }[]
).map(({ displayName, testMatch }) => [displayName, testMatch.map((glob) => glob.split('/')[2]).join(', ')]);

test('the tiers of CONTRIBUTING.md hold the folders that they match', () => {
  const rows = rowsOf('CONTRIBUTING.md', 'Tests')
    .filter(([tier]) => tier!.startsWith('`'))
    .map((row) => row.slice(0, 2).map(unquoted));
  const rest = ['pure', 'all that are not named below'];
  expect(rows).toEqual(tiers.map((row) => (row[0] === 'pure' ? rest : row)));
});

const pages = (folder: string): string[] =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name));
const documents = ['.', 'docs', 'docs/decisions', 'reports', 'deploy/files'].flatMap(pages);

const roots = ['src', 'test', 'docs', 'reports', 'deploy', 'scripts', 'tools', 'emulator', 'demo', 'bench', '.ci'];
const rooms = Object.keys(mayImport);
/** Made by a build or a start, not kept in the repository. */
const made = /^(?:dist|\.temper|node_modules)\//;

/** Words in code style that are paths of this repository: below a folder or a room of it, or with the ending of a source. */
const pathsIn = (text: string): string[] =>
  [...text.matchAll(/`([^`\s]+)`/g)]
    .map(([, word]) => word!)
    .filter((word) => /^[\w.@*{},/-]+$/.test(word) && !made.test(word))
    .filter((word) => [...roots, ...rooms].includes(word.split('/')[0]!) && word.includes('/'));

/** `tests/*.ts` and `a/{b,c}.ts` are there when what they stand for is. */
const isThere = (path: string, document: string): boolean => {
  const choice = /^(.*)\{([^}]*)\}(.*)$/.exec(path);
  if (choice) return choice[2]!.split(',').every((one) => isThere(`${choice[1]}${one}${choice[3]}`, document));
  const places = [root, join(root, 'src'), join(root, dirname(document))];
  if (!path.includes('*'))
    return places.some((place) => ['', '.ts', '.sql'].some((end) => existsSync(join(place, path + end))));
  const pattern = new RegExp(`^(?:src/)?${path.replaceAll(/[.+]/g, '\\$&').replaceAll('*', '[^/]*')}`);
  return files.some((file) => pattern.test(file));
};

test.each(documents)('every path that %s names, and every file it links to, is there', (document) => {
  const text = readDocument(document);
  const named = [...pathsIn(text).filter((path) => !isThere(path, document))];
  const linked = linksOf(text).filter((link) => !existsSync(join(root, dirname(document), link)));
  expect([...new Set([...named, ...linked])]).toEqual([]);
});

test('there are pages to look at', () => {
  expect(documents.length).toBeGreaterThan(40);
  expect(documents.flatMap((document) => pathsIn(readDocument(document))).length).toBeGreaterThan(100);
});
