/** Reads a request's JSON body within its limits: size, depth, and characters that no store takes. */
import express, { type NextFunction, type Request, type Response } from 'express';
import { raise } from '../model/errors';
import { bodyError } from './errors';

/** openstack/ironic:ironic/conf/api.py */
export const defaultBodyLimit = 1024 * 1024;
export const provisionBodyLimit = 64 * 1024 * 1024;
export const maxDepth = 25;

type Reader = (request: Request, response: Response, next: NextFunction) => void;
const readers = new Map<number, Reader>();

// Clients send JSON under other content types too, or under none.
const readerFor = (limit: number): Reader => {
  const known = readers.get(limit);
  if (known) return known;
  const reader = express.json({ limit, strict: false, type: () => true }) as Reader;
  readers.set(limit, reader);
  return reader;
};

/** The parsed body, or undefined where there is none. Throws MalformedBody, BodyTooLarge, BodyTooDeep, InvalidInput. */
export const readBody = async (request: Request, response: Response, limit: number): Promise<unknown> => {
  // The parser would make an object of nothing; here nothing is no body.
  if (request.headers['content-length'] === '0') return undefined;
  if (request.body === undefined)
    await new Promise<void>((done, fail) => {
      readerFor(limit)(request, response, (thrown?: unknown) => (thrown ? fail(bodyError(thrown as Error)) : done()));
    });
  checkValue(request.body);
  return request.body;
};

// Postgres stores neither NUL nor half a surrogate pair.
const unstorable = /[\0\p{Surrogate}]/u;

/** Refuses a text that cannot be stored. Throws InvalidInput. */
export const checkText = (text: string): void => {
  if (unstorable.test(text))
    raise('InvalidInput', { field: 'request', reason: 'a text holds a NUL character or half a surrogate pair' });
};

/** Refuses a document that is too deep, or holds a text that cannot be stored. Throws BodyTooDeep, InvalidInput. */
export const checkValue = (value: unknown, depth = 0): void => {
  if (typeof value === 'string') checkText(value);
  if (typeof value !== 'object' || value === null) return;
  if (depth >= maxDepth) raise('BodyTooDeep', { limit: maxDepth });
  for (const [key, inner] of Object.entries(value)) {
    checkText(key);
    checkValue(inner, depth + 1);
  }
};
