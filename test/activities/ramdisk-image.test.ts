/** A boot from a ramdisk record, act by act in a real store: its URL, its token, and what is refused before a command leaves. */
import { randomUUID } from 'node:crypto';
import { MockActivityEnvironment } from '@temporalio/testing';
import { createBmcActivities, type RunActInput } from '../../src/activities/bmc';
import { createLanes } from '../../src/bmc/lane';
import type { Inventory } from '../../src/inventory';
import type { Sql } from '../../src/inventory/database';
import { agentTokenOf, hashOf, inspectionTokenOf } from '../../src/inventory/secrets/boot-tokens';
import { networkBytes, networkFiles } from '../../src/model/boot/network-data';
import type { PlannedStep } from '../../src/model/lifecycle/step-types';
import type { ActName } from '../../src/model/lifecycle/steps';
import { heldAct } from '../support/held-act';
import { type ActsOver, recordingDriver } from '../support/recording-driver';
import { openStores } from '../support/stores';
import { testVault as vault } from '../support/vault';

let owner: Sql;
let api: Inventory;
let bmc: Inventory;
let boot: Inventory;
let ramdisk: string;
let close: () => Promise<void>;
beforeAll(async () => {
  ({ owner, api, bmc, boot, close } = await openStores());
});
afterAll(() => close());

const area = { arguments_at: 0, arguments_bytes: 1_024, files_at: 1_024, files_bytes: 1_024 };
const files = {
  kernel_sha256: 'b'.repeat(64),
  initrd_sha256: 'c'.repeat(64),
  iso_sha256: 'a'.repeat(64),
  iso_bytes: 2_048,
  ...area,
};
beforeEach(async () => {
  ramdisk = `r-${randomUUID().slice(0, 8)}`;
  await api.ramdisks.create({ name: ramdisk, arch: 'x86_64', args: 'console=ttyS0', ...files });
});

/** The acts of a run that boots its node from a ramdisk, on a driver that keeps what it was given. */
const booting = async (driver_info: Record<string, unknown> = {}, over: ActsOver = {}) => {
  const input = await heldAct({ api, owner, vault }, { driver_info });
  const given: Record<string, unknown>[] = [];
  const keeps = async (_node: unknown, args: Readonly<Record<string, unknown>>) => {
    given.push(args);
    return { is: 'done' as const };
  };
  const { driver } = recordingDriver({
    insert_media: keeps,
    set_boot_device: keeps,
    power_on: keeps,
    power_off: keeps,
    ...over,
  });
  const settings = {
    url: 'http://192.0.2.1:6386',
    imagesUrl: 'http://192.0.2.1:6386',
    apiUrl: 'http://192.0.2.1:6387',
    sealer: vault,
    group: '',
  };
  const workerOf = (served: boolean) =>
    createBmcActivities({
      inventory: bmc,
      vault,
      driverOf: () => driver,
      ...(served && { boot: settings }),
      lanes: createLanes(),
      imageOrigins: ['https://images.example.org'],
      log: { info() {}, warn() {} },
      leaseMs: 1_000,
    });
  type How = Partial<RunActInput> & {
    attempt?: number;
    served?: boolean;
    args?: Record<string, unknown>;
    awaits?: PlannedStep['awaits'] | null;
  };
  const act = (name: ActName, { attempt = 1, served = true, args, awaits, ...rest }: How = {}) => {
    const { awaits: _, ...plain } = input.step;
    const step = {
      ...plain,
      args: args ?? { image_url: `ramdisk:${ramdisk}` },
      ...(awaits !== null && { awaits: awaits ?? ('heartbeat' as const) }),
    };
    return new MockActivityEnvironment({
      attempt,
      activityId: `${name}-${rest.nth ?? 0}`,
      heartbeatTimeoutMs: 3_000,
    }).run(workerOf(served).runAct, { ...input, step, act: name, last: false, ...rest });
  };
  const tokenOf = (args: Record<string, unknown> | undefined): string =>
    /^http:\/\/192\.0\.2\.1:6386\/boot\/([\w-]{43})\/ramdisk\.iso$/.exec(String(args?.image_url))?.[1] ?? 'none';
  return { node: input.lock.node_uuid, act, given, tokenOf, input };
};

test('the drive gets a URL of this boot, and its ramdisk’s token is on record once the node is powered on', async () => {
  const { node, act, given, tokenOf } = await booting();
  await owner`insert into ports (node_uuid, address, pxe_enabled) values (${node}, '52:54:00:77:00:01', true)`;
  await act('insert_media', { nth: 1 });
  const token = tokenOf(given[0]);
  expect(await boot.bootCapabilities.served(hashOf(token))).toMatchObject({
    node_uuid: node,
    arguments: 'console=ttyS0 ipa-api-url=http://192.0.2.1:6387 boot_method=vmedia BOOTIF=52:54:00:77:00:01',
    inspection_url: null,
  });
  expect(await api.agents.find(node)).toBeUndefined();
  await act('set_boot_device', { nth: 2, args: { image_url: `ramdisk:${ramdisk}`, boot_device: 'cdrom' } });
  expect(given[1]).toEqual({ boot_device: 'cdrom' });
  await act('power_on', { nth: 3 });
  expect(await api.agents.find(node)).toMatchObject({ token_hash: hashOf(agentTokenOf(token)), url: null });
  expect(await api.ramdiskBoots.brings(node)).toBe(hashOf(inspectionTokenOf(token)));
  // In the store there is only what they are compared with, and what BMC workers may open.
  const [row] = await owner<{ text: string }[]>`
    select (select string_agg(b::text, '') from boot_capabilities b) || (select string_agg(a::text, '') from agents a) ||
      coalesce((select string_agg(e::text, '') from events e), '') || (select string_agg(s::text, '') from run_steps s) as text`;
  for (const secret of [token, agentTokenOf(token), inspectionTokenOf(token)]) expect(row!.text).not.toContain(secret);
  await act('power_off', { nth: 4 });
  expect(await boot.bootCapabilities.served(hashOf(token))).toBeUndefined();
  expect(await api.agents.find(node)).toBeUndefined();
});

test('a repeat of the act gives the same URL, another boot of the run another', async () => {
  const given: Record<string, unknown>[] = [];
  const { act, tokenOf } = await booting(
    {},
    {
      insert_media: async (_node, args) => {
        given.push(args);
        if (given.length === 1) throw new Error('the worker died here');
        return { is: 'done' };
      },
    },
  );
  await expect(act('insert_media', { nth: 1 })).rejects.toThrow('died here');
  await act('insert_media', { nth: 1, attempt: 2 });
  await act('insert_media', { nth: 5 });
  const tokens = given.map(tokenOf);
  expect(tokens).toEqual([tokens[0], tokens[0], tokens[2]]);
  expect(tokens[2]).not.toBe(tokens[0]);
  expect(await boot.bootCapabilities.served(hashOf(tokens[0]!))).toBeUndefined();
  expect(await boot.bootCapabilities.served(hashOf(tokens[2]!))).toBeDefined();
});

const card = { id: 'a', type: 'phy', ethernet_mac_address: '52:54:00:77:00:03' };
const network = { id: 'n', type: 'ipv4', link: 'a', ip_address: '192.0.2.5', netmask: 24 };
const described = { links: [card], networks: [network], services: [] };
const describeNetwork = (node: string, data: object) =>
  owner`update nodes set network_data = ${owner.json(data as never)} where uuid = ${node}`;

test('a node with a network of its own has it in its image, as it was when the image was made', async () => {
  const { node, act, given, tokenOf } = await booting();
  await describeNetwork(node, described);
  await act('insert_media', { nth: 1 });
  const served = () => boot.bootCapabilities.served(hashOf(tokenOf(given[0])));
  expect(await served()).toMatchObject({ network_data: described });
  await describeNetwork(node, {});
  expect(await served()).toMatchObject({ network_data: described });
  await act('insert_media', { nth: 2 });
  expect(await boot.bootCapabilities.served(hashOf(tokenOf(given[1])))).toMatchObject({ network_data: null });
});

test('a network fits that takes the last byte of the room, and none that takes one more', async () => {
  const filled = (bytes: number) => ({ ...described, more: 'x'.repeat(bytes) });
  const free = area.files_bytes - networkBytes(networkFiles(filled(0)));
  const { node, act, given } = await booting();
  await describeNetwork(node, filled(free));
  await act('insert_media', { nth: 1 });
  expect(given).toHaveLength(1);
  await describeNetwork(node, filled(free + 1));
  await expect(act('insert_media', { nth: 2 })).rejects.toMatchObject({ type: 'NetworkDataRefused' });
});

test.each([
  [
    'cannot be given to a ramdisk',
    { ...described, networks: [{ ...network, ip_address: '192.0.2.5\nDNS=192.0.2.9' }] },
    /must be an IPv4 address/,
  ],
  ['does not fit the image', { ...described, more: 'x'.repeat(2_000) }, /and the ramdisk has room for 1024/],
])('a network that %s is refused before a command leaves', async (_, data, says) => {
  const { node, act, given } = await booting();
  await describeNetwork(node, data);
  await expect(act('insert_media')).rejects.toMatchObject({
    type: 'NetworkDataRefused',
    message: expect.stringMatching(says),
  });
  expect(given).toEqual([]);
});

test('an inspection has where to send what it finds', async () => {
  const { act, given, tokenOf } = await booting();
  await act('insert_media', { nth: 1, awaits: 'inspection' });
  expect(await boot.bootCapabilities.served(hashOf(tokenOf(given[0])))).toMatchObject({
    inspection_url: 'http://192.0.2.1:6387/v1/continue_inspection',
  });
});

test('the firmware that fetches its image itself gets the same kind of URL', async () => {
  const { act, given, tokenOf } = await booting();
  await act('set_boot_device', { nth: 1, args: { image_url: `ramdisk:${ramdisk}`, boot_device: 'uefihttp' } });
  expect(await boot.bootCapabilities.served(hashOf(tokenOf(given[0])))).toBeDefined();
});

test('a node that boots by the network is given nothing by its BMC: its machine asks for the URL once it is on', async () => {
  const { node, act, given } = await booting();
  await owner`insert into ports (node_uuid, address, pxe_enabled) values (${node}, '52:54:00:77:00:02', true)`;
  const args = { network_image: `ramdisk:${ramdisk}`, boot_device: 'pxe', persistent: false };
  const ask = () => boot.networkBoots.give({ mac: '52:54:00:77:00:02', peer: '192.0.2.7', conflict: 'two' });
  await act('power_off', { nth: 1, args });
  await act('set_boot_device', { nth: 2, args });
  expect(given[1]).toEqual({ boot_device: 'pxe', persistent: false });
  expect(await ask()).toMatchObject({ is: 'early' });
  await act('power_on', { nth: 3, args });
  const boots = await ask();
  const token = boots.is === 'given' ? boots.secret : 'none';
  expect(await boot.bootCapabilities.served(hashOf(token))).toMatchObject({
    network: true,
    arguments: 'console=ttyS0 ipa-api-url=http://192.0.2.1:6387',
  });
  expect(await api.agents.find(node)).toMatchObject({ token_hash: hashOf(agentTokenOf(token)) });
});

test('a record that was added as an image is not loaded by the network', async () => {
  const { act, given } = await booting();
  const name = `iso-${randomUUID().slice(0, 8)}`;
  await api.ramdisks.create({ name, arch: 'x86_64', args: '', ...files, kernel_sha256: null });
  const args = { network_image: `ramdisk:${name}`, boot_device: 'pxe' };
  await expect(act('set_boot_device', { args })).rejects.toMatchObject({
    type: 'RamdiskNotServed',
    nonRetryable: true,
  });
  expect(given).toEqual([]);
});

test('the node’s own kernel arguments take the place of the ramdisk’s, or join them', async () => {
  const { act, given, tokenOf } = await booting({ kernel_append_params: '%default% nomodeset' });
  await act('insert_media', { nth: 1 });
  expect((await boot.bootCapabilities.served(hashOf(tokenOf(given[0]))))?.arguments).toMatch(
    /^console=ttyS0 nomodeset ipa-/,
  );
});

test.each([
  [
    'a worker that does not know where the boot service is',
    {},
    { served: false },
    'RamdiskNotServed',
    /TEMPER_BOOT_URL/,
  ],
  ['a ramdisk that is not on record', {}, { args: { image_url: 'ramdisk:none' } }, 'RamdiskNotFound', /Ramdisk none/],
  [
    'arguments that GRUB would run',
    { kernel_append_params: 'a;reboot' },
    {},
    'KernelArgumentsRefused',
    /must not hold ;/,
  ],
  [
    'arguments that would answer to another',
    { kernel_append_params: 'ipa-api-url=http://192.0.2.66' },
    {},
    'KernelArgumentsRefused',
    /ipa-api-url/,
  ],
  [
    'arguments that do not fit',
    { kernel_append_params: 'x'.repeat(1_000) },
    {},
    'KernelArgumentsRefused',
    /there is room for/,
  ],
  ['a step that waits for no ramdisk', {}, { awaits: null }, 'OriginRefused', /http or https/],
])('%s is refused, and nothing reaches the BMC', async (_, driver_info, how, type, says) => {
  const { node, act, given } = await booting(driver_info);
  await expect(act('insert_media', { nth: 1, ...how })).rejects.toMatchObject({
    type,
    nonRetryable: true,
    message: expect.stringMatching(says),
  });
  expect(given).toEqual([]);
  expect(await owner`select 1 from boot_capabilities where node_uuid = ${node}`).toHaveLength(0);
});

test('a BMC that quotes the URL in its refusal does not give it away', async () => {
  const seen: string[] = [];
  const { act, input } = await booting(
    {},
    {
      insert_media: async (_node, args) => {
        seen.push(String(args.image_url));
        throw new Error(`cannot fetch ${args.image_url}`);
      },
    },
  );
  const failure = await act('insert_media', { nth: 1 }).catch((thrown: Error) => thrown);
  const token = /boot\/([\w-]{43})/.exec(seen[0]!)![1]!;
  const [step] = await api.runSteps.ofRun(input.lock.run);
  expect(`${(failure as Error).message} ${step!.last_error}`).not.toContain(token);
  expect(step!.last_error).toContain('cannot fetch');
});
