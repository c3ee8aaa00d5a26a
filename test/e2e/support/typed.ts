/** Consoles of documents typed into one shell of a running system: what a command leaves in a variable, the next one has. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { clientCommand } from '../../support/clients';
import { asShown, type Typed } from '../../support/documents';
import { runClient } from './cli';
import type { System } from './system';

/** The addresses of `npm start`, and those of this system. */
const moved = ({ api, identity, rack, rackControl }: Record<string, string>): [string, string][] => [
  ['127.0.0.1:6385', new URL(api!).host],
  ['127.0.0.1:5000', new URL(identity!).host],
  ['127.0.0.1:8000', new URL(rack!).host],
  ['127.0.0.1:8001', new URL(rackControl!).host],
];

const mark = '=====typed=====';

/** A folder that goes with the system. */
const folderOf = (system: System, files: Readonly<Record<string, string>>): string => {
  const folder = mkdtempSync(join(dirname(system.data), 'typed-'));
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  return folder;
};

/**
 * Types all commands into one shell.
 * @param files what lies in the folder where they are typed @returns what each showed, with the addresses of the page
 */
export const typeAll = async (
  system: System,
  typed: readonly Typed[],
  files?: Readonly<Record<string, string>>,
): Promise<string[]> => {
  const addresses = moved(system.record().addresses as Record<string, string>);
  const toSystem = (text: string) => addresses.reduce((all, [page, own]) => all.replaceAll(page, own), text);
  const toPage = (text: string) => addresses.reduce((all, [page, own]) => all.replaceAll(own, page), text);
  const script = [
    'exec 2>&1',
    ...(files ? [`cd '${folderOf(system, files)}'`] : []),
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

/** Declares that each command of a page shows what the page shows. @param shows what they showed, known once the system has run */
export const testTyped = (commands: readonly Typed[], atLeast: number, shows: () => readonly string[]): void => {
  test('the page is typed to its end', () => {
    expect(commands.length).toBeGreaterThan(atLeast);
    expect(shows().length).toBe(commands.length);
  });

  test.each(commands.map(({ command, shown }, index) => [index, command, shown] as const))(
    'command %i, %s, shows what the page shows',
    (index, command, shown) => {
      expect({ command, shows: shows()[index] }).toEqual({ command, shows: expect.stringMatching(asShown(shown)) });
    },
  );
};
