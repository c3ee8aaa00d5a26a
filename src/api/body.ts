/** Reads a request's JSON body within its limits: size, depth, number of values, and characters that no store takes. */
import { isUtf8 } from 'node:buffer';
import express, { type NextFunction, type Request, type Response } from 'express';
import { raise } from '../model/errors';
import { storable } from '../model/texts';
import { bodyError } from './errors';
import { repeatedKey } from './repeated-keys';

/** Bytes; openstack/ironic:ironic/conf/api.py */
export const bodyLimit = 1024 * 1024;
export const maxDepth = 25;
/** Values in one body, lists and objects counted too: what a body may cost does not follow from its bytes alone. */
export const maxValues = 100_000;

type Reader = (request: Request, response: Response, next: NextFunction) => void;

/** What a request's body was made of, until it is checked. */
const sources = new WeakMap<object, Buffer>();

// Clients send JSON under other content types too, or under none.
const readerOf = (limit: number): Reader =>
  express.json({
    limit,
    strict: false,
    type: () => true,
    verify: (request, _response, buffer, encoding) => {
      if (encoding === 'utf-8') sources.set(request, buffer);
    },
  }) as Reader;

const readers = new Map<number, Reader>();
const readerFor = (limit: number): Reader => {
  const known = readers.get(limit) ?? readerOf(limit);
  readers.set(limit, known);
  return known;
};

/**
 * The parsed body, or undefined where there is none. Throws what `bodyError` and `checkValue` throw.
 * @param how bytes at most, and whether texts that cannot be stored are replaced rather than refused
 */
export const readBody = async (
  request: Request,
  response: Response,
  how: { readonly bodyLimit?: number; readonly cleansTexts?: true } = {},
): Promise<unknown> => {
  // The parser would make an object of nothing; here nothing is no body.
  if (request.headers['content-length'] === '0') return undefined;
  if (request.body === undefined)
    await new Promise<void>((done, fail) => {
      readerFor(how.bodyLimit ?? bodyLimit)(request, response, (thrown?: unknown) =>
        thrown ? fail(bodyError(thrown as Error)) : done(),
      );
    });
  checkValue(request.body, how.cleansTexts ? 'any' : 'storable');
  if (how.cleansTexts) return storable(request.body);
  checkSource(request);
  return request.body;
};

/** Refuses bytes that are no text, and keys that come twice: the parser makes something of both, which was never said. */
const checkSource = (request: Request): void => {
  const bytes = sources.get(request);
  sources.delete(request);
  if (!bytes) return;
  if (!isUtf8(bytes)) raise('UnreadableBody', { reason: 'it is not valid UTF-8' });
  const key = repeatedKey(bytes.toString());
  if (key !== undefined)
    raise('InvalidInput', { field: checkedName(key), reason: 'comes twice in one object; say it once' });
};

const checkedName = (key: string): string => (unstorable.test(key) ? 'a key' : key.slice(0, 200));

// Postgres stores neither NUL nor half a surrogate pair.
const unstorable = /[\0\p{Surrogate}]/u;

const refuseText = (field: string): never =>
  raise('InvalidInput', { field, reason: 'holds a NUL character or half a surrogate pair; leave it out' });

/** Refuses a text that cannot be stored. Throws InvalidInput naming the field. */
export const checkText = (text: string, field: string): void => {
  if (unstorable.test(text)) refuseText(field);
};

const isContainer = (value: unknown): value is object => typeof value === 'object' && value !== null;

/**
 * Refuses a document that is too deep, holds too many values, or, unless any text will do, one that cannot be stored.
 * Throws BodyTooDeep, BodyTooManyValues, InvalidInput naming the field.
 */
export const checkValue = (document: unknown, texts: 'storable' | 'any' = 'storable'): void => {
  const wrong = (text: string): boolean => texts === 'storable' && unstorable.test(text);
  let values = 0;
  // Answers the path to a text that cannot be stored, the innermost key first; it is put together only if there is one.
  const faultIn = (value: unknown, depth: number): string[] | undefined => {
    values += 1;
    if (values > maxValues) raise('BodyTooManyValues', { limit: maxValues });
    if (typeof value === 'string') return wrong(value) ? [] : undefined;
    if (!isContainer(value)) return undefined;
    if (depth >= maxDepth) raise('BodyTooDeep', { limit: maxDepth });
    if (Array.isArray(value)) return faultInList(value, depth + 1);
    for (const key of Object.keys(value)) {
      if (wrong(key)) return ['a key'];
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
