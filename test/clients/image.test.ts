/**
 * The container image: its recipe, carried out twice by buildah on a base of Debian and this Node, gives the same layers, and what is
 * in it starts. The base stands in for the one that the recipe names, which comes from a registry.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { foundBy, suiteOf } from '../support/found';

const root = join(__dirname, '../..');
const epoch = '1790000000';
// buildah gives a step 1,024 open files at most, and npm opens more at once where the disk is slow; never more than this process has.
const openFiles = Math.min(Number(execFileSync('sh', ['-c', 'ulimit -Hn'], { encoding: 'utf8' })) || 16_384, 16_384);
const { buildah, base: debian, missing } = foundBy<{ buildah: string; base: string }>('buildah.js');

/** What `.dockerignore` lets in. */
const context = readFileSync(join(root, '.dockerignore'), 'utf8')
  .split('\n')
  .flatMap((line) => (line.startsWith('!') ? [line.slice(1)] : []));

suiteOf('the container image', missing)('the container image', () => {
  let dir: string;
  const build = (...args: string[]): string => {
    const own = ['--root', join(dir, 'store'), '--runroot', join(dir, 'run'), '--storage-driver', 'overlay'];
    const answer = spawnSync(buildah!, [...own, '--registries-conf', join(dir, 'registries'), ...args], {
      encoding: 'utf8',
      maxBuffer: 2 ** 26,
    });
    if (answer.status !== 0) throw new Error(`buildah ${args.join(' ')}: ${answer.stdout}${answer.stderr}`);
    return answer.stdout.trim();
  };
  const npmCache = execFileSync('npm', ['config', 'get', 'cache'], { encoding: 'utf8' }).trim();
  const made = (checkout: string, name: string): string[] => {
    const given = ['--build-arg', 'NODE_IMAGE=localhost/base', '--build-arg', `SOURCE_DATE_EPOCH=${epoch}`];
    const recipe = ['--file', join(checkout, 'deploy/Dockerfile'), '--tag', `localhost/${name}`];
    const how = [
      '--isolation',
      'chroot',
      '--no-cache',
      '--quiet',
      '--timestamp',
      epoch,
      '--volume',
      `${npmCache}:/root/.npm`,
      '--ulimit',
      `nofile=${openFiles}:${openFiles}`,
    ];
    build('build', ...policy(), ...how, ...given, ...recipe, checkout);
    return JSON.parse(build('inspect', '--type', 'image', `localhost/${name}`)).OCIv1.rootfs.diff_ids;
  };
  const policy = () => ['--signature-policy', join(dir, 'policy.json')];

  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), 'temper-image-'));
    writeFileSync(join(dir, 'policy.json'), '{"default":[{"type":"insecureAcceptAnything"}]}');
    writeFileSync(join(dir, 'registries'), '');
    const base = join(dir, 'base');
    mkdirSync(join(base, 'npm'), { recursive: true });
    cpSync(debian!, join(base, 'root.tar'));
    cpSync(process.execPath, join(base, 'node'));
    cpSync(
      dirname(dirname(realpathSync(execFileSync('which', ['npm'], { encoding: 'utf8' }).trim()))),
      join(base, 'npm'),
      {
        recursive: true,
      },
    );
    const trusted = process.env.NODE_EXTRA_CA_CERTS;
    writeFileSync(join(base, 'trusted.pem'), trusted ? readFileSync(trusted) : '');
    const lines = [
      'FROM scratch',
      'ADD root.tar /',
      'COPY node /usr/bin/node',
      'COPY npm /usr/lib/node_modules/npm',
      'COPY trusted.pem /etc/ssl/trusted.pem',
      'ENV NODE_EXTRA_CA_CERTS=/etc/ssl/trusted.pem',
      'RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/bin/npm && useradd --create-home --uid 1000 node',
    ];
    writeFileSync(join(base, 'Dockerfile'), lines.join('\n'));
    build('build', ...policy(), '--isolation', 'chroot', '--quiet', '--tag', 'localhost/base', base);
  });
  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  test('has the same layers from another checkout', () => {
    const copy = join(dir, 'a-checkout-elsewhere');
    mkdirSync(copy);
    execFileSync('cp', ['-r', '--parents', ...context, '.dockerignore', 'deploy/Dockerfile', copy], { cwd: root });
    const first = made(root, 'first');
    expect(first.length).toBeGreaterThan(1);
    execFileSync('chmod', ['-R', 'go-w,o-x+X', join(copy, 'src')]);
    expect(made(copy, 'second')).toEqual(first);
  });

  describe('in it', () => {
    let tree: string;
    beforeAll(() => {
      const image = join(dir, 'image');
      tree = join(dir, 'tree');
      mkdirSync(tree);
      build('push', ...policy(), '--quiet', '--disable-compression', 'localhost/first', `oci:${image}`);
      const blob = (digest: string): string => join(image, 'blobs', digest.replace(':', '/'));
      const read = (file: string) => JSON.parse(readFileSync(file, 'utf8'));
      const manifest = read(blob(read(join(image, 'index.json')).manifests[0].digest));
      for (const { digest } of manifest.layers)
        execFileSync('tar', ['-xf', blob(digest), '-C', tree, '--exclude=dev/*', '--exclude=.wh.*']);
    });
    const started = (...command: string[]) =>
      spawnSync('chroot', ['--userspec=1000:1000', tree, 'sh', '-c', `cd /app && exec ${command.join(' ')}`], {
        encoding: 'utf8',
        env: { PATH: '/usr/sbin:/usr/bin:/bin' },
      });

    test('is what production needs, and a bill of it', () => {
      const bill = JSON.parse(readFileSync(join(tree, 'app/sbom.cdx.json'), 'utf8'));
      expect(bill).toMatchObject({ bomFormat: 'CycloneDX', metadata: { component: { name: 'temper' } } });
      const names = new Set(
        bill.components.map(({ name, group }: { name: string; group?: string }) => (group ? `${group}/${name}` : name)),
      );
      expect(names).toContain('express');
      const modules = join(tree, 'app/node_modules');
      expect(readdirSync(modules)).toContain('express');
      expect(readdirSync(modules)).not.toContain('jest');
      expect(readdirSync(join(tree, 'app')).sort()).toEqual([
        'LICENSE',
        'NOTICE',
        'dist',
        'node_modules',
        'package.json',
        'sbom.cdx.json',
      ]);
    });

    test('every process starts as a user without rights, and says what it lacks', () => {
      const { OCIv1 } = JSON.parse(build('inspect', '--type', 'image', 'localhost/first'));
      expect(OCIv1.config).toMatchObject({ User: 'node', Entrypoint: ['node', '--enable-source-maps'] });
      for (const [program, setting] of [
        ['api', 'TEMPER_DATABASE_URL'],
        ['worker', 'TEMPER_DATABASE_URL'],
        ['boot', 'TEMPER_DATABASE_URL'],
        ['console', 'TEMPER_CONSOLE_KEY'],
        ['migrate', 'TEMPER_DATABASE_URL'],
      ] as const) {
        const { status, stderr } = started('node', `dist/bin/${program}.js`, program === 'worker' ? 'bmc' : '');
        expect({ program, status, stderr }).toEqual({ program, status: 78, stderr: expect.stringContaining(setting) });
      }
      expect(started('node', 'dist/bin/temper.js', '--help').stdout).toContain('Usage: temper');
    });

    test('are the programs that BMC workers start', () => {
      expect(started('ipmitool', '-V').stdout).toContain('ipmitool version');
      expect(started('genisoimage', '--version').status).toBe(0);
    });
  });
});
