/** `temper policy`: what operators ask of files before they are loaded, and of the API while a policy is in force. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createPolicy, nodeTarget, personas } from '../../src/policy';
import { temper } from './support/command';
import { type Answer, startDouble } from './support/double';

const root = join(__dirname, '../..');
const text = (path: string): string => readFileSync(join(root, path), 'utf8');
const conformance = 'policy-conformance.json';
const files = {
  [conformance]: text('test/policy/data/policy-conformance.json'),
  'safe.yaml': text('deploy/policies/safe-operator.yaml'),
  'support.yaml': text('deploy/policies/support-admin.yaml'),
  'metal.yaml': text('deploy/policies/metalsmith.yaml'),
  'good.yaml': '"baremetal:node:set_power_state": "role:admin and system_scope:all"\n',
  'wide.yaml': '"baremetal:node:set_power_state": "rule:is_admin"\n',
  'bad.yaml': '# note\n"baremetal:node:set_power_state": "not rolex"\n"baremetal:node:get": "rule:nobody"\n',
  'second.yaml': '"baremetal:node:set_power_state": "!"\n',
  'no.json': '{"cases": 5}',
};
const run = (line: string | readonly string[], env: Record<string, string> = {}) => temper(line, { files, env });

describe('check', () => {
  test('passes every recorded case in compat mode', async () => {
    const said = await run(`policy check ${conformance} --mode compat`);
    expect(said).toMatchObject({ status: 0, err: '' });
    expect(said.out).toMatch(/^268 passed, 0 failed$/m);
  });

  test('passes them in strict mode, and says how many are answered more strictly', async () => {
    const { status, out } = await run(`policy check ${conformance}`);
    expect(status).toBe(0);
    expect(out).toMatch(/^\d+ are answered more strictly/m);
    expect(out).toMatch(/^268 passed, 0 failed$/m);
  });

  test('names a case that fails, and ends with status 1', async () => {
    const wrong = JSON.stringify({
      cases: [
        { id: 'X1', group: 'g', tier: 'core', rule: 'role:a', target: {}, creds: { roles: ['a'] }, expected: false },
        { id: 'X2', group: 'g', tier: 'core', rule: 'role:a', target: {}, creds: { roles: ['a'] }, expected: true },
      ],
    });
    const { status, out } = await temper('policy check wrong.json', { files: { 'wrong.json': wrong } });
    expect(status).toBe(1);
    expect(out).toContain('failed  X1: the reference says false, this engine true');
    expect(out).toMatch(/^1 passed, 1 failed$/m);
  });

  test.each([
    ['policy check nowhere.json', 'There is no file nowhere.json'],
    ['policy check no.json', 'holds no cases'],
    ['policy check good.yaml', 'is no JSON'],
    [`policy check ${conformance} --mode lax`, '--mode must be strict, compat'],
  ])('%s is wrong usage', async (line, says) => {
    const { status, err } = await run(line);
    expect(status).toBe(2);
    expect(err).toContain(says);
  });
});

describe('explain', () => {
  const rule = 'baremetal:node:set_provision_state';

  test('names the check that a refused lessee failed at, and ends with status 1', async () => {
    const { status, out } = await run(`policy explain ${rule} --as lessee-member`);
    expect(status).toBe(1);
    expect(out).toContain(`refused: ${rule} for lessee-member`);
    expect(out).toContain('The text comes from the default.');
    expect(out).toMatch(/what failed is role:manager {2}\(has member, reader; wanted manager\)/);
    expect(out).toMatch(/^ {2}true +project_id:%\(node\.lessee\)s {2}\(has project-lessee; wanted project-lessee\)$/m);
  });

  test.each([
    [
      'baremetal:node:list',
      'stranger-admin',
      '',
      'missing',
      'The list leaves the object out: baremetal:node:get does not show it; baremetal:node:list would admit.',
    ],
    [
      'baremetal:port:list',
      'owner-reader',
      '"baremetal:node:get": "!"',
      'missing',
      'The list leaves the object out: baremetal:node:get does not show it',
    ],
    [
      'baremetal:allocation:list',
      'system-reader',
      '"baremetal:allocation:list_all": "!"',
      'refused',
      'The API answers 403: callers without a project need baremetal:allocation:list_all, which refuses',
    ],
    ['baremetal:node:vif:list', 'stranger-admin', '"baremetal:node:vif:list": "@"', 'missing', 'The API answers 404'],
    [
      'baremetal:port:create',
      'owner-admin',
      '"baremetal:node:get": "!"\n"baremetal:port:create": "rule:is_node_owner"',
      'refused',
      'The API answers 403: baremetal:node:get does not show the node',
    ],
  ])(
    'says of %s for %s with %j what the API answers, and by which other rule',
    async (rule, who, text, answer, says) => {
      const { status, out } = await temper(`policy explain ${rule} --as ${who} --file own.yaml`, {
        files: { 'own.yaml': `${text}\n` },
      });
      expect([status, out.split('\n')[0]]).toEqual([1, `${answer}: ${rule} for ${who}`]);
      expect(out).toContain(says);
    },
  );

  test('ends with status 0 where the caller may', async () => {
    expect(await run(`policy explain ${rule} --as owner-member`)).toMatchObject({ status: 0, err: '' });
    expect(await run(`policy explain ${rule} --roles member --project p7 --owner p7`)).toMatchObject({ status: 0 });
    expect(await run(`policy explain ${rule} --roles member --system --owner none`)).toMatchObject({ status: 0 });
    expect(await run(`policy explain ${rule} --roles member --project p7 --owner none`)).toMatchObject({ status: 1 });
  });

  test('tells the line of the file that decides', async () => {
    const { out } = await run('policy explain baremetal:node:set_power_state --as owner-admin --file good.yaml');
    expect(out).toContain('The text comes from good.yaml:1.');
  });

  test('asks about admins of several projects, whom a file of its own may know', async () => {
    const asked = 'policy explain baremetal:node:get --as stranger-admin --file support.yaml';
    expect(await run(asked)).toMatchObject({ status: 1 });
    expect(await run(`${asked} --admin-of a,project-lessee`)).toMatchObject({ status: 0 });
    const own = 'policy explain baremetal:node:get --roles admin --project p --owner o --file support.yaml --admin-of';
    expect([(await run(`${own} o`)).status, (await run(`${own} x`)).status]).toEqual([0, 1]);
  });

  test('gives JSON to programs', async () => {
    const { out } = await run(`--json policy explain ${rule} --as stranger-admin`);
    expect(JSON.parse(out)).toMatchObject({ rule, verdict: 'refused', tree: { is: 'or', verdict: 'false' } });
  });

  test.each([
    [`policy explain ${rule}`, 'Say who'],
    [
      'policy explain baremetal:node:gte --as owner-admin',
      'There is no rule baremetal:node:gte. Did you mean baremetal:node:get?',
    ],
    ['policy explain far_from_all --as system-admin', 'There is no rule far_from_all.'],
    [`policy explain ${rule} --as king`, '--as must be one of system-admin'],
    [`policy explain ${rule} --as owner-admin --file nowhere.yaml`, 'There is no file nowhere.yaml'],
  ])('%s is wrong usage', async (line, says) => {
    const { status, err } = await run(line);
    expect(status).toBe(2);
    expect(err).toContain(says);
  });

  test('asks the API about an object of its own', async () => {
    const explanation = createPolicy({ set: 'temper' }).explain(
      rule,
      personas['lessee-member'],
      nodeTarget({ owner: 'o', lessee: 'project-lessee' }),
    );
    const api = await startDouble(() => ({ json: explanation }));
    const { status, out } = await run(`policy explain ${rule} --node bmc-1`, {
      TEMPER_URL: api.url,
      TEMPER_TOKEN: 't',
    });
    await api.close();
    expect(api.asked[0]!.path).toBe(`/temper/v1/policy/explain?rule=${encodeURIComponent(rule)}&node=bmc-1`);
    expect(status).toBe(1);
    expect(out).toContain(`refused: ${rule} for these credentials`);
  });

  test('asks the API about another caller and its object, whose projects a persona’s name means', async () => {
    const explanation = createPolicy({ set: 'temper' }).explain(
      rule,
      personas['lessee-member'],
      nodeTarget({ owner: 'o', lessee: null }),
    );
    const api = await startDouble(({ path }) =>
      path.startsWith('/v1/nodes/') ? { json: { owner: 'p-owner', lessee: null } } : { json: explanation },
    );
    const env = { TEMPER_URL: api.url, TEMPER_TOKEN: 't' };
    const asks = async (who: string) => {
      const said = await run(`policy explain ${rule} --node bmc-1 ${who}`, env);
      const { searchParams } = new URL(`http://x${api.asked.at(-1)!.path}`);
      return { said, query: Object.fromEntries(searchParams) };
    };
    const owner = await asks('--as owner-member');
    expect(owner.query).toEqual({ rule, node: 'bmc-1', roles: 'member,reader', project_id: 'p-owner' });
    expect(owner.said.out).toContain('for owner-member (project p-owner)');
    expect((await asks('--as system-reader')).query).toEqual({ rule, node: 'bmc-1', roles: 'reader', system: 'true' });
    expect((await asks('--roles member --project p7')).query).toMatchObject({ project_id: 'p7' });
    const lessee = await asks('--as lessee-member');
    expect([lessee.said.status, lessee.said.err]).toEqual([2, expect.stringContaining('the object has no lessee')]);
    await api.close();
  });
});

describe('diff', () => {
  test('tells who gains what, grouped, and ends with status 1', async () => {
    const { status, out } = await run('policy diff temper safe.yaml');
    expect(status).toBe(1);
    expect(out).toBe(text('test/policy/data/profile-safe-operator.txt'));
  });

  test('lists admins of several projects where a text distinguishes them from others', async () => {
    const { out } = await run('policy diff temper support.yaml');
    expect(out).toBe(text('test/policy/data/profile-support-admin.txt'));
  });

  test('takes a set with files, and several files', async () => {
    const metal = await run('policy diff closed closed:metal.yaml');
    expect(metal.out).toBe(text('test/policy/data/profile-metalsmith.txt'));
    const both = await run('policy diff second.yaml good.yaml,second.yaml');
    expect(both).toMatchObject({ status: 0, out: 'No cell changes.\n' });
  });

  test('shows what strict mode changes of the original', async () => {
    const { out } = await run('--json policy diff ironic temper --mode compat');
    expect(JSON.parse(out).changed).toBeGreaterThan(0);
  });
});

describe('a folder', () => {
  const folder = {
    'policy.d/20-shut.yaml': '"baremetal:node:set_power_state": "!"\n',
    'policy.d/10-wide.yml': '"baremetal:node:set_power_state": "role:member and system_scope:all"\n',
    'policy.d/30-more.json': '{"baremetal:node:inject_nmi": "!"}',
    'policy.d/40-old.yaml~': 'this is no policy',
    'policy.d/.hidden.yaml': 'neither is this',
    'bad.d/one.yaml': '"baremetal:node:get": "rule:nobody"\n',
    'empty.d/README': 'nothing here',
    'cases.d/one.json': files[conformance],
  };
  const there = (line: string, env: Record<string, string> = {}) =>
    temper(line, { files: { ...files, ...folder }, env });
  const hash = async (name: string): Promise<string> =>
    JSON.parse((await there(`--json policy lint ${name}`)).out).hash;

  test('is read as the API reads it: sorted, the later text counts, other files are passed over and named', async () => {
    const ordered = 'policy.d/10-wide.yml,policy.d/20-shut.yaml,policy.d/30-more.json';
    expect(await hash('policy.d')).toBe(await hash(ordered));
    expect(await hash('policy.d/')).toBe(await hash('policy.d'));
    expect(await hash('closed:policy.d')).toBe(await hash(`closed:${ordered}`));
    expect(await hash('policy.d,good.yaml')).not.toBe(await hash('good.yaml,policy.d'));
    const { status, out } = await there('policy lint policy.d');
    expect([status, out]).toEqual([0, expect.stringContaining('policy.d/40-old.yaml~: no policy file by its name')]);
    expect(out).not.toContain('hidden');
    expect((await there('policy lint policy.d --warnings-fail')).status).toBe(1);
  });

  test('can stand wherever a file can', async () => {
    expect(await there('policy diff policy.d policy.d')).toMatchObject({ status: 0, out: 'No cell changes.\n' });
    expect((await there('policy diff temper policy.d')).out).toContain('baremetal:node:inject_nmi');
    const power = 'policy explain baremetal:node:set_power_state --as system-admin';
    expect((await there(`${power} --file policy.d`)).out).toContain('The text comes from policy.d/20-shut.yaml:1.');
    expect((await there('policy matrix policy.d')).status).toBe(0);
    expect((await there('policy check cases.d --mode compat')).out).toMatch(/^268 passed, 0 failed$/m);
  });

  test('of the settings is what is asked about without a name', async () => {
    const env = { TEMPER_POLICY_FILE: 'good.yaml', TEMPER_POLICY_DIRS: 'policy.d' };
    const { out } = await there('policy explain baremetal:node:set_power_state --as system-admin', env);
    expect(out).toContain('policy.d/20-shut.yaml:1');
  });

  test('with a faulty file is refused by file and line, one without a policy file is wrong usage', async () => {
    const bad = await there('policy lint bad.d');
    expect([bad.status, bad.err]).toEqual([1, expect.stringContaining('bad.d/one.yaml:1')]);
    const empty = await there('policy lint empty.d');
    expect([empty.status, empty.err]).toEqual([2, expect.stringContaining('Folder empty.d holds no *.yaml')]);
  });
});

describe('lint', () => {
  test('tells every fault of a file with its line and the way out, and ends with status 1', async () => {
    const { status, err } = await run('policy lint bad.yaml');
    expect(status).toBe(1);
    expect(err).toContain('bad.yaml:2: rule "baremetal:node:set_power_state": "rolex" has no colon');
    expect(err).toContain('bad.yaml:3: rule "baremetal:node:get": it refers to rule:nobody, which nothing defines');
  });

  test('warns of an admin without scope and offers the scoped text; warnings fail where that is asked for', async () => {
    const { status, out } = await run('policy lint wide.yaml');
    expect(status).toBe(0);
    expect(out).toContain(
      'warning  wide.yaml:1: rule "baremetal:node:set_power_state": rule:is_admin asks for no scope',
    );
    expect(out).toContain('write (role:admin and system_scope:all) in its place');
    expect(await run('policy lint wide.yaml --warnings-fail')).toMatchObject({ status: 1 });
    expect(await run('policy lint good.yaml --warnings-fail')).toMatchObject({ status: 0 });
  });

  test('in compat mode faults are warnings', async () => {
    const { status, out } = await run('policy lint bad.yaml --mode compat');
    expect(status).toBe(0);
    expect(out).toContain('rule:nobody, which nothing defines');
  });
});

test('matrix prints the table that is committed', async () => {
  const { out, status } = await run('policy matrix ironic');
  expect(status).toBe(0);
  expect(out.split('\n').filter((line) => line.startsWith('baremetal:node:set_power_state'))).toHaveLength(3);
  expect((await run('policy matrix')).out).not.toBe(out);
  expect((await run('policy matrix', { TEMPER_POLICY_SET: 'ironic' })).out).toBe(out);
});

test('sample prints every rule of the set as a comment', async () => {
  const { out } = await run('policy sample --set closed');
  expect(out).toContain('# "baremetal:node:create:self_owned_node": "!"');
  expect(out.split('\n').filter((line) => line !== '' && !line.startsWith('#'))).toEqual([]);
});

describe('shadow', () => {
  const asking = async (answer: Answer) => {
    const api = await startDouble(() => answer);
    const said = await run('policy shadow', { TEMPER_URL: api.url, TEMPER_TOKEN: 't' });
    await api.close();
    return said;
  };
  const report = { hash: 'abc', since: '2026-11-21T12:00:00Z', decisions: 7, left_out: 0, differences: [] };

  test('tells that nothing differs', async () => {
    const said = await asking({ json: report });
    expect(said).toMatchObject({ status: 0, out: expect.stringContaining('7 decisions since 2026-11-21T12:00:00Z') });
  });

  test('tells what differs, and ends with status 1', async () => {
    const one = { rule: 'r:x', would: 'refuse', scope: 'project', roles: ['reader'], count: 3, first: 'f', last: 'l' };
    const said = await asking({ json: { ...report, differences: [one] } });
    expect(said.status).toBe(1);
    expect(said.out).toMatch(/3 +would refuse +r:x +project +reader/);
  });

  test('passes on that there is no second policy', async () => {
    const said = await asking({
      status: 404,
      json: { error_message: JSON.stringify({ faultstring: 'No second policy' }) },
    });
    expect(said).toMatchObject({ status: 1, err: expect.stringContaining('No second policy') });
  });
});
