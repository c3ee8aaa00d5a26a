/** Validates the parts of a request with their schemas. */
import type { Request } from 'express';
import { z } from 'zod';
import { raise } from '../../model/errors';
import { schemaError } from '../server/errors';
import type { Route } from '../server/route';
import { checkText, readBody } from './body';

type QueryValues = Readonly<Record<string, unknown>>;

/** Throws 400 errors. `rawBody` is the body before its schema. */
export const read = async (route: Route, request: Request, version: number) => {
  const query = request.query as QueryValues;
  for (const [name, value] of Object.entries({ ...query, ...request.params }))
    if (typeof value === 'string') checkText(value, name);
  const body = await bodyOf(route, request);
  if (request.method !== 'GET' && request.method !== 'HEAD' && request.headers['if-match'] !== undefined)
    raise('InvalidInput', { field: 'If-Match', reason: 'is not supported for changes; leave it out' });
  route.gate?.({ body: body ?? {}, query }, version);
  return {
    rawBody: body,
    params: parsePart(route.params, request.params, 'path'),
    query: route.arguments ? {} : parsePart(route.query ?? emptyQuery, query, 'query'),
    body: parsePart(route.body, route.arguments ? merged(query, body) : body, 'body'),
  };
};

const emptyQuery = z.strictObject({});

const bodyOf = async (route: Route, request: Request): Promise<unknown> => {
  const { method } = request;
  const takesBody =
    method === 'POST' || method === 'PUT' || method === 'PATCH' || (route.body !== undefined && method !== 'HEAD');
  if (!takesBody) return undefined;
  const body = await readBody(request, route);
  if (route.body) return body;
  if (!isEmpty(body)) raise('InvalidInput', { field: 'body', reason: 'this request takes no body' });
  return undefined;
};

/** Some clients send `{}` or `null` for an empty body. */
const isEmpty = (body: unknown): boolean =>
  body === undefined || body === null || (typeof body === 'object' && Object.keys(body).length === 0);

const merged = (query: Readonly<Record<string, unknown>>, body: unknown): unknown =>
  body === undefined || body === null
    ? query
    : typeof body === 'object' && !Array.isArray(body)
      ? { ...query, ...body }
      : body;

const parsePart = (schema: z.ZodType | undefined, value: unknown, where: string): unknown => {
  if (!schema) return value;
  const parsed = schema.safeParse(value);
  if (!parsed.success) throw schemaError(parsed.error, where, where === 'query' ? (value as QueryValues) : undefined);
  return parsed.data;
};
