/** A release: refused where it would not be one commit, the same bytes twice, and verified by what a reader has. */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suiteOf } from '../support/found';

const root = join(__dirname, '../..');
const missing = ['git', 'tar', 'ssh-keygen', 'sha256sum'].find((name) => spawnSync(name, ['--version']).error);

suiteOf('a release', missing && `needs ${missing}`)('a release', () => {
  let dir: string;
  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), 'temper-release-test-'));
  });
  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  describe('is refused', () => {
    let checkout: string;
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@y.example', ...args], {
        cwd: checkout,
        stdio: 'pipe',
      });
    const refusal = (...args: string[]) => {
      const { SOURCE_DATE_EPOCH: _, ...env } = process.env;
      const { status, stderr } = spawnSync(process.execPath, ['scripts/release.js', ...args], {
        cwd: checkout,
        env,
        encoding: 'utf8',
      });
      return { status, says: stderr };
    };
    beforeAll(() => {
      checkout = join(dir, 'checkout');
      mkdirSync(join(checkout, 'deploy'), { recursive: true });
      for (const part of ['scripts', 'deploy/helm', 'package.json', 'package-lock.json', 'CHANGELOG.md'])
        execFileSync('cp', ['-r', join(root, part), join(checkout, part)]);
      mkdirSync(join(checkout, 'tools'));
      execFileSync('cp', ['-r', join(root, 'tools/offline'), join(checkout, 'tools/offline')]);
      git('init', '--quiet', '--initial-branch=main');
      git('add', '--all');
      git('commit', '--quiet', '--message=x');
    });

    test('with files that are not committed, which it names', () => {
      writeFileSync(join(checkout, 'new.txt'), '');
      const { status, says } = refusal('--rehearsal');
      expect(status).toBe(1);
      expect(says).toContain(
        'these files are not committed:\n?? new.txt\nCommit them, or put them aside with `git stash',
      );
      rmSync(join(checkout, 'new.txt'));
    });

    test('without the tag of its version, and with that of another', () => {
      const says = /This commit has no tag v[\d.]+\. Tag it with `git tag --sign v[\d.]+`/;
      expect(refusal('--key', 'k').says).toMatch(says);
      git('tag', 'v9.9.9');
      expect(refusal('--key', 'k').says).toMatch(says);
    });

    test('without a key, in part, or with a word that it does not know', () => {
      const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
      git('tag', `v${version}`);
      expect(refusal().says).toContain('A release is signed: give --key');
      expect(refusal('--parts', 'chart').says).toContain('--parts is for a --rehearsal');
      expect(refusal('--rehearsal', '--parts', 'chart,msi').says).toContain('There is no part "msi".');
      expect(refusal('--force').says).toContain("Unknown option '--force'");
    });

    test('with a chart of another version', () => {
      const file = join(checkout, 'deploy/helm/temper/Chart.yaml');
      writeFileSync(file, readFileSync(file, 'utf8').replace(/^appVersion: .*$/m, 'appVersion: 0.0.9'));
      git('commit', '--quiet', '--all', '--message=y');
      expect(refusal('--rehearsal').says).toContain("The chart's appVersion is 0.0.9, and package.json has");
    });
  });

  describe('of a commit', () => {
    const of = { epoch: 1_790_000_000, revision: '+git1', commit: 'a'.repeat(40) };
    const made = (out: string, wanted: object): string[] => {
      const act = `require('./scripts/lib/release').makeRelease(...JSON.parse(process.argv[1])).then((files) => console.log(JSON.stringify(files)))`;
      const given = JSON.stringify([
        join(dir, out),
        of,
        { parts: ['chart', 'sbom', 'client'], heading: 'Unreleased', ...wanted },
      ]);
      return JSON.parse(
        execFileSync(process.execPath, ['-e', act, given], { cwd: root, encoding: 'utf8', stdio: 'pipe' }),
      );
    };
    let key: string;
    let first: string;
    beforeAll(() => {
      key = join(dir, 'key');
      execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', '', '-f', key]);
      made('first', { key });
      first = join(dir, 'first');
    });

    test('is the same bytes again, signature and all', () => {
      made('second', { key });
      const digests = (folder: string) =>
        readdirSync(folder).map((file) => [
          file,
          createHash('sha256')
            .update(readFileSync(join(folder, file)))
            .digest('hex'),
        ]);
      expect(digests(join(dir, 'second'))).toEqual(digests(first));
      expect(readdirSync(first)).toEqual([
        'RELEASE-NOTES.md',
        'SHA256SUMS',
        'SHA256SUMS.sig',
        'provenance.intoto.json',
        'temper-0.1.0+git1.sbom.cdx.json',
        'temper-chart-0.1.0+git1.tgz',
        'temper-client-0.1.0+git1.cjs',
        'temper-client-0.1.0+git1.tgz',
      ]);
    });

    test('is verified by its checksums and its key, and by no other key', () => {
      expect(spawnSync('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: first }).status).toBe(0);
      const verified = (folder: string) =>
        spawnSync(
          'ssh-keygen',
          ['-Y', 'verify', '-f', 'signers', '-I', 'r@temper', '-n', 'temper-release', '-s', 'SHA256SUMS.sig'],
          {
            cwd: folder,
            input: readFileSync(join(folder, 'SHA256SUMS')),
          },
        ).status;
      const other = join(dir, 'other');
      execFileSync('cp', ['-r', first, other]);
      writeFileSync(join(other, 'signers'), `r@temper ${readFileSync(`${key}.pub`, 'utf8')}`);
      expect(verified(other)).toBe(0);
      appendFileSync(join(other, 'SHA256SUMS'), '0  x\n');
      expect(verified(other)).not.toBe(0);
      copyFileSync(join(first, 'SHA256SUMS'), join(other, 'SHA256SUMS'));
      execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', `${key}2`]);
      writeFileSync(join(other, 'signers'), `r@temper ${readFileSync(`${key}2.pub`, 'utf8')}`);
      expect(verified(other)).not.toBe(0);
    });

    test('has a statement of its sources for each file that is built, and no name of this machine', () => {
      const text = readFileSync(join(first, 'provenance.intoto.json'), 'utf8');
      const { _type, subject, predicateType, predicate } = JSON.parse(text);
      expect({ _type, predicateType }).toEqual({
        _type: 'https://in-toto.io/Statement/v1',
        predicateType: 'https://slsa.dev/provenance/v1',
      });
      expect(predicate.buildDefinition.resolvedDependencies[0]).toEqual({
        name: 'source',
        digest: { gitCommit: of.commit },
      });
      const sums = readFileSync(join(first, 'SHA256SUMS'), 'utf8');
      expect(subject).toHaveLength(4);
      for (const { name, digest } of subject) expect(sums).toContain(`${digest.sha256}  ${name}\n`);
      expect(text).not.toContain(root);
    });

    test('has notes of its part of the changelog, and a bill of what production needs', () => {
      expect(readFileSync(join(first, 'RELEASE-NOTES.md'), 'utf8')).toMatch(/^# Temper 0\.1\.0\n\n### /);
      const bill = JSON.parse(readFileSync(join(first, 'temper-0.1.0+git1.sbom.cdx.json'), 'utf8'));
      const names = bill.components.map(({ name }: { name: string }) => name);
      expect(names).toEqual(expect.arrayContaining(['express', 'postgres', 'commander']));
      expect(names).not.toContain('jest');
      expect(() => made('third', { heading: '7.7.7' })).toThrow('CHANGELOG.md has no part "## 7.7.7"');
      expect(() => made('third', { key: join(dir, 'no-key') })).toThrow('There is no key');
    });

    test('has a chart with every file of the chart', () => {
      const listed = execFileSync('tar', ['-tzf', join(first, 'temper-chart-0.1.0+git1.tgz')], { encoding: 'utf8' });
      expect(listed.split('\n')).toEqual(expect.arrayContaining(['temper/Chart.yaml', 'temper/values.schema.json']));
    });
  });
});
