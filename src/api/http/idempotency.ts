/** Idempotency-Key: of several requests that carry the same key one does the work, and all get its answer. */
import { createHash } from 'node:crypto';
import { isGivenUp, type KeyAsked, type KeyRow, livesForMs } from '../../inventory/idempotency';
import type { Caller } from '../../model/access/callers';
import { canonicalJson } from '../../model/digests';
import { raise, type TemperError } from '../../model/errors';
import type { ApiContext } from '../context';
import { callerKey } from './caller-key';
import { asTemperError, replyFor } from './errors';
import { createKeyRoom, keptAnswer } from './idempotency-bounds';
import { cutOffAnswer } from './idempotency-cut-off';
import { type KeyedRequest, seenAgain } from './idempotency-seen';
import type { Answer, Route } from './route';

/** Creates and starts work: a repeat would do it a second time. */
const honouring = ['POST', 'PUT'] as const satisfies readonly Route['method'][];

/** Whether a route honours the key; ramdisks have no login, and where nothing is changed nothing can be done twice. */
export const honoursKey = ({ method, rules, open, changesNothing }: Route): boolean =>
  honouring.includes(method as 'POST') && !changesNothing && rules !== 'public' && rules.length > 0 && !open;

/** Does the work under the id that its records are to carry. */
type Work = (requestId: string) => Promise<Answer>;

/** An answer, and whether an earlier request did its work. */
export type Once = { readonly answer: Answer; readonly repeated: boolean };

const keyForm = /^[\x21-\x7e]{1,255}$/;

const keyOf = (request: KeyedRequest['request']): string | undefined => {
  const key = request.header('idempotency-key');
  if (key !== undefined && !keyForm.test(key))
    raise('InvalidInput', {
      field: 'Idempotency-Key',
      reason: 'must be 1 to 255 visible ASCII characters, such as a UUID',
    });
  return key;
};

const whatIsAsked = ({ route, request, url, rawBody }: KeyedRequest): string => {
  const [path, query = ''] = url.split('?');
  const sorted = [...new URLSearchParams(query)].map(String).sort();
  return canonicalJson([route.method, path, sorted, request.version, [...request.who.roles].sort(), rawBody ?? null]);
};

const callerDigest = (who: Caller): Buffer => createHash('sha256').update(callerKey(who)).digest();

/**
 * Kept answers say nothing of this request: its own id, versions and security headers are put on it as on any other.
 * @param seen whether who asks sees what was made; its address is known to them
 */
const replay = ({ status, headers, body }: KeyRow, seen: boolean): Answer => {
  const location = headers?.Location;
  const kept = seen ? headers : location && { Location: location };
  return {
    status: status!,
    headers: { ...kept, 'Idempotent-Replayed': 'true' },
    ...(seen && body !== null && { text: body }),
  };
};

const underWay = (): never => raise('IdempotencyUnderWay', { seconds: 1 });

/**
 * Errors that say nothing of the work: a statement may even be on its way still, which must find that its request was given up, or
 * another one of the request stands. What became of it is looked up when it is asked for again.
 */
const inconclusiveErrors = [
  'StoreUnavailable',
  'StoreContended',
  'Unexpected',
] as const satisfies readonly TemperError['code'][];

/** What the functions below work with. */
type Keys = {
  readonly ctx: ApiContext;
  /** Where a created resource is shown. */
  readonly routes: readonly Route[];
};

const keepAnswer = ({ ctx }: Keys, request_id: string, answer: Answer): Promise<void> =>
  ctx.inventory.idempotency
    .answered(request_id, keptAnswer(answer))
    .catch((thrown) => ctx.log.warn('answer not kept', { request_id, reason: String(thrown) }));

/** An error with nothing written down frees the key; one that came after the work is its answer. */
const settleKey = async (keys: Keys, request_id: string, thrown: unknown): Promise<void> => {
  const { idempotency } = keys.ctx.inventory;
  const error = asTemperError(thrown, request_id);
  if (inconclusiveErrors.includes(error.code as 'Unexpected')) return idempotency.abandon(request_id);
  if (await idempotency.forget(request_id)) return;
  const { status, headers, text } = replyFor(error);
  await keepAnswer(keys, request_id, { status, headers, text });
};

/** Says that this process still serves it, for as long as it does. */
const perform = async (keys: Keys, request_id: string, work: Work): Promise<Answer> => {
  const { inventory, log } = keys.ctx;
  const beat = setInterval(() => void inventory.idempotency.renew(request_id).catch(() => {}), livesForMs / 3);
  beat.unref();
  try {
    const answer = await work(request_id);
    await keepAnswer(keys, request_id, answer);
    return answer;
  } catch (thrown) {
    if (isGivenUp(thrown)) return underWay();
    await settleKey(keys, request_id, thrown).catch((reason) =>
      log.warn('idempotency key not settled', { request_id, reason: String(reason) }),
    );
    throw thrown;
  } finally {
    clearInterval(beat);
  }
};

/** The first request was cut off when its work was written down: what follows is the answer that it would have had. */
const finish = async (keys: Keys, row: KeyRow, asked: KeyedRequest, work: Work): Promise<Answer> => {
  const { ctx, routes } = keys;
  if (!(await ctx.inventory.idempotency.revive(row.request_id))) return underWay();
  if (asked.route.cutOff === 'again') return perform(keys, row.request_id, work);
  const answer = await cutOffAnswer(row, asked, ctx, routes);
  await keepAnswer(keys, row.request_id, answer);
  return answer;
};

/** Who gets the answer is asked again, as a node may have changed hands since. Throws what hides what it is about. */
const repeat = async (keys: Keys, row: KeyRow, keyAsked: KeyAsked, asked: KeyedRequest, work: Work): Promise<Once> => {
  const { ctx, routes } = keys;
  if (row.status !== null) return { answer: replay(row, await seenAgain(row, asked, ctx, routes)), repeated: true };
  if (row.alive) return underWay();
  if (row.changed) {
    await seenAgain(row, asked, ctx, routes);
    return { answer: await finish(keys, row, asked, work), repeated: true };
  }
  if (!(await ctx.inventory.idempotency.takeOver(row.request_id, keyAsked))) return underWay();
  return { answer: await perform(keys, keyAsked.request_id, work), repeated: false };
};

/**
 * @param routes where a created resource is shown
 * @returns what does the work of a request at most once per caller and key. Throws IdempotencyUnderWay, IdempotencyKeyReused,
 *   TooManyKeys, InvalidInput, and what the work throws
 */
export const createOnce = (ctx: ApiContext, routes: readonly Route[]) => {
  const keys: Keys = { ctx, routes };
  const requireRoom = createKeyRoom(ctx);
  const keptForHours = ctx.settings.idempotencyHours;
  return async (asked: KeyedRequest, work: Work): Promise<Once> => {
    const { requestId, who } = asked.request;
    const key = honoursKey(asked.route) ? keyOf(asked.request) : undefined;
    if (key === undefined) return { answer: await work(requestId), repeated: false };
    const [digest, ...older] = ctx.vault.digests(whatIsAsked(asked));
    const keyAsked = { request_id: requestId, caller: callerDigest(who), key, asked: digest, keptForHours };
    await requireRoom(keyAsked.caller, key);
    const row = await ctx.inventory.idempotency.begin(keyAsked);
    if (!row) return { answer: await perform(keys, requestId, work), repeated: false };
    if (![digest, ...older].some((one) => one.equals(row.asked))) raise('IdempotencyKeyReused');
    return repeat(keys, row, keyAsked, asked, work);
  };
};
