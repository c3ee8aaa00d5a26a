/** Reads every import in src and holds it against the table of rooms. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { mayImport, typesOnly } from './rooms';

const root = resolve(__dirname, '../..');
const src = join(root, 'src');

/** Packages that pure rooms may use beside the language itself. */
const pure: Readonly<Record<string, readonly RegExp[]>> = {
  // How far two words are apart is arithmetic, and so are whether a network holds an address, and the hash of a text.
  // What a workflow imports of it may have no hash: the bundle of workflows refuses modules of Node.
  // A map that drops its oldest entries connects to nothing and reads no clock while its entries have no time to live.
  model: [/^fastest-levenshtein$/, /^ipaddr\.js$/, /^temporal-polyfill$/, /^node:crypto$/],
  // Policy files are YAML, and reading a text is as pure as what is read from it; so is the hash of one.
  policy: [/^yaml$/, /^node:crypto$/],
  workflows: [/^@temporalio\/(workflow|common)$/],
};

const files = (dir: string): string[] =>
  readdirSync(dir, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? files(join(dir, entry.name)) : /\.tsx?$/.test(entry.name) ? [join(dir, entry.name)] : [],
  );

type Import = { from: string; to: string; typeOnly: boolean; text: string };

const importsOf = (file: string): Import[] => {
  const text = readFileSync(file, 'utf8');
  const found = [
    ...text.matchAll(
      /^(?:import|export)\s+(type\s+)?(?:[^'";]*?\sfrom\s+)?'([^']+)'|\bimport\(\s*'([^']+)'\s*\)|\brequire\(\s*'([^']+)'\s*\)/gm,
    ),
  ];
  return found.map((match) => ({
    from: relative(src, file),
    to: match[2] ?? match[3] ?? match[4]!,
    typeOnly: match[1] !== undefined,
    text: match[0],
  }));
};

const all = files(src).flatMap(importsOf);
const roomOf = (path: string): string => path.split('/')[0]!;
const target = ({ from, to }: Import): string => relative(src, resolve(src, dirname(from), to));

test('every room is in the table and every file lies in a room', () => {
  expect(
    readdirSync(src)
      .sort()
      .filter((room) => !Object.hasOwn(mayImport, room)),
  ).toEqual([]);
});

test('rooms import only the rooms that the table allows', () => {
  const wrong = all
    .filter(({ to }) => to.startsWith('.'))
    .filter((one) => {
      const room = roomOf(one.from);
      const path = target(one);
      if (roomOf(path) === room) return false;
      if (one.typeOnly && typesOnly[room]?.includes(roomOf(path))) return false;
      return !mayImport[room]!.some((allowed) => (allowed.includes('/') ? path === allowed : roomOf(path) === allowed));
    })
    .map(({ from, text }) => `${from}: ${text.replace(/\s+/g, ' ')}`);
  expect(wrong).toEqual([]);
});

test('pure rooms import no package but those that the table allows', () => {
  const wrong = all
    .filter(({ from, to }) => Object.hasOwn(pure, roomOf(from)) && !to.startsWith('.'))
    .filter(({ from, to }) => !pure[roomOf(from)]!.some((allowed) => allowed.test(to)))
    .map(({ from, text }) => `${from}: ${text}`);
  expect(wrong).toEqual([]);
});

test('only the programs read the environment', () => {
  const readers = files(src)
    .filter((file) => /\bprocess\.env\b/.test(readFileSync(file, 'utf8')))
    .map((file) => relative(src, file));
  expect(readers.filter((file) => !['bin', 'process', 'cli'].includes(roomOf(file)))).toEqual([]);
});

test('every file opens with a sentence that says what it is for', () => {
  const silent = files(src).filter((file) => !/^(?:#!.*\n)?\/\*\*/.test(readFileSync(file, 'utf8')));
  expect(silent.map((file) => relative(src, file))).toEqual([]);
});
