/** Python programs that judge us from outside: each prints `N passed, N failed` on its last line. */
import { spawn } from 'node:child_process';
import { clientCommand } from './clients';

export type Verdict = { readonly passed: number; readonly failed: number; readonly output: string };

/** Runs a program of test/clients with the clients' own Python. Throws when it ends without a verdict. */
export const judge = async (program: string, args: readonly string[]): Promise<Verdict> => {
  const child = spawn(clientCommand('python'), [program, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  child.stderr.on('data', (chunk) => {
    output += chunk;
  });
  await new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  const verdict = /(\d+) passed, (\d+) failed\s*$/.exec(output);
  if (!verdict) throw new Error(`${program} ended without a verdict:\n${output}`);
  return { passed: Number(verdict[1]), failed: Number(verdict[2]), output };
};
