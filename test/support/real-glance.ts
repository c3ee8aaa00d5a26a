/** A real Glance for tests: one process on a copy of the prepared state, which believes a real Keystone. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { finder, foundBy } from './found';

const program = finder('glance.js');
const served = resolve(__dirname, '..', 'clients', 'glance_serve.py');

type Prepared = { readonly bin: string; readonly state: string };

const found = foundBy<{ glance: Prepared }>('glance.js');

/** Why Glance could not be had; undefined when it is there. */
export const glanceMissing = found.missing;

const { copyState } = jest.requireActual(program) as {
  copyState(prepared: Prepared, dir: string, keystone: { url: string; password: string }): string;
};

/** Runs it until it says its port; throws with what it wrote if it ends before. */
const serve = async (bin: string, settings: string): Promise<{ child: ChildProcess; port: string }> => {
  const child = spawn(join(bin, 'python'), [served], {
    env: { ...process.env, OS_GLANCE_CONFIG_DIR: dirname(settings) },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (chunk) => {
    said = `${said}${chunk}`.slice(-4_000);
  });
  const ended = once(child, 'exit').then(([status]) =>
    Promise.reject(new Error(`Glance ended with ${status} before it listened:\n${said}`)),
  );
  const [port] = await Promise.race([once(createInterface(child.stdout), 'line'), ended]);
  ended.catch(() => undefined);
  return { child, port };
};

/** @param keystone its address without /v3, and the password of user `glance` in project `service` */
export const startGlance = async (keystone: { readonly url: string; readonly password: string }) => {
  if (!found.glance) throw new Error(`Glance is not there: ${found.missing}`);
  const dir = await mkdtemp(join(tmpdir(), 'glance-'));
  const { child, port } = await serve(found.glance.bin, copyState(found.glance, dir, keystone));
  const url = `http://127.0.0.1:${port}`;
  const ask = async (token: string, method: string, path: string, body?: object | Buffer): Promise<Response> => {
    const type = body instanceof Buffer ? 'application/octet-stream' : 'application/json';
    const reply = await fetch(`${url}/v2${path}`, {
      method,
      headers: { 'x-auth-token': token, 'content-type': type },
      ...(body && { body: body instanceof Buffer ? new Uint8Array(body) : JSON.stringify(body) }),
    });
    if (reply.status >= 300) throw new Error(`${method} ${path}: ${reply.status} ${await reply.text()}`);
    return reply;
  };
  return {
    url,
    ask,
    /** The file of an image in its store. */
    fileOf: (id: string): string => join(dir, 'images', id),
    /** A raw image. @returns its id */
    async upload(token: string, bytes: Buffer, more: object = {}): Promise<string> {
      const image = { name: 'disk', disk_format: 'raw', container_format: 'bare', visibility: 'private', ...more };
      const { id } = (await (await ask(token, 'POST', '/images', image)).json()) as { id: string };
      await ask(token, 'PUT', `/images/${id}/file`, bytes);
      return id;
    },
    close: async (): Promise<void> => {
      const ended = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined;
      child.kill('SIGKILL');
      await ended;
      await rm(dir, { recursive: true, force: true });
    },
  };
};

export type RealGlance = Awaited<ReturnType<typeof startGlance>>;
