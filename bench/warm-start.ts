/** How long `npm start` takes on a data folder that exists: from the command until it says that it is up. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { median } from './stats';

const settings = ['API', 'IDENTITY', 'TEMPORAL', 'TEMPORAL_UI', 'RACK_HTTP', 'RACK_HTTPS', 'RACK_CONTROL'];

// Empty means unset: servers of its own, whatever the settings say.
const servers = { TEMPER_DATABASE_URL: '', TEMPER_TEMPORAL_ADDRESS: '' };

export type StartTimes = { readonly cold_s: number; readonly warm_s: number; readonly starts: number };

/** Starts a system of its own on free ports: once cold, with the emulated rack and seed data, then warm. */
export const measureStart = async (root: string, starts: number, say: (line: string) => void): Promise<StartTimes> => {
  const dir = mkdtempSync(join(tmpdir(), 'temper-bench-start-'));
  await chmod(dir, 0o711); // PostgreSQL runs as another user when root starts it
  try {
    const cold_s = await start(root, dir);
    const warm: number[] = [];
    for (let at = 0; at < starts; at++) warm.push(await start(root, dir));
    const warm_s = median(warm);
    say(`warm start: ${warm_s.toFixed(1)} s`);
    return { cold_s, warm_s, starts };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
};

// Between choosing a free port and listening on it, any outgoing connection may get it.
const tries = 3;

const start = async (root: string, dir: string): Promise<number> => {
  for (let left = tries; ; left--) {
    try {
      return await startOnce(root, dir, { ...process.env, ...servers, ...(await freePorts()) });
    } catch (error) {
      if (left === 1 || !String(error).includes('EADDRINUSE')) throw error;
    }
  }
};

/** @returns seconds until it was up; the system is stopped again */
const startOnce = async (root: string, dir: string, env: NodeJS.ProcessEnv): Promise<number> => {
  const began = performance.now();
  const child = spawn(process.execPath, [join(root, 'scripts', 'start.js'), '--data', dir], {
    env,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'], // the channel tells it when we are gone
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  try {
    await says(child, 'Temper is up.');
    return (performance.now() - began) / 1_000;
  } finally {
    child.kill('SIGTERM');
    await ended;
  }
};

const says = (child: ChildProcess, text: string): Promise<void> =>
  new Promise((resolve, reject) => {
    let output = '';
    const gather = (chunk: Buffer) => {
      output += chunk.toString();
      if (output.includes(text)) resolve();
    };
    child.stdout!.on('data', gather);
    child.stderr!.on('data', gather);
    child.once('exit', (code) => reject(new Error(`npm start ended with ${code}:\n${output}`)));
  });

const freePorts = async (): Promise<Record<string, string>> => {
  const servers = await Promise.all(
    settings.map(async (name) => {
      const server = createServer().listen(0, '127.0.0.1');
      await new Promise((done) => server.once('listening', done));
      return [name, server] as const;
    }),
  );
  const ports = servers.map(([name, server]) => {
    const { port } = server.address() as { port: number };
    return [`TEMPER_${name}_PORT`, String(port)] as const;
  });
  await Promise.all(servers.map(([, server]) => new Promise((done) => server.close(done))));
  return Object.fromEntries(ports);
};
