/** The `.json` suffix of paths: dropped, but restored if no resource has the shorter name. */
import type { NextFunction, Request, Response } from 'express';
import { locate } from './paths';

// The URL with its dropped suffix.
const suffixes = new WeakMap<Request, string | null>();

/** Express middleware before the routes. */
export const takeSuffixOff = (request: Request, _response: Response, next: NextFunction): void => {
  if (suffixes.get(request) === undefined) {
    const { url, suffixed } = locate(request.url, request.headers);
    request.url = url;
    if (suffixed) suffixes.set(request, suffixed);
  }
  next();
};

/** @returns true if the request must be routed again */
export const putSuffixBack = (request: Request): boolean => {
  const suffixed = suffixes.get(request);
  if (!suffixed) return false;
  suffixes.set(request, null);
  request.url = suffixed;
  return true;
};
