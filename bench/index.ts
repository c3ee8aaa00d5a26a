/** `npm run bench`: what the product costs beside the least it could cost, from one run on this machine. */
import { writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { floodsBeyond } from './floods';
import { goals } from './goals';
import { type EffortName, efforts, measureParts, type PartName, partNames } from './parts';
import { type Result, report } from './report';
import { openSystem } from './system';
import { worstBeyond } from './worst';

// This file runs as .temper/tools/bench/index.js.
const root = resolve(__dirname, '../../..');

const say = (line: string): void => void process.stderr.write(`bench: ${line}\n`);

const measure = async (
  systemFile: string,
  names: readonly PartName[],
  effort: EffortName,
  engine: string,
): Promise<Result> => {
  const load_before = loadavg()[0]!;
  const system = await openSystem(systemFile);
  const measured = await measureParts(names, { root, system, effort: efforts[effort], say });
  await system.sql.end({ timeout: 1 });
  const machine = {
    processors: cpus().length,
    model: cpus()[0]?.model ?? 'unknown',
    node: process.versions.node,
    load_before,
    load_after: loadavg()[0]!,
  };
  return { machine, engine, effort, goals, ...measured };
};

// scripts/bench.js explains the options and refuses others.
const options = {
  quick: { type: 'boolean' },
  full: { type: 'boolean' },
  json: { type: 'boolean' },
  only: { type: 'string' },
  engine: { type: 'string', default: 'dev' },
} as const;

/** The parts of a comma-separated list; all where none is given. Throws what is not one. */
const wanted = (only: string | undefined): readonly PartName[] => {
  if (only === undefined) return partNames;
  const names = only.split(',').map((name) => name.trim());
  const wrong = names.find((name) => !(partNames as string[]).includes(name));
  if (wrong !== undefined) throw new Error(`--only: there is no part ${wrong}; there are: ${partNames.join(', ')}`);
  return names as PartName[];
};

const main = async (): Promise<number> => {
  const { quick, full, json: asJson, only, engine } = parseArgs({ options }).values;
  const systemFile = process.env.TEMPER_SYSTEM_FILE;
  if (!systemFile) {
    process.stderr.write('TEMPER_SYSTEM_FILE is not set: start this with `npm run bench`.\n');
    return 64;
  }
  const result = await measure(systemFile, wanted(only), full ? 'full' : quick ? 'quick' : 'usual', engine);
  const json = JSON.stringify(result, null, 2);
  writeFileSync(resolve(root, '.temper', 'bench.json'), `${json}\n`);
  process.stdout.write(`${asJson ? json : report(result)}\n`);
  const { floods, worst } = result.found;
  return result.failed.length + floodsBeyond(floods).length + worstBeyond(worst).length > 0 ? 1 : 0;
};

main().then(
  (status) => process.exit(status),
  (error: Error) => {
    process.stderr.write(`bench: ${error.stack ?? error.message}\n`);
    process.exit(1);
  },
);
