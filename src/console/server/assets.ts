/** Styles and scripts, with content hashes in their names, so that browsers cache them for good. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { Router } from 'express';

const types = { css: 'text/css; charset=utf-8', js: 'text/javascript; charset=utf-8', svg: 'image/svg+xml' } as const;

const own = join(__dirname, '..', 'assets');
const packaged = (name: string, file: string): string =>
  join(dirname(require.resolve(`${name}/package.json`)), 'dist', file);

const files = {
  style: join(own, 'console.css'),
  script: join(own, 'console.js'),
  icon: join(own, 'icon.svg'),
  htmx: packaged('htmx.org', 'htmx.min.js'),
  sse: packaged('htmx-ext-sse', 'sse.min.js'),
} as const;

const readAsset = (name: string, file: string) => {
  const identity = readFileSync(file);
  const end = file.split('.').at(-1) as keyof typeof types;
  const hash = createHash('sha256').update(identity).digest('hex').slice(0, 16);
  return {
    path: `/assets/${name}.${hash}.${end}`,
    type: types[end],
    bodies: { br: brotliCompressSync(identity), gzip: gzipSync(identity), identity },
  };
};

const assets = Object.fromEntries(
  Object.entries(files).map(([name, file]) => [name, readAsset(name, file)]),
) as Readonly<Record<keyof typeof files, ReturnType<typeof readAsset>>>;

export const assetPath = (name: keyof typeof files): string => assets[name].path;

const oneYear = 'public, max-age=31536000, immutable';

export const assetRoutes = (): Router => {
  const router = Router();
  for (const { path, type, bodies } of Object.values(assets))
    router.get(path, (request, response) => {
      const coding = (['br', 'gzip'] as const).find((one) => request.acceptsEncodings(one) === one);
      response.set({ 'content-type': type, 'cache-control': oneYear, vary: 'accept-encoding' });
      if (coding) response.set('content-encoding', coding);
      response.end(bodies[coding ?? 'identity']);
    });
  return router;
};
