/** The client package: the same bytes in another checkout, installed where nothing else is, and used as a tenant does. */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { endAll } from '../bin/support/entries';
import { type System, startSystem } from '../e2e/support/system';

const root = join(__dirname, '../..');
const epoch = 1_790_000_000;

/** Makes it of the build that is there. @returns the tarball and the file */
const made = (checkout: string, out: string): readonly [tarball: string, file: string] => {
  const act = `require('./scripts/lib/client').makeClient(process.argv[1], { epoch: ${epoch}, revision: '+git1' }).then((files) => console.log(JSON.stringify(files)))`;
  return JSON.parse(execFileSync(process.execPath, ['-e', act, out], { cwd: checkout, encoding: 'utf8' }));
};
const digestOf = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('hex');

let dir: string;
let tarball: string;
let file: string;
let system: System;
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'temper-client-test-'));
  system = await startSystem(2, { TEMPER_RACK_SPEED: '50' }, { seed: true });
  [tarball, file] = made(root, join(dir, 'first'));
});
afterAll(async () => {
  await endAll();
  await system?.stop();
  rmSync(dir, { recursive: true, force: true });
});

/** A user's shell: PATH, a home, and the cloud. */
const tenant = (program: string, ...args: string[]) => {
  const env = {
    PATH: `${dirname(process.execPath)}:/usr/bin:/bin`,
    HOME: dir,
    OS_CLIENT_CONFIG_FILE: join(system.data, 'clouds.yaml'),
    OS_CLOUD: 'lessee',
  };
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: dir, env, encoding: 'utf8' });
  return { status, out: stdout, err: stderr };
};

test('it is the same bytes from another folder', () => {
  const copy = join(dir, 'a-checkout-elsewhere');
  mkdirSync(copy);
  const parts = ['package.json', 'package-lock.json', '.npmrc', 'LICENSE', 'NOTICE', 'scripts', 'dist'];
  execFileSync('cp', ['-r', ...parts.map((part) => join(root, part)), copy]);
  execFileSync('cp', ['-al', join(root, 'node_modules'), join(copy, 'node_modules')]);
  const [again, other] = made(copy, join(dir, 'second'));
  expect([digestOf(again), digestOf(other)]).toEqual([digestOf(tarball), digestOf(file)]);
  expect(readFileSync(file, 'utf8')).not.toContain(root);
});

test('npm installs it without any other package, and it has licences, a bill and nothing of the server', () => {
  const prefix = join(dir, 'prefix');
  execFileSync('npm', ['install', '--global', '--offline', '--prefix', prefix, tarball], { cwd: dir, stdio: 'pipe' });
  const modules = join(prefix, 'lib/node_modules');
  expect(readdirSync(modules)).toEqual(['temper-client']);
  expect(readdirSync(join(modules, 'temper-client')).sort()).toEqual(
    [
      'LICENSE',
      'NOTICE',
      'README.md',
      'THIRD-PARTY-LICENSES.txt',
      'package.json',
      'sbom.cdx.json',
      'temper.cjs',
    ].sort(),
  );
  const bill = JSON.parse(readFileSync(join(modules, 'temper-client/sbom.cdx.json'), 'utf8'));
  const names: string[] = bill.components.map(({ name }: { name: string }) => name);
  expect(names).toEqual(expect.arrayContaining(['commander', 'yaml', 'undici', 'string-width']));
  const servers = ['express', 'postgres', 'pino', 'zod', 'worker', 'client', 'mysql2', 'preact', 'prom-client'];
  expect(names.filter((name) => servers.includes(name))).toEqual([]);
  const licences = readFileSync(join(modules, 'temper-client/THIRD-PARTY-LICENSES.txt'), 'utf8');
  for (const name of names) expect(licences).toMatch(new RegExp(`^(?:@[^/]+/)?${name} [0-9.]+: `, 'm'));
  expect(statSync(tarball).size).toBeLessThan(1_000_000);
  expect(tenant(join(prefix, 'bin/temper'), '--version')).toEqual({ status: 0, out: 'temper 0.1.0+git1\n', err: '' });
});

describe('the file alone, as `temper`', () => {
  let temper: string;
  beforeAll(() => {
    temper = join(dir, 'bin/temper');
    mkdirSync(dirname(temper));
    copyFileSync(file, temper);
  });

  test('signs in by clouds.yaml and shows the tenant’s machines and runs', () => {
    expect(tenant(temper, 'runs', 'list', '--state', 'any', '-f', 'csv')).toMatchObject({
      status: 0,
      out: expect.stringMatching(/^RUN,NODE,VERB,STATE,STEP,BEGAN,/),
      err: '',
    });
    expect(tenant(temper, 'doctor').out).toMatch(/^ok +access: these credentials /m);
  });

  test('decides about a policy without a server, and prints a script for the shell', () => {
    const explained = tenant(temper, 'policy', 'explain', 'baremetal:node:get', '--as', 'lessee-member');
    expect(explained).toMatchObject({ status: 0, out: expect.stringMatching(/^allowed: baremetal:node:get/) });
    expect(tenant(temper, 'completion', 'bash').out).toContain('complete -o default -F _temper temper');
  });

  test.each([
    ['secrets', 'status'],
    ['import'],
    ['replay', 'temper-run-1:1'],
    ['boot', 'dnsmasq', '--interface', 'e', '--url', 'http://h'],
    ['ramdisk', 'add', 'r', '--iso', 'x.iso'],
    ['image', 'add', 'i', 'x.raw'],
  ])('says of `%s` where it can be run', (...words) => {
    const { status, err } = tenant(temper, ...words);
    expect({ status, err }).toEqual({
      status: 2,
      err: 'temper: This is the client package, which can only call the API. Run this command on a host with the Temper package or image.\n',
    });
    expect(existsSync(join(dir, 'x.iso'))).toBe(false);
  });
});
