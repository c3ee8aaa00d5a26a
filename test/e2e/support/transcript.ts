/** The consoles of a document, typed as they stand there: every command is run, and must show what the document shows. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { clientCommand } from '../../support/clients';
import { asShown, consoleOf, partOf, readDocument } from '../../support/documents';
import { runClient } from './cli';
import type { PersonaApi } from './persona-api';

/** Where the documents' commands are found: the clients' own, and the product's as a function of the shell. */
const setting = ({ system }: PersonaApi, folder: string): string =>
  [
    `cd '${folder}'`,
    `PATH='${dirname(clientCommand('baremetal'))}':"$PATH"`,
    `temper() { '${process.execPath}' '${system.program('temper')}' "$@"; }`,
  ].join('\n');

/** Types one part of a document. @param files what lies in the folder where it is typed */
export const typePart = async (
  api: PersonaApi,
  document: string,
  heading: string,
  files: Readonly<Record<string, string>> = {},
): Promise<void> => {
  const folder = mkdtempSync(join(dirname(api.system.data), 'typed-'));
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  const typed = consoleOf(partOf(readDocument(document), heading));
  expect(typed.length).toBeGreaterThan(0);
  for (const { command, shown } of typed) {
    const { out, err } = await runClient(api.system, 'sh', ['-c', `${setting(api, folder)}\n${command}`]);
    expect({ command, shows: `${out}${err}`.trim() }).toEqual({
      command,
      shows: expect.stringMatching(asShown(shown)),
    });
  }
};
