/** ARCHITECTURE.md's run and the quickstart, typed into one shell of a system that a fresh `npm start` left: every command shows what the page shows. */
import { type System, startSystem } from '../e2e/support/system';
import { testTyped, typeAll } from '../e2e/support/typed';
import {
  asShown,
  blocksOf,
  consoleOf,
  headingsOf,
  jsonAsShown,
  partOf,
  readDocument,
  type Typed,
} from '../support/documents';

jest.setTimeout(600_000);

const document = readDocument('docs/quickstart.md');
/** The set-up of this file starts the system; the output of `npm start` is compared below. */
const untyped = ['Watch the demo', 'Start a system'];
const typedHeadings = headingsOf(document).filter((heading) => !untyped.includes(heading));
const commands = [
  ...consoleOf(partOf(readDocument('ARCHITECTURE.md'), 'The way of a run')),
  ...typedHeadings.flatMap((heading) => consoleOf(partOf(document, heading))),
];

let system: System;
let shows: readonly string[];

beforeAll(async () => {
  system = await startSystem(8, { TEMPER_RACK_SPEED: '5' }, { seed: true });
  shows = await typeAll(system, commands);
});
afterAll(() => system?.stop());

testTyped(commands, 30, () => shows);

/** Each block of JSON, and the last command above it, whose answer it is. */
const answers = document
  .split(/^(?=```json\n)/m)
  .slice(1)
  .map((rest) => {
    const above = document.slice(0, document.indexOf(rest));
    return [consoleOf(above).at(-1)!.command, JSON.parse(blocksOf(rest, 'json')[0]!)] as const;
  });

test('the page has answers in JSON', () => {
  expect(answers.length).toBeGreaterThan(0);
});

test.each(answers)('what %s answers is the JSON that the page shows below it', (command, shown) => {
  const at = commands.findIndex((typed) => typed.command === command);
  expect(JSON.parse(shows[at]!)).toEqual(jsonAsShown(shown));
});

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
