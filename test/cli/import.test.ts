/** `temper import`: what it asks of the import, and what it prints; the import itself is another test's. */
import type { ImportReport } from '../../src/cli';
import { ironicInto } from '../../src/process/command/ironic';
import { temper } from './support/command';

const none = { new: 0, changed: 0, same: 0, kept: 0, refused: 0 };
const report = (dry_run: boolean, counts: Partial<typeof none>, lines: ImportReport['lines'] = []): ImportReport => ({
  not_taken: [{ what: 'runbooks', count: 3, instead: 'create them again' }],
  dry_run,
  counts: { node: { ...none, ...counts } },
  lines,
});

test('it is a dry run until --apply is given, of all nodes or of some', async () => {
  const importIronic = jest.fn(async ({ dryRun }) => report(dryRun, { new: 2 }));
  const world = { importIronic, env: { TEMPER_IMPORT_URL: 'mysql://a/b' } };
  expect((await temper('import', world)).out).toMatch(/Nothing was stored. Give --apply to take it.\n$/);
  expect((await temper('import --apply --from postgresql://c/d --node n1 n2', world)).out).toMatch(/\nTaken.\n$/);
  await temper('import --ironic-stopped', world);
  expect(importIronic.mock.calls).toEqual([
    [{ url: 'mysql://a/b', dryRun: true }],
    [{ url: 'postgresql://c/d', dryRun: false, only: new Set(['n1', 'n2']) }],
    [{ url: 'mysql://a/b', dryRun: true, ironicStopped: true }],
  ]);
});

test('each thing that is not taken has its line, and a run that changes nothing says so', async () => {
  const uuid = '11111111-2222-4333-8444-000000000030';
  const line = { kind: 'node', uuid, name: 'bmc-3', is: 'refused', reason: 'it is moving (cleaning)' };
  const done = await temper('import --apply', {
    importIronic: async () => report(false, { same: 3, refused: 1 }, [line]),
  });
  expect(done.status).toBe(1);
  expect(done.out).toMatch(new RegExp(`^refused: node bmc-3 \\(${uuid}\\): it is moving \\(cleaning\\).\n`));
  expect(done.out).toMatch(/node +0 +0 +3 +0 +1\nNothing changed.\n$/);
  expect(done.out).toContain(
    '\nnot taken: 3 runbooks in the whole database (create them again: docs/from-ironic.md).\n',
  );
  const json = await temper('--json import', { importIronic: async () => report(true, {}) });
  expect(JSON.parse(json.out)).toEqual(report(true, {}));
});

test('the status is that of a refusal where a node is refused, in both forms and in a dry run', async () => {
  const statusOf = async (line: string, refused: number) =>
    (await temper(line, { importIronic: async () => report(true, { new: 1, refused }) })).status;
  for (const line of ['import', 'import --apply', '--json import'])
    expect([await statusOf(line, 1), await statusOf(line, 0)]).toEqual([1, 0]);
});

test('settings, an address and a kind of database are asked for before anything is opened', async () => {
  const settings = {
    TEMPER_DATABASE_URL: 'postgres://127.0.0.1:1/none',
    TEMPER_SECRETS_PUBLIC_KEYS: `k1:${Buffer.alloc(32, 1).toString('base64')}`,
  };
  const refused = (env: NodeJS.ProcessEnv, url?: string) =>
    ironicInto(env, { url, dryRun: true }).then(
      () => 'taken',
      ({ message }: Error) => message,
    );
  expect(await refused({}, 'mysql://a/b')).toMatch(/TEMPER_DATABASE_URL/);
  expect(await refused(settings)).toMatch(/^Give --from or set TEMPER_IMPORT_URL/);
  expect(await refused(settings, 'no address')).toBe('The address of the database is no URL.');
  expect(await refused(settings, 'sqlite:///var/lib/ironic')).toMatch(/kind sqlite cannot be imported from/);
});
