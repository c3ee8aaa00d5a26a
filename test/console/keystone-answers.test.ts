/** What the console reads of an identity service that does not behave: no more than it has to, and not for ever. */
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ApiAway } from '../../src/console/server/api';
import { createKeystone, passwordLogin } from '../../src/console/server/keystone';

let server: Server | undefined;
afterEach(async () => {
  server?.closeAllConnections();
  await new Promise((closed) => server?.close(closed));
});

/** @param limitMs as long as an answer of this machine's own may take, where it is no matter of time */
const keystoneOf = async (answer: RequestListener, limitMs = 60_000) => {
  server = createServer((request, response) => {
    request.resume();
    response.setHeader('x-subject-token', 'token-1');
    answer(request, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return createKeystone(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, limitMs);
};
const login = passwordLogin({ user: 'ann', password: 'ann-secret' });
const away = (says: string) =>
  expect.objectContaining({ constructor: ApiAway, message: `The identity service did not answer: ${says}.` });

test('an answer that never ends is given up, of a login and of a list', async () => {
  const keystone = await keystoneOf((_, response) => void response.writeHead(200).write('{"projects": ['), 200);
  await expect(keystone.signIn(login)).rejects.toEqual(away('it took too long'));
  await expect(keystone.projects('token-1')).rejects.toEqual(away('it took too long'));
});

test('an answer that is too long is not read to its end', async () => {
  const part = Buffer.alloc(256 * 1024, ' ');
  let ended = Promise.resolve<unknown>(undefined);
  const keystone = await keystoneOf((_, response) => {
    ended = once(response, 'close');
    const more = () => {
      while (response.write(part));
    };
    response.on('drain', more).writeHead(200);
    more();
  });
  await expect(keystone.signIn(login)).rejects.toEqual(away('more came than can be read'));
  await ended;
  await expect(keystone.projects('token-1')).rejects.toEqual(away('more came than can be read'));
  await ended;
});

test.each(['', 'null', '{}', '{"token": {}}'])('a token that came with %p is one that ends at once', async (body) => {
  const keystone = await keystoneOf((_, response) => void response.writeHead(201).end(body));
  const signedIn = keystone.signIn(login);
  if (body === 'null') return expect(signedIn).rejects.toEqual(away('what came is no JSON'));
  expect(await signedIn).toMatchObject({ token: 'token-1', name: 'unnamed', scope: 'no project' });
});
