/** A second API process over the bench's own stores, with callers and bounds of its own: what it costs is one part's alone. */
import { type ChildProcess, fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { System } from './system';

export type SecondApi = { readonly pid: number; readonly port: number; readonly stop: () => Promise<void> };

/** NUL-separated, as proc(5) has them. */
const partsOf = (pid: number, file: 'cmdline' | 'environ'): string[] =>
  readFileSync(`/proc/${pid}/${file}`, 'utf8').split('\0').filter(Boolean);

const environmentOf = (pid: number): NodeJS.ProcessEnv =>
  Object.fromEntries(
    partsOf(pid, 'environ').map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  );

/** The port that its log says it listens on. Throws when it ends before. */
const listening = async (child: ChildProcess): Promise<number> => {
  const lines: string[] = [];
  for await (const line of createInterface({ input: child.stdout! })) {
    const said = JSON.parse(line) as { message?: string; port?: number };
    if (said.message === 'listening' && said.port !== undefined) {
      child.stdout!.resume(); // what it says later is read, so that it is not kept waiting
      return said.port;
    }
    lines.push(line);
  }
  throw new Error(`the second API ended: ${lines.join('\n')}`);
};

/** Starts it as the system's own API was started, with other settings and arguments. Throws where there is no /proc. */
export const startSecondApi = async (
  { processes }: System,
  settings: Readonly<Record<string, string>>,
  ...role: string[]
): Promise<SecondApi> => {
  const { pid } = processes.find(({ name }) => name === 'api')!;
  const [execPath, ...args] = partsOf(pid, 'cmdline');
  const script = args.findIndex((arg) => arg.endsWith('.js'));
  const env = {
    ...environmentOf(pid),
    TEMPER_API_PORT: '0',
    TEMPER_HEALTH_PORT: '0',
    TEMPER_SUPERVISED: '1',
    ...settings,
  };
  const child = fork(args[script]!, [...args.slice(script + 1), ...role], {
    env,
    execPath,
    execArgv: args.slice(0, script),
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  return {
    pid: child.pid!,
    port: await listening(child),
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
    },
  };
};
