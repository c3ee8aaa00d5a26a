/** What a ramdisk and its boot image are made with on a machine that has none of it installed. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { storeImage } from '../../src/boot';
import { foundBy, suiteOf } from '../support/found';

const {
  programs = {},
  missing,
  broken,
} = foundBy<{ programs: Record<string, string>; broken: string }>('ramdisk-tools.js');

/** What every system has, and the tools are started with. */
const always = ['sh', 'env', 'id', 'unshare', 'mount'];

/** What a program without `--version` answers to. */
const asks: Record<string, string> = { ip: '-V', mmtarfilter: '--help' };

const { pathWith } = jest.requireActual('../../scripts/lib/ramdisk-tools');

it('leaves the PATH as it is where the system has the tools', async () => {
  const system = ['/usr/bin', '/bin'].join(delimiter);
  const shell = { cache: 'no-such-cache', packages: ['dash'], names: ['sh'], check: '-c true' };
  await expect(pathWith([shell], [process.env.PATH, system].join(delimiter))).resolves.toBe(
    [process.env.PATH, system].join(delimiter),
  );
});

it('names apt-get where it is not there to fetch what is missing', () => {
  const cache = mkdtempSync(join(tmpdir(), 'ramdisk-tools-'));
  const tools = "[{ cache: 'none', packages: ['none'], names: ['no-such-program'], check: '--version' }]";
  const script = `require('./scripts/lib/ramdisk-tools').pathWith(${tools}, '').catch((failure) => console.log(failure.constructor.name, failure.message))`;
  const { stdout } = spawnSync(process.execPath, ['-e', script], {
    cwd: resolve(__dirname, '..', '..'),
    env: { PATH: cache, XDG_CACHE_HOME: cache },
    encoding: 'utf8',
  });
  rmSync(cache, { recursive: true });
  expect(stdout).toMatch(
    /^Unfetched no-such-program \(Debian: none; apt-get (install|update): apt-get is not there\)$/m,
  );
});

suiteOf('the tools of a ramdisk, from their packages', missing)('the tools of a ramdisk, from their packages', () => {
  let folder: string;
  let searched: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'ramdisk-tools-'));
    const system = join(folder, 'system');
    mkdirSync(system);
    for (const name of always)
      symlinkSync(execFileSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).trim(), join(system, name));
    searched = [...new Set(Object.values(programs).map((file) => dirname(file))), system].join(delimiter);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('all start, with no folder of the system on the PATH', () => {
    expect(broken).toBeUndefined();
    expect(Object.keys(programs).sort()).toEqual(
      ['cpio', 'grub-mkrescue', 'ip', 'mcopy', 'mformat', 'mmdebstrap', 'mmtarfilter', 'xorriso', 'xz', 'zstd'].sort(),
    );
    const said = Object.entries(programs).map(([name, file]) => {
      // Those of mmdebstrap are scripts, whose interpreters are the system's.
      const PATH = name.startsWith('mm') ? `${searched}${delimiter}${process.env.PATH}` : searched;
      const { status, stderr } = spawnSync(file, [asks[name] ?? '--version'], {
        env: { PATH },
        encoding: 'utf8',
      });
      return [name, status, status === 0 ? '' : stderr];
    });
    expect(said).toEqual(Object.keys(programs).map((name) => [name, 0, '']));
  });

  it('find what was unpacked beside them: mmdebstrap its filter of paths', () => {
    const args = ['--variant=custom', '--format=null', '--skip=update,check', '--setup-hook=command -v mmtarfilter'];
    const mode = `--mode=${process.getuid?.() === 0 ? 'root' : 'unshare'}`;
    const none = ['--setup-hook=exit 3', 'bookworm', '/dev/null', 'deb [trusted=yes] file:/nowhere ./'];
    const { stdout, stderr } = spawnSync(programs.mmdebstrap!, [mode, ...args, ...none], { encoding: 'utf8' });
    expect(`${stdout}${stderr}`.split('\n')).toContain(programs.mmtarfilter);
  });

  it('pack an initramfs and unpack it again', () => {
    const packed = join(folder, 'packed');
    writeFileSync(packed, 'a file of the root\n');
    const pack = `echo packed | cpio --create --format newc --reproducible --quiet | zstd -q -o initrd`;
    const unpack = 'zstd -q -d -c initrd | cpio --extract --quiet --to-stdout';
    const shell = (script: string) =>
      execFileSync(join(folder, 'system', 'sh'), ['-c', script], {
        cwd: folder,
        env: { PATH: searched },
        encoding: 'utf8',
      });
    shell(pack);
    expect(shell(unpack)).toBe('a file of the root\n');
  });

  it('make a boot image for both kinds of firmware', async () => {
    const [kernel, initrd] = ['kernel', 'ramdisk'].map((name) => join(folder, name)) as [string, string];
    writeFileSync(kernel, Buffer.alloc(300_000, 1));
    writeFileSync(initrd, Buffer.alloc(500_000, 2));
    const images = join(folder, 'images');
    const { iso_sha256 } = await storeImage(images, { kernel, initrd, arch: 'x86_64' }, searched);
    const path = join(images, `${iso_sha256}.iso`);
    const report = execFileSync(programs.xorriso!, ['-indev', path, '-report_el_torito', 'plain'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    expect(report).toMatch(/El Torito boot img[^\n]*BIOS/);
    expect(report).toMatch(/El Torito boot img[^\n]*UEFI/);
  });
});
