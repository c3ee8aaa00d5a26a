/** Sessions that were ended stay ended, however many others come and go. */
import type { Request, Response } from 'express';
import { createSessions, type Session } from '../../src/console/server/session';
import { consoleKey } from '../support/console';

const given = { name: 'ada', scope: 'system', keystone: false };

/** What takes a cookie, and the request that brings it again. */
const jar = () => {
  let cookie = '';
  const response = {
    cookie: (name: string, value: string) => {
      cookie = `${name}=${encodeURIComponent(value)}`;
    },
    clearCookie() {},
  } as unknown as Response;
  return { response, request: () => ({ headers: { cookie } }) as unknown as Request };
};

test('sign-outs of visitors who were not signed in revive no session of a user', async () => {
  const sessions = createSessions({ keys: [consoleKey], lifeMs: 3_600_000, secure: false });
  const { response, request } = jar();
  const session = await sessions.begin(response, { ...given, credentials: { is: 'token', token: 't' } });
  expect(await sessions.of(request())).toMatchObject({ id: session.id });
  sessions.end(response, session);
  const visitor: Session = { ...session, credentials: null };
  for (let one = 0; one < 100_001; one += 1) sessions.end(response, { ...visitor, id: `visitor-${one}` });
  expect(await sessions.of(request())).toBeUndefined();
});
