/** The rack's memory and its sockets: journal and state over restarts and kills, TLS, one port or many, hundreds of BMCs. */

import { appendFileSync, cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent } from 'undici';
import { type Rack, startRack } from '../../emulator/rack';
import { clientOf, quick, testRack } from './rack-client';

const folder = (): string => mkdtempSync(join(tmpdir(), 'rack-'));
const pxe = { Boot: { BootSourceOverrideTarget: 'Pxe', BootSourceOverrideEnabled: 'Continuous' } };
const running: Rack[] = [];
const start = async (options: Parameters<typeof testRack>[0]): Promise<Rack> => {
  const rack = await testRack(options);
  running.push(rack);
  return rack;
};
afterEach(async () => {
  for (const rack of running.splice(0)) await rack.close();
});

test('the journal distinguishes accepted writes from refused ones, in order', async () => {
  const rack = await start({ profiles: ['idrac9'] });
  const client = clientOf(rack.bmcs[0]!);
  await client.patch(client.system, pxe);
  await client.reset('Explode');
  await client.reset('On');
  expect(
    rack.journal().map(({ seq, subject, effect, accepted, status }) => [seq, subject, effect, accepted, status]),
  ).toEqual([
    [1, 'boot', 'converge', true, 204],
    [2, 'power', 'once', false, 400],
    [3, 'power', 'converge', true, 204],
  ]);
  const url = `${rack.controlUrl}/control/journal?since=1&accepted=true&bmc=0`;
  const { entries } = (await (await fetch(url)).json()) as { entries: { content: unknown }[] };
  expect(entries.map(({ content }) => content)).toEqual([{ ResetType: 'On' }]);
});

test('journal and state survive a restart, and the sequence goes on', async () => {
  const stateDir = folder();
  const first = await testRack({ stateDir, profiles: ['openbmc'] });
  const client = clientOf(first.bmcs[0]!);
  await client.patch(client.system, pxe);
  await client.reset('On');
  const before = first.journal();
  await first.close();
  const second = await start({ stateDir, profiles: ['openbmc'] });
  expect(second.journal()).toEqual(before);
  expect(second.bmcs[0]).toMatchObject({ password: first.bmcs[0]!.password, uuid: first.bmcs[0]!.uuid });
  const again = clientOf(second.bmcs[0]!);
  await again.powerReaches('On');
  expect((await again.get(again.system)).body.Boot).toMatchObject(pxe.Boot);
  await again.reset('ForceOff');
  expect(second.journal().at(-1)!.seq).toBe(before.at(-1)!.seq + 1);
});

test('a rack that was killed without a word loses nothing it answered, and half a line does no harm', async () => {
  const stateDir = folder();
  const first = await testRack({ stateDir, profiles: ['openbmc'] });
  const client = clientOf(first.bmcs[0]!);
  await client.patch(client.system, pxe);
  await client.reset('On');
  // What a kill leaves behind: files as they are at this moment, plus the start of a line.
  const killed = folder();
  cpSync(stateDir, killed, { recursive: true });
  await first.close();
  appendFileSync(join(killed, 'journal.jsonl'), '{"seq":3,"time":"20');
  const second = await start({ stateDir: killed, profiles: ['openbmc'] });
  const again = clientOf(second.bmcs[0]!);
  await again.powerReaches('On');
  expect((await again.get(again.system)).body.Boot).toMatchObject(pxe.Boot);
  await again.reset('ForceOff');
  const lines = readFileSync(join(killed, 'journal.jsonl'), 'utf8').trim().split('\n');
  expect(lines.map((line) => JSON.parse(line).seq)).toEqual([1, 2, 3]);
});

test('the same BMC answers over HTTPS with the certificate in the state folder', async () => {
  const rack = await start({ profiles: ['ilo5'] });
  const bmc = rack.bmcs[0]!;
  const trusting = new Agent({ connect: { ca: readFileSync(rack.certificateFile) } });
  const client = clientOf(bmc, { dispatcher: trusting, address: bmc.secureAddress });
  const system = await client.get(client.system);
  expect([system.status, system.body['@odata.id']]).toEqual([200, bmc.systemId]);
  await trusting.close();
  await expect(clientOf(bmc, { address: bmc.secureAddress }).get(bmc.systemId)).rejects.toThrow(/certificate/i);
});

test('with a port for each BMC no path has a prefix', async () => {
  const rack = await start({ bmcs: 3, ports: 'each' });
  expect(new Set(rack.bmcs.map(({ address }) => address)).size).toBe(3);
  for (const bmc of rack.bmcs) {
    const client = clientOf(bmc);
    const { body } = await client.get('/redfish/v1/Systems');
    expect(body.Members).toEqual([{ '@odata.id': bmc.systemId }]);
    expect(bmc.systemId).toMatch(/^\/redfish\/v1\/Systems\//);
    expect((await client.get(bmc.systemId)).body.UUID).toBe(bmc.uuid);
  }
});

test('with one port every link a BMC gives leads back to itself', async () => {
  const rack = await start({ bmcs: 8 });
  for (const bmc of rack.bmcs) {
    const client = clientOf(bmc);
    await client.reset('On');
    await client.powerReaches('On');
    const seen = new Set<string>();
    const open = [`${new URL(bmc.address).pathname}/redfish/v1`];
    for (let path = open.pop(); path !== undefined; path = open.pop()) {
      if (seen.has(path)) continue;
      seen.add(path);
      const { status, body } = await client.get(path);
      expect([path, status]).toEqual([path, 200]);
      for (const [, link] of JSON.stringify(body).matchAll(/"@odata\.id":"([^"#]+)"/g)) open.push(link!);
    }
    expect([...seen].every((path) => path.startsWith(`/bmc/${bmc.index}/redfish/v1`))).toBe(true);
    expect(seen.size).toBeGreaterThan(40);
  }
});

test('$expand puts members into a collection where the vendor offers it', async () => {
  const rack = await start({ profiles: ['idrac9'] });
  const client = clientOf(rack.bmcs[0]!);
  const { body } = await client.get('/redfish/v1/Systems?$expand=.($levels=1)');
  expect(body.Members[0]).toMatchObject({ '@odata.id': client.system, UUID: rack.bmcs[0]!.uuid });
});

test('two hundred BMCs start, each with an identity of its own', async () => {
  const rack = await start({ bmcs: 200 });
  expect(new Set(rack.bmcs.flatMap(({ macs }) => macs)).size).toBe(400);
  const listed = (await (await fetch(`${rack.controlUrl}/control/bmcs`)).json()) as { bmcs: unknown[] };
  expect(listed.bmcs).toHaveLength(200);
  const last = clientOf(rack.bmcs[199]!);
  expect((await last.get(last.system)).body.UUID).toBe(rack.bmcs[199]!.uuid);
});

test('an unknown profile is refused with the list of known ones', async () => {
  const stateDir = folder();
  await expect(startRack({ stateDir, timing: quick, profiles: ['commodore64'] })).rejects.toThrow(
    /commodore64.*idrac9/,
  );
  rmSync(stateDir, { recursive: true });
});

test.each([
  ['a body that is no JSON', 'POST', '{', 400],
  ['a body that is a list', 'POST', '[]', 400],
  ['a method that is not offered', 'PUT', '{}', 405],
])('%s is refused', async (_, method, body, status) => {
  const rack = await start({ profiles: ['openbmc'] });
  const bmc = rack.bmcs[0]!;
  const authorization = `Basic ${Buffer.from(`${bmc.username}:${bmc.password}`).toString('base64')}`;
  const path = `${bmc.systemId}/Actions/ComputerSystem.Reset`;
  const reply = await fetch(new URL(path, bmc.address), { method, body, headers: { authorization } });
  expect(reply.status).toBe(status);
});
