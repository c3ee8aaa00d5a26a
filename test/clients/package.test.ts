/** The packages: made twice, in two places, they are the same bytes; installed by dpkg and rpm on a copy of this system, they are whole. */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { foundBy, suiteOf } from '../support/found';

const root = join(__dirname, '../..');
const epoch = '1790000000';

const nfpm = foundBy<{ program: string }>('go.js', 'nfpm');
const rpm = foundBy<{ rpm: string; config: string }>('rpm.js');

/** What has to be there: Go for nfpm, Debian's own programs, and a system that can be laid over by another. */
const missing = (() => {
  if (nfpm.missing) return nfpm.missing;
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

const made = (kind: 'deb' | 'rpm', checkout: string, out: string): string => {
  execFileSync(process.execPath, [join(checkout, 'scripts/package.js'), kind, '--out', out], {
    env: { ...process.env, SOURCE_DATE_EPOCH: epoch },
    stdio: 'pipe',
  });
  return join(out, readdirSync(out).find((name) => name.endsWith(kind))!);
};

const digestOf = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('hex');

/** Lines that are the same for both: what is there once it is installed. */
const installed = [
  'installed',
  'settings 600:root folder 750:root:temper',
  'users 7',
  'units verified',
  'help Usage: temper [options] [command]',
  'process temper-api-ramdisks ends with 78, TEMPER_DATABASE_URL',
  'process temper-api ends with 78, TEMPER_DATABASE_URL',
  'process temper-api@ ends with 78, TEMPER_DATABASE_URL',
  'process temper-boot ends with 78, TEMPER_DATABASE_URL',
  'process temper-console ends with 78, TEMPER_CONSOLE_KEY',
  'process temper-migrate ends with 78, TEMPER_DATABASE_URL',
  'process temper-notifications ends with 78, TEMPER_DATABASE_URL',
  'process temper-worker-bmc@ ends with 78, TEMPER_DATABASE_URL',
  'process temper-worker-control ends with 78, TEMPER_DATABASE_URL',
  'again # of this site',
];

/** The lines of package_walk.sh, which installs the file on a copy of this system. */
function walked(target: string, file: string, env: Readonly<Record<string, string>> = {}): string[] {
  mkdirSync(target);
  const walk = ['--mount', '--pid', '--fork', 'sh', join(__dirname, 'package_walk.sh'), target, file];
  const { stderr, stdout } = spawnSync('unshare', walk, { encoding: 'utf8', env: { ...process.env, ...env } });
  expect(stderr).toBe('');
  return stdout.trimEnd().split('\n');
}

suiteOf('the packages', missing)('the packages', () => {
  let dir: string;
  let file: string;
  let ofRpm: string;
  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), 'temper-package-'));
    file = made('deb', root, join(dir, 'first'));
    ofRpm = made('rpm', root, join(dir, 'first'));
  });
  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  test('are the same bytes from another folder', () => {
    const copy = join(dir, 'a-checkout-elsewhere');
    mkdirSync(copy);
    execFileSync('cp', ['-r', ...parts.map((part) => join(root, part)), copy]);
    execFileSync('cp', ['-al', join(root, 'node_modules'), join(copy, 'node_modules')]);
    expect(digestOf(made('deb', copy, join(dir, 'second')))).toBe(digestOf(file));
    expect(digestOf(made('rpm', copy, join(dir, 'second')))).toBe(digestOf(ofRpm));
  });

  test('have what production needs, and a bill of it', () => {
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

  test('by dpkg: installed, verified, installed again, removed and purged', () => {
    expect(walked(join(dir, 'debian'), file)).toEqual([
      ...installed,
      'removed, settings 8, programs 0',
      'purged, settings 0',
    ]);
  });

  (rpm.missing ? test.skip : test)(
    `by rpm: installed, verified, upgraded and removed${rpm.missing ? `: ${rpm.missing}` : ''}`,
    () => {
      expect(walked(join(dir, 'rpm'), ofRpm, { RPM: rpm.rpm!, RPM_CONFIGDIR: rpm.config! })).toEqual([
        ...installed,
        'upgraded, changed files 1',
        'removed, settings 1, programs 0',
      ]);
    },
  );
});
