/** Reads JSON bodies within limits: bytes, depth, values, and storable characters. */
import { isUtf8 } from 'node:buffer';
import type { Readable, Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { Request } from 'express';
import { AnswerTooLong, dropRest, requestBytes } from '../../model/bodies';
import { isTemperError, raise } from '../../model/errors';
import { inexactInteger, type StructureLimits, structureOf } from '../../model/json-structure';
import { ownValue } from '../../model/own';
import { storable } from '../../model/texts';
import { bodyError } from '../server/errors';
import { repeatedKey } from './repeated-keys';

/** Bytes; openstack/ironic:ironic/conf/api.py */
export const bodyLimit = 1024 * 1024;
export const maxDepth = 25;
/**
 * Lists and objects included. Bytes alone do not bound the cost: an object of 20,000 keys in `extra` blocked the thread for 250 ms. All
 * settings of a BIOS are a few thousand values.
 */
export const maxValues = 8_000;

export type BodyLimits = {
  readonly bodyLimit?: number;
  readonly bodyValues?: number;
  readonly cleansTexts?: true;
  readonly open?: true;
};

const unpackers: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/** Throws for an unknown encoding. */
const contentOf = (request: Request): Readable => {
  const encoding = request.headers['content-encoding']?.toLowerCase() ?? 'identity';
  if (encoding === 'identity') return request;
  const unpacker = ownValue(unpackers, encoding)?.();
  if (!unpacker) throw bodyError({ type: 'encoding.unsupported' });
  request.once('error', (error) => unpacker.destroy(error));
  return request.pipe(unpacker);
};

/** The unpacked bytes. Throws BodyTooLarge and UnreadableBody. */
const receive = async (request: Request, limit: number): Promise<Buffer> => {
  const tooLarge = () => bodyError({ type: 'entity.too.large', limit });
  let content: Readable | undefined;
  try {
    content = contentOf(request);
    const announced = content === request ? Number(request.headers['content-length']) : 0;
    if (announced > limit) throw tooLarge();
    const bytes = await requestBytes(content, limit, announced);
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  } catch (thrown) {
    if (content !== request) request.unpipe();
    if (content !== request) content?.on('error', () => {}).destroy();
    await dropRest(request);
    if (thrown instanceof AnswerTooLong) throw tooLarge();
    if (isTemperError(thrown)) throw thrown;
    throw bodyError(request.readableAborted ? { type: 'request.aborted' } : {});
  }
};

/** Throws for charsets other than UTF-8, and for any encoding on an open route. */
const checkHeaders = ({ headers }: Request, open: boolean): void => {
  const charset = /;\s*charset\s*=\s*"?([^\s;"]*)/i.exec(headers['content-type'] ?? '')?.[1]?.toLowerCase();
  if (charset !== undefined && !['utf-8', 'utf8', 'us-ascii'].includes(charset))
    throw bodyError({ type: 'charset.unsupported' });
  const encoding = headers['content-encoding'];
  // Not unpacked without an authenticated caller: 16 kB could expand to any size.
  if (open && encoding !== undefined && encoding.toLowerCase() !== 'identity') raise('EncodingRefused');
};

const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

/** Counts the structure before it parses. Throws like readBody. */
export const parseBody = (bytes: Buffer, limits: StructureLimits, texts: 'storable' | 'any'): unknown => {
  const given = bytes.subarray(0, 3).equals(byteOrderMark) ? bytes.subarray(3) : bytes;
  if (given.length === 0) return undefined;
  const { fault, keys } = structureOf(given, limits);
  switch (fault) {
    case 'depth':
      return raise('BodyTooDeep', { limit: limits.depth });
    case 'values':
      return raise('BodyTooManyValues', { limit: limits.values });
    default:
  }
  const text = given.toString();
  const value = parseJson(text);
  if (texts === 'any') return storable(value);
  // JSON has no bare NUL, UTF-8 no lone surrogate: both come only as escapes.
  if (text.includes('\\u')) checkValue(value, limits.values);
  if (!isUtf8(given)) raise('UnreadableBody', { reason: 'it is not valid UTF-8' });
  const inexact = inexactInteger(text);
  if (inexact !== undefined)
    raise('UnreadableBody', {
      reason: `the number ${inexact.slice(0, 40)} is beyond 2^53 and would not be kept exactly; send it as a text`,
    });
  const key = keysIn(value) === keys ? undefined : repeatedKey(text);
  if (key !== undefined)
    raise('InvalidInput', { field: checkedName(key), reason: 'comes twice in one object; say it once' });
  if ((text.includes(lostKey) || text.includes('\\u')) && holdsLostKey(value))
    raise('InvalidInput', { field: lostKey, reason: 'cannot be kept under this name; leave it out' });
  return value;
};

/** Schemas of objects with any keys silently drop this key. */
const lostKey = '__proto__';

const holdsLostKey = (value: unknown): boolean =>
  isContainer(value) && (Object.hasOwn(value, lostKey) || Object.values(value).some(holdsLostKey));

/** A text with more keys has a duplicate, of which the parser keeps the last. */
const keysIn = (value: unknown): number => {
  if (!isContainer(value)) return 0;
  const inner = Object.values(value);
  return inner.reduce<number>((sum, one) => sum + keysIn(one), Array.isArray(value) ? 0 : inner.length);
};

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    throw bodyError({ type: 'entity.parse.failed' });
  }
};

/**
 * Undefined if empty. Throws the errors of `bodyError` and `checkValue`, and EncodingRefused.
 * @param how limits; `cleansTexts` replaces characters that cannot be stored; `open` for routes without login
 */
export const readBody = async (request: Request, how: BodyLimits = {}): Promise<unknown> => {
  checkHeaders(request, how.open === true);
  if (request.headers['content-length'] === '0') return undefined;
  if (request.body === undefined && !request.readableEnded)
    request.body = await receive(request, how.bodyLimit ?? bodyLimit);
  if (!Buffer.isBuffer(request.body)) return request.body;
  const limits = { depth: maxDepth, values: how.bodyValues ?? maxValues };
  // Kept on the request, for a retry under another path.
  request.body = parseBody(request.body, limits, how.cleansTexts ? 'any' : 'storable');
  return request.body;
};

const checkedName = (key: string): string => (unstorable.test(key) ? 'a key' : key.slice(0, 200));

// PostgreSQL accepts neither NUL nor lone surrogates.
const unstorable = /[\0\p{Surrogate}]/u;

const refuseText = (field: string): never =>
  raise('InvalidInput', { field, reason: 'holds a NUL character or half a surrogate pair; leave it out' });

/** Throws InvalidInput naming the field. */
export const checkText = (text: string, field: string): void => {
  if (unstorable.test(text)) refuseText(field);
};

const isContainer = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** Throws BodyTooDeep, BodyTooManyValues, InvalidInput naming the field. */
export const checkValue = (document: unknown, most = maxValues): void => {
  let values = 0;
  // Returns the path to a text that cannot be stored, innermost key first.
  const faultIn = (value: unknown, depth: number): string[] | undefined => {
    values += 1;
    if (values > most) raise('BodyTooManyValues', { limit: most });
    if (typeof value === 'string') return unstorable.test(value) ? [] : undefined;
    if (!isContainer(value)) return undefined;
    if (depth >= maxDepth) raise('BodyTooDeep', { limit: maxDepth });
    if (Array.isArray(value)) return faultInList(value, depth + 1);
    for (const key of Object.keys(value)) {
      if (unstorable.test(key)) return ['a key'];
      const fault = faultIn((value as Record<string, unknown>)[key], depth + 1);
      if (fault) return [...fault, key];
    }
    return undefined;
  };
  const faultInList = (list: readonly unknown[], depth: number): string[] | undefined => {
    for (let index = 0; index < list.length; index++) {
      const fault = faultIn(list[index], depth);
      if (fault) return [...fault, String(index)];
    }
    return undefined;
  };
  const fault = faultIn(document, 0);
  if (fault) refuseText(fault.reverse().join('.').slice(0, 200) || 'body');
};
