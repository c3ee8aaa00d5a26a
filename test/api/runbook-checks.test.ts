/** Preflight of runbooks: what is wrong with one is known before anything is sent to a BMC, and its maker is warned. */
import type { NodeUuid } from '../../src/model/ids';
import { faultOf, startTestApi, type TestApi } from '../support/api';
import { owner, type Persona } from '../support/world';

let api: TestApi;
let node: string;
beforeAll(async () => {
  api = await startTestApi({
    settings: { imageOrigins: ['https://images.example.org'], disallowedSteps: ['management.reset_bmc'] },
  });
  const [row] = await api.sql<{ uuid: NodeUuid; name: string }[]>`
    insert into nodes (name, driver, provision_state, owner) values ('checked', 'redfish', 'manageable', ${owner}) returning uuid, name`;
  node = row!.name;
  await api.inventory.details.write(row!.uuid, {
    bios: [
      {
        name: 'SriovGlobalEnable',
        value: 'Disabled',
        attribute_type: 'Enumeration',
        allowable_values: ['Enabled', 'Disabled'],
      },
      { name: 'Serial', value: 'x', attribute_type: 'String', read_only: true },
      { name: 'Fans', value: '3', attribute_type: 'Integer', lower_bound: 1, upper_bound: 9 },
    ],
    firmware: [
      { component: 'bios', current_version: '1' },
      { component: 'bmc', current_version: '2' },
    ],
  });
});
afterAll(() => api.close());
beforeEach(() => api.sql`delete from runbooks`);

type Step = { interface: string; step: string; args?: object; order?: number };
const bios = (name: string, value: string | number): Step => ({
  interface: 'bios',
  step: 'apply_configuration',
  args: { settings: [{ name, value }] },
  order: 1,
});
const firmware = (component: string, url = 'https://images.example.org/a.bin'): Step => ({
  interface: 'firmware',
  step: 'update',
  args: { settings: [{ component, url }] },
  order: 1,
});
const reboot: Step = { interface: 'power', step: 'reboot', order: 1 };

const check = (steps: readonly Step[], more: object = {}, who: Persona = 'operator') =>
  api.as(who, 'POST', '/temper/v1/runbooks/check', {
    body: { steps: steps.map((step) => ({ order: 1, ...step })), ...more },
  });

describe('a body that is not stored', () => {
  test.each([
    ['a sound one', [reboot], undefined],
    [
      'a step that is misspelled',
      [{ interface: 'bios', step: 'factory_rest' }],
      ['warning', 'Did you mean bios.factory_reset?'],
    ],
    [
      'an argument that is unknown',
      [{ interface: 'bios', step: 'factory_reset', args: { x: 1 } }],
      ['error', 'unexpected argument x'],
    ],
    [
      'an argument that is missing',
      [{ interface: 'bios', step: 'apply_configuration', args: {} }],
      ['error', 'argument settings is missing'],
    ],
    [
      'a reserved step with a wrong argument',
      [{ interface: 'power', step: 'wait', args: { seconds: 0 } }],
      ['error', 'between 1 and 86400'],
    ],
    ['a URL elsewhere', [firmware('bios', 'https://evil.example.org/a.bin')], ['error', 'TEMPER_IMAGE_ORIGINS']],
    ['a step that comes twice', [bios('a', 1), bios('b', 2)], undefined],
    [
      'a step that the operator forbids',
      [{ interface: 'management', step: 'reset_bmc' }],
      ['error', 'does not allow management.reset_bmc'],
    ],
  ] as const)('with %s', async (_, steps, expected) => {
    const { status, body } = await check(steps as never);
    expect(status).toBe(200);
    if (expected === undefined) expect(body).toEqual({ errors: 0, warnings: 0, findings: [] });
    else
      expect(body.findings).toEqual([
        expect.objectContaining({ severity: expected[0], node: null, says: expect.stringContaining(expected[1]) }),
      ]);
  });

  test.each([
    [
      'a setting that the BIOS does not know',
      bios('SriovGlobalEnabled', 'Enabled'),
      ['error', 'is not known to this BIOS. Did you mean SriovGlobalEnable?'],
    ],
    [
      'a value that the setting does not take',
      bios('SriovGlobalEnable', 'On'),
      ['error', 'must be one of Enabled, Disabled'],
    ],
    ['a setting that is read-only', bios('Serial', 'y'), ['error', 'is read-only']],
    ['a number out of bounds', bios('Fans', 10), ['error', 'must be between 1 and 9']],
    ['a component that it does not have', firmware('bois'), ['error', 'it has bios, bmc']],
    ['an adapter that may be off', firmware('nic:1'), ['warning', 'it has bios, bmc']],
    [
      'a step that its driver does not have',
      { interface: 'bios', step: 'no_such_step' },
      ['error', 'Driver redfish has no step'],
    ],
    ['a setting that is well', bios('Fans', 9), undefined],
    ['a component that is well', firmware('bmc'), undefined],
  ] as const)('on a node, with %s', async (_, step, expected) => {
    const { body } = await check([step], { nodes: [node] });
    const here = body.findings.filter((one: { node: string | null }) => one.node === node);
    if (expected === undefined) expect(body.findings).toEqual([]);
    else
      expect(here).toEqual([
        expect.objectContaining({ severity: expected[0], says: expect.stringContaining(expected[1]) }),
      ]);
  });

  test('says when nothing is known of a node yet', async () => {
    await api.sql`insert into nodes (name, driver, provision_state) values ('unseen', 'redfish', 'manageable')`;
    const { body } = await check([bios('Fans', 3)], { nodes: ['unseen'] });
    expect(body).toMatchObject({
      errors: 0,
      warnings: 1,
      findings: [{ says: expect.stringContaining('inspect it first') }],
    });
  });

  test('shows nothing of a node that the caller may not see, and needs the right to make runbooks', async () => {
    const hidden = await check([reboot], { nodes: [node] }, 'stranger-admin');
    const missing = await check([reboot], { nodes: ['no-such-node'] }, 'stranger-admin');
    expect(hidden.status).toBe(404);
    expect(faultOf(hidden)!.replaceAll(node, 'no-such-node')).toBe(faultOf(missing));
    expect((await check([reboot], {}, 'owner-reader')).status).toBe(403);
    api.setPolicy({ set: 'temper', overrides: { 'temper:node:steps': '!' } });
    try {
      expect((await check([reboot], { nodes: [node] })).status).toBe(403);
    } finally {
      api.setPolicy({ set: 'temper' });
    }
  });
});

describe('a stored runbook', () => {
  const made = (steps: readonly Step[], who: Persona = 'operator') =>
    api.as(who, 'POST', '/v1/runbooks', { body: { name: 'CUSTOM_CHECKED', steps } });
  const checked = (who: Persona, more: object = {}) =>
    api.as(who, 'POST', '/temper/v1/runbooks/CUSTOM_CHECKED/check', { body: more });

  test('is checked by each caller who may see it, and says where it is not approved', async () => {
    await made([bios('Sriov', 'Enabled')]);
    const { body } = await checked('operator', { nodes: [node], verb: 'clean' });
    expect(body.findings).toMatchObject([
      { severity: 'warning', index: null, node, says: expect.stringContaining('not approved') },
      {
        severity: 'error',
        index: 0,
        step: 'bios.apply_configuration',
        says: expect.stringContaining('not known to this BIOS'),
      },
    ]);
    expect((await checked('stranger-admin')).status).toBe(404);
  });

  test('is made with its warnings in a header, and none where there are none', async () => {
    const warned = await made([{ interface: 'deploy', step: 'erase_everything', args: {}, order: 1 }]);
    expect(warned.status).toBe(201);
    const texts = JSON.parse(warned.headers.get('x-temper-warnings')!);
    expect(texts).toEqual([expect.stringContaining('Step deploy.erase_everything is not in the catalogue')]);
    const well = await api.as('operator', 'POST', '/v1/runbooks', {
      body: { name: 'CUSTOM_WELL', steps: [{ ...reboot, args: {} }] },
    });
    expect(well.headers.get('x-temper-warnings')).toBeNull();
    const patched = await api.as('operator', 'PATCH', '/v1/runbooks/CUSTOM_WELL', {
      body: [{ op: 'replace', path: '/steps/0/args', value: { seconds: 3 } }],
    });
    expect(patched.headers.get('x-temper-warnings')).toContain('unexpected argument seconds');
  });
});

describe('a body made to be expensive', () => {
  const settings = Array.from({ length: 1_900 }, (_, nth) => ({ name: `Seria${nth % 10}`, value: 'x' }));

  test('a suggestion is looked for of the first few names only, and the list ends somewhere', async () => {
    const step: Step = { interface: 'bios', step: 'apply_configuration', args: { settings } };
    const { body } = await check([step], { nodes: [node] });
    const { errors, findings } = body as { errors: number; findings: { says: string }[] };
    expect(errors).toBe(settings.length);
    expect(findings).toHaveLength(1_000);
    expect(findings.filter(({ says }) => says.includes('Did you mean')).length).toBe(20);
  });

  test('more values than a runbook has parameters are refused, as by a run', async () => {
    const parameters = Object.fromEntries(Array.from({ length: 101 }, (_, nth) => [`p${nth}`, 1]));
    const reply = await check([reboot], { nodes: [node], parameters });
    expect([reply.status, faultOf(reply)]).toEqual([400, expect.stringContaining('at most 100 values')]);
  });

  test('a node is checked once, however it is spelled', async () => {
    const [row] = await api.sql<{ uuid: string }[]>`select uuid from nodes where name = ${node}`;
    const nodes = [node, row!.uuid, row!.uuid.toUpperCase(), row!.uuid.replaceAll('-', '')];
    const { body } = await check([bios('Fans', 10)], { nodes });
    expect(body.findings).toMatchObject([{ node, says: expect.stringContaining('between 1 and 9') }]);
  });

  test('no further node is looked at after a thousand findings, and the answer says so', async () => {
    await api.sql`insert into nodes (name, driver, provision_state, owner) values ('second', 'redfish', 'manageable', ${owner})`;
    const step: Step = { interface: 'bios', step: 'apply_configuration', args: { settings } };
    const { body } = await check([step], { nodes: [node, 'second'] });
    expect(body.findings).toHaveLength(1_000);
    expect(body.findings[0]).toMatchObject({
      severity: 'error',
      node: null,
      says: expect.stringContaining('before 1 of the nodes'),
    });
  });

  test('a finding quotes what came as far as a person reads it', async () => {
    const { body } = await check([bios('x'.repeat(10_000), 1)], { nodes: [node] });
    expect(body.findings).toHaveLength(1);
    expect(body.findings[0].says).toHaveLength(2_000);
  });

  test('a list that no runbook could hold is refused as one, with the bound of runbooks', async () => {
    const waits = (count: number): Step[] => Array.from({ length: count }, () => ({ ...reboot, step: 'wait' }));
    const stored = await api.as('operator', 'POST', '/v1/runbooks', {
      body: { name: 'CUSTOM_LONG', steps: waits(101).map((step) => ({ ...step, args: { seconds: 1 } })) },
    });
    expect([stored.status, (await check(waits(101))).status, (await check(waits(100))).status]).toEqual([
      400, 400, 200,
    ]);
    expect(faultOf(await check(waits(101)))).toContain('at most 100 steps');
  });
});
