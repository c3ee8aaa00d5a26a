/** Deployments of images of Glance: which image a project may deploy, which can be written at all, and the facts that the run is given. */
import { faultOf } from '../support/api';
import { type EmulatedGlance, sha512Of, startEmulatedGlance } from '../support/glance';
import { type Provisioning, startProvisioning } from '../support/provisioning';
import { lessee, owner, type Persona, stranger } from '../support/world';

const bytes = Buffer.from('the bytes of an image');
const digest = sha512Of(bytes);

let glance: EmulatedGlance;
let at: Provisioning;
beforeAll(async () => {
  glance = await startEmulatedGlance();
  at = await startProvisioning({ glance: glance.client });
});
afterAll(async () => {
  await at.api.close();
  await glance.close();
});
beforeEach(() => {
  at.api.setPolicy({ set: 'temper', elevatedServiceProject: 'service' });
});
afterEach(() => glance.setFault(undefined));

/** `service-user` is the compute service's account. */
type Caller = Persona | 'service-user' | 'service-elsewhere';

const fresh = (image_source: unknown, more: object = {}, state = 'available') =>
  at.fresh(state, { instance_info: { image_source, ...more } });
const deploy = (who: Caller = 'operator', target = 'active') => at.ask({ target }, { who: who as Persona });
const validated = async (who: Caller = 'operator'): Promise<{ result: boolean; reason?: string }> =>
  (await at.api.as(who as Persona, 'GET', '/v1/nodes/n1/validate')).body.deploy;

/** What both a validation and the verb say: `accepted`, or the reason, which is the same. */
const verdict = async (who: Caller = 'operator', target = 'active'): Promise<string> => {
  const before = await validated(who);
  const reply = await deploy(who, target);
  if (reply.status === 202) return before.result ? 'accepted' : `accepted, but not valid: ${before.reason}`;
  const text = faultOf(reply);
  expect([reply.status, before]).toEqual([400, { result: false, reason: text }]);
  return text;
};

const frozen = () => at.api.runs.started.at(-1)!.steps.find(({ step }) => step === 'write_image')!.args.glance_image;

describe('an image that the project may use', () => {
  test.each([
    ['its bare id', (id: string) => id],
    ['glance://', (id: string) => `glance://${id}`],
    ['glance:// with a host', (id: string) => `glance://glance.example.org/v2/images/${id}`],
    ['its id in capitals', (id: string) => id.toUpperCase()],
  ])('is named by %s, and its facts are frozen with the run', async (_, source) => {
    const id = glance.add(bytes);
    await fresh(source(id));
    expect(await verdict('lessee-manager')).toBe('accepted');
    const facts = { size: bytes.length, os_hash_algo: 'sha512', os_hash_value: digest, disk_format: 'raw' };
    expect(frozen()).toEqual({ id, ...facts, image_type: 'whole-disk' });
    const { instance_info } = (await at.api.as('operator', 'GET', '/v1/nodes/n1')).body;
    expect(instance_info).toEqual({ image_source: source(id) });
  });

  test('may be that of a partition, with the ids of its kernel and ramdisk', async () => {
    const [kernel_id, ramdisk_id] = [glance.add(bytes), glance.add(bytes)];
    await fresh(glance.add(bytes, { kernel_id, ramdisk_id, disk_format: 'qcow2' }), { root_gb: '10' });
    expect(await verdict()).toBe('accepted');
    expect(frozen()).toMatchObject({ image_type: 'partition', disk_format: 'qcow2', kernel_id, ramdisk_id });
  });

  test('replaces the hash and format that an earlier image left in instance_info, as with Ironic', async () => {
    await fresh(glance.add(bytes), { image_os_hash_algo: 'sha256', image_os_hash_value: 'a'.repeat(64) });
    expect(await verdict()).toBe('accepted');
    expect(frozen()).toMatchObject({ os_hash_value: digest });
  });

  test('is looked up for a rebuild as well', async () => {
    await fresh(glance.add(bytes), {}, 'active');
    expect(await verdict('operator', 'rebuild')).toBe('accepted');
    expect(frozen()).toMatchObject({ os_hash_value: digest });
    const gone = glance.add(bytes);
    await fresh(gone, {}, 'active');
    glance.remove(gone);
    expect(await verdict('operator', 'rebuild')).toMatch(/^InvalidImage: /);
  });

  test('is read once for a validation', async () => {
    await fresh(glance.add(bytes));
    const before = glance.asked.length;
    expect((await validated()).result).toBe(true);
    expect(glance.asked.length - before).toBe(1);
  });
});

describe('an image that cannot be written', () => {
  test.each([
    ['is queued', { status: 'queued', size: null, os_hash_algo: null, os_hash_value: null }, 'is queued, and only'],
    ['is being saved', { status: 'saving' }, 'is saving, and only'],
    ['is deleted', { status: 'deleted' }, 'is deleted, and only'],
    ['is deactivated', { status: 'deactivated' }, 'is deactivated, and only'],
    ['has 0 bytes', { size: 0 }, 'has no bytes'],
    ['has no size', { size: null }, 'has no bytes'],
    ['has no hash', { os_hash_algo: null, os_hash_value: null }, 'has no os_hash_value'],
    ['has MD5 alone', { os_hash_algo: 'md5', os_hash_value: 'a'.repeat(32) }, 'has no os_hash_value'],
    ['has a hash of another length', { os_hash_value: 'a'.repeat(64) }, 'has no os_hash_value'],
    ['has a hash that is none', { os_hash_value: '../'.repeat(40).padEnd(128, 'x') }, 'has no os_hash_value'],
    ['is of another format', { disk_format: 'vmdk' }, 'has disk_format vmdk'],
    ['is compressed', { container_format: 'compressed' }, 'has container_format compressed'],
  ])('because it %s is refused before the run', async (_, over, says) => {
    const id = glance.add(bytes, over);
    await fresh(id);
    expect(await verdict()).toContain(`InvalidImage: image ${id} of Glance ${says}`);
    expect(at.asked()).toBe(0);
  });

  test.each(['glance://', 'glance://debian-12', 'glance://x/../etc/passwd'])(
    'because %s names no id is refused',
    async (source) => {
      await fresh(source);
      expect(await verdict()).toMatch(/^InvalidImage: .*is not named by a UUID/);
    },
  );
});

test('a Glance that does not answer is no refusal of the image', async () => {
  await fresh(glance.add(bytes));
  glance.setFault(glance.status(500));
  const reply = await deploy();
  expect([reply.status, faultOf(reply)]).toEqual([503, expect.stringContaining('at Glance: it answered 500')]);
  const { result, reason } = await validated();
  expect([result, reason]).toEqual([false, faultOf(reply)]);
  expect(at.asked()).toBe(0);
});

describe('a private image', () => {
  const answers = async (callers: readonly Caller[]): Promise<Record<string, boolean>> =>
    Object.fromEntries(await Promise.all(callers.map(async (who) => [who, (await validated(who)).result])));

  /** A node of owner and lessee whose image belongs to this project. */
  const of = (project: string, more: object = {}, over: object = {}) => {
    const id = glance.add(bytes, { visibility: 'private', owner: project, ...over });
    return fresh(id, more).then(() => id);
  };

  test('is deployed by its own project alone, whatever project instance_info names', async () => {
    for (const [project, may] of [
      [owner, 'owner-member'],
      [lessee, 'lessee-manager'],
      [stranger, undefined],
    ] as const) {
      // The text that a member of the owner can write into instance_info.
      await of(project, { project_id: project });
      expect([project, await answers(['owner-member', 'lessee-manager', 'operator', 'system-member'])]).toEqual([
        project,
        {
          'owner-member': may === 'owner-member',
          'lessee-manager': may === 'lessee-manager',
          operator: false,
          'system-member': false,
        },
      ]);
    }
  });

  /** As the nodes of Nova's pool. */
  const unowned = { owner: null, lessee: null };

  test('is deployed by the compute service for the project in instance_info', async () => {
    await of(stranger, { project_id: stranger });
    await at.set(unowned);
    expect(await verdict('service-user')).toBe('accepted');
    await of(stranger, { project_id: lessee });
    await at.set(unowned);
    expect(await verdict('service-user')).toMatch(/^InvalidImage: /);
    await of('service');
    await at.set(unowned);
    // Without a project in instance_info it acts for none, not even for its own.
    expect(await verdict('service-user')).toMatch(/^InvalidImage: /);
  });

  test.each([
    ['its owner', { owner, lessee: null }],
    ['its lessee', { owner: null, lessee }],
    ['its owner, on a node that the instance’s project leases', { owner, lessee: stranger }],
  ])('is not deployed by the compute service for a project that could be named by %s', async (_, columns) => {
    await of(stranger, { project_id: stranger });
    await at.set(columns);
    expect(await verdict('service-user')).toMatch(/^InvalidImage: .* was not found, or belongs to another project/);
    await fresh(glance.add(bytes), { project_id: stranger });
    await at.set(columns);
    expect(await verdict('service-user')).toBe('accepted');
  });

  test.each([
    ['the instance’s project', { owner: stranger, lessee: stranger }],
    ['the instance’s project as the lessee', { owner: null, lessee: stranger }],
    ['the compute service’s project', { owner: 'service', lessee: null }],
  ])('is deployed by the compute service on a node of %s', async (_, columns) => {
    await of(stranger, { project_id: stranger });
    await at.set(columns);
    expect(await verdict('service-user')).toBe('accepted');
  });

  test('is not deployed by a service of another project, nor by the compute service before it is trusted', async () => {
    await of(stranger, { project_id: stranger });
    expect((await at.api.as('service-elsewhere' as Persona, 'GET', '/v1/nodes/n1/validate')).status).toBe(404);
    at.api.setPolicy({
      set: 'temper',
      overrides: {
        'baremetal:node:get': 'role:service',
        'baremetal:node:validate': 'role:service',
      },
    });
    for (const who of ['service-user', 'service-elsewhere'] as const)
      expect([who, (await validated(who)).result]).toEqual([who, false]);
  });

  test('of a former lessee is refused to the owner who finds its id on the node, and the lessee no longer sees the node', async () => {
    await of(lessee, { project_id: lessee });
    expect((await validated('lessee-manager')).result).toBe(true);
    await at.set({ lessee: null });
    expect((await at.api.as('lessee-manager', 'GET', '/v1/nodes/n1/validate')).status).toBe(404);
    expect(await verdict('owner-member')).toMatch(/^InvalidImage: /);
  });

  test('is refused in the words for one that is missing', async () => {
    const texts = [];
    for (const id of [await of(stranger), glance.add(bytes, { visibility: 'shared', owner: stranger })]) {
      await fresh(id);
      texts.push((await verdict('owner-member')).replaceAll(id, 'ID'));
    }
    // Its status is not told either.
    const queued = await of(stranger, {}, { status: 'queued', size: null });
    texts.push((await verdict('owner-member')).replaceAll(queued, 'ID'));
    const missing = '00000000-0000-4000-8000-000000000000';
    await fresh(missing);
    texts.push((await verdict('owner-member')).replaceAll(missing, 'ID'));
    expect(new Set(texts).size).toBe(1);
  });

  test('that its owner shares is deployed once the project has accepted it', async () => {
    const id = glance.add(bytes, { visibility: 'shared', owner: stranger });
    await fresh(id);
    expect((await validated('lessee-manager')).result).toBe(false);
    glance.share(id, lessee, 'pending');
    expect((await validated('lessee-manager')).result).toBe(false);
    glance.share(id, lessee, 'accepted');
    expect((await validated('lessee-manager')).result).toBe(true);
    expect((await validated('owner-member')).result).toBe(false);
    expect((await validated('operator')).result).toBe(false);
    // A member list of an image that is private again counts for nothing.
    glance.change(id, { visibility: 'private' });
    expect((await validated('lessee-manager')).result).toBe(false);
  });

  test.each(['..', '.', 'a/b', 'a?b', '%2e%2e', 'x'.repeat(65), 7, null, { a: 1 }])(
    'is not deployed for the project %j, which is not asked of Glance',
    async (project_id) => {
      const id = glance.add(bytes, { visibility: 'shared', owner: stranger });
      await fresh(id, { project_id });
      await at.set(unowned);
      const before = glance.asked.length;
      expect((await validated('service-user')).result).toBe(false);
      expect(glance.asked.slice(before).filter((path) => path.includes('members'))).toEqual([]);
    },
  );

  test('is open to callers whom an administrator’s policy names', async () => {
    await of(stranger);
    at.api.setPolicy({
      set: 'temper',
      overrides: { 'temper:node:deploy_any_image': 'role:admin and system_scope:all' },
    });
    expect((await validated('operator')).result).toBe(true);
    expect((await validated('system-member')).result).toBe(false);
  });

  test('of the community is open to all', async () => {
    await of(stranger, {}, { visibility: 'community' });
    expect(await answers(['owner-member', 'lessee-manager', 'operator'])).toEqual({
      'owner-member': true,
      'lessee-manager': true,
      operator: true,
    });
  });
});

test('without images of Glance an id is refused with the setting that is missing', async () => {
  const other = await startProvisioning();
  try {
    await other.fresh('available', { instance_info: { image_source: '00000000-0000-4000-8000-000000000000' } });
    const reply = await other.ask({ target: 'active' });
    expect([reply.status, faultOf(reply)]).toEqual([400, expect.stringContaining('TEMPER_GLANCE_IMAGES is not set')]);
  } finally {
    await other.api.close();
  }
});

test('a plan of the deployment lists the refusal among others', async () => {
  await at.fresh('available', { instance_info: { image_source: glance.add(bytes, { size: 0 }) }, maintenance: true });
  const reply = await at.api.as('operator', 'POST', '/temper/v1/nodes/n1/plan', { body: { target: 'active' } });
  expect(JSON.stringify(reply.body.refusals)).toContain('InvalidImage');
});
