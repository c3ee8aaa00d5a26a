/** Who may talk to a BMC: basic credentials and a small table of sessions. */

import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { sessionsFullId } from '../../src/bmc/quirks';
import { collection, done, link, refuse, resource, textParameter } from './answers';
import { nextId } from './bmc';
import { faultOf } from './faults';
import { makerOf, profiles } from './profiles';
import type { Answer, Bmc, Doc, Exchange, Row, Session } from './types';

const service = '/redfish/v1/SessionService';
const sessionsPath = `${service}/Sessions`;

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
const same = (a: string, b: string): boolean => timingSafeEqual(digest(a), digest(b));
const hashOf = (token: string): string => digest(token).toString('hex');

const lastUse = (bmc: Bmc, session: Session): number => bmc.sessionUse.get(session.id) ?? session.createdAt;

/** Forgets sessions that nobody used for the time-out. */
export const expireSessions = (bmc: Bmc, now: number): void => {
  const alive = bmc.state.sessions.filter((session) => lastUse(bmc, session) + bmc.timing.sessionTimeoutMs > now);
  if (alive.length < bmc.state.sessions.length) bmc.state.sessions = alive;
};

const knowsCredentials = (bmc: Bmc, user: string, password: string): boolean =>
  // Both compared always, so that the time taken says nothing about the user name.
  [same(user, bmc.username), same(password, bmc.password)].every(Boolean);

/** The user behind a request's token or basic credentials; undefined when there is none. */
export const authenticate = (bmc: Bmc, headers: Exchange['headers'], now: number): string | undefined => {
  if (faultOf(bmc, 'password-changed', now)) return undefined;
  const token = headers['x-auth-token'];
  if (token) {
    const hash = hashOf(token);
    const session = bmc.state.sessions.find(({ tokenHash }) => tokenHash === hash);
    if (session) bmc.sessionUse.set(session.id, now);
    return session?.user;
  }
  const basic = /^basic\s+(\S+)$/i.exec(headers.authorization ?? '')?.[1];
  if (!basic) return undefined;
  const [user = '', ...rest] = Buffer.from(basic, 'base64').toString('utf8').split(':');
  return knowsCredentials(bmc, user, rest.join(':')) ? user : undefined;
};

const sessionDoc = (session: Session): Doc =>
  resource(`${sessionsPath}/${session.id}`, 'Session.v1_3_0.Session', session.id, 'User Session', {
    UserName: session.user,
    CreatedTime: new Date(session.createdAt).toISOString(),
  });

const logIn = ({ bmc, body, now }: Exchange): Answer => {
  const user = textParameter('Sessions', body, 'UserName');
  const password = textParameter('Sessions', body, 'Password');
  if (faultOf(bmc, 'password-changed', now) || !knowsCredentials(bmc, user, password))
    refuse(401, 'NoValidSession', 'The supplied credentials are not valid for this service.');
  const faulty = faultOf(bmc, 'session-table-full', now) !== undefined;
  if (faulty || bmc.state.sessions.length >= bmc.profile.sessionLimit)
    refuse(
      503,
      sessionsFullId(faulty ? makerOf(profiles.idrac9!) : makerOf(bmc.profile)),
      'The maximum number of user sessions is reached.',
      { headers: { 'Retry-After': '30' } },
    );
  const token = randomBytes(16).toString('hex');
  const session: Session = { id: String(nextId(bmc)), user, tokenHash: hashOf(token), createdAt: now };
  bmc.state.sessions = [...bmc.state.sessions, session];
  return {
    status: 201,
    body: sessionDoc(session),
    headers: { 'X-Auth-Token': token, Location: `${sessionsPath}/${session.id}` },
  };
};

const find = ({ bmc, params }: Exchange): Session =>
  bmc.state.sessions.find(({ id }) => id === params.session) ??
  refuse(404, 'ResourceMissingAtURI', 'The session is not there.');

const logOut = (x: Exchange): Answer => {
  const gone = find(x);
  x.bmc.state.sessions = x.bmc.state.sessions.filter((session) => session !== gone);
  x.bmc.sessionUse.delete(gone.id);
  return done;
};

export const sessionRows: readonly Row[] = [
  {
    path: service,
    get: ({ bmc }) =>
      resource(service, 'SessionService.v1_1_8.SessionService', 'SessionService', 'Session Service', {
        ServiceEnabled: true,
        SessionTimeout: Math.max(1, Math.round(bmc.timing.sessionTimeoutMs / 1000)),
        Sessions: link(sessionsPath),
      }),
  },
  {
    path: sessionsPath,
    get: ({ bmc }) =>
      collection(
        sessionsPath,
        'SessionCollection',
        'Session Collection',
        bmc.state.sessions.map(({ id }) => id),
      ),
    post: { subject: 'session', effect: 'once', act: logIn },
  },
  {
    path: `${sessionsPath}/:session`,
    get: (x) => sessionDoc(find(x)),
    delete: { subject: 'session', effect: 'converge', act: logOut },
  },
];
