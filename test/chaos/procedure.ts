/** Restores as an operator carries them out, by the book: docs/production.md, "Backup and restore". */
import { execFile } from 'node:child_process';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Person } from '../../demo/system';
import type { Backup, Store } from './blows';
import type { Stores } from './stores';
import { until } from './until';

const exec = promisify(execFile);

// This file runs as .temper/tools/test/chaos/procedure.js.
const program = (name: string): string => join(__dirname, '../../../../dist/bin', `${name}.js`);

/** What the operator of one system has at hand. */
export type Desk = {
  readonly stores: Stores;
  readonly operator: Person;
  /** Environment of `migrate`. */
  readonly migrate: Readonly<Record<string, string>>;
  /** Path of clouds.yaml. */
  readonly clouds: string;
};

/** What happens around a blow. */
export type Around = {
  /** Lets all that is held at BMCs and ramdisks go on. */
  readonly open: () => Promise<void>;
  /** Begins the runs that no backup is to know. */
  readonly later: () => Promise<void>;
  readonly note: (what: string) => void;
  readonly say: (line: string) => void;
};

const recover = async ({ clouds }: Desk, args: readonly string[]): Promise<string> => {
  const { stdout } = await exec(process.execPath, [program('temper'), 'recover', ...args], {
    env: { ...process.env, OS_CLIENT_CONFIG_FILE: clouds, OS_CLOUD: 'operator' },
    maxBuffer: 16 * 1024 * 1024,
  });
  return stdout;
};

const restored = (stores: readonly Store[]): string =>
  stores.length > 1 ? 'both' : stores[0] === 'postgres' ? 'store' : 'engine';

/** Backups one after the other while work goes on; then the stores are lost, and set back. @returns once the recovery has ended */
export const loseAndRestore = async (desk: Desk, backups: readonly Backup[], around: Around): Promise<void> => {
  const { stores } = desk;
  const kept: (() => void)[] = [];
  for (const [at, { of, thenSeconds }] of backups.entries()) {
    kept.push(await stores.backUp(of));
    if (at === 0) await Promise.all([around.open(), around.later()]);
    await sleep(thenSeconds * 1_000);
  }
  const lost = backups.map(({ of }) => of);
  await stores.stop(lost, 'SIGKILL');
  around.note('lost');
  const [bmc, control] = [stores.workers('worker-bmc'), stores.workers('worker-control')];
  await stores.stop(bmc, 'SIGTERM');
  await stores.stop([...control, 'api'], 'SIGTERM');
  for (const putBack of kept) putBack();
  await stores.start(lost);
  // It answers when both stores do.
  await until('migrate to succeed', () =>
    exec(process.execPath, [program('migrate'), '--restored', restored(lost)], {
      env: { ...process.env, ...desk.migrate },
    }).then(
      () => true,
      (failure: Error) => {
        around.say(`  ${failure.message.trim().split('\n').at(-1)}`);
        return false;
      },
    ),
  );
  await stores.start([...control, 'api']);
  await desk.operator.must('GET', '/v1/nodes?limit=1');
  await stores.start(bmc);
  around.note('set back');
  for (const line of (await recover(desk, [])).trimEnd().split('\n')) around.say(`  ${line}`);
  const done = await recover(desk, ['--yes']);
  around.say(`  ${done.trimEnd().split('\n').at(-1)}`);
  around.note('recovered');
};

/** All that Temporal has stored is gone; it comes up with its namespace and search attributes only. */
export const loseEngine = async ({ stores, operator }: Desk, around: Around): Promise<void> => {
  const folder = stores.folderOf('temporal');
  await stores.stop(['temporal'], 'SIGKILL');
  await around.open();
  for (const name of readdirSync(folder)) rmSync(join(folder, name));
  await stores.start(['temporal']);
  await operator.must('GET', '/v1/nodes?limit=1');
  around.note('lost');
};
