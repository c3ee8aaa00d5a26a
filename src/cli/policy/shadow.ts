/** `temper policy shadow`: differences of a second policy on live traffic, as counted by the API. */
import type { ShadowReport } from '../../wire/policy';
import type { Context } from '../context';
import { exits } from '../faults';
import { plainText, table } from '../tables';

const shadowText = ({ hash, since, decisions, differences }: ShadowReport): string => {
  const head = `${decisions} decisions since ${plainText(since)} beside policy ${plainText(hash)}: `;
  if (differences.length === 0) return `${head}no difference.\n`;
  const rows = differences.map((one) => [
    one.count,
    `would ${one.would}`,
    one.rule,
    one.scope,
    one.roles.join(','),
    one.last,
  ]);
  return `${head}\n${table(['COUNT', 'IT', 'RULE', 'SCOPE', 'ROLES', 'LAST'], rows)}`;
};

/** Exit status: 0 no difference, 1 some. */
export const shadow = async (context: Context): Promise<void> => {
  const found = (await context.api.send('GET', '/temper/v1/policy/shadow')) as ShadowReport;
  context.print(found, shadowText);
  context.end(found.differences.length === 0 ? exits.ok : exits.refused);
};
