/** Every verb in every state, asked of the API: accepted or refused as the original does, and handed on in the right way. */
import { next, type ProvisionState, states } from '../../src/model/lifecycle/states';
import { type Verb, verbRow, verbs } from '../../src/model/lifecycle/verbs';
import wire from '../states/data/verbs-by-state.json';
import { faultOf } from '../support/api';
import { holder, type Provisioning, startProvisioning } from '../support/provisioning';

let at: Provisioning;
beforeAll(async () => {
  at = await startProvisioning();
});
afterAll(() => at.api.close());

const all = Object.keys(verbs) as Verb[];
const accepts = wire as Readonly<Record<string, readonly string[]>>;

const step = { interface: 'management', step: 'set_boot_device', args: { boot_device: 'pxe' } };
const bodies: Partial<Record<Verb, object>> = {
  clean: { clean_steps: [step] },
  service: { service_steps: [step] },
  rescue: { rescue_password: 'correct horse' },
};
const bodyOf = (target: Verb) => ({ target, ...bodies[target] });

/** In which way a verb is handed on from a state. */
const wayOf = (verb: Verb, state: ProvisionState): 'moved' | 'sent' | 'started' => {
  const row = verbRow(verb);
  if (states[next(state, row.event)!].kind === 'stable') return 'moved';
  return row.does === 'message' ? 'sent' : 'started';
};

describe.each(Object.keys(accepts) as ProvisionState[])('in %s', (state) => {
  beforeEach(() => at.fresh(state));

  test('each verb is accepted or refused as the original does, and reaches the runs once', async () => {
    for (const verb of all) {
      Object.assign(at.api.runs, { started: [], moved: [], sent: [] });
      const reply = await at.ask(bodyOf(verb));
      const legal = accepts[state]!.includes(verb);
      expect([verb, reply.status, at.asked()]).toEqual([verb, legal ? 202 : 400, legal ? 1 : 0]);
      if (legal) expect([verb, at.api.runs[wayOf(verb, state)].length]).toEqual([verb, 1]);
      else expect(faultOf(reply)).toContain(`"${verb}" can not be performed on node "n1" while it is in state`);
    }
  });

  test('while a run holds the node, only what is for that run, or takes over from one that waits, gets through', async () => {
    await at.set({ reservation: holder });
    const through: string[] = [];
    for (const verb of all) {
      const reply = await at.ask(bodyOf(verb));
      expect([202, 409]).toContain(reply.status);
      if (reply.status === 202) through.push(verb);
    }
    const waits = / wait$| hold$|^wait call-back$/.test(state);
    expect(through.sort()).toEqual(waits ? accepts[state] : []);
    expect(at.asked()).toBe(through.length);
    for (const order of at.api.runs.started) expect(order.takesOver).toBe(true);
  });
});

describe('a run that waits', () => {
  test.each([
    ['wait call-back', 'deleted'],
    ['wait call-back', 'undeploy'],
    ['rescue wait', 'deleted'],
    ['service wait', 'deleted'],
    ['service hold', 'service'],
  ] as const)('in %s is taken over by %s; one that holds nothing is not', async (state, verb) => {
    await at.fresh(state);
    await at.set({ reservation: holder });
    expect((await at.ask(bodyOf(verb))).status).toBe(202);
    await at.set({ reservation: null });
    expect((await at.ask(bodyOf(verb))).status).toBe(202);
    const story = verb === 'service' ? 'service' : 'undeploy';
    expect(at.api.runs.started.map((order) => [order.kind, order.takesOver])).toEqual([
      [story, true],
      [story, undefined],
    ]);
  });

  test.each([
    ['active', 'deleted'],
    ['active', 'service'],
    ['deploy failed', 'deleted'],
    ['service failed', 'abort'],
    ['deleting', 'clean'],
    ['cleaning', 'manage'],
  ] as const)(
    'is not what works in %s: %s is a conflict there, such as during a power request',
    async (state, verb) => {
      await at.fresh(state);
      await at.set({ reservation: holder });
      const reply = await at.ask(bodyOf(verb));
      expect([reply.status, faultOf(reply)]).toEqual([409, 'Node n1 is busy; try again when its run ends.']);
      expect(at.asked()).toBe(0);
    },
  );
});

describe('conditions', () => {
  const refusals: Partial<Record<Verb, Partial<Record<'maintenance' | 'protected' | 'retired', number>>>> = {
    active: { maintenance: 400 },
    deploy: { maintenance: 400 },
    rebuild: { maintenance: 400, protected: 403 },
    deleted: { protected: 403 },
    undeploy: { protected: 403 },
    clean: { maintenance: 400 },
    service: { maintenance: 400 },
    rescue: { maintenance: 400 },
    unrescue: { maintenance: 400 },
    provide: { retired: 400 },
  };
  const from: Partial<Record<Verb, ProvisionState>> = Object.fromEntries(
    all.map((verb) => [
      verb,
      (Object.keys(accepts) as ProvisionState[]).find((state) => accepts[state]!.includes(verb)),
    ]),
  );

  test.each(all)('%s is refused by maintenance, protection and retirement exactly where it must be', async (verb) => {
    for (const condition of ['maintenance', 'protected', 'retired'] as const) {
      await at.fresh(from[verb]!);
      await at.set({ [condition]: true });
      const reply = await at.ask(bodyOf(verb));
      const status = refusals[verb]?.[condition] ?? 202;
      expect([condition, reply.status, at.asked()]).toEqual([condition, status, status === 202 ? 1 : 0]);
      if (status !== 202) expect(faultOf(reply)).toContain(condition);
    }
  });

  test('a deployment in maintenance is refused for it even while the node is busy', async () => {
    await at.fresh('active');
    await at.set({ maintenance: true, reservation: holder });
    expect((await at.ask({ target: 'rebuild' })).status).toBe(400);
    expect((await at.ask(bodyOf('service'))).status).toBe(409);
  });

  test.each([
    ['inspect', 'manageable', 'inspect_interface', 'no-inspect'],
    ['rescue', 'active', 'rescue_interface', 'no-rescue'],
  ] as const)('%s is refused where its interface is switched off', async (verb, state, column, off) => {
    await at.fresh(state);
    await at.set({ [column]: off });
    const reply = await at.ask(bodyOf(verb));
    expect([reply.status, faultOf(reply)]).toEqual([400, expect.stringContaining(off)]);
    expect(at.asked()).toBe(0);
  });

  test('a retired node is undeployed into manageable, any other into available', async () => {
    await at.fresh('active');
    await at.ask({ target: 'deleted' });
    await at.set({ retired: true });
    await at.ask({ target: 'deleted' });
    expect(at.api.runs.started.map(({ ends }) => ends)).toEqual(['done', 'manage']);
  });
});

describe('of several faults the first is reported', () => {
  const drive = { configdrive: 'not base64!' };
  const runbook = { runbook: 'CUSTOM_NONE' };
  test.each([
    // who              state         columns                      body                                                  minor status says
    ['stranger-admin', 'available', {}, { target: 'clean' }, 3, 404, /could not be found/],
    ['owner-reader', 'available', {}, { target: 'clean' }, 14, 403, /set_provision_state/],
    ['owner-member', 'available', {}, { target: 'clean', clean_steps: [step] }, 14, 406, /1\.15/],
    ['owner-member', 'available', {}, { target: 'clean', clean_steps: [step] }, 115, 403, /clean_steps/],
    ['operator', 'active', { maintenance: true, reservation: holder }, { target: 'active' }, 115, 400, /maintenance/],
    ['operator', 'enroll', {}, { target: 'active', ...drive }, 115, 400, /while it is in state/],
    ['operator', 'enroll', { reservation: holder }, { target: 'active', ...drive }, 115, 409, /busy/],
    ['operator', 'manageable', {}, { target: 'clean', ...drive, ...runbook }, 115, 400, /configdrive/],
    ['operator', 'manageable', {}, { target: 'clean', ...runbook, rescue_password: 'x' }, 115, 404, /CUSTOM_NONE/],
    ['operator', 'manageable', {}, { target: 'clean', disable_ramdisk: true, service_steps: [] }, 69, 406, /1\.70/],
    ['operator', 'manageable', {}, { target: 'clean', service_steps: [], deploy_steps: [] }, 68, 400, /service_steps/],
    [
      'operator',
      'available',
      { protected: true },
      { target: 'active', rescue_password: 'x' },
      115,
      400,
      /rescue_password/,
    ],
    ['operator', 'active', { protected: true }, { target: 'rebuild', deploy_steps: [{}] }, 115, 400, /deploy_steps/],
    ['operator', 'active', { protected: true, conductor_group: 'none' }, { target: 'deleted' }, 115, 403, /protected/],
    [
      'operator',
      'available',
      { conductor_group: 'none', instance_info: {} },
      { target: 'active' },
      115,
      400,
      /image_source/,
    ],
    ['operator', 'available', { conductor_group: 'none' }, { target: 'active' }, 115, 503, /No worker is online/],
  ] as const)('%s in %s with %j asks %j at 1.%s: %s', async (who, state, columns, body, minor, status, says) => {
    await at.fresh(state);
    const { instance_info, ...plain } = { instance_info: undefined, ...columns };
    await at.set({ provision_state: state, ...plain, ...(instance_info && { instance_info: at.api.sql.json({}) }) });
    const reply = await at.ask(body, { who, minor });
    expect([reply.status, faultOf(reply)]).toEqual([status, expect.stringMatching(says)]);
    expect(at.asked()).toBe(0);
  });
});
