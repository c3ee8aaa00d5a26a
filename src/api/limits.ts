/** How many requests one caller is served in a minute; whoever is not known counts by address. */
import type { Request, Response } from 'express';
import { rateLimit } from 'express-rate-limit';
import type { Caller } from '../model/callers';
import { TemperError } from '../model/errors';
import { callerKey } from './caller-key';
import { senderOf } from './proxies';

/** Each counts the request, and throws TooManyRequests where it is one too many. A request is counted once. */
export type Limits = {
  ofCaller(request: Request, response: Response, who: Caller): Promise<void>;
  ofAddress(request: Request, response: Response): Promise<void>;
};

const windowMs = 60_000;

const none: Limits = { ofCaller: async () => {}, ofAddress: async () => {} };

type Counted = Request & { readonly rateLimit?: { readonly resetTime?: Date } };

const tooMany = (request: Request, limit: number): TemperError => {
  const left = ((request as Counted).rateLimit?.resetTime?.getTime() ?? Date.now() + windowMs) - Date.now();
  return new TemperError('TooManyRequests', { limit, seconds: Math.max(1, Math.ceil(left / 1_000)) });
};

/**
 * Counts in this process's memory: several API processes admit as many times the number.
 * @param perMinute requests; none are counted where it is undefined
 */
export const createLimits = (perMinute: number | undefined): Limits => {
  if (perMinute === undefined) return none;
  const keys = new WeakMap<Request, string>();
  const limiter = rateLimit({
    windowMs,
    limit: perMinute,
    identifier: 'requests',
    standardHeaders: 'draft-8',
    legacyHeaders: false,
    keyGenerator: (request) => keys.get(request)!,
    handler: (request, _response, next) => next(tooMany(request, perMinute)),
    validate: false, // its checks are about keys made of addresses alone
  });
  const count = (request: Request, response: Response, key: string): Promise<void> => {
    if (keys.has(request)) return Promise.resolve();
    keys.set(request, key);
    return new Promise((done, fail) => {
      void limiter(request, response, (thrown?: unknown) => (thrown ? fail(thrown) : done()));
    });
  };
  return {
    ofCaller: (request, response, who) => count(request, response, callerKey(who)),
    ofAddress: (request, response) => count(request, response, `address ${senderOf(request)}`),
  };
};
