/** `temper runbooks check`: what it asks of the API, what it prints, and how it ends. */
import { temper } from './support/command';
import { type Double, startDouble } from './support/double';

let api: Double;
let checked: { errors: number; warnings: number; findings: object[] };
beforeAll(async () => {
  api = await startDouble(() => ({ json: checked }));
});
beforeEach(() => {
  api.asked.length = 0;
  checked = { errors: 0, warnings: 0, findings: [] };
});
afterAll(() => api.close());

const steps = [{ interface: 'power', step: 'reboot', order: 1 }];
const does = (line: string, files: Record<string, string> = {}) =>
  temper(`runbooks check ${line}`, { env: { TEMPER_URL: api.url, TEMPER_TOKEN: 't' }, files });

test('a stored runbook is checked on the nodes that are named', async () => {
  expect(await does('CUSTOM_X --node n-1 --node n-2 --verb clean')).toMatchObject({
    status: 0,
    out: 'Nothing is wrong.\n',
  });
  expect(api.asked[0]).toMatchObject({
    method: 'POST',
    path: '/temper/v1/runbooks/CUSTOM_X/check',
    body: { nodes: ['n-1', 'n-2'], verb: 'clean' },
  });
});

test.each([
  ['JSON', JSON.stringify({ name: 'CUSTOM_X', steps })],
  ['YAML', 'steps:\n- interface: power\n  step: reboot\n  order: 1\n'],
  ['the list alone', JSON.stringify(steps)],
])('one that is not stored is read from a file: %s', async (_, text) => {
  expect((await does('--file /x', { '/x': text })).status).toBe(0);
  expect(api.asked[0]).toMatchObject({ path: '/temper/v1/runbooks/check', body: { steps } });
});

test.each([
  ['', {}],
  ['CUSTOM_X --file /x', { '/x': '[]' }],
  ['--file /none', {}],
  ['--file /x', { '/x': '{' }],
  ['--file /x', { '/x': 'name: y' }],
])('"%s" is wrong usage, and nothing is asked', async (line, files) => {
  expect((await temper(['runbooks', 'check', ...line.split(' ').filter(Boolean)], { files })).status).toBe(2);
  expect(api.asked).toEqual([]);
});

test('an error makes it fail, a warning does not', async () => {
  const finding = {
    severity: 'error',
    index: 0,
    step: 'bios.apply_configuration',
    node: 'n-1',
    says: 'Setting Sriov is not known.',
  };
  checked = { errors: 1, warnings: 0, findings: [finding] };
  const { status, out } = await does('CUSTOM_X');
  expect(status).toBe(1);
  expect(out).toMatch(
    /^error +0 +bios\.apply_configuration +n-1 +Setting Sriov is not known\.\n1 errors, 0 warnings\.$/m,
  );
  checked = { errors: 0, warnings: 1, findings: [{ ...finding, severity: 'warning' }] };
  expect((await does('CUSTOM_X')).status).toBe(0);
});
