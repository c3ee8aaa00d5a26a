/** Results on disk, one a line: a table may be measured in several turns. */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import type { Result } from './report';

/** @param file where lines are kept; none are where there is no file */
export const linesIn = <Line>(file: string | undefined) => ({
  add(lines: readonly Line[]): void {
    if (file) for (const line of lines) appendFileSync(file, `${JSON.stringify(line)}\n`);
  },
  read(): Line[] {
    if (!file || !existsSync(file)) return [];
    const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
    return lines.map((line) => JSON.parse(line) as Line);
  },
});

/** @param file where results are kept; nothing is where there is none */
export const keptIn = (file: string | undefined) => {
  const lines = linesIn<Result>(file);
  return {
    add: lines.add,
    /** All that was kept so far; what was struck a second time in the same way counts as it came out last. */
    read(): Result[] {
      const last = new Map<string, Result>();
      for (const result of lines.read()) {
        const { verb, label, victim } = result.cell;
        last.set(JSON.stringify([verb.name, label, victim, result.round]), result);
      }
      return [...last.values()];
    },
  };
};
