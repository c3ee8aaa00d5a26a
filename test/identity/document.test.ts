/** The files that docs/identity.md shows are files that work. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseTokens } from '../../src/identity/static-tokens';
import { parseUsers } from '../../src/identity/users';

const text = readFileSync(join(__dirname, '../../docs/identity.md'), 'utf8');
const shown = (beginning: string): string => {
  const files = [...text.matchAll(/```yaml\n(.*?)```/gs)].map(([, file]) => file!);
  return files.find((file) => file.startsWith(beginning))!;
};

test('the users file that is shown names three users, one of them of the whole system', () => {
  const users = parseUsers(shown('users:'), 'docs/identity.md');
  expect([...users.keys()]).toEqual(['alice', 'bob', 'rack-robot']);
  expect(users.get('alice')).toMatchObject({ system: 'all' });
});

test('the tokens file that is shown leaves one holder to the users file', () => {
  const holders = [...parseTokens(shown('tokens:'), 'docs/identity.md').values()];
  expect(holders.map(({ user, standing }) => [user, standing?.roles])).toEqual([
    ['rack-robot', undefined],
    ['metrics', ['reader']],
  ]);
});
