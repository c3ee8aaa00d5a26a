/** The clients that are written in Go: one program, asked by JSON what to do and answering in JSON what came of it. */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { foundBy } from './found';
import type { Metal3Host } from './metal3-hosts';

const found = foundBy<{ program: string; library: string }>('go.js', 'clients');

/** Why the program could not be built; undefined when it is there. */
export const goMissing = found.missing;

/** How a walk signs in, and where. */
export type Door =
  | { readonly auth: 'noauth'; readonly endpoint: string }
  | { readonly auth: 'http_basic'; readonly endpoint: string; readonly username: string; readonly password: string }
  | { readonly auth: 'keystone'; readonly identity_url: string; readonly username: string; readonly password: string };

/** What a walk works on. */
export type Machine = {
  readonly name: string;
  readonly driver: string;
  readonly driver_info: Readonly<Record<string, unknown>>;
  readonly mac: string;
  readonly resource_class: string;
  /** Boot interface to enrol it with, where a walk may choose; by virtual media when absent. */
  readonly boot_interface?: string;
  /** More hosts, which are enrolled and removed again. */
  readonly hosts?: readonly Metal3Host[];
};

/** What came of a walk: `requests` are kinds of request with their status, `calls` counts every one. */
export type Walked = {
  readonly calls: number;
  readonly ms: number;
  readonly steps: readonly string[];
  readonly failed: readonly string[];
  readonly requests: readonly string[];
};

/** Goes through a walk of the program. Throws where it says nothing, never for what a step found. */
export const walkInGo = (walk: string, door: Door, machine: Machine, microversion: string): Promise<Walked> =>
  new Promise((done, failed) => {
    const child = spawn(found.program!, [walk], { stdio: ['pipe', 'pipe', 'pipe'] });
    const said = { out: '', err: '' };
    child.stdout.on('data', (chunk) => {
      said.out += chunk;
    });
    child.stderr.on('data', (chunk) => {
      said.err += chunk;
    });
    child.once('error', failed);
    child.once('close', (status) => {
      if (said.out === '') failed(new Error(`the walk ${walk} ended with ${status}: ${said.err}`));
      else done(JSON.parse(said.out));
    });
    child.stdin.end(JSON.stringify({ ...door, ...machine, microversion, instance_uuid: randomUUID() }));
  });

/** Every exported function of the library's bare-metal packages that sends a request, as `package.Function`. */
export const libraryCalls = (): string[] =>
  ['apiversions', ...['allocations', 'conductors', 'drivers', 'nodes', 'ports'].map((name) => `v1/${name}`)].flatMap(
    (name) => {
      const folder = join(found.library!, 'openstack', 'baremetal', name);
      const text = readdirSync(folder)
        .filter((file) => file === 'requests.go')
        .map((file) => readFileSync(join(folder, file), 'utf8'))
        .join('');
      return [...text.matchAll(/^func ([A-Z]\w*)\([^)]*\*gophercloud\.ServiceClient/gm)].map(
        ([, called]) => `${name.split('/').at(-1)}.${called}`,
      );
    },
  );
