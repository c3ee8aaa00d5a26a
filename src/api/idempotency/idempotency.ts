/** Idempotency-Key: one of several requests with the same key does the work, and all get its answer. */
import { createHash } from 'node:crypto';
import { isGivenUp, type KeyAsked, type KeyRow, livesForMs } from '../../inventory/idempotency';
import type { Caller } from '../../model/access/callers';
import { canonicalJson } from '../../model/digests';
import { raise, type TemperError } from '../../model/errors';
import type { ApiContext } from '../context';
import { callerKey } from '../server/caller-key';
import { asTemperError, replyFor } from '../server/errors';
import type { Answer, Route } from '../server/route';
import { createKeyRoom, keptAnswer } from './bounds';
import { cutOffAnswer } from './cut-off';
import { type KeyedRequest, seenAgain } from './seen';

/** Their repetition would do the work twice. */
const honouring = ['POST', 'PUT'] as const satisfies readonly Route['method'][];

/** Ramdisks have no login. Requests without changes are safe to repeat. */
export const honoursKey = ({ method, rules, open, changesNothing }: Route): boolean =>
  honouring.includes(method as 'POST') && !changesNothing && rules !== 'public' && rules.length > 0 && !open;

/** Does the work. Its records carry the id. */
type Work = (requestId: string) => Promise<Answer>;

/** `repeated`: an earlier request did the work. */
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
 * Ids, versions and security headers of the present request are added later.
 * @param seen false leaves only the Location, which the caller already has
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

const replayed = async (
  row: KeyRow,
  asked: KeyedRequest,
  ctx: ApiContext,
  routes: readonly Route[],
): Promise<Answer> => {
  const answer = replay(row, await seenAgain(row, asked, ctx, routes));
  const { shownAgain } = asked.route;
  if (!shownAgain || answer.text === undefined) return answer;
  return { ...answer, text: await shownAgain(answer.text, asked.request as never, ctx) };
};

const underWay = (): never => raise('IdempotencyUnderWay', { seconds: 1 });

/**
 * After these errors, a statement may still be in flight, or its commit may have succeeded. So the key is not freed: a late statement must
 * detect a takeover, and a repeat looks up the result.
 */
const inconclusiveErrors = [
  'StoreUnavailable',
  'StoreContended',
  'Unexpected',
] as const satisfies readonly TemperError['code'][];

type Keys = {
  readonly ctx: ApiContext;
  /** Routes that show created resources. */
  readonly routes: readonly Route[];
};

const keepAnswer = ({ ctx }: Keys, request_id: string, answer: Answer): Promise<void> =>
  ctx.inventory.idempotency
    .answered(request_id, keptAnswer(answer))
    .catch((thrown) => ctx.log.warn('answer not kept', { request_id, reason: String(thrown) }));

/** An error before any write frees the key; a later error is the request's answer. */
const settleKey = async (keys: Keys, request_id: string, thrown: unknown): Promise<void> => {
  const { idempotency } = keys.ctx.inventory;
  const error = asTemperError(thrown, request_id);
  if (inconclusiveErrors.includes(error.code as 'Unexpected')) return idempotency.abandon(request_id);
  if (await idempotency.forget(request_id)) return;
  const { status, headers, text } = replyFor(error);
  await keepAnswer(keys, request_id, { status, headers, text });
};

/** An open answer leaves its claim to a repeat. One that only refuses frees the key, as an error does. */
const settle = async (keys: Keys, request_id: string, answer: Answer): Promise<void> => {
  const { idempotency } = keys.ctx.inventory;
  if (answer.isOpen) return idempotency.abandon(request_id);
  if (!answer.refusal || !(await idempotency.forget(request_id))) await keepAnswer(keys, request_id, answer);
};

/** Renews the claim while this process serves the request. */
const perform = async (keys: Keys, request_id: string, work: Work): Promise<Answer> => {
  const { inventory, log } = keys.ctx;
  const beat = setInterval(() => void inventory.idempotency.renew(request_id).catch(() => {}), livesForMs / 3);
  beat.unref();
  try {
    const answer = await work(request_id);
    await settle(keys, request_id, answer);
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

/** The first request died after its commit: builds the answer that it would have sent. */
const finish = async (keys: Keys, row: KeyRow, asked: KeyedRequest, work: Work): Promise<Answer> => {
  const { ctx, routes } = keys;
  if (!(await ctx.inventory.idempotency.revive(row.request_id))) return underWay();
  if (asked.route.cutOff === 'again') return perform(keys, row.request_id, work);
  const answer = await cutOffAnswer(row, asked, ctx, routes);
  await keepAnswer(keys, row.request_id, answer);
  return answer;
};

/** Checks visibility again: the node may have a new owner. Throws if an object of the request is hidden. */
const repeat = async (keys: Keys, row: KeyRow, keyAsked: KeyAsked, asked: KeyedRequest, work: Work): Promise<Once> => {
  const { ctx, routes } = keys;
  if (row.status !== null) return { answer: await replayed(row, asked, ctx, routes), repeated: true };
  if (row.alive) return underWay();
  if (row.changed) {
    await seenAgain(row, asked, ctx, routes);
    return { answer: await finish(keys, row, asked, work), repeated: true };
  }
  if (!(await ctx.inventory.idempotency.takeOver(row.request_id, keyAsked))) return underWay();
  return { answer: await perform(keys, keyAsked.request_id, work), repeated: false };
};

/**
 * @param routes routes that show created resources
 * @returns a function that does work at most once per caller and key. Throws IdempotencyUnderWay, IdempotencyKeyReused, TooManyKeys,
 * InvalidInput, and the errors of the work
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
