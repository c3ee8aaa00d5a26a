/**
 * Debian's Chromium with a font, for tests of the console's pages and their pictures. As a program it prints
 * `{"programs": {...}, "fonts": path}` or `{"missing": reason}`.
 */

const fs = require('node:fs');
const path = require('node:path');
const { ensurePrograms, unpackedBefore } = require('../../tools/offline/debian');
const { cacheDir } = require('./paths');
const { tell } = require('./told');

const wanted = {
  cache: 'chromium',
  packages: ['chromium', 'fonts-dejavu-core'],
  names: ['chromium'],
  check: '--version',
  // The one in usr/bin is a script that looks where packages are installed.
  folder: path.join('usr', 'lib', 'chromium'),
};

/** Fonts are where the packages were unpacked, or where the system has them; without any, pages have no letters. */
function fontSettings() {
  const unpacked = unpackedBefore(wanted);
  const folders = [
    '/usr/share/fonts',
    ...(unpacked ? [path.join(unpacked, '..', 'root', 'usr', 'share', 'fonts')] : []),
  ];
  const cache = cacheDir('chromium', 'fonts');
  fs.mkdirSync(cache, { recursive: true });
  const file = path.join(cache, 'fonts.conf');
  const lines = [...folders.map((dir) => `<dir>${dir}</dir>`), `<cachedir>${path.join(cache, 'made')}</cachedir>`];
  const alias = (family, font) => `<alias><family>${family}</family><prefer><family>${font}</family></prefer></alias>`;
  const aliases = [
    alias('monospace', 'DejaVu Sans Mono'),
    alias('sans-serif', 'DejaVu Sans'),
    // For names that no font has.
    '<match><edit name="family" mode="append_last"><string>DejaVu Sans</string></edit></match>',
  ];
  fs.writeFileSync(
    file,
    `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig>${[...lines, ...aliases].join('')}</fontconfig>\n`,
  );
  return file;
}

/**
 * Makes sure that it is there.
 * @returns {Promise<{programs: Record<string, string>, fonts: string}>} its path by name, and a fontconfig file for it
 * @throws Error that says why it cannot be had
 */
async function ensureChromium() {
  const programs = await ensurePrograms(wanted);
  return { programs, fonts: fontSettings() };
}

if (require.main === module) tell(ensureChromium());

module.exports = { ensureChromium };
