import type { RequestListener, Server } from 'node:http';
import { createApi, onlyRamdisks, routes } from '../../src/api';
import { createRelay, isRelayed } from '../../src/boot';
import type { NodeUuid } from '../../src/model/ids';
import { faultOf, startTestApi, type TestApi } from '../support/api';
import { listenOn } from '../support/listening';
import { bootRamdisks } from '../support/ramdisk-boots';
import { owner } from '../support/world';

const mac = '52:54:00:00:00:21';
const run = '33333333-3333-4333-8333-333333333321';
const ramdisk = '192.0.2.21';

let api: TestApi;
const servers: Server[] = [];
const listening = async (listener: RequestListener): Promise<string> =>
  `http://127.0.0.1:${await listenOn(servers, listener)}`;

/** The listener for ramdisks, and the boot service in front of it. @param trustedProxies whose word the API takes */
const wired = async (trustedProxies = ['127.0.0.0/8'], proxied = (url: string) => Promise.resolve(url)) => {
  const settings = { ...api.rooms.settings, trustedProxies };
  const own = await listening(createApi({ ...api.rooms, settings }, onlyRamdisks(routes)));
  const log = { info: () => {}, warn: () => {} };
  const relay = createRelay({ api: new URL(await proxied(own)), trusts: () => false, log });
  // The address of a machine on the nodes' network, which a test's own connection does not have.
  const relayed = await listening((request, response) => {
    Object.defineProperty(request.socket, 'remoteAddress', { value: `::ffff:${ramdisk}`, configurable: true });
    if (isRelayed(request.url)) return relay(request, response);
    response.writeHead(404).end();
  });
  return { own, relayed };
};

let node: NodeUuid;
let at: { own: string; relayed: string };
beforeAll(async () => {
  api = await startTestApi({ settings: { agentNetworks: ['192.0.2.0/24'] } });
  at = await wired();
});
afterAll(async () => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
  await api.close();
});
beforeEach(async () => {
  await api.sql`delete from nodes`;
  const { body } = await api.as('operator', 'POST', '/v1/nodes', {
    body: { name: 'n1', driver: 'redfish', owner, driver_info: { redfish_address: 'https://198.51.100.1' } },
  });
  node = body.uuid;
  await api.as('operator', 'POST', '/v1/ports', { body: { node_uuid: node, address: mac } });
  await api.sql`update nodes set provision_state = 'clean wait', reservation = ${run} where uuid = ${node}`;
  await bootRamdisks(api.sql, node);
});

type Sent = { method?: string; path: string; body?: string; headers?: Record<string, string> };
const ask = async (base: string, { method = 'GET', path, body, headers }: Sent) => {
  const reply = await fetch(`${base}${path}`, {
    method,
    headers: { 'x-openstack-ironic-api-version': '1.115', ...headers },
    ...(body !== undefined && { body }),
  });
  const text = await reply.text();
  const names = [...reply.headers.keys()].filter((name) => name !== 'keep-alive').sort();
  return { status: reply.status, names, text, headers: reply.headers };
};
const json = { 'content-type': 'application/json' };
const beat = (agent_token: string, callback_url = `https://${ramdisk}:9999`): Sent => ({
  method: 'POST',
  path: `/v1/heartbeat/${node}`,
  headers: json,
  body: JSON.stringify({ callback_url, agent_token, agent_version: '10.0.0' }),
});
const lookup: Sent = { path: `/v1/lookup?addresses=${mac}` };

test('a ramdisk gets its token and calls back, under its own address', async () => {
  const found = await ask(at.relayed, lookup);
  expect(found.status).toBe(200);
  const { config, node: shown } = JSON.parse(found.text);
  expect([shown.uuid, config.agent_token]).toEqual([node, expect.stringMatching(/^[\w-]{32,}$/)]);
  expect((await ask(at.relayed, beat(config.agent_token))).status).toBe(202);
  expect(await api.sql`select url from agents where node_uuid = ${node}`).toEqual([{ url: `https://${ramdisk}:9999` }]);
  expect(await api.sql`select address, conflict from ramdisk_boots where node_uuid = ${node}`).toEqual([
    { address: ramdisk, conflict: null },
  ]);
});

test('what a machine writes into X-Forwarded-For makes it no other: a second address is a conflict', async () => {
  await ask(at.own, { ...lookup, headers: { 'x-forwarded-for': '192.0.2.99' } });
  const second = await ask(at.relayed, { ...lookup, headers: { 'x-forwarded-for': '192.0.2.99' } });
  expect(second.status).toBe(404);
  expect(await api.sql`select address, conflict from ramdisk_boots where node_uuid = ${node}`).toEqual([
    { address: '192.0.2.99', conflict: ramdisk },
  ]);
});

test('each refusal and each answer is the same by both ways', async () => {
  const long = (bytes: number) => JSON.stringify({ agent_token: 'x'.repeat(bytes) });
  const requests: Sent[] = [
    { path: '/' },
    { path: '/v1' },
    { path: '/v1/' },
    { path: '/v1', headers: { 'x-openstack-ironic-api-version': '1.9999' } },
    { path: '/v1/lookup' },
    { path: '/v1/lookup?addresses=52:54:00:00:00:ff' },
    { path: '/v1/lookup?other=1' },
    { path: '/v1/lookup?addresses=%00' },
    { path: '/v1/lookup?addresses=%zz' },
    { path: `/v1/lookup?addresses=${mac}`, headers: { 'x-openstack-ironic-api-version': '1.1' } },
    { method: 'HEAD', path: '/v1/lookup' },
    beat('wrong'),
    beat('wrong', 'http://192.0.2.1:1'),
    { ...beat('wrong'), path: '/v1/heartbeat/nothing' },
    { ...beat('wrong'), body: '{"a":' },
    { ...beat('wrong'), body: undefined },
    { ...beat('wrong'), body: long(600 * 1024) },
    { ...beat('wrong'), headers: { ...json, 'content-encoding': 'gzip' } },
    { ...beat('wrong'), headers: { 'content-type': 'application/json; charset=latin1' } },
    { ...beat('wrong'), headers: { ...json, 'if-match': '"a"' } },
    { method: 'POST', path: '/v1/continue_inspection', headers: json, body: '{}' },
    { method: 'POST', path: '/v1/continue_inspection', headers: json, body: long(17 * 1024 * 1024) },
    { method: 'POST', path: '/v1/continue_inspection?boot=x&boot=y', headers: json, body: '{}' },
    {
      method: 'POST',
      path: '/v1/continue_inspection?boot=none',
      headers: json,
      body: JSON.stringify({ inventory: { interfaces: [{ mac_address: mac }] } }),
    },
  ];
  for (const one of requests) {
    const [own, relayed] = [await ask(at.own, one), await ask(at.relayed, one)];
    const said = ({ status, names, text }: typeof own, base: string) => ({
      status,
      names,
      text: text.replaceAll(base, 'BASE').replaceAll(/req-[0-9a-f-]{36}/g, 'REQ'),
    });
    expect({ one: one.path, ...said(relayed, at.relayed) }).toEqual({ one: one.path, ...said(own, at.own) });
    expect(own.status).not.toBe(502);
  }
});

test('where the API does not take the boot service’s word, nothing is believed of a ramdisk', async () => {
  const { relayed } = await wired([]);
  const found = await ask(relayed, lookup);
  expect(found.status).toBe(403);
  expect(faultOf({ body: JSON.parse(found.text) } as never)).toMatch(/not among TEMPER_TRUSTED_PROXIES/);
  expect(await api.sql`select address from ramdisk_boots where node_uuid = ${node}`).toEqual([{ address: null }]);
});

test('nor where the API takes the word of a proxy between both, and the boot service’s not', async () => {
  const bootService = '192.0.2.200';
  // As a proxy has it that adds the other end of its connection, and says nothing of itself.
  const proxied = (url: string) =>
    listening(async ({ url: path, headers }, response) => {
      const forwarded = `${headers['x-forwarded-for']}, ${bootService}`;
      const reply = await fetch(`${url}${path}`, {
        headers: { ...(headers as Record<string, string>), 'x-forwarded-for': forwarded, connection: 'close' },
      });
      response.writeHead(reply.status).end(await reply.text());
    });
  expect((await ask((await wired(['127.0.0.0/8'], proxied)).relayed, lookup)).status).toBe(403);
  expect(await api.sql`select address from ramdisk_boots where node_uuid = ${node}`).toEqual([{ address: null }]);
  expect((await ask((await wired(['127.0.0.0/8', bootService], proxied)).relayed, lookup)).status).toBe(200);
  expect(await api.sql`select address from ramdisk_boots where node_uuid = ${node}`).toEqual([{ address: ramdisk }]);
});
