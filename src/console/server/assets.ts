/** Styles, scripts, fonts and icons, with content hashes in their names, so that browsers cache them for good. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { Router } from 'express';

const types = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
  woff2: 'font/woff2',
} as const;

const own = (file: string): string => join(__dirname, '..', 'assets', file);

/** The style follows fonts and icon, because it names their addresses. */
const files = {
  inter: require.resolve('@fontsource-variable/inter/files/inter-latin-wght-normal.woff2'),
  mono: require.resolve('@fontsource-variable/jetbrains-mono/files/jetbrains-mono-latin-wght-normal.woff2'),
  icon: own('icon.svg'),
  style: own('console.css'),
  script: own('console.js'),
  icons: own('icons.svg'),
  htmx: require.resolve('htmx.org/dist/htmx.min.js'),
  sse: require.resolve('htmx-ext-sse/dist/sse.min.js'),
  morph: require.resolve('idiomorph/dist/idiomorph-ext.min.js'),
} as const;

type AssetName = keyof typeof files;
type Bodies = { readonly br?: Buffer; readonly gzip?: Buffer; readonly identity: Buffer };
type Asset = { readonly path: string; readonly type: string; readonly bodies: Bodies };

/** Replaces `asset:inter` in styles by the file's address. */
const withAddresses = (style: Buffer, known: Readonly<Record<string, Asset>>): Buffer =>
  Buffer.from(style.toString().replaceAll(/asset:(\w+)/g, (_, name: string) => known[name]!.path));

const readAsset = (name: string, file: string, known: Readonly<Record<string, Asset>>): Asset => {
  const end = file.split('.').at(-1) as keyof typeof types;
  const read = readFileSync(file);
  const identity = end === 'css' ? withAddresses(read, known) : read;
  const hash = createHash('sha256').update(identity).digest('hex').slice(0, 16);
  // Fonts are compressed already.
  const coded = end === 'woff2' ? {} : { br: brotliCompressSync(identity), gzip: gzipSync(identity) };
  return { path: `/assets/${name}.${hash}.${end}`, type: types[end], bodies: { ...coded, identity } };
};

const readAll = (): Readonly<Record<string, Asset>> => {
  const known: Record<string, Asset> = {};
  for (const [name, file] of Object.entries(files)) known[name] = readAsset(name, file, known);
  return known;
};

const assets = readAll();

export const assetPath = (name: AssetName): string => assets[name]!.path;

const oneYear = 'public, max-age=31536000, immutable';

export const assetRoutes = (): Router => {
  const router = Router();
  for (const { path, type, bodies } of Object.values(assets))
    router.get(path, (request, response) => {
      const coding = (['br', 'gzip'] as const).find((one) => bodies[one] && request.acceptsEncodings(one) === one);
      response.set({ 'content-type': type, 'cache-control': oneYear, vary: 'accept-encoding' });
      if (coding) response.set('content-encoding', coding);
      response.end(bodies[coding ?? 'identity']);
    });
  return router;
};
