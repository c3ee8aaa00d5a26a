/** An emulated Glance beside a scripted Keystone: images, members and bytes, in the form of Glance 33, and faults. */
import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServiceSession } from '../../src/identity';
import { createGlance } from '../../src/process/glance';
import { ownLogin, startScriptedKeystone, tokenBody } from '../identity/support';

type Image = Readonly<Record<string, unknown>>;
type Stored = { image: Image; bytes: Buffer; readonly members: Map<string, string> };

export const sha512Of = (bytes: Buffer): string => createHash('sha512').update(bytes).digest('hex');

const imageOf = (id: string, bytes: Buffer): Image => ({
  name: 'debian',
  disk_format: 'raw',
  container_format: 'bare',
  visibility: 'public',
  size: bytes.length,
  virtual_size: bytes.length,
  status: 'active',
  checksum: createHash('md5').update(bytes).digest('hex'),
  protected: false,
  min_ram: 0,
  min_disk: 1,
  owner: 'project-of-the-operator',
  os_hidden: false,
  os_hash_algo: 'sha512',
  os_hash_value: sha512Of(bytes),
  id,
  created_at: '2026-11-26T04:07:00Z',
  updated_at: '2026-11-26T04:07:00Z',
  tags: [],
  self: `/v2/images/${id}`,
  file: `/v2/images/${id}/file`,
  schema: '/v2/schemas/image',
});

const json = (response: ServerResponse, status: number, body: unknown): void => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
};

/** `asked` lists the paths of requests in order, and `tokens` their tokens. */
export const startEmulatedGlance = async () => {
  const stored = new Map<string, Stored>();
  const asked: string[] = [];
  const tokens: unknown[] = [];
  let fault: RequestListener | undefined;
  const reply = (path: string): { readonly status: number; readonly body: unknown } => {
    const [, id = '', part, project] = /^\/v2\/images\/([\w-]+)(?:\/(file|members)(?:\/([\w-]+))?)?$/.exec(path) ?? [];
    const found = stored.get(id);
    if (!found) return { status: 404, body: { message: 'No image found' } };
    if (part === undefined) return { status: 200, body: found.image };
    if (part === 'file') return { status: 200, body: found.bytes };
    const status = found.members.get(project ?? '');
    if (status === undefined) return { status: 404, body: { message: 'Not found' } };
    return { status: 200, body: { member_id: project, image_id: id, status, schema: '/v2/schemas/member' } };
  };
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    const { status, body } = reply(request.url ?? '');
    if (body instanceof Buffer) response.writeHead(status, { 'content-length': body.length }).end(body);
    else json(response, status, body);
  };
  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    asked.push(request.url ?? '');
    tokens.push(request.headers['x-auth-token']);
    (fault ?? answer)(request, response);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const catalog = [{ type: 'image', endpoints: [{ interface: 'public', region: 'one', url }] }];
  let logins = 0;
  const keystone = await startScriptedKeystone(() => {
    logins += 1;
    return { ...ownLogin(`token-${logins}`), body: tokenBody({ catalog }) };
  });
  const self = { username: 'temper', password: 'secret', scope: { project: { name: 'service' } } } as const;
  const session = createServiceSession({ identityUrl: keystone.url, self, interfaces: ['internal', 'public'] });

  return {
    url,
    keystoneUrl: keystone.url,
    asked,
    tokens,
    /** As Temper's own user. */
    client: createGlance(session, { withinMs: 5_000 }),
    /** The same with a time limit of its own. */
    hasty: (withinMs: number) => createGlance(session, { withinMs }),
    /** A new image of these bytes. @returns its id */
    add(bytes: Buffer, over: Image = {}): string {
      const id = randomUUID();
      stored.set(id, { image: { ...imageOf(id, bytes), ...over }, bytes, members: new Map() });
      return id;
    },
    change(id: string, over: Image, bytes?: Buffer): void {
      const one = stored.get(id)!;
      one.image = { ...one.image, ...over };
      if (bytes) one.bytes = bytes;
    },
    share: (id: string, project: string, status: string) => void stored.get(id)!.members.set(project, status),
    remove: (id: string) => void stored.delete(id),
    /** Answers in place of Glance; undefined ends it. */
    setFault(listener: RequestListener | undefined): void {
      fault = listener;
    },
    /** As without a fault. */
    answer,
    status: (status: number) => (_: IncomingMessage, response: ServerResponse) =>
      json(response, status, { message: 'as the test wants it' }),
    async close(): Promise<void> {
      await session.close();
      await keystone.close();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
};

export type EmulatedGlance = Awaited<ReturnType<typeof startEmulatedGlance>>;
