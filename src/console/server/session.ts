/** Sessions sealed in the browser's cookie. The console keeps only the ids of ended sessions. */
import { createHmac, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import { EventEmitter } from 'node:events';
import type { Request, Response } from 'express';
import { sealData, unsealData } from 'iron-session';
import { LRUCache } from 'lru-cache';
import type { Credentials } from './api';

/** Before sign-in `credentials` is null, because its forms need a token too. */
export type Session = {
  /** Changes at every login. */
  readonly id: string;
  /** Key of the session's form tokens. */
  readonly csrf: string;
  /** Latest end of the session, in milliseconds since the epoch. */
  readonly until: number;
  readonly credentials: Credentials | null;
  /** Shown in the page's header; no decision uses it. */
  readonly name: string;
  readonly scope: string;
  /** Keystone issued the token, so sign-out revokes it there. */
  readonly keystone: boolean;
};

export type SignedIn = Session & { readonly credentials: Credentials };

export type SessionSettings = {
  /** At least 32 characters each. The first one seals, all unseal. */
  readonly keys: readonly string[];
  readonly lifeMs: number;
  /** Restricts the cookie to TLS. False only on the loopback address. */
  readonly secure: boolean;
};

export type Sessions = {
  /** Undefined without a session, or if it has ended or an unknown key sealed it. */
  of(request: Request): Promise<Session | undefined>;
  /** Begins a session with a new id in place of any other. */
  begin(
    response: Response,
    given: Pick<Session, 'credentials' | 'name' | 'scope' | 'keystone'> & { until?: number },
  ): Promise<Session>;
  /** Deletes the cookie. This process then rejects a copy of it. */
  end(response: Response, session: Session | undefined): void;
  /** Calls back once: when the session ends in this process, expires, or after a day. @returns a function that cancels it */
  onceOver(session: Session, callback: () => void): () => void;
};

const anonymousMs = 60 * 60_000;
// Ids of ended sessions are kept as long as their cookies could be used.
const endedAtMost = 100_000;
const oneDayMs = 24 * 60 * 60_000;

/** Undefined without it. */
export const cookieIn = (request: Request, name: string): string | undefined => {
  const pairs = (request.headers.cookie ?? '').split(';').map((pair) => pair.trim());
  const value = pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1);
  try {
    return value && decodeURIComponent(value);
  } catch {
    return undefined; // not the console's cookie
  }
};

/** Proves that the console put a text into an address, so that pages show no text of a foreign link. */
export const proofOf = ({ csrf }: Session, text: string): string =>
  createHmac('sha256', csrf).update(text).digest('base64url');

/** Address of a page that shows a text to this session alone. */
export const addressSaying = (session: Session, to: string, will: string): string =>
  `${to}?will=${encodeURIComponent(will)}&proof=${proofOf(session, will)}`;

/** It differs on each page, so that the length of compressed pages reveals nothing (BREACH). */
export const formToken = (session: Session, salt = randomBytes(12).toString('base64url')): string =>
  `${salt}.${proofOf(session, `form ${salt}`)}`;

export const sameToken = (session: Session, given: unknown): boolean => {
  const text = typeof given === 'string' ? given : '';
  const [own, other] = [Buffer.from(formToken(session, text.split('.')[0])), Buffer.from(text)];
  return own.length === other.length && timingSafeEqual(own, other);
};

export const createSessions = ({ keys, lifeMs, secure }: SessionSettings): Sessions => {
  // Browsers then refuse a cookie from another host of the domain.
  const name = secure ? '__Host-temper_console' : 'temper_console';
  const options = { httpOnly: true, sameSite: 'strict', path: '/', secure } as const;
  const ended = new LRUCache<string, true>({ max: endedAtMost, ttl: lifeMs });
  const endings = new EventEmitter().setMaxListeners(0);
  const opened = async (seal: string): Promise<Partial<Session> | undefined> => {
    for (const password of keys) {
      const found = await unsealData<Partial<Session>>(seal, { password, ttl: 0 }).catch(() => undefined);
      if (found?.id !== undefined) return found;
    }
    return undefined;
  };
  return {
    async of(request) {
      const seal = cookieIn(request, name);
      const found = seal === undefined ? undefined : await opened(seal);
      if (!found?.id || !found.until || found.until <= Date.now() || ended.has(found.id)) return undefined;
      return found as Session;
    },
    async begin(response, { until, ...given }) {
      const latest = Date.now() + (given.credentials ? lifeMs : anonymousMs);
      const session: Session = {
        ...given,
        id: randomUUID(),
        csrf: randomBytes(24).toString('base64url'),
        until: Math.min(latest, until ?? latest),
      };
      const seal = await sealData(session, { password: keys[0]!, ttl: 0 });
      response.cookie(name, seal, { ...options, maxAge: session.until - Date.now() });
      return session;
    },
    end(response, session) {
      // Anonymous sessions give no access, and a client can create any number, so their ids are not kept.
      if (session?.credentials) ended.set(session.id, true);
      response.clearCookie(name, options);
      if (session) endings.emit(session.id);
    },
    onceOver({ id, until }, callback) {
      const stop = (): void => {
        clearTimeout(timer);
        endings.off(id, over);
      };
      const over = (): void => {
        stop();
        callback();
      };
      const timer = setTimeout(over, Math.min(until - Date.now(), oneDayMs));
      endings.once(id, over);
      return stop;
    },
  };
};
