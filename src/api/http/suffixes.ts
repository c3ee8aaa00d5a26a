/** A path that ends in `.json`: the suffix is taken off, and put back where no resource has the shorter name. */
import type { NextFunction, Request, Response } from 'express';
import { locate } from './paths';

// The suffix that was taken off a path, so that a name which really ends in it can be tried next.
const suffixes = new WeakMap<Request, string | null>();

/** Middleware in front of the routes. */
export const takeSuffixOff = (request: Request, _response: Response, next: NextFunction): void => {
  if (suffixes.get(request) === undefined) {
    const { url, suffixed } = locate(request.url, request.headers);
    request.url = url;
    if (suffixed) suffixes.set(request, suffixed);
  }
  next();
};

/** Whether there is a suffix to put back; then the request's URL has it again and is to be routed once more. */
export const putSuffixBack = (request: Request): boolean => {
  const suffixed = suffixes.get(request);
  if (!suffixed) return false;
  suffixes.set(request, null);
  request.url = suffixed;
  return true;
};
