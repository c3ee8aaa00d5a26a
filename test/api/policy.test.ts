/** Policy over HTTP: why a decision falls as it does, for those who may ask, and what a second policy would do. */
import { createPolicy, createShadow } from '../../src/policy';
import { faultOf, startTestApi, type TestApi } from '../support/api';
import { runningRun } from '../support/happenings';
import { lessee, owner, type Persona, personas } from '../support/world';

const power = 'baremetal:node:set_power_state';
const explainRule = 'temper:policy:explain';

let api: TestApi;
let node: string;
beforeAll(async () => {
  api = await startTestApi();
  const [row] = await api.sql<{ uuid: string }[]>`
    insert into nodes ${api.sql({ name: 'asked', driver: 'fake-hardware', provision_state: 'active', owner, lessee } as never)}
    returning uuid`;
  node = row!.uuid;
  await api.sql`insert into runbooks (name, steps, public, owner, traits)
    values ('CUSTOM_THEIRS', '[]', false, ${owner}, '{}'), ('CUSTOM_PUBLIC', '[]', true, null, '{}')`;
});
afterEach(() => api.setPolicy({ set: 'temper' }));
afterAll(() => api?.close());

const explain = (who: Persona, query: string) => api.as(who, 'GET', `/temper/v1/policy/explain?${query}`);

/** Opens the question to every caller who sees the object. */
const openTo = (text: string, more: Record<string, unknown> = {}) =>
  api.setPolicy({ set: 'temper', overrides: { [explainRule]: text, ...more } });

describe('an explanation', () => {
  test('tells a system reader the verdict, the tree, and the rule set it was made by', async () => {
    const { status, body } = await explain('system-reader', `rule=${power}&node=asked`);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      rule: power,
      verdict: 'refused',
      why: 'check',
      scope: { caller: 'system', admitted: ['system', 'project'] },
      from: { rule: power, from: 'default' },
      tree: { is: 'or', verdict: 'false' },
      rule_set: api.rooms.policy().hash,
    });
    expect(JSON.stringify(body.tree)).toContain(owner);
  });

  test('is about a run as about its node, and a hidden run is a missing one', async () => {
    const { run } = await runningRun(api);
    const skip = 'rule=temper:run:skip';
    const asked = await explain('system-reader', `${skip}&run=${run}`);
    expect(asked.body).toMatchObject({ rule: 'temper:run:skip', answer: 'refused' });
    const made = await explain('system-reader', `${skip}&run=${run}&roles=manager&project_id=${owner}`);
    expect(made.body).toMatchObject({ answer: 'allowed' });
    expect((await explain('system-reader', `${skip}&run=${run}&node=asked`)).status).toBe(400);
    openTo('');
    expect((await explain('stranger-admin', `${skip}&run=${run}`)).status).toBe(404);
    expect((await explain('stranger-admin', `${skip}&run=${node}`)).status).toBe(404);
  });

  test('tells a system reader about a caller who is made up', async () => {
    const may = async (query: string) =>
      (await explain('system-reader', `rule=${power}&node=${node}&${query}`)).body.verdict;
    expect(await may(`roles=member&project_id=${owner}`)).toBe('allowed');
    expect(await may(`roles=reader&project_id=${owner}`)).toBe('refused');
    expect(await may('roles=admin&project_id=somewhere-else')).toBe('refused');
    expect(await may('roles=member&system=true')).toBe('allowed');
  });

  test('tells what the API answers, where the object is hidden from the caller that is made up', async () => {
    const about = async (query: string) => (await explain('system-reader', `rule=${power}&node=${node}&${query}`)).body;
    expect(await about(`roles=member&project_id=${owner}`)).toMatchObject({ verdict: 'allowed', answer: 'allowed' });
    expect(await about(`roles=reader&project_id=${owner}`)).toMatchObject({ verdict: 'refused', answer: 'refused' });
    expect(await about('roles=admin&project_id=somewhere-else')).toMatchObject({
      answer: 'missing',
      sight: { rule: 'baremetal:node:get', verdict: 'refused' },
    });
  });

  test('tells about runbooks', async () => {
    const { body } = await explain(
      'system-reader',
      'rule=baremetal:runbook:use&runbook=CUSTOM_PUBLIC&roles=member&project_id=x',
    );
    expect(body.verdict).toBe('allowed');
  });

  test.each(['owner-admin', 'lessee-admin', 'stranger-admin'] as const)('is refused to %s, by name', async (who) => {
    const reply = await explain(who, `rule=${power}`);
    expect(reply.status).toBe(403);
    expect(faultOf(reply)).toContain(explainRule);
  });

  test('of an object that is hidden is as of one that is missing', async () => {
    openTo('role:reader');
    for (const kind of ['node', 'runbook', 'allocation']) {
      const missing = await explain('stranger-admin', `rule=${power}&${kind}=nothing-here`);
      expect(missing.status).toBe(404);
    }
    const hidden = await explain('stranger-admin', `rule=${power}&node=asked`);
    const missing = await explain('stranger-admin', `rule=${power}&node=gone`);
    expect(hidden.status).toBe(404);
    expect(faultOf(hidden).replace('asked', 'gone')).toBe(faultOf(missing));
    expect((await explain('stranger-admin', 'rule=x&runbook=CUSTOM_THEIRS')).status).toBe(404);
  });

  test('shows a project no other project’s id, neither of the object nor of the file', async () => {
    openTo('role:reader', { [power]: `project_id:secret-project or (role:admin and project_id:%(node.owner)s)` });
    const { status, body } = await explain('lessee-member', `rule=${power}&node=asked`);
    expect(status).toBe(200);
    expect(body).toMatchObject({ verdict: 'refused', why: 'check' });
    const text = JSON.stringify(body);
    expect(text).not.toContain(owner);
    expect(text).not.toContain('secret-project');
    expect(text).toContain('(another project)');
    expect(text).toContain(lessee);
  });

  test('about another caller is for system callers only', async () => {
    openTo('role:reader');
    const reply = await explain('owner-admin', `rule=${power}&node=asked&roles=admin&project_id=${lessee}`);
    expect(reply.status).toBe(403);
    expect(faultOf(reply)).toContain(explainRule);
  });

  test.each([
    ['', 'rule'],
    [`rule=${power}&node=asked&runbook=CUSTOM_PUBLIC`, 'one of node, run, runbook and allocation'],
    [`rule=${power}&port=x`, 'port'],
  ])('of a question like "%s" is a 400 that says what is wrong', async (query, says) => {
    const reply = await explain('system-reader', query);
    expect(reply.status).toBe(400);
    expect(faultOf(reply)).toContain(says);
  });
});

describe('the second policy', () => {
  const ask = (who: Persona) => api.as(who, 'GET', '/temper/v1/policy/shadow');
  const second = createPolicy({ set: 'temper', overrides: { [power]: '!' } });

  test('is not there where the settings name none', async () => {
    const reply = await ask('system-reader');
    expect(reply.status).toBe(404);
    expect(faultOf(reply)).toContain('TEMPER_POLICY_SHADOW_FILE');
  });

  test('tells its differences to system readers only', async () => {
    const shadow = createShadow(second, { now: () => new Date(0) });
    shadow.beside(createPolicy({ set: 'temper' })).allows(power, personas['system-member']);
    Object.assign(api.rooms, { shadow: shadow.report });
    expect((await ask('owner-admin')).status).toBe(403);
    const { body } = await ask('system-reader');
    expect(body).toMatchObject({
      hash: second.hash,
      decisions: 1,
      differences: [{ rule: power, would: 'refuse', count: 1 }],
    });
  });
});
