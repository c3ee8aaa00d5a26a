/** The settings files of the Debian package: each setting that has no default stands there to be filled in. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { processes } from '../../src/process/settings/config';

const { settingsFile, settingsFiles }: { settingsFile(process: string): string; settingsFiles: string[] } =
  jest.requireActual('../../scripts/lib/package.js');

const offered = (file: string): string[] => [...settingsFile(file).matchAll(/^(\w+)=/gm)].map(([, key]) => key!);

const units = join(__dirname, '../../deploy/systemd');
const setByUnits = readdirSync(units).flatMap((file) =>
  [...readFileSync(join(units, file), 'utf8').matchAll(/^Environment=(\w+)=/gm)].map(([, key]) => key!),
);

test.each(settingsFiles.filter((file) => file in processes))('%s.env', (file) => {
  const { shape } = processes[file as keyof typeof processes];
  const needed = Object.entries(shape).flatMap(([key, type]) => (type.safeParse(undefined).success ? [] : [key]));
  expect(needed.length).toBeGreaterThan(0);
  expect([...offered('shared'), ...offered(file), ...setByUnits]).toEqual(expect.arrayContaining(needed));
});

test('migrate.env asks for the passwords without which no other process can log in', () => {
  const passwords = Object.keys(processes.migrate.shape).filter((key) => key.endsWith('_DB_PASSWORD'));
  expect(passwords).toHaveLength(5);
  expect(offered('migrate')).toEqual(expect.arrayContaining(passwords));
});

test.each(settingsFiles)('%s.env speaks of the folders of the package alone', (file) => {
  expect(settingsFile(file)).not.toMatch(/deploy\/|containers see|sees as|npm run/);
});
