/** `temper policy lint --fix`: adds rules that show an object to the callers whom a file admits to it. */
import { customRoles, type Gap, gapsOf, lineOf, membersWith, supportersFor } from '../../policy';
import type { CliDeps } from '../deps';
import { stop } from '../faults';
import { type Chosen, policyOf } from './source';

const note = '# Who may do something to an object may see it.';

/** Matches a line with one rule in the usual form. */
const ruleLine = (see: string): RegExp =>
  new RegExp(`^(["']?)${see}\\1\\s*:\\s*(?:"(?:[^"\\\\]|\\\\.)*"|'[^']*')\\s*(?:#.*)?$`);

const withLine = (text: string, gap: Gap, file: string): string => {
  const lines = text.split('\n');
  const at = lines.findIndex((line) => ruleLine(gap.see).test(line));
  if (at >= 0) return lines.with(at, lineOf(gap)).join('\n');
  const otherwise = lines.some((line) => new RegExp(`^\\s*["']?${gap.see}["']?\\s*:`).test(line));
  if (otherwise || /\.json$/i.test(file) || text.trimStart().startsWith('{'))
    return stop('usage', `${file} cannot be changed by line; write this into it: ${lineOf(gap)}`);
  return `${text.replace(/\n*$/, '\n')}\n${note}\n${lineOf(gap)}\n`;
};

/** Returns the written lines. Throws CliFault if the file cannot be edited by line. */
export const writeMissing = (deps: CliDeps, given: string, chosen: Chosen): string[] => {
  const { policy, overrides } = policyOf(deps, given, chosen);
  const gaps = gapsOf(policy, [...membersWith(customRoles(overrides)), ...supportersFor(overrides)]);
  for (const gap of gaps) {
    const file = gap.origin?.file ?? stop('usage', `Write this into a policy file: ${lineOf(gap)}`);
    const text = deps.readFile(file) ?? stop('usage', `There is no file ${file}.`);
    deps.writeFile(file, withLine(text, gap, file));
  }
  return gaps.map(lineOf);
};
