/** The line of docs/quickstart.md that makes a virtual environment and installs the client, typed as it stands there. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { clientsMissing } from '../support/clients';

jest.setTimeout(600_000);

const page = readFileSync(join(__dirname, '../../docs/quickstart.md'), 'utf8');
const line = /^\$ (python3 -m venv .+)$/m.exec(page)?.[1];

// Without the clients of this tier there is no network or no Python.
const missing = clientsMissing();
const installing = missing ? test.skip : test;

let home: string;
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'quickstart-'));
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

test('the page has one such line', () => expect(line).toContain('pip install python-ironicclient'));

installing(`it leaves the command \`baremetal\` on the path${missing ? ` (skipped: ${missing})` : ''}`, () => {
  const shell = spawnSync('bash', ['-ec', `${line} && command -v baremetal && baremetal --version`], {
    encoding: 'utf8',
    env: { ...process.env, HOME: home, PIP_DISABLE_PIP_VERSION_CHECK: '1' },
  });
  expect(`${shell.stdout}${shell.stderr}`).toContain(join(home, 'ironic/bin/baremetal'));
  expect(shell.stdout).toMatch(/baremetal \d+\.\d+/);
  expect(shell.status).toBe(0);
});
