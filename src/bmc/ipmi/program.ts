/** Runs programs: without a shell, with bounded output, killed on timeout or abort. */
import { type ChildProcess, spawn } from 'node:child_process';
import { raise } from '../../model/errors';

export type Task = {
  readonly program: string;
  readonly args: readonly string[];
  /** Standard input. */
  readonly input: Buffer | undefined;
  /** Descriptor 3 of the program. */
  readonly descriptor: number;
  readonly limitMs: number;
  readonly signal: AbortSignal;
};

/** `cut`: the reason if it was killed. */
export type Said = {
  readonly status: number | null;
  readonly out: string;
  readonly err: string;
  readonly cut: 'late' | 'endless' | undefined;
};

/** The worker's own environment may have secrets. */
export const env = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/opt/homebrew/bin',
  LC_ALL: 'C',
};
const maxBytes = 64 * 1024;

/** In a separate session: it has no terminal for a password prompt, and its children die with it. */
const start = ({ program, args, descriptor }: Task): ChildProcess =>
  spawn(program, [...args], { cwd: '/', env, detached: true, stdio: ['pipe', 'pipe', 'pipe', descriptor] });

/** Kills the program with its children. */
export const killGroup = (child: ChildProcess): void => {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // It has just ended.
  }
};

/** Programs and their Debian packages. */
const packages = { ipmitool: 'ipmitool', script: 'bsdutils' } as const;

/** @param path of the program, if not its name */
export const programMissing = (name: keyof typeof packages, cause: Error, path: string = name): never =>
  raise('ProgramMissing', { program: path, package: packages[name] }, { cause });

const missing = (failure: NodeJS.ErrnoException, program: string): Error => {
  if (failure.code !== 'ENOENT' && failure.code !== 'EACCES') return failure;
  return programMissing('ipmitool', failure, program);
};

/** Throws ProgramMissing, and the signal's reason. */
export const runProgram = async (task: Task): Promise<Said> => {
  task.signal.throwIfAborted();
  const child = start(task);
  const said = { out: '', err: '' };
  let cut: Said['cut'];
  const stop = (why: Said['cut']) => {
    cut ??= why;
    killGroup(child);
  };
  for (const [stream, name] of [
    [child.stdout, 'out'],
    [child.stderr, 'err'],
  ] as const)
    stream?.setEncoding('utf8').on('data', (chunk: string) => {
      said[name] = `${said[name]}${chunk}`.slice(0, maxBytes);
      if (said[name].length >= maxBytes) stop('endless');
    });
  // The program may close its input early.
  child.stdin?.on('error', () => undefined).end(task.input);
  const timer = setTimeout(() => stop('late'), task.limitMs);
  const abort = () => killGroup(child);
  task.signal.addEventListener('abort', abort, { once: true });
  try {
    const status = await new Promise<number | null>((resolve, reject) => {
      child.on('error', reject).on('close', resolve);
    }).catch((failure: NodeJS.ErrnoException) => {
      throw missing(failure, task.program);
    });
    task.signal.throwIfAborted();
    return { ...said, status, cut };
  } finally {
    clearTimeout(timer);
    task.signal.removeEventListener('abort', abort);
  }
};
