/** Programs started to their end, or beside the test; the namespace that the tests run in ends what is left of them. */
import { type ChildProcess, spawn } from 'node:child_process';
import { openSync } from 'node:fs';

export type Ended = { readonly status: number | null; readonly output: string };
type Options = { readonly env?: NodeJS.ProcessEnv; readonly timeoutMs?: number };

/** Starts a program and gathers what it prints. */
export const started = (command: string, args: readonly string[], { env, timeoutMs }: Options = {}): Promise<Ended> =>
  new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...env },
      ...(timeoutMs !== undefined && { timeout: timeoutMs, killSignal: 'SIGKILL' as const }),
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (piece: Buffer) => {
        output += piece.toString();
      });
    child.once('error', reject);
    child.once('close', (status) => resolve({ status, output }));
  });

/** As `started`, but anything but success is an error with what was printed. */
export const must = async (command: string, args: readonly string[], options?: Options): Promise<string> => {
  const { status, output } = await started(command, args, options);
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status}:\n${output}`);
  return output;
};

const staying = new Set<ChildProcess>();

/** Ends what was started beside the tests, so that the next file of them finds ports and addresses free. */
export const endBeside = async (): Promise<void> => {
  const ends = [...staying].map(
    (child) =>
      new Promise<void>((resolve) => {
        child.once('close', () => resolve());
        if (!child.kill('SIGKILL')) resolve();
      }),
  );
  await Promise.all(ends);
};

/** Starts a program that stays; its output goes to a file. It does not keep the tests from ending, and ends with their namespace. */
export const beside = (command: string, args: readonly string[], log: string): ChildProcess => {
  const file = openSync(log, 'a');
  const child = spawn(command, args, { stdio: ['ignore', file, file] });
  child.unref();
  staying.add(child);
  child.once('close', () => staying.delete(child));
  return child;
};

/** Asks until the answer is true. Throws when the time is over, naming what was waited for. */
export const until = async (what: string, withinMs: number, asked: () => Promise<boolean> | boolean): Promise<void> => {
  const deadline = Date.now() + withinMs;
  while (!(await asked())) {
    if (Date.now() > deadline) throw new Error(`${what}: not within ${withinMs / 1000} s`);
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
};
