/** What `.ci/run` counts, and what it does not let pass. */
import { resolve } from 'node:path';

const { tally } = jest.requireActual('../../scripts/lib/tally');

const core = ['policy', 'states', 'layout', 'replay', 'api', 'activities', 'e2e'];
const suite = (folder: string, ...statuses: string[]) => ({
  name: resolve(__dirname, '..', folder, 'some.test.ts'),
  status: statuses.includes('failed') ? 'failed' : 'passed',
  assertionResults: statuses.map((status) => ({ status, fullName: 'it works' })),
});
const green = core.map((folder) => suite(folder, 'passed'));

test('a run in which all is well counts its tests and finds no problem', () => {
  expect(tally([{ testResults: green }], [])).toEqual({ notes: [], problems: [], passed: 7, failed: 0, skipped: 0 });
});

test.each(core)('a core suite that did not run fails the whole run: %s', (folder) => {
  const others = green.filter(({ name }) => !name.includes(`/${folder}/`));
  expect(tally([{ testResults: others }], [])).toMatchObject({
    failed: 1,
    problems: [expect.stringContaining(folder)],
  });
});

test('one skipped test of a core suite fails the whole run, of another suite it is only reported', () => {
  const withSkips = [...green.slice(1), suite(core[0]!, 'passed', 'pending'), suite('clients', 'pending')];
  const { problems, notes, skipped } = tally([{ testResults: withSkips }], []);
  expect(skipped).toBe(2);
  expect(problems).toEqual([expect.stringContaining('test/policy')]);
  expect(notes).toEqual([
    'skipped: test/policy/some.test.ts (1): it works',
    'skipped: test/clients/some.test.ts (1): it works',
  ]);
});

test('where every tool is there, a suite whose tools are missing fails; elsewhere a line says so', () => {
  const reports = [{ testResults: [...green, suite('clients', 'passed', 'pending')] }];
  expect(tally(reports, [])).toMatchObject({ problems: [], failed: 0, skipped: 1 });
  expect(tally(reports, [], { allTools: true })).toMatchObject({
    problems: [expect.stringContaining('test/clients/some.test.ts was skipped')],
    failed: 1,
    skipped: 1,
  });
});

test('what is skipped everywhere, with a reason on record, fails nowhere', () => {
  const terraform = {
    ...suite('clients', 'passed', 'pending'),
    name: resolve(__dirname, '../clients/terraform.test.ts'),
  };
  expect(tally([{ testResults: [...green, terraform] }], [], { allTools: true })).toMatchObject({
    failed: 0,
    skipped: 1,
  });
});

test('a suite that could not be loaded, and a check that is no test, are failures', () => {
  const broken = { ...suite('bmc'), status: 'failed' };
  expect(tally([{ testResults: [...green, broken] }], ['npm run verify'])).toMatchObject({ passed: 7, failed: 2 });
});

test('a suite that ran twice counts once, as it went the second time', () => {
  const first = { testResults: [...green, suite('clients', 'failed')] };
  expect(tally([first, { testResults: [suite('clients', 'passed')] }], [])).toMatchObject({ passed: 8, failed: 0 });
});
