/** Pauses of chaos: a process and its children stand still for their time, and go on by themselves. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { pauseAll } from './pause';

const { clockOf, clocksOfRound } = jest.requireActual('../../scripts/lib/faketime');

const stateOf = (pid: number): string => {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3);
};

let parent: ChildProcess;
afterEach(() => parent?.kill('SIGKILL'));

test('a child that leads a session of its own stands still with its parent, and both go on', async () => {
  // As a server process of Postgres does.
  const text = `const {spawn}=require('child_process');
    const child=spawn(process.execPath,['-e','process.stdin.resume()'],{detached:true,stdio:['pipe','ignore','ignore']});
    process.on('exit',()=>child.kill('SIGKILL'));
    process.stdout.write(child.pid+'\\n');process.stdin.on('end',()=>process.exit());process.stdin.resume()`;
  parent = spawn(process.execPath, ['-e', text], { stdio: ['pipe', 'pipe', 'inherit'] });
  const [line] = await once(parent.stdout!, 'data');
  const pids = [parent.pid!, Number(String(line))];
  const over = pauseAll([parent.pid!], 3);
  // A signal takes its moment; only a child that is never stopped fails.
  while (pids.some((pid) => stateOf(pid) !== 'T')) await new Promise((resolve) => setTimeout(resolve, 10));
  await over;
  while (pids.some((pid) => stateOf(pid) === 'T')) await new Promise((resolve) => setTimeout(resolve, 10));
  parent.stdin!.end();
  await once(parent, 'exit');
});

test('in six rounds every process has every wrong clock once', () => {
  const rounds = [0, 1, 2, 3, 4, 5].map((round) => String(clocksOfRound(round)).split(','));
  const names = rounds[0]!.map((row) => row.split('=')[0]);
  for (const name of names) {
    const had = rounds
      .flat()
      .filter((row) => row.startsWith(`${name}=`))
      .map((row) => Number(row.split('=')[1]));
    expect(had.sort((a, b) => a - b)).toEqual([-3600, -300, -10, 10, 300, 3600]);
  }
});

test('only the time of day of a process that is named is wrong', () => {
  const before = { ...process.env };
  Object.assign(process.env, { CHAOS_CLOCKS: 'api=-300', CHAOS_FAKETIME: '/lib.so' });
  try {
    expect(clockOf('worker-control')).toEqual({});
    expect(clockOf('api')).toMatchObject({
      LD_PRELOAD: '/lib.so',
      FAKETIME: '-300',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    });
  } finally {
    process.env = before;
  }
});
