/** Schemathesis for tests: where its commands are, or why they are not there, and what a run of it found. */
import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { foundBy } from './found';

const found = foundBy<{ bin: string }>('schemathesis.js');

/** Why it could not be had; undefined when it is there. */
export const schemathesisMissing = found.missing;

export type Ended = { readonly status: number | null; readonly output: string };

/** Longer than any run lasts. */
const patienceMs = 270_000;

/** Runs one of its commands to the end. */
export const run = (command: string, args: readonly string[], cwd: string): Promise<Ended> =>
  new Promise((done, fail) => {
    const child = spawn(join(found.bin!, command), args, {
      cwd,
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: patienceMs,
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk) => {
        output += chunk;
      });
    child.on('error', fail);
    child.on('close', (status) => done({ status, output }));
  });

/** How often each status was answered, from the HAR file of a run. */
export const statusesIn = async (har: string): Promise<Record<number, number>> => {
  const { entries } = JSON.parse(await readFile(har, 'utf8')).log as { entries: { response: { status: number } }[] };
  const counts: Record<number, number> = {};
  for (const { response } of entries) counts[response.status] = (counts[response.status] ?? 0) + 1;
  return counts;
};
