/** A real Ironic for tests: its database as Ironic itself made and filled it, and its API on top. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { connect } from '../../src/inventory/database';
import { foundBy } from './found';
import { testDatabase } from './servers';

const found = foundBy<{ ironic: { readonly python: string } }>('ironic.js');

/** Why Ironic could not be had; undefined when it is there. */
export const ironicMissing = found.missing;

const onPath = (program: string): boolean => {
  try {
    execFileSync('sh', ['-c', `command -v ${program}`], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
};

/** Why there is no MariaDB; undefined when it is there. */
export const mariadbMissing = ['mariadbd', 'mariadb', 'mariadb-install-db', 'mariadb-admin'].every(onPath)
  ? undefined
  : 'this machine has no mariadb-server';

/** An empty database of some kind; `ironicUrl` is its address as SQLAlchemy has it. */
type EmptyDatabase = { readonly ironicUrl: string; drop(): Promise<void> };

/** On the tests' own server: a copy of the template, emptied. */
export const emptyPostgres = async (): Promise<EmptyDatabase> => {
  const database = await testDatabase();
  const sql = connect(database.ownerUrl, { max: 1 });
  await sql`drop schema public cascade`;
  await sql`create schema public`;
  await sql.end();
  return { ironicUrl: database.ownerUrl.replace(/^postgres(ql)?:/, 'postgresql+psycopg2:'), drop: database.drop };
};

/** On a server of its own, which listens on a socket file alone. */
export const emptyMariadb = async (): Promise<EmptyDatabase> => {
  const dir = await mkdtemp(join(tmpdir(), 'mariadb-'));
  const socket = join(dir, 'sock');
  const [data, user] = [join(dir, 'data'), userInfo().username];
  const quiet = { stdio: 'ignore' } as const;
  execFileSync(
    'mariadb-install-db',
    [
      '--no-defaults',
      `--datadir=${data}`,
      `--user=${user}`,
      '--auth-root-authentication-method=normal',
      '--skip-test-db',
    ],
    quiet,
  );
  const server = spawn(
    'mariadbd',
    ['--no-defaults', `--user=${user}`, `--datadir=${data}`, `--socket=${socket}`, '--skip-networking'],
    quiet,
  );
  const ended = once(server, 'exit');
  execFileSync('mariadb-admin', ['--no-defaults', `--socket=${socket}`, '-u', 'root', '--wait=60', 'ping'], quiet);
  const statement = 'create database ironic character set utf8mb4';
  execFileSync('mariadb', ['--no-defaults', `--socket=${socket}`, '-u', 'root', '-e', statement], quiet);
  return {
    ironicUrl: `mysql+pymysql://root@localhost/ironic?unix_socket=${socket}&charset=utf8mb4`,
    async drop() {
      server.kill();
      await ended;
      await rm(dir, { recursive: true, force: true });
    },
  };
};

/** Makes and fills the database and starts the API. `change` makes the changes of that name; see ironic_serve.py. */
export const startIronic = async ({ ironicUrl }: EmptyDatabase) => {
  const dir = await mkdtemp(join(tmpdir(), 'ironic-'));
  const program = resolve(__dirname, '..', 'clients', 'ironic_serve.py');
  const child = spawn(found.ironic!.python, [program, ironicUrl, dir], { stdio: ['pipe', 'pipe', 'pipe'] });
  let said = '';
  child.stderr.on('data', (chunk) => {
    said = `${said}${chunk}`.slice(-4_000);
  });
  const ended = once(child, 'exit');
  ended.catch(() => undefined);
  const failed = ended.then(([status]) => Promise.reject(new Error(`Ironic ended with ${status}:\n${said}`)));
  failed.catch(() => undefined);
  const output = createInterface(child.stdout);
  const line = (form: RegExp): Promise<RegExpExecArray> =>
    new Promise((done) => {
      const read = (text: string): void => {
        const match = form.exec(text);
        if (!match) return;
        output.off('line', read);
        done(match);
      };
      output.on('line', read);
    });
  const [, port] = await Promise.race([line(/^port (\d+)$/), failed]);
  return {
    url: `http://127.0.0.1:${port}`,
    async change(name: string): Promise<void> {
      const done = line(/^done$/);
      child.stdin.write(`${name}\n`);
      await Promise.race([done, failed]);
    },
    async stop(): Promise<void> {
      child.stdin.end();
      await ended;
      await rm(dir, { recursive: true, force: true });
    },
  };
};
