/** The Debian package: made twice, in two places, it is the same bytes; installed by dpkg on a copy of this system, it is whole. */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suiteOf } from '../support/found';

const root = join(__dirname, '../..');
const epoch = '1790000000';

/** What has to be there: Debian's own programs, and a system that can be laid over by another. */
const missing = (() => {
  if (process.getuid?.() !== 0) return 'needs root: it mounts a copy of the system';
  const programs = [
    'dpkg',
    'dpkg-deb',
    'setpriv',
    'unshare',
    'systemd-analyze',
    'systemd-sysusers',
    'systemd-tmpfiles',
  ];
  const lacks = programs.find((name) => spawnSync('sh', ['-c', `command -v ${name}`]).status !== 0);
  if (lacks) return `needs ${lacks}`;
  const overlay =
    'mount -t tmpfs tmpfs /mnt && mkdir /mnt/u /mnt/w && mount -t overlay overlay -o lowerdir=/usr,upperdir=/mnt/u,workdir=/mnt/w /usr';
  const laid = spawnSync('unshare', ['--mount', 'sh', '-c', overlay], { encoding: 'utf8' });
  return laid.status === 0 ? undefined : `needs overlay mounts: ${laid.stderr.trim()}`;
})();

/** The files that a package is made of. */
const parts = [
  'package.json',
  'package-lock.json',
  '.npmrc',
  'LICENSE',
  'NOTICE',
  'tsconfig.json',
  'tsconfig.build.json',
  'tsconfig.tools.json',
  'src',
  'scripts',
  'tools',
  'deploy',
  'docs',
  'emulator',
  'demo',
  'bench',
  'test',
];

const made = (checkout: string, out: string): string => {
  execFileSync(process.execPath, [join(checkout, 'scripts/package.js'), '--out', out], {
    env: { ...process.env, SOURCE_DATE_EPOCH: epoch },
    stdio: 'pipe',
  });
  return join(out, readdirSync(out)[0]!);
};

const digestOf = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('hex');

suiteOf('the Debian package', missing)('the Debian package', () => {
  let dir: string;
  let file: string;
  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), 'temper-package-'));
    file = made(root, join(dir, 'first'));
  });
  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  test('is the same bytes from another folder', () => {
    const copy = join(dir, 'a-checkout-elsewhere');
    mkdirSync(copy);
    execFileSync('cp', ['-r', ...parts.map((part) => join(root, part)), copy]);
    execFileSync('cp', ['-al', join(root, 'node_modules'), join(copy, 'node_modules')]);
    expect(digestOf(made(copy, join(dir, 'second')))).toBe(digestOf(file));
  });

  test('has what production needs, and a bill of it', () => {
    const tree = join(dir, 'tree');
    execFileSync('dpkg-deb', ['-x', file, tree]);
    const bill = JSON.parse(readFileSync(join(tree, 'usr/share/doc/temper/sbom.cdx.json'), 'utf8'));
    expect(bill).toMatchObject({ bomFormat: 'CycloneDX', metadata: { component: { name: 'temper' } } });
    const named = new Set(bill.components.map(({ name }: { name: string }) => name));
    const modules = join(tree, 'usr/lib/temper/node_modules');
    const there = readdirSync(modules).flatMap((name) =>
      name.startsWith('@') ? readdirSync(join(modules, name)).map((inner) => `${name}/${inner}`) : [name],
    );
    expect(there).toContain('express');
    expect(there).not.toContain('jest');
    expect(there.filter((name) => !named.has(name))).toEqual([]);
    expect(spawnSync('grep', ['-rlF', root, tree], { encoding: 'utf8' }).stdout).toBe('');
  });

  test('is installed, verified, installed again, removed and purged', () => {
    const target = join(dir, 'system');
    mkdirSync(target);
    const walked = spawnSync(
      'unshare',
      ['--mount', '--pid', '--fork', 'sh', join(__dirname, 'package_walk.sh'), target, file],
      { encoding: 'utf8' },
    );
    expect(walked.stderr).toBe('');
    expect(walked.stdout.split('\n')).toEqual([
      'installed',
      'settings 600:root folder 750:root:temper',
      'users 6',
      'units verified',
      'help Usage: temper [options] [command]',
      'process temper-api-ramdisks ends with 78, TEMPER_DATABASE_URL',
      'process temper-api ends with 78, TEMPER_DATABASE_URL',
      'process temper-api@ ends with 78, TEMPER_DATABASE_URL',
      'process temper-boot ends with 78, TEMPER_DATABASE_URL',
      'process temper-console ends with 78, TEMPER_CONSOLE_KEY',
      'process temper-migrate ends with 78, TEMPER_DATABASE_URL',
      'process temper-worker-bmc@ ends with 78, TEMPER_DATABASE_URL',
      'process temper-worker-control ends with 78, TEMPER_DATABASE_URL',
      'again # of this site',
      'removed, settings 7, programs 0',
      'purged, settings 0',
      '',
    ]);
  });
});
