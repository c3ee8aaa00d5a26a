/** The real `baremetal` command, as the people of a system's clouds.yaml. */
import { spawn } from 'node:child_process';
import { baremetalCli } from '../../support/clients';
import type { System } from './system';

export type Said = { readonly status: number | null; readonly out: string; readonly err: string };
type Json = ReturnType<typeof JSON.parse>;

export type Cli = {
  /** Runs a command and answers with what came of it. */
  (cloud: string, ...args: readonly string[]): Promise<Said>;
  /** Runs a command that must succeed. */
  does(cloud: string, ...args: readonly string[]): Promise<string>;
  /** Runs a command that must succeed and answers with its output as JSON. */
  json(cloud: string, ...args: readonly string[]): Promise<Json>;
};

/** Runs a program with only this system's clouds to go to. */
export const runClient = (system: System, command: string, args: readonly string[]): Promise<Said> =>
  new Promise((resolve, reject) => {
    const own = Object.entries(process.env).filter(([name]) => !name.startsWith('OS_'));
    const clouds = { OS_CLIENT_CONFIG_FILE: system.record().addresses.clouds };
    const env = { ...Object.fromEntries(own), ...clouds };
    const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    const said = { out: '', err: '' };
    child.stdout.on('data', (chunk) => {
      said.out += chunk;
    });
    child.stderr.on('data', (chunk) => {
      said.err += chunk;
    });
    child.once('error', reject);
    child.once('close', (status) => resolve({ status, ...said }));
  });

/** @param onCommand called with every command and what came of it */
export const cliOf = (system: System, onCommand: (args: readonly string[], said: Said) => void = () => {}): Cli => {
  const run = async (cloud: string, ...args: readonly string[]) => {
    const said = await runClient(system, baremetalCli(), ['--os-cloud', cloud, ...args]);
    onCommand(args, said);
    return said;
  };
  const does = async (cloud: string, ...args: readonly string[]): Promise<string> => {
    const { status, out, err } = await run(cloud, ...args);
    if (status !== 0) throw new Error(`${cloud}: baremetal ${args.join(' ')} ended with ${status}: ${err}`);
    return out;
  };
  return Object.assign(run, {
    does,
    json: async (cloud: string, ...args: readonly string[]) => JSON.parse(await does(cloud, ...args, '-f', 'json')),
  });
};

/** What a refused command looks like: exit status 1, the reason with its HTTP status on stderr, nothing on stdout. */
export const refusal = (httpStatus: number, reason: string) => ({
  status: 1,
  out: '',
  err: expect.stringMatching(new RegExp(`${reason}.*\\(HTTP ${httpStatus}\\)`)),
});
