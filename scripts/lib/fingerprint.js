/** Whether something must be made again: one hash over everything it is made from. */

const { createHash } = require('node:crypto');
const fs = require('node:fs');
const path = require('node:path');
const { root } = require('./paths');

/** All files below the given files and folders, in a fixed order; what does not exist is left out. */
function filesOf(entries) {
  return entries.flatMap((entry) => {
    const stat = fs.statSync(entry, { throwIfNoEntry: false });
    if (!stat) return [];
    if (!stat.isDirectory()) return [entry];
    const below = fs.readdirSync(entry).sort();
    return filesOf(below.map((name) => path.join(entry, name)));
  });
}

/** A hash over contents of files and folders and their names within the checkout, and over any further words. */
function fingerprint(entries, ...words) {
  const hash = createHash('sha256').update(words.join('\0'));
  for (const file of filesOf(entries)) hash.update(`\0${path.relative(root, file)}\0`).update(fs.readFileSync(file));
  return hash.digest('hex');
}

const readStamp = (file) => (fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : '');

module.exports = { filesOf, fingerprint, readStamp };
