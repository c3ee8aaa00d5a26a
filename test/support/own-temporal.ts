/** A Temporal server of one test file's own, on a file that the test may delete or put back. */
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const lib = (name: string) => jest.requireActual(`../../scripts/lib/${name}`);

export type OwnTemporal = {
  /** Ends it as a crash does. */
  kill(): Promise<void>;
  /** Starts it on the same port and file. */
  start(): Promise<void>;
  /** Deletes what it has stored; it must not run. */
  lose(): void;
  /** Keeps a copy of what it has stored; it must not run. @returns what puts the copy back */
  backUp(): () => void;
  close(): Promise<void>;
};

/** Starts it, and has `temporalAddress()` of this file answer it from here on. */
export const startOwnTemporal = async (): Promise<OwnTemporal> => {
  const dir = mkdtempSync(join(tmpdir(), 'own-temporal-'));
  const [port] = await lib('ports').freePorts(1);
  const file = join(dir, 'temporal.db');
  const spec = await lib('temporal').prepareTemporal({ port, file });
  let running: { stop(): Promise<void>; child: { kill(signal: string): void }; exited: Promise<unknown> } | undefined;
  const own: OwnTemporal = {
    async start() {
      const child = lib('child');
      running = child.start(spec, join(dir, 'temporal.log'));
      const trouble = await child.becomesReady(running);
      if (trouble) throw new Error(trouble);
    },
    async kill() {
      running?.child.kill('SIGKILL');
      await running?.exited;
    },
    lose() {
      for (const name of readdirSync(dir)) if (name.startsWith('temporal.db')) rmSync(join(dir, name));
    },
    backUp() {
      const copy = mkdtempSync(join(tmpdir(), 'own-temporal-copy-'));
      for (const name of readdirSync(dir))
        if (name.startsWith('temporal.db')) cpSync(join(dir, name), join(copy, name));
      return () => {
        own.lose();
        cpSync(copy, dir, { recursive: true });
        rmSync(copy, { recursive: true });
      };
    },
    async close() {
      await own.kill();
      rmSync(dir, { recursive: true, force: true });
    },
  };
  await own.start();
  process.env.TEMPER_TEST_TEMPORAL_ADDRESS = spec.address;
  return own;
};
