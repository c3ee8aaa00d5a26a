/** A program that tests put in ipmitool's place, to see what it is asked and to say what no simulator says. */

import { readFileSync } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What the stand-in says to one call. `hang`: says it, and never ends. */
export type Line = {
  readonly out?: string;
  readonly err?: string;
  readonly status?: number;
  readonly hang?: true;
  /** Repeats `out` without end. */
  readonly flood?: true;
};

/** What one call was given. `secret` is what it read at the path after -f. */
export type Heard = {
  readonly args: string[];
  readonly input: string;
  readonly secret: string;
  readonly env: Record<string, string>;
  readonly pid: number;
};

const source = (dir: string, lines: Readonly<Record<string, readonly Line[]>>): string => `#!${process.execPath}
const fs = require('node:fs');
const dir = ${JSON.stringify(dir)};
const lines = ${JSON.stringify(lines)};
const args = process.argv.slice(2);
const told = args.slice(args.indexOf('-f') + 2).join(' ');
const before = fs.readFileSync(dir + '/heard', 'utf8').split('\\n').filter(Boolean).map((one) => JSON.parse(one));
const count = before.filter((one) => one.args.join(' ').endsWith(told)).length;
const input = args.includes('-Y') ? fs.readFileSync(0, 'hex') : '';
const secret = fs.readFileSync(args[args.indexOf('-f') + 1], 'utf8');
fs.appendFileSync(dir + '/heard', JSON.stringify({ args, input, secret, env: process.env, pid: process.pid }) + '\\n');
const known = lines[told] ?? lines.any ?? [];
const line = known[Math.min(count, known.length - 1)] ?? { err: 'not in the script: ' + told, status: 1 };
const say = () => {
  fs.writeSync(2, line.err ?? '');
  fs.writeSync(1, line.out ?? '');
};
say();
if (line.flood) for (;;) say();
if (line.hang) setInterval(() => {}, 1_000);
else process.exitCode = line.status ?? 0;
`;

/**
 * @param lines what to say, by the words of the command (`power status`; `any` for all others): one line per call, the last
 *   one for all further calls
 */
export const startStandIn = async (lines: Readonly<Record<string, readonly Line[]>>) => {
  const dir = await mkdtemp(join(tmpdir(), 'ipmi-stand-in-'));
  const program = join(dir, 'ipmitool');
  await writeFile(join(dir, 'heard'), '');
  await writeFile(program, source(dir, lines));
  await chmod(program, 0o700);
  const heard = (): Heard[] =>
    readFileSync(join(dir, 'heard'), 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((one) => JSON.parse(one) as Heard);
  return {
    program,
    heard,
    /** The commands alone, oldest first. */
    commands: () => heard().map(({ args }) => args.slice(args.indexOf('-f') + 2).join(' ')),
    close: () => rm(dir, { recursive: true, force: true }),
  };
};
