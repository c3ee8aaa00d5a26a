/** The site of the documents, built into a folder of its own. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildSite } from '../../tools/site/build';

const root = join(__dirname, '../..');

export type TestSite = { readonly folder: string; readonly faults: readonly string[]; remove(): void };

/** @param from the repository whose documents are built */
export const buildTestSite = (from = root): TestSite => {
  const folder = mkdtempSync(join(tmpdir(), 'temper-site-'));
  const faults = buildSite(from, folder).map(({ file, line, text }) => `${file}:${line}: ${text}`);
  return { folder, faults, remove: () => rmSync(folder, { recursive: true, force: true }) };
};

/** Questions that readers type, and the page that answers each. */
export const questions = [
  ['how do I restore a backup', 'docs/production.html'],
  ['TEMPER_HEARTBEAT_MS', 'docs/settings.html'],
  ['IdempotencyKeyReused', 'docs/errors.html'],
  ['what survives when a worker dies', 'ARCHITECTURE.html'],
] as const;
