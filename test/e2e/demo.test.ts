/** `npm run demo` shows what the quickstart says of it, and leaves nothing, interrupted or not: no process, no folder. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { asShown, blocksOf, partOf, readDocument } from '../support/documents';

const script: string = jest.requireActual('../../scripts/lib/paths').root.concat('/scripts/demo.js');
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'temper-interrupted-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

jest.setTimeout(900_000);

const begin = () => {
  const settings = Object.entries(process.env).filter(([name]) => !/^TEMPER_(?!TEMPORAL_SOURCES$|PYTHON$)/.test(name));
  const env = { ...Object.fromEntries(settings), TMPDIR: folder };
  return spawn(process.execPath, [script], { env, stdio: ['ignore', 'pipe', 'pipe'] });
};

test('to its end it shows what the quickstart says', async () => {
  const demo = begin();
  try {
    const [out, err, [status]] = await Promise.all([text(demo.stdout), text(demo.stderr), once(demo, 'close')]);
    const [shown] = blocksOf(partOf(readDocument('docs/quickstart.md'), 'Watch the demo'), 'text');
    expect({ out: out.trim(), err }).toEqual({
      out: expect.stringMatching(asShown(shown!.trim())),
      err: expect.anything(),
    });
    expect({ status, left: readdirSync(folder) }).toEqual({ status: 0, left: [] });
  } finally {
    demo.kill('SIGKILL');
  }
});

test.each([
  ['while it starts', 'err'],
  ['while the story goes on', 'out'],
] as const)('an interrupt %s', async (_, from) => {
  const demo = begin();
  const said = { out: '', err: '' };
  const begun = new Promise<void>((resolve, reject) => {
    const look = (): void => {
      const made = readdirSync(folder).some((name) => name.startsWith('temper-demo-'));
      if (made && said[from] !== '') resolve();
    };
    demo.stdout.on('data', (chunk) => {
      said.out += chunk;
      look();
    });
    demo.stderr.on('data', (chunk) => {
      said.err += chunk;
      look();
    });
    demo.once('close', () => reject(new Error(`the demo ended before it was interrupted:\n${said.out}${said.err}`)));
  });
  try {
    await begun;
    demo.kill('SIGINT');
    if (demo.exitCode === null && demo.signalCode === null) await once(demo, 'close');
  } finally {
    demo.kill('SIGKILL');
  }
  expect({ status: demo.exitCode, left: readdirSync(folder) }).toEqual({ status: 130, left: [] });
});
