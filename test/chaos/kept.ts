/** Results on disk, one a line: a table may be measured in several turns. */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import type { Result } from './report';

/** @param file where results are kept; nothing is where there is none */
export const keptIn = (file: string | undefined) => ({
  add(results: readonly Result[]): void {
    if (file) for (const result of results) appendFileSync(file, `${JSON.stringify(result)}\n`);
  },
  /** All that was kept so far; what was struck a second time in the same way counts as it came out last. */
  read(): Result[] {
    if (!file || !existsSync(file)) return [];
    const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
    const last = new Map<string, Result>();
    for (const line of lines) {
      const result = JSON.parse(line) as Result;
      const { verb, label, victim } = result.cell;
      last.set(JSON.stringify([verb.name, label, victim, result.round]), result);
    }
    return [...last.values()];
  },
});
