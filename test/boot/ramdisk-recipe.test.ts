/** The recipe of the ramdisk: everything in it has a version and a digest, and a build from other packages is refused. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const { compareWithLock, packagesIn, readLock, writeLock } = jest.requireActual('../../scripts/lib/debian-root');
const { kernels } = jest.requireActual('../../scripts/lib/ramdisk');

const root = join(__dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const lines = (path: string): string[] => read(path).split('\n').filter(Boolean);

test('each wheel of the agent has one version and one digest', () => {
  const wheels = lines('ramdisk/agent.lock');
  expect(wheels.length).toBeGreaterThan(40);
  expect(wheels.filter((line) => !/^[a-z0-9.-]+==[\w.]+ --hash=sha256:[0-9a-f]{64}$/i.test(line))).toEqual([]);
});

test('the agent of the ramdisk is the one that the clients’ tests play with', () => {
  const version = /^ironic-python-agent==\S+/m;
  expect(version.exec(read('ramdisk/agent.lock'))?.[0]).toBe(version.exec(read('test/clients/requirements.txt'))?.[0]);
});

test('each package of the recipe, and each kernel that can be chosen, has a version and a digest', () => {
  const locked = readLock(join(root, 'ramdisk/debian.lock')) as Map<string, string>;
  const wanted = [
    ...packagesIn(join(root, 'ramdisk/packages')),
    ...kernels.map((name: string) => `linux-image-${name}`),
  ];
  expect(wanted.length).toBeGreaterThan(30);
  expect(wanted.filter((name: string) => !locked.has(name))).toEqual([]);
  expect([...locked].filter(([, rest]) => !/^\S+ [0-9a-f]{64}$/.test(rest))).toEqual([]);
});

describe('a build is compared with the lock', () => {
  let folder: string;
  let lock: string;
  let list: string;
  const digest = 'a'.repeat(64);
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'lock-'));
    [lock, list] = [join(folder, 'debian.lock'), join(folder, 'packages')];
    writeFileSync(lock, `# heading\nbash 5.2 ${digest}\nother-kernel 6.1 ${digest}\n`);
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  test('and is right where what it holds is in the lock', () => {
    writeFileSync(list, `bash 5.2 ${digest}\n`);
    expect(() => compareWithLock(lock, list)).not.toThrow();
  });

  test.each([
    ['another version', `bash 5.3 ${digest}\n`, /bash 5\.3 .*wanted 5\.2/],
    ['another digest', `bash 5.2 ${'b'.repeat(64)}\n`, /bash 5\.2 b/],
    ['no digest', 'bash 5.2 \n', /bash 5\.2/],
    ['a package that is not in the lock', `zsh 5.9 ${digest}\n`, /zsh 5\.9 .*wanted none/],
    ['nothing at all', '', /nothing says/],
  ])('and is refused with %s', (_, text, says) => {
    writeFileSync(list, text);
    expect(() => compareWithLock(lock, list)).toThrow(says);
  });

  test('and where versions are taken over, those of another choice stay', () => {
    writeFileSync(list, `bash 5.3 ${digest}\n`);
    writeLock(lock, list);
    expect(readLock(lock)).toEqual(
      new Map([
        ['bash', `5.3 ${digest}`],
        ['other-kernel', `6.1 ${digest}`],
      ]),
    );
  });
});
