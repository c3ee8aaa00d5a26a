/** `npm run bench`: what the product costs beside the least it could cost, from one run on this machine. */
import { writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { connections, measureHttp } from './http';
import { memoryOf } from './processes';
import { goals, type Result, report } from './report';
import { measureRuns } from './runs';
import { openSystem } from './system';
import { measureStart } from './warm-start';

const efforts = {
  full: { http: { rounds: 5, seconds: 3 }, runs: 40, starts: 3 },
  quick: { http: { rounds: 1, seconds: 1 }, runs: 10, starts: 1 },
} as const;

// This file runs as .temper/bench/bench/index.js.
const root = resolve(__dirname, '../../..');

const say = (line: string): void => void process.stderr.write(`bench: ${line}\n`);

const measure = async (systemFile: string, quick: boolean): Promise<Result> => {
  const effort = efforts[quick ? 'quick' : 'full'];
  const load_before = loadavg()[0]!;
  const start = await measureStart(root, effort.starts, say);
  const system = await openSystem(systemFile);
  const runs = await measureRuns(system, effort.runs, say);
  say(`requests at ${connections.join(', ')} connections, real and bare in turn`);
  const http = await measureHttp(system, effort.http, say);
  const memory = memoryOf(system.processes);
  const machine = {
    processors: cpus().length,
    model: cpus()[0]?.model ?? 'unknown',
    node: process.versions.node,
    load_before,
    load_after: loadavg()[0]!,
  };
  return { machine, quick, goals, http, runs, start, memory };
};

// scripts/bench.js explains the options and refuses others.
const options = { quick: { type: 'boolean' }, json: { type: 'boolean' } } as const;

const main = async (): Promise<number> => {
  const { quick = false, json: asJson = false } = parseArgs({ options }).values;
  const systemFile = process.env.TEMPER_SYSTEM_FILE;
  if (!systemFile) {
    process.stderr.write('TEMPER_SYSTEM_FILE is not set: start this with `npm run bench`.\n');
    return 64;
  }
  const result = await measure(systemFile, quick);
  const json = JSON.stringify(result, null, 2);
  writeFileSync(resolve(root, '.temper', 'bench.json'), `${json}\n`);
  process.stdout.write(`${asJson ? json : report(result)}\n`);
  return 0;
};

main().then(
  (status) => process.exit(status),
  (error: Error) => {
    process.stderr.write(`bench: ${error.stack ?? error.message}\n`);
    process.exit(1);
  },
);
