/** The site of the documents: every link of every page leads somewhere, its search answers questions, and what is broken is refused. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, normalize } from 'node:path';
import { createContext, runInContext } from 'node:vm';
import { buildSite } from '../../tools/site/build';
import { buildTestSite, questions, type TestSite } from '../support/site';

const root = join(__dirname, '../..');
let site: TestSite;
beforeAll(() => {
  site = buildTestSite();
});
afterAll(() => site.remove());

const filesOf = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
const read = (path: string): string => readFileSync(join(site.folder, path), 'utf8');

test('the documents make a site without a broken link', () => {
  expect(site.faults).toEqual([]);
  expect(filesOf(site.folder).filter((path) => path.endsWith('.html')).length).toBeGreaterThan(100);
});

// Read from the pages as they are written, and not from the list that the build itself checks.
test('every address in every page leads to a file of the site, and to a place in it', () => {
  const files = new Set(filesOf(site.folder));
  const pages = new Map([...files].filter((path) => path.endsWith('.html')).map((path) => [path, read(path)]));
  const ids = new Map(
    [...pages].map(([path, html]) => [path, [...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id!)]),
  );
  const wrong = [...pages].flatMap(([path, html]) =>
    [...html.matchAll(/ (?:href|src)="([^"]*)"/g)]
      .map(([, address]) => address!)
      .filter((address) => !/^(?:https?|mailto):/.test(address))
      .filter((address) => {
        const [file = '', anchor = ''] = address.split('#');
        const target = file === '' ? path : normalize(join(dirname(path), decodeURI(file)));
        return !files.has(target) || (anchor !== '' && !ids.get(target)?.includes(decodeURI(anchor)));
      })
      .map((address) => `${path}: ${address}`),
  );
  expect(wrong).toEqual([]);
  const twice = [...ids].filter(([, names]) => new Set(names).size < names.length).map(([path]) => path);
  expect(twice).toEqual([]);
});

test('a page takes nothing from a network', () => {
  const taken = filesOf(site.folder)
    .filter((path) => /\.(?:html|css)$/.test(path))
    .flatMap((path) => read(path).match(/(?: src=|<link[^>]* href=|url\()"?(?:https?:)?\/\/[^"\s)]+/g) ?? []);
  expect(taken).toEqual([]);
});

test('the same documents make the same bytes', () => {
  const again = buildTestSite();
  try {
    expect(filesOf(again.folder)).toEqual(filesOf(site.folder));
    for (const path of filesOf(again.folder))
      expect(readFileSync(join(again.folder, path)).equals(readFileSync(join(site.folder, path)))).toBe(true);
  } finally {
    again.remove();
  }
});

describe('search', () => {
  const find = (question: string): string[] => {
    const context = createContext({});
    runInContext('self = globalThis', context);
    for (const script of ['minisearch', 'search', 'search-index']) runInContext(read(`assets/${script}.js`), context);
    return runInContext(`temperFind(temperIndex, ${JSON.stringify(question)}).map(({ url }) => url)`, context);
  };

  test.each(questions)('"%s" is answered by %s among the first three', (question, page) => {
    expect(
      find(question)
        .slice(0, 3)
        .map((url) => url.split('#')[0]),
    ).toContain(page);
  });

  test('a name without meaning finds nothing', () => {
    expect(find('qqqxyzzyqqq')).toHaveLength(0);
  });
});

test('the matrices, settings, errors and requests are tables in their pages', () => {
  const rows = (path: string): number => read(path).split('<tr').length - 1;
  expect(rows('docs/policy-matrix-temper.txt.html')).toBeGreaterThan(400);
  expect(rows('docs/openapi.json.html')).toBeGreaterThan(250);
  expect(read('docs/settings.html')).toContain('<tr id="temper_heartbeat_ms"');
  expect(read('docs/errors.html')).toContain('<tr id="idempotencykeyreused"');
});

describe('a broken document', () => {
  let repository: string;
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(repository, path)), { recursive: true });
    writeFileSync(join(repository, path), text);
  };
  beforeEach(() => {
    repository = mkdtempSync(join(tmpdir(), 'temper-documents-'));
    write('README.md', '# Overview\n');
    write('docs/decisions/README.md', '# Decisions\n');
    write('reports/r.md', '# Report\n');
    write(
      'docs/README.md',
      '# Documents\n\n| a | b |\n| --- | --- |\n| **Try** | |\n| [A](a.md), [R](../reports/r.md) | x |\n',
    );
    write('docs/a.md', '# A\n\n## Limits\n\nText.\n');
  });
  afterEach(() => rmSync(repository, { recursive: true, force: true }));

  const faultsOf = (): readonly string[] => {
    const built = buildTestSite(repository);
    built.remove();
    return built.faults;
  };

  test.each([
    ['a link to no file', '[x](gone.md)', 'gone.md leads to no file; correct the path.'],
    ['a link out of the repository', '[x](../../etc/passwd)', '../../etc/passwd leads to no file; correct the path.'],
    ['a picture that is not there', '![x](images/gone.png)', 'images/gone.png leads to no file; correct the path.'],
    ['a link in HTML', '<a href="gone.html">x</a>', 'gone.html leads to no file; correct the path.'],
    [
      'an anchor that is not there',
      '[x](a.md#ends)',
      'a.md#ends leads to no heading of docs/a.md; correct what follows "#".',
    ],
    ['an anchor of the same page', '[x](#ends)', '#ends leads to no heading of docs/a.md; correct what follows "#".'],
  ])('%s fails the build with its file and line', (_, link, text) => {
    write('docs/a.md', `# A\n\n## Limits\n\nText\nand ${link} more.\n`);
    expect(faultsOf()).toEqual([`docs/a.md:6: ${text}`]);
  });

  test('a document that no row leads to fails the build', () => {
    write('docs/b.md', '# B\n');
    expect(faultsOf()).toEqual([
      'docs/README.md:1: docs/b.md has no row in this table; add one, or no reader finds it.',
    ]);
  });

  test('a folder that holds something else is not emptied', () => {
    expect(() => buildSite(root, repository)).toThrow(
      /holds something else than a site; name an empty folder with --out/,
    );
    expect(filesOf(repository)).toContain('docs/a.md');
  });
});
