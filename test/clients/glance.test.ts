/** Images of a real Glance with a real Keystone: what each account sees, and deployments by id to the emulated rack, as Nova asks for them. */
import { createHash, randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ask, rests, set } from '../../demo/nodes';
import type { Person } from '../../demo/system';
import { createServiceSession, type ServiceSession } from '../../src/identity';
import { createGlance } from '../../src/process/glance';
import { endAll } from '../bin/support/entries';
import { ended, manageable, newestOf, patient, withinMs } from '../e2e/support/nodes';
import { secondApi } from '../e2e/support/persona-api';
import { type System, startSystem } from '../e2e/support/system';
import { suiteOf } from '../support/found';
import { byPassword, inProject, type Keystone, keystoneMissing, populate, startKeystone } from '../support/keystone';
import { glanceMissing, type RealGlance, startGlance } from '../support/real-glance';

jest.setTimeout(400_000);

const whenThere = suiteOf('a real Glance with a real Keystone', keystoneMissing ?? glanceMissing);
const sha512Of = (bytes: Buffer): string => createHash('sha512').update(bytes).digest('hex');

whenThere('images of a real Glance', () => {
  let keystone: Keystone;
  let glance: RealGlance;
  /** Tokens by user: `root` is administrator of project service, the others are members of a project of their name. */
  let tokens: Record<'root' | 'ann' | 'bob' | 'nova', string>;
  let projects: Record<'service' | 'ann' | 'bob', string>;
  const disk = randomBytes(2 ** 20);
  let images: Record<'public' | 'community' | 'annsOwn' | 'shared', string>;

  beforeAll(async () => {
    keystone = await startKeystone();
    const people = await populate(keystone);
    projects = {
      service: await people.makeProject('service'),
      ann: await people.makeProject('ann'),
      bob: await people.makeProject('bob'),
    };
    const user = async (name: string, project: string, ...roles: string[]): Promise<void> => {
      const id = await people.makeUser(name);
      for (const role of roles) await people.grant(role, id, `projects/${project}`);
    };
    await user('glance', projects.service, 'admin', 'service');
    await user('root', projects.service, 'admin');
    await user('temper', projects.service, 'admin', 'service');
    await user('reader', projects.service, 'reader');
    await user('alone', projects.service, 'service');
    await user('nova', projects.service, 'service');
    await user('ann', projects.ann, 'member');
    await user('bob', projects.bob, 'member');
    // keystonemiddleware validates tokens at the identity endpoint of the catalogue, not at its auth_url.
    const { endpoints } = (await keystone.admin('GET', '/endpoints')) as { endpoints: { id: string }[] };
    for (const { id } of endpoints)
      await keystone.admin('PATCH', `/endpoints/${id}`, { endpoint: { url: `${keystone.url}/v3` } });
    glance = await startGlance({ url: keystone.url, password: 'glance-secret' });
    const { service } = await keystone.admin('POST', '/services', { service: { type: 'image', name: 'glance' } });
    await keystone.admin('POST', '/regions', { region: { id: 'one' } });
    const endpoint = { service_id: service.id, interface: 'public', region_id: 'one', url: glance.url };
    await keystone.admin('POST', '/endpoints', { endpoint });
    const login = (name: string, project: string) =>
      keystone.login(byPassword(name, `${name}-secret`), inProject(project));
    tokens = {
      root: await login('root', projects.service),
      nova: await login('nova', projects.service),
      ann: await login('ann', projects.ann),
      bob: await login('bob', projects.bob),
    };
    images = {
      public: await glance.upload(tokens.root, disk, { visibility: 'public' }),
      community: await glance.upload(tokens.ann, randomBytes(1_000), { visibility: 'community' }),
      annsOwn: await glance.upload(tokens.ann, randomBytes(1_000)),
      shared: await glance.upload(tokens.ann, randomBytes(1_000), { visibility: 'shared' }),
    };
    await glance.ask(tokens.ann, 'POST', `/images/${images.shared}/members`, { member: projects.bob });
  });
  afterAll(async () => {
    await glance?.close();
    await keystone?.close();
  });

  const asUser = async <T>(name: string, work: (client: ReturnType<typeof createGlance>) => Promise<T>): Promise<T> => {
    const self = { username: name, password: `${name}-secret`, scope: { project: { name: 'service' } } } as const;
    const interfaces = ['internal', 'public'];
    const session: ServiceSession = createServiceSession({ identityUrl: `${keystone.url}/v3`, self, interfaces });
    try {
      return await work(createGlance(session));
    } finally {
      await session.close();
    }
  };

  test('are read in the form that the client expects, with their bytes', async () => {
    await asUser('temper', async (client) => {
      expect(await client.find(images.public)).toEqual({
        id: images.public,
        status: 'active',
        visibility: 'public',
        owner: projects.service,
        size: disk.length,
        os_hash_algo: 'sha512',
        os_hash_value: sha512Of(disk),
        disk_format: 'raw',
        container_format: 'bare',
        img_type: null,
        kernel_id: null,
        ramdisk_id: null,
      });
      const { url, headers } = await client.file(images.public);
      const answer = await fetch(url, { headers });
      expect(Buffer.from(await answer.arrayBuffer()).equals(disk)).toBe(true);
    });
  });

  test.each([
    ['temper', 'admin', { public: true, community: true, annsOwn: true, shared: true }],
    ['reader', 'reader', { public: true, community: true, annsOwn: false, shared: false }],
    ['alone', 'service alone', { public: false, community: false, annsOwn: false, shared: false }],
  ])('are seen by user %s with the role %s as the documents say', async (name, _, seen) => {
    const found = await asUser(name, async (client) =>
      Promise.all(
        Object.entries(images).map(async ([kind, id]) => [kind, (await client.find(id)) !== undefined] as const),
      ),
    );
    expect(Object.fromEntries(found)).toEqual(seen);
  });

  test('are a member’s once its project has accepted them', async () => {
    const isMember = () => asUser('temper', (client) => client.isMember(images.shared, projects.bob));
    expect(await isMember()).toBe(false);
    await glance.ask(tokens.bob, 'PUT', `/images/${images.shared}/members/${projects.bob}`, { status: 'accepted' });
    expect(await isMember()).toBe(true);
    expect(await asUser('temper', (client) => client.isMember(images.shared, projects.service))).toBe(false);
  });

  test('that were made and have no bytes are queued, and their bytes are no answer', async () => {
    const image = { name: 'empty', disk_format: 'raw', container_format: 'bare' };
    const { id } = (await (await glance.ask(tokens.root, 'POST', '/images', image)).json()) as { id: string };
    await asUser('temper', async (client) => {
      expect(await client.find(id)).toMatchObject({ status: 'queued', os_hash_value: null });
      const { url, headers } = await client.file(id);
      expect((await fetch(url, { headers })).status).toBe(204);
    });
  });

  describe('in deployments to the emulated rack', () => {
    let system: System;
    let operator: Person;
    let node: string;
    let api: string;

    beforeAll(async () => {
      const ours = {
        TEMPER_GLANCE_IMAGES: 'true',
        TEMPER_IDENTITY_URL: `${keystone.url}/v3`,
        TEMPER_IDENTITY_USERNAME: 'temper',
        TEMPER_IDENTITY_PASSWORD: 'temper-secret',
        TEMPER_IDENTITY_PROJECT: 'service',
      };
      system = await startSystem(1, { TEMPER_RACK_SPEED: '20', ...ours });
      // The system's own API believes an emulated Keystone.
      const auth = { TEMPER_AUTH_STRATEGY: 'keystone', TEMPER_POLICY_SERVICE_PROJECT: 'service' };
      api = await secondApi(system, { ...ours, ...auth });
      operator = patient(await system.person('operator'));
      [node = ''] = await manageable(system, operator, 0);
      await set(operator, node, { automated_clean: false });
      await ask(operator, node, 'provide');
      await rests(operator, node, 'available', withinMs);
    });
    afterAll(async () => {
      await endAll();
      await system?.stop();
    });

    const asNova = async (method: string, path: string, body?: unknown) => {
      const reply = await fetch(`${api}${path}`, {
        method,
        headers: {
          'x-auth-token': tokens.nova,
          'content-type': 'application/json',
          'openstack-api-version': 'baremetal 1.109',
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const text = await reply.text();
      return { status: reply.status, text, body: text === '' ? undefined : JSON.parse(text) };
    };

    /** What Nova's driver writes before it validates. */
    const wants = (image: string, project: string) =>
      asNova('PATCH', `/v1/nodes/${node}`, [
        { op: 'add', path: '/instance_info/image_source', value: image },
        { op: 'add', path: '/instance_info/project_id', value: project },
        { op: 'add', path: '/instance_info/root_gb', value: '10' },
      ]);
    const valid = async () => (await asNova('GET', `/v1/nodes/${node}/validate`)).body;
    const provision = (target: string) => asNova('PUT', `/v1/nodes/${node}/states/provision`, { target });
    /** Deploys, or builds again, and waits for the end. @returns the run */
    const run = async (target: 'active' | 'rebuild') => {
      expect((await provision(target)).status).toBe(202);
      return ended(operator, await newestOf(operator, node));
    };

    test('a public image is valid for Nova, fetched once and checked by its SHA-512 digest', async () => {
      expect((await wants(images.public, projects.ann)).status).toBe(200);
      const { deploy, power, storage } = await valid();
      expect({ deploy, power, storage }).toEqual({
        deploy: { result: true },
        power: { result: true },
        storage: { result: true },
      });
      expect(await run('active')).toMatchObject({ state: 'succeeded' });
      const stored = readFileSync(join(system.data, 'boot', 'images', `sha512-${sha512Of(disk)}.img`));
      expect(stored.equals(disk)).toBe(true);
      const { instance_info } = await operator.must('GET', `/v1/nodes/${node}`);
      expect(instance_info).toMatchObject({ image_source: images.public });
      expect(instance_info).not.toHaveProperty('image_os_hash_value');
      const log = readFileSync(join(system.logs, 'boot.log'), 'utf8');
      expect(log.match(/"image is fetched"/g)).toHaveLength(1);
    });

    test('a private image is valid for its own project alone, and a stranger’s is answered as a missing one', async () => {
      const missing = '00000000-0000-4000-8000-000000000000';
      const reasons = [];
      for (const [image, project] of [
        [images.annsOwn, projects.bob],
        [missing, projects.ann],
      ] as const) {
        await wants(image, project);
        const { deploy } = await valid();
        const refused = await provision('rebuild');
        expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('InvalidImage')]);
        reasons.push(String(deploy.reason).replace(image, 'ID'));
      }
      expect(reasons[0]).toMatch(/^InvalidImage: image ID of Glance was not found/);
      expect(reasons[1]).toBe(reasons[0]);
      await wants(images.annsOwn, projects.ann);
      expect(await run('rebuild')).toMatchObject({ state: 'succeeded' });
    });

    test('bytes that changed below Glance fail the deployment, and are not written', async () => {
      const bytes = randomBytes(2 ** 18);
      const id = await glance.upload(tokens.root, bytes, { visibility: 'public' });
      const file = glance.fileOf(id);
      writeFileSync(file, randomBytes(bytes.length));
      await wants(id, projects.ann);
      const before = (await system.rack.ramdiskCommands()).filter(({ command }) => command === 'standby.prepare_image');
      expect(await run('rebuild')).toMatchObject({
        state: 'failed',
        last_error: expect.stringMatching(/SHA-512 digest/),
      });
      const after = (await system.rack.ramdiskCommands()).filter(({ command }) => command === 'standby.prepare_image');
      expect(after).toHaveLength(before.length);
    });
  });
});
