/** `temper runbooks`: what it asks of the API, what it prints, and how it ends. */
import { temper } from './support/command';
import { type Double, startDouble } from './support/double';

let api: Double;
let checked: object;
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

test('parameters that the file declares go with its steps, and values beside them', async () => {
  const parameters = [{ name: 'mode', schema: { type: 'string' } }];
  await does('--file /x --param mode=Uefi', { '/x': JSON.stringify({ steps, parameters }) });
  expect(api.asked[0]!.body).toEqual({ steps, declared: parameters, parameters: { mode: 'Uefi' } });
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

test.each([
  ['steps:\n\t- a\n', '/x, line 2: Tabs are not allowed as indentation: indent with spaces.'],
  ['steps: []\nsteps: []\n', '/x, line 2: Map keys must be unique: a key stands there once.'],
  [
    'a: &a [1]\nsteps: *a\n',
    '/x: Alias resolution is disabled: write the value out where it is used; aliases are not read.',
  ],
  ['steps: [\u001b]2;\u0007', '/x, line 1: '],
])('a file that is %j is refused as that of a plan is, with its line', async (text, says) => {
  const { status, err } = await does('--file /x', { '/x': text });
  expect([status, err]).toEqual([2, expect.stringContaining(says)]);
  expect(err).not.toContain('\u001b');
  expect(api.asked).toEqual([]);
});

test('a warning of the parser’s is none of the command’s', async () => {
  const warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => {});
  expect((await does('--file /x', { '/x': 'steps: [!odd word]' })).status).toBe(0);
  expect(warned).not.toHaveBeenCalled();
  warned.mockRestore();
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

const runbooks = (line: string | readonly string[]) =>
  temper(typeof line === 'string' ? `runbooks ${line}` : ['runbooks', ...line], {
    env: { TEMPER_URL: api.url, TEMPER_TOKEN: 't' },
  });
const revision = {
  revision: 2,
  newest: true,
  digest: 'ab'.repeat(32),
  name: 'flash',
  author: { user_name: 'alice', user_id: 'u1' },
  created_at: '2026-11-22T08:00:00.000Z',
  withdrawn: null,
};

test('the states of a runbook are a table', async () => {
  const withdrawn = { at: '2026-11-22T09:00:00.000Z', by: null, reason: 'it bricks model X' };
  checked = { revisions: [revision, { ...revision, revision: 1, newest: false, author: null, withdrawn }] };
  const { status, out } = await runbooks('revisions flash');
  expect([status, api.asked[0]]).toEqual([
    0,
    expect.objectContaining({ method: 'GET', path: '/temper/v1/runbooks/flash/revisions' }),
  ]);
  expect(out).toMatch(/^2 \(newest\) +2026-11-22T08:00:00\.000Z +alice +abababababab +flash +-$/m);
  expect(out).toMatch(/^1 +2026-11-22T08:00:00\.000Z +- +abababababab +flash +it bricks model X$/m);
});

test.each([
  ['diff flash 3', '/temper/v1/runbooks/flash/revisions/3/diff'],
  ['diff flash 3 --from 1', '/temper/v1/runbooks/flash/revisions/3/diff?from=1'],
])('%s asks %s, and says what differs', async (line, path) => {
  const [from, to] = [
    { revision: 2, digest: 'a' },
    { revision: 3, digest: 'b' },
  ];
  checked = { from, to, patch: [{ op: 'replace', path: '/steps/0/args/value', value: 'c' }] };
  expect(await runbooks(line)).toMatchObject({
    status: 0,
    out: 'What makes revision 3 of revision 2:\n  replace /steps/0/args/value "c"\n',
  });
  expect(api.asked[0]).toMatchObject({ path });
  checked = { from, to, patch: [] };
  expect((await runbooks(line)).out).toMatch(/^Between .* only secrets differ/);
  checked = { from, to: { ...to, digest: 'a' }, patch: [] };
  expect((await runbooks(line)).out).toMatch(/^Nothing differs between revision 2 and revision 3\.$/m);
});

test('a revision is withdrawn with a reason, and not without one', async () => {
  checked = { ...revision, withdrawn: {} };
  expect(await runbooks(['withdraw', 'flash', '2', '--reason', 'it bricks'])).toMatchObject({
    status: 0,
    out: 'Revision 2 of flash is withdrawn. Nothing is run by this runbook until it is changed. Runs under way go on.\n',
  });
  expect(api.asked[0]).toMatchObject({
    method: 'POST',
    path: '/temper/v1/runbooks/flash/revisions/2/withdraw',
    body: { reason: 'it bricks' },
  });
  api.asked.length = 0;
  expect((await runbooks('withdraw flash 2')).status).toBe(2);
  expect(api.asked).toEqual([]);
});
