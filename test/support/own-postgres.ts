/** A PostgreSQL cluster of one test's own, new, with the embedded programs or with those of a folder. */
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const lib = (name: string) => jest.requireActual(`../../scripts/lib/${name}`);

export type OwnPostgres = {
  /** The owner's, of its database `postgres`. */
  readonly url: string;
  close(): Promise<void>;
};

/** Folder of the embedded programs, as a place where the server's user may run them. Jest itself cannot import their package. */
const embedded = (): string => {
  const files = JSON.stringify(join(__dirname, '../../scripts/lib/postgres-files'));
  const program = `const f = require(${files}); f.programs(f.serverUser()).then((bin) => process.stdout.write(bin))`;
  return execFileSync(process.execPath, ['-e', program], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
};

/** @param bin folder of initdb and postgres; the embedded ones when absent */
export const startOwnPostgres = async (bin = embedded()): Promise<OwnPostgres> => {
  const dir = mkdtempSync(join(tmpdir(), 'own-postgres-'));
  chmodSync(dir, 0o711); // for the server's user, where tests run as root
  const [port] = await lib('ports').freePorts(1);
  const wish = { dir: join(dir, 'data'), port, password: 'owner', durable: false, bin };
  const spec = await lib('postgres').preparePostgres(wish);
  const child = lib('child');
  const running = child.start(spec, join(dir, 'postgres.log'));
  const close = async () => {
    await running.stop();
    rmSync(dir, { recursive: true, force: true });
    rmSync(spec.args[1], { recursive: true, force: true });
  };
  const trouble = await child.becomesReady(running);
  if (!trouble) return { url: spec.url, close };
  await close();
  throw new Error(trouble);
};

const debian = '/usr/lib/postgresql';
const needed = ['initdb', 'postgres', 'pg_dump', 'pg_restore'];

/** Folder of a whole PostgreSQL with its dump programs, as Debian installs it; undefined where there is none. */
export const wholePostgres = (): string | undefined =>
  (existsSync(debian) ? readdirSync(debian) : [])
    .map((version) => join(debian, version, 'bin'))
    .filter((bin) => needed.every((name) => existsSync(join(bin, name))))
    .at(-1);
