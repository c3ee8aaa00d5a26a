/** OpenAPI document and its Swagger UI page, both without authentication. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import assetsDir from 'swagger-ui-dist/absolute-path.js';
import { z } from 'zod';
import { raise } from '../../model/errors';
import { describe } from '../openapi';
import { type ApiRequest, ok, type Route, route } from '../server/route';
import { descriptionPage, start } from './description-page';

const documentPath = '/temper/v1/openapi.json';
const pagePath = '/temper/v1/docs';

const assets = {
  'start.js': { type: 'text/javascript; charset=utf-8', text: async () => start },
  'swagger-ui.css': { type: 'text/css; charset=utf-8', text: () => bundled('swagger-ui.css') },
  'swagger-ui-bundle.js': { type: 'text/javascript; charset=utf-8', text: () => bundled('swagger-ui-bundle.js') },
} as const satisfies Record<string, { type: string; text: () => Promise<string> }>;

const bundled = (name: string): Promise<string> => readFile(join(assetsDir(), name), 'utf8');

const isAsset = (name: string): name is keyof typeof assets => Object.hasOwn(assets, name);

/** They change only with a release. */
const keptHeaders = { 'Cache-Control': 'public, max-age=3600' };

const asset = async (name: string) => {
  if (!isAsset(name)) return raise('PathNotFound');
  const { type, text } = assets[name];
  return { status: 200, text: await text(), headers: { ...keptHeaders, 'Content-Type': type } };
};

// Swagger UI needs style attributes and icons as data URLs. All else comes from the API.
const contentPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const pageHeaders = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': contentPolicy,
  'Cache-Control': 'no-cache',
};

/** Path prefix of the API's public URL. */
const below = (base: string): string => new URL(base).pathname.replace(/\/$/, '');

/** @param routes called late: the list is incomplete at startup */
export const descriptionRoutes = (routes: () => readonly Route[]): Route[] => {
  let known: ReturnType<typeof describe> | undefined;
  const document = (base: string) => {
    known ??= describe(routes());
    return { ...known, servers: [{ url: base }] };
  };
  return [
    route({
      method: 'GET',
      path: documentPath,
      rules: 'public',
      answers: { 200: z.looseObject({ openapi: z.string() }) },
      handler: async ({ base }) => ok(document(base)),
    }),
    route({
      method: 'GET',
      path: pagePath,
      rules: 'public',
      answers: { 200: 'text/html' },
      handler: async ({ base }) => ({
        status: 200,
        text: descriptionPage(`${below(base)}${pagePath}`, `${below(base)}${documentPath}`),
        headers: pageHeaders,
      }),
    }),
    route({
      method: 'GET',
      path: `${pagePath}/:asset`,
      rules: 'public',
      answers: { 200: '*/*' },
      handler: ({ params }: ApiRequest<{ asset: string }>) => asset(params.asset),
    }),
  ];
};
