/** README and quickstart, typed into one shell of a system that a fresh `npm start` left: every command shows what the page shows. */
import { dirname } from 'node:path';
import { runClient } from '../e2e/support/cli';
import { type System, startSystem } from '../e2e/support/system';
import { clientCommand } from '../support/clients';
import { asShown, consoleOf, headingsOf, partOf, readDocument, type Typed } from '../support/documents';

jest.setTimeout(600_000);

const document = readDocument('docs/quickstart.md');
/** The set-up of this file starts the system; the output of `npm start` is compared below. */
const untyped = ['Watch the demo', 'Start a system'];
const typedHeadings = headingsOf(document).filter((heading) => !untyped.includes(heading));
const commands = [
  ...consoleOf(partOf(readDocument('README.md'), 'What it looks like')),
  ...typedHeadings.flatMap((heading) => consoleOf(partOf(document, heading))),
];

/** The addresses of `npm start`, and those of this system. */
const moved = ({ api, identity, rack, rackControl }: Record<string, string>): [string, string][] => [
  ['127.0.0.1:6385', new URL(api!).host],
  ['127.0.0.1:5000', new URL(identity!).host],
  ['127.0.0.1:8000', new URL(rack!).host],
  ['127.0.0.1:8001', new URL(rackControl!).host],
];

const mark = '=====typed=====';

/** Types all commands into one shell. @returns what each showed, with the addresses of the page */
const type = async (system: System, typed: readonly Typed[]): Promise<string[]> => {
  const addresses = moved(system.record().addresses as Record<string, string>);
  const toSystem = (text: string) => addresses.reduce((all, [page, own]) => all.replaceAll(page, own), text);
  const toPage = (text: string) => addresses.reduce((all, [page, own]) => all.replaceAll(own, page), text);
  const script = [
    'exec 2>&1',
    `PATH='${dirname(clientCommand('baremetal'))}':"$PATH"`,
    `temper() { '${process.execPath}' '${system.program('temper')}' "$@"; }`,
    ...typed.flatMap(({ command }) => [toSystem(command), `echo; echo '${mark}'`]),
  ].join('\n');
  const { out } = await runClient(system, 'bash', ['-c', script]);
  return toPage(out)
    .split(`${mark}\n`)
    .slice(0, -1)
    .map((shown) => shown.trim());
};

let system: System;
let shows: readonly string[];

beforeAll(async () => {
  system = await startSystem(8, { TEMPER_RACK_SPEED: '5' }, { seed: true });
  shows = await type(system, commands);
});
afterAll(() => system?.stop());

test('the page is typed to its end', () => {
  expect(commands.length).toBeGreaterThan(30);
  expect(shows.length).toBe(commands.length);
});

test.each(commands.map(({ command, shown }, index) => [index, command, shown] as const))(
  'command %i, %s, shows what the page shows',
  (index, command, shown) => {
    expect({ command, shows: shows[index] }).toEqual({ command, shows: expect.stringMatching(asShown(shown)) });
  },
);

test('npm start prints what the page says it prints', () => {
  const { welcome } = jest.requireActual('../../scripts/start.js');
  const addresses = {
    console: 'http://127.0.0.1:6380',
    api: 'http://127.0.0.1:6385',
    identity: 'http://127.0.0.1:5000/v3',
    temporalUi: 'http://127.0.0.1:8233',
    rack: 'http://127.0.0.1:8000',
    clouds: '.temper/data/clouds.yaml',
  };
  const [{ shown }] = consoleOf(partOf(document, 'Start a system')) as [Typed];
  expect(welcome({ addresses, dir: '.temper/data' }).trim()).toMatch(asShown(shown.replace(/^\.\.\.\n/, '')));
});
