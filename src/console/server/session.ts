/** Who is signed in: sealed into the browser's cookie, so that the console keeps nothing, and ended before its time by name. */
import { createHmac, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import { EventEmitter } from 'node:events';
import type { Request, Response } from 'express';
import { sealData, unsealData } from 'iron-session';
import { LRUCache } from 'lru-cache';
import type { Credentials } from './api';

/** A signed-in caller, or one who is about to sign in (`credentials` null): its forms need a token too. */
export type Session = {
  /** Made anew at every login. */
  readonly id: string;
  /** The key of what the forms of this session carry. */
  readonly csrf: string;
  /** Milliseconds since the epoch, at which the session ends at the latest. */
  readonly until: number;
  readonly credentials: Credentials | null;
  /** For the header of the page; it decides nothing. */
  readonly name: string;
  readonly scope: string;
  /** Whether the identity service made the token, and is asked to end it. */
  readonly keystone: boolean;
};

export type SignedIn = Session & { readonly credentials: Credentials };

export type SessionSettings = {
  /** Texts of at least 32 characters; the first one seals, all open. */
  readonly keys: readonly string[];
  readonly lifeMs: number;
  /** Whether the browser sends the cookie over TLS alone: everywhere but on the loopback address. */
  readonly secure: boolean;
};

export type Sessions = {
  /** The session of a request; undefined without one, or with one that has ended or was sealed by another key. */
  of(request: Request): Promise<Session | undefined>;
  /** Puts a session under a new id into the answer's cookie, in place of any other. */
  begin(
    response: Response,
    given: Pick<Session, 'credentials' | 'name' | 'scope' | 'keystone'> & { until?: number },
  ): Promise<Session>;
  /** Ends a session: the cookie goes, and a copy of it opens nothing any more in this process. */
  end(response: Response, session: Session | undefined): void;
  /** Calls back once, when the session is ended in this process, or its time or a day is over. @returns what calls it off */
  onceOver(session: Session, callback: () => void): () => void;
};

const anonymousMs = 60 * 60_000;
// Signed out sessions are remembered for as long as their cookies could be used.
const endedAtMost = 100_000;
const oneDayMs = 24 * 60 * 60_000;

const cookieIn = (request: Request, name: string): string | undefined => {
  const pairs = (request.headers.cookie ?? '').split(';').map((pair) => pair.trim());
  const value = pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1);
  try {
    return value && decodeURIComponent(value);
  } catch {
    return undefined; // no cookie of ours
  }
};

/** The proof that a text in an address was put there for this session: pages say nothing that only a link says. */
export const proofOf = ({ csrf }: Session, text: string): string =>
  createHmac('sha256', csrf).update(text).digest('base64url');

/** What a form carries: another text on each page, so that the length of compressed pages gives nothing away (BREACH). */
export const formToken = (session: Session, salt = randomBytes(12).toString('base64url')): string =>
  `${salt}.${proofOf(session, `form ${salt}`)}`;

/** Whether a form's token is of the session. */
export const sameToken = (session: Session, given: unknown): boolean => {
  const text = typeof given === 'string' ? given : '';
  const [own, other] = [Buffer.from(formToken(session, text.split('.')[0])), Buffer.from(text)];
  return own.length === other.length && timingSafeEqual(own, other);
};

export const createSessions = ({ keys, lifeMs, secure }: SessionSettings): Sessions => {
  // The prefix has browsers refuse a cookie that another host of the domain has set.
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
      // A session without credentials opens nothing, and a sender without any may have as many as it likes.
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
