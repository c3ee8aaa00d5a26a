/** `site [--out DIR]`: builds the site of documents, or says which links are broken. */
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { buildSite } from './build';

const main = (args: readonly string[], root: string): number => {
  const { values } = parseArgs({ args: [...args], options: { out: { type: 'string' } } });
  const out = resolve(values.out ?? join(root, '.temper/site'));
  const faults = buildSite(root, out);
  for (const { file, line, text } of faults) process.stderr.write(`${file}:${line}: ${text}\n`);
  if (faults.length === 0) process.stdout.write(`The site is in ${out}. Open ${join(out, 'index.html')}.\n`);
  return faults.length === 0 ? 0 : 1;
};

// This file runs as .temper/tools/tools/site/index.js.
if (require.main === module) process.exitCode = main(process.argv.slice(2), join(__dirname, '../../../..'));
