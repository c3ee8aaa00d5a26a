/** A stand-in for the API's side of the ramdisk protocol: it knows some machines, hands out tokens and keeps heartbeats. */
import { randomBytes, randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';

type Answer = readonly [number, unknown];
export type Beat = { readonly node: string; readonly body: Record<string, string> };

export const startRamdiskApi = async () => {
  const nodes = new Map<string, { uuid: string; token: string | null }>();
  const beats: Beat[] = [];
  const lookups: string[] = [];
  const inspections: Record<string, unknown>[] = [];
  const happened = new EventEmitter();
  const api = {
    beats,
    lookups,
    inspections,
    /** What the next calls are answered with instead; by the first part of the path. */
    instead: {} as { lookup?: number[]; heartbeat?: number[]; continue_inspection?: number },
    heartbeatTimeout: 300,
    /** Lets a machine be looked up; answers with its node's uuid. */
    know(mac: string, uuid: string = randomUUID()): string {
      nodes.set(mac, { uuid, token: null });
      return uuid;
    },
    forget: (mac: string) => nodes.delete(mac),
    /** Its power went away: the next lookup gets a new token. */
    forgetToken: (mac: string) => {
      nodes.get(mac)!.token = null;
    },
    /** Its ramdisk has this token from its boot image: a lookup hands out none. */
    brings(mac: string, token: string): void {
      nodes.get(mac)!.token = token;
    },
    /** What each inspection bore as the proof of its boot. */
    proofs: [] as (string | null)[],
    tokenOf: (mac: string) => nodes.get(mac)?.token ?? null,
    /** Resolves with the first heartbeat, seen or to come, that fits. */
    async beat(fits: (beat: Beat) => boolean): Promise<Beat> {
      for (let seen = 0; ; await once(happened, 'beat')) {
        const found = beats.slice(seen).find(fits);
        if (found) return found;
        seen = beats.length;
      }
    },
    async lookup(count: number): Promise<void> {
      while (lookups.length < count) await once(happened, 'lookup');
    },
    url: '',
    close: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };

  const byUuid = (uuid: string) => [...nodes.values()].find((node) => node.uuid === uuid);

  const lookup = (url: URL): Answer => {
    lookups.push(url.search);
    happened.emit('lookup');
    const status = api.instead.lookup?.shift();
    if (status) return [status, { error_message: { faultstring: 'not now' } }];
    const macs = (url.searchParams.get('addresses') ?? '').split(',');
    const uuid = url.searchParams.get('node_uuid');
    const known = macs.map((mac) => nodes.get(mac)).find((node) => node !== undefined);
    const found = known ?? (uuid ? byUuid(uuid) : undefined);
    if (!found) return [404, { error_message: { faultstring: 'not found' } }];
    const agent_token = found.token === null ? randomBytes(32).toString('base64url') : '******';
    found.token ??= agent_token;
    const config = { heartbeat_timeout: api.heartbeatTimeout, agent_token, agent_token_required: true };
    return [200, { node: { uuid: found.uuid, properties: {}, instance_info: {}, driver_internal_info: {} }, config }];
  };

  const heartbeat = (uuid: string, body: Record<string, string>): Answer => {
    beats.push({ node: uuid, body });
    happened.emit('beat');
    const status = api.instead.heartbeat?.shift();
    if (status) return [status, {}];
    const known = byUuid(uuid);
    return known?.token === body.agent_token
      ? [202, undefined]
      : [400, { error_message: { faultstring: 'wrong token' } }];
  };

  const server = http.createServer(async (req, res) => {
    let text = '';
    for await (const chunk of req) text += chunk;
    const url = new URL(req.url ?? '/', 'http://api');
    const [, , what = '', id = ''] = url.pathname.split('/');
    const inspect = (): Answer => {
      inspections.push(JSON.parse(text));
      api.proofs.push(url.searchParams.get('boot'));
      const { interfaces } = inspections.at(-1)!.inventory as { interfaces: { mac_address: string }[] };
      return [api.instead.continue_inspection ?? 404, { uuid: nodes.get(interfaces[0]?.mac_address ?? '')?.uuid }];
    };
    const answers: Record<string, () => Answer> = {
      '': () => [200, { default_version: { id: 'v1', version: '1.115' } }],
      lookup: () => lookup(url),
      heartbeat: () => heartbeat(id, JSON.parse(text)),
      continue_inspection: inspect,
    };
    const [status, body] = answers[what]?.() ?? [404, {}];
    res.writeHead(status, { 'content-type': 'application/json' });
    res.end(body === undefined ? '' : JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  api.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return api;
};

export type RamdiskApi = Awaited<ReturnType<typeof startRamdiskApi>>;
